"""One recall on its way: what is asked, what it goes without, and what was found so far. No I/O."""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

import numpy as np

from memorybank.audience import Viewer
from memorybank.errors import ArmTooSlow
from memorybank.model import Bank, Hit, Scores
from memorybank.recall import hits
from memorybank.recall.beside import ChunkText, EntityState
from memorybank.recall.budget import Cost, Packing
from memorybank.recall.hits import Distinct
from memorybank.recall.query import RecallQuery
from memorybank.recall.question import Question
from memorybank.recall.ranking import Scored
from memorybank.recall.relevance import descending
from memorybank.recall.space import Floats, Integers
from memorybank.settings import BankConfig
from memorybank.storage.found import FoundSource, FoundUnit

#: Arms of which one must answer: without both there is nothing to rank by.
PILLARS = ("semantic", "bm25")
#: The stage after the arms, by the name under which it is told.
RERANKER = "reranker"


@dataclass(frozen=True)
class RecallResult:
    """What a recall found; None for what was not asked for.

    `stages` names what ran, `left_out` what should have and did not, and why.
    """

    hits: tuple[Hit, ...]
    stages: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    entities: tuple[EntityState, ...] | None = None
    chunks: Mapping[str, ChunkText] | None = None
    source_facts: Mapping[str, Hit] | None = None
    source_facts_truncated: bool | None = None
    trace: Mapping[str, Any] | None = None


@dataclass
class Steps:
    """Times the steps of one recall, in order."""

    began: float = field(default_factory=time.perf_counter)
    seconds: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Time a block; blocks of one name add up."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    @property
    def total(self) -> float:
        """Seconds since the recall began."""
        return time.perf_counter() - self.began


@dataclass(frozen=True)
class Run:
    """One question: where it is asked, by whom, how it was read, and what it goes without."""

    bank: Bank
    config: BankConfig
    viewer: Viewer
    query: RecallQuery
    question: Question
    vector: np.ndarray[Any, Any]
    cost: Cost
    steps: Steps
    left_out: dict[str, str] = field(default_factory=dict)

    def has(self, stage: str) -> bool:
        """Whether an arm or the reranker takes part: the bank has it switched on, and it has not failed."""
        switched = {
            "temporal": self.config.enable_temporal_retrieval,
            "graph": self.config.enable_graph_retrieval,
            RERANKER: self.config.enable_reranking,
        }
        return stage not in self.left_out and switched.get(stage, True)

    def leave_out(self, slow: ArmTooSlow) -> None:
        """Go on without an arm; raises what stopped it where nothing would be left to rank by."""
        self.left_out[slow.arm] = slow.message
        if all(arm in self.left_out for arm in PILLARS):
            raise slow


@dataclass(frozen=True)
class Page:
    """Units that were read, in the order in which they come, (n,) each.

    `ranked`: their indices in the space. `worth` is what orders them, `relevance` how likely each is evidence at all,
    `reranked` the reranker's score, NaN where it did not look. `place` is where each stood before it.
    """

    units: Sequence[FoundUnit]
    ranked: Integers
    worth: Floats
    relevance: Floats
    reranked: Floats
    place: Integers

    @classmethod
    def of(cls, scored: Scored, ranked: Integers, units: Sequence[FoundUnit], start: int) -> "Page":
        """Return units in the order of the blend; `start` of them stand on pages before."""
        nothing = np.full(len(units), np.nan)
        places = start + np.arange(len(units))
        return cls(units, ranked, scored.blend[ranked], scored.relevance[ranked], nothing, places)

    @classmethod
    def joined(cls, pages: Sequence["Page"]) -> "Page":
        """Return pages, at least one, as one."""
        units = [unit for page in pages for unit in page.units]
        arrays = [[value for name, value in vars(page).items() if name != "units"] for page in pages]
        return cls(units, *map(np.concatenate, zip(*arrays, strict=True)))

    def ordered(self, order: Integers) -> "Page":
        """Return the units in another order."""
        units = [self.units[at] for at in order.tolist()]
        arrays = {name: value[order] for name, value in vars(self).items() if name != "units"}
        return Page(units, **arrays)


