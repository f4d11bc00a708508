"""Candidates of a large bank are scored as all its units would be."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from memorybank.recall import fusion, question, ranking, signals
from memorybank.recall import space as spaces
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.query import RecallQuery
from memorybank.recall.ranking import Criteria
from memorybank.settings import defaults
from memorybank.storage.found import (
    OBSERVED,
    Addresses,
    Candidates,
    Distances,
    Gathered,
    Sample,
    Statistics,
    Tagged,
    TermPostings,
    Windows,
)
from memorybank.tags import TagLeaf
from memorybank.text.traits import Trait

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
WEIGHTS = fusion.weights(defaults().recall.weights, ranking.COUNTED)
ASKED = Criteria(question.read(RecallQuery("when did the comet pass"), NOON), WEIGHTS, Bm25(0.9, 0.4))
#: Units of each document: some are long, some stand alone; the last ones are observations.
SIZES, OBSERVATIONS = np.array([1, 2, 3, 5, 8, 13, 21, 34, 1, 1, 40, *[1] * 30]), 30
COUNT = int(SIZES.sum())


class World:
    """All units of a bank, and what would be read of some."""

    def __init__(self, seed: int) -> None:
        dice = np.random.default_rng(seed)
        documents = np.repeat(np.arange(len(SIZES)) * 3 + 2, SIZES)
        positions = np.concatenate([np.arange(size) * 1024 + dice.integers(0, 3) for size in SIZES])
        positions[-OBSERVATIONS:] = OBSERVED
        self.addresses = Addresses(documents, positions)
        self.distances = dice.uniform(0.2, 1.2, COUNT).astype(np.float32)
        self.speakers = dice.integers(0, 3, COUNT)
        self.traits = dice.choice([0, int(Trait.ASKS), int(Trait.TIME)], COUNT)
        self.lengths = dice.integers(3, 30, COUNT)
        self.postings = tuple(self._term(dice, term, share) for term, share in enumerate((0.05, 0.2, 0.5), 1))
        self.statistics = Statistics(COUNT, int(self.lengths.sum()))
        self.order = dice.permutation(COUNT)

    def _term(self, dice: np.random.Generator, term: int, share: float) -> TermPostings:
        held = np.flatnonzero(dice.random(COUNT) < share)
        return TermPostings(len(held), self.at(held), dice.integers(1, 4, len(held)), self.lengths[held])

    def at(self, units: np.ndarray) -> Addresses:
        return Addresses(self.addresses.documents[units], self.addresses.positions[units])

    def read(self, units: np.ndarray) -> Distances:
        return Distances(self.at(units), self.distances[units], self.speakers[units], self.traits[units])

    def sizes(self, units: np.ndarray) -> np.ndarray:
        return SIZES[(self.addresses.documents[units] - 2) // 3]

    def around(self, units: np.ndarray) -> np.ndarray:
        """Return these units with two neighbours on each side, some of them twice."""
        near = (units[:, None] + np.arange(-2, 3)).ravel()
        origin = np.repeat(self.addresses.documents[units], 5)
        inside = (near >= 0) & (near < COUNT)
        near, origin = near[inside], origin[inside]
        return near[self.addresses.documents[near] == origin]

    def whole(self) -> Gathered:
        everything = self.read(np.arange(COUNT))
        return Gathered(self.statistics, self.postings, everything, (), None, None, None)

    def rough(self, nearest: int = 10, sampled: int = COUNT) -> Gathered:
        drawn = self.order[:sampled]
        sample = Sample(self.read(drawn), self.sizes(drawn), 1.0)
        near = self.read(np.argsort(self.distances)[:nearest])
        return replace(self.whole(), distances=near, sample=sample)

    def narrowed(self, chosen: np.ndarray, sampled: int = COUNT) -> Gathered:
        rough = self.rough(sampled=sampled)
        spread = ranking.score(self.whole(), ASKED).lexical.spread(COUNT)
        context = self.order[: signals.SAMPLED_NEIGHBOURS]
        read = self.around(np.concatenate((chosen, context)))
        documents = np.unique(self.addresses.documents[chosen])
        windows = Windows(self.read(read), documents, SIZES[(documents - 2) // 3])
        return replace(rough, candidates=Candidates(self.at(chosen), windows, spread))


@pytest.mark.parametrize("seed", range(5))
def test_with_a_sample_of_all_units_candidates_stand_as_they_do_among_all(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signals, "SAMPLED_NEIGHBOURS", COUNT)
    world = World(seed)
    whole = ranking.score(world.whole(), ASKED)
    chosen = np.sort(np.random.default_rng(seed).permutation(COUNT)[:30])
    found = ranking.score(world.narrowed(chosen), ASKED)
    best = ranking.best(found, COUNT)
    assert spaces.key(found.space.addresses(best)).tolist() == [
        one for one in whole.space.keys[ranking.best(whole, COUNT)].tolist()
        if one in spaces.key(world.at(chosen)).tolist()
    ]  # fmt: skip
    for mine, all_ in ((found.cosine, whole.cosine), (found.lexical.keyword, whole.lexical.keyword)):
        assert mine[found.space.find(world.at(chosen))[0]] == pytest.approx(all_[chosen])
    session = found.lexical.session[found.space.find(world.at(chosen))[0]]
    assert session == pytest.approx(whole.lexical.session[chosen], rel=1e-6)
    assert found.relevance[best] == pytest.approx(
        whole.relevance[whole.space.find(found.space.addresses(best))[0]]
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_small_sample_moves_the_blend_little(seed: int) -> None:
    world = World(seed)
    whole = ranking.score(world.whole(), ASKED)
    chosen = ranking.best(whole, 40)
    found = ranking.score(world.narrowed(chosen, sampled=64), ASKED)
    best = spaces.key(found.space.addresses(ranking.best(found, 10)))
    assert len(np.intersect1d(best, whole.space.keys[chosen[:10]])) >= 8


def test_the_first_look_ranks_what_words_and_vectors_bring() -> None:
    world = World(3)
    whole, rough = ranking.score(world.whole(), ASKED), ranking.score(world.rough(), ASKED)
    assert rough.space.population == COUNT
    assert rough.lexical.spread(COUNT) == pytest.approx(whole.lexical.spread(COUNT))
    best = spaces.key(rough.space.addresses(ranking.best(rough, 60)))
    wanted = whole.space.keys[ranking.best(whole, 10)]
    assert len(np.intersect1d(best, wanted)) >= 9


def test_only_chosen_units_that_pass_the_filter_are_ranked() -> None:
    world, chosen = World(1), np.arange(0, 60, 3)
    tagged = (Tagged(frozenset({"a"}), world.at(np.arange(0, 60, 2))),)
    asked = replace(ASKED, tags=TagLeaf(("a",), "any_strict"))
    found = ranking.score(replace(world.narrowed(chosen), tagged=tagged), asked)
    ranked = np.sort(spaces.key(found.space.addresses(ranking.best(found, COUNT))))
    assert ranked.tolist() == spaces.key(world.at(np.arange(0, 60, 6))).tolist()


def test_reads_of_the_same_unit_are_one() -> None:
    world = World(2)
    joined = spaces.together(world.read(np.array([5, 2, 5])), world.read(np.array([2, 9])))
    assert spaces.key(joined.addresses).tolist() == spaces.key(world.at(np.array([2, 5, 9]))).tolist()
    assert joined.distances == pytest.approx(world.distances[[2, 5, 9]])


@pytest.mark.parametrize(
    ("numbers", "each"), [([], []), ([7], [7]), ([3, 1, 3, 1, 2], [1, 2, 3]), ([5, 5], [5])]
)
def test_each_number_once(numbers: list[int], each: list[int]) -> None:
    assert spaces.distinct(np.array(numbers, np.int64)).tolist() == each