@dataclass
class Found:
    """What was found so far: the scores of all, the pages that were read, and the hits that fit.

    `indices` ranks the candidates, of which `size` are read at a time. `sources`: what the observations stand on.
    """

    run: Run
    scored: Scored
    indices: Integers
    size: int
    pages: list[Page] = field(default_factory=list)
    sources: dict[UUID, list[FoundSource]] = field(default_factory=dict)
    good: list[tuple[FoundUnit, Scores]] = field(default_factory=list)
    chunks: list[UUID] = field(default_factory=list)
    packing: Packing = field(init=False)
    _distinct: Distinct = field(default_factory=Distinct)

    def __post_init__(self) -> None:
        self.packing = self._new_packing()

    @property
    def reranked(self) -> bool:
        """Whether a reranker has looked at some of what was read."""
        return not all(np.isnan(page.reranked).all() for page in self.pages)

    @property
    def stages(self) -> tuple[str, ...]:
        """What ran: the arms, and the reranker."""
        arms = tuple(arm for arm in self.scored.arms if self.run.has(arm))
        return (*arms, RERANKER) if self.reranked else arms

    def add_sources(self, sources: Sequence[FoundSource]) -> None:
        """Take note of what observations stand on."""
        for source in sources:
            self.sources.setdefault(source.observation, []).append(source)

    def sources_of_hits(self) -> list[FoundSource]:
        """Return what the observations among the hits stand on, each fact once."""
        cited = (source for hit in self.packing.hits for source in self.sources.get(hit.id, ()))
        return list({source.id: source for source in cited}.values())

    def take(self, page: Page, end: int) -> None:
        """Pack what is good enough on one page; `end` candidates have been read with it."""
        self.pages.append(page)
        asked = self.run.query.min_scores
        # Where no reranker ran, none can be asked for; where one did, what it did not read is below any floor.
        least = asked if self.reranked else replace(asked, reranker=None)
        least = hits.ANY if least == hits.ANY else least
        after = float(self.scored.relevance[self.indices[end:]].max(initial=0.0))
        scored = zip(page.units, _scores(self.scored, page, after), strict=True)
        good = [pair for pair in scored if least is hits.ANY or hits.good_enough(pair[1], least)]
        if self.run.query.include.chunks_max_tokens is not None:
            self.chunks.extend(chunk for unit, _ in good for chunk in self._chunks_of(unit))
        if self.run.query.prefer_observations:
            self.good.extend(good)
            self.packing = self._packed_without_sources()
        else:
            self.packing.add(self._hit(*pair) for pair in good if self._is_new(pair[0], self._distinct))

    def _packed_without_sources(self) -> Packing:
        """Pack anew, without the facts that a returned observation stands on; one that does not fit hides nothing."""
        unfit: set[UUID] = set()
        while True:
            preferred = self.sources.keys() - unfit
            hidden = unfit.union(each.id for unit in preferred for each in self.sources[unit])
            packing, distinct = self._new_packing(), Distinct()
            packing.add(
                self._hit(*pair)
                for pair in self.good
                if pair[0].id not in hidden and self._is_new(pair[0], distinct)
            )
            lost = preferred - {hit.id for hit in packing.hits}
            if not lost:
                return packing
            unfit |= lost

    def _chunks_of(self, unit: FoundUnit) -> list[UUID]:
        """Return the chunk that a unit was drawn from, and those of what an observation stands on."""
        sources = (source.chunk for source in self.sources.get(unit.id, ()))
        return [chunk for chunk in (unit.chunk, *sources) if chunk]

    def _is_new(self, unit: FoundUnit, distinct: Distinct) -> bool:
        return distinct(unit, self._sources_of(unit))

    def _hit(self, unit: FoundUnit, scores: Scores) -> Hit:
        return hits.make(self.run.bank, unit, scores, self._sources_of(unit))

    def _sources_of(self, unit: FoundUnit) -> Sequence[FoundSource]:
        # Most banks have none, and asking for each hit costs.
        return self.sources.get(unit.id, ()) if self.sources else ()

    def _new_packing(self) -> Packing:
        return Packing(self.run.query.max_tokens, self.run.cost)


def _scores(scored: Scored, page: Page, floor: float) -> list[Scores]:
    """Return the scores of a page: final ones never rise; an arm that did not see a unit has none."""
    finals = descending(np.append(page.relevance, floor))[:-1]
    cosines, reranked = _known(scored.space.cosine[page.ranked]), _known(page.reranked)
    keywords = (keyword or None for keyword in scored.lexical.keyword[page.ranked].tolist())
    return list(map(Scores, finals.tolist(), cosines, keywords, reranked))


def _known(values: Floats) -> Sequence[float | None]:
    """Return values, None for those that are not numbers."""
    missing = np.isnan(values)
    if not missing.any():
        return values.tolist()
    return [None if none else value for value, none in zip(values.tolist(), missing.tolist(), strict=True)]
