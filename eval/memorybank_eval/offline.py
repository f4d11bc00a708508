"""Recall without a server: what the database would give its pure part, made in memory, so that thousands of questions
take seconds. Cutting, terms, forms and vectors are those of retain; scoring is recall's own code.

A case is one question with every signal of every unit; fitting and ablation only add them up in other ways.
"""

import argparse
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path

import numpy as np

from memorybank.errors import InvalidInput
from memorybank.indexing import form_of, index_terms, text_hash
from memorybank.llm.embedding import Embedder, OnnxMiniLM
from memorybank.recall import question, ranking, signals
from memorybank.recall.arms import temporal
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.query import RecallQuery
from memorybank.recall.question import Question
from memorybank.retain.chunking import ChunkSize, chunk
from memorybank.settings import Settings, defaults
from memorybank.storage.found import Addresses, Dated, Distances, Gathered, Statistics, TermPostings
from memorybank.storage.units import POSITIONS
from memorybank_eval.datasets import DATASETS, Conversation, Turn
from memorybank_eval.datasets import Question as Wanted
from memorybank_eval.machine import CHECKOUT
from memorybank_eval.metrics import DEPTH

#: The set that belongs to the project, read wherever no other path is named for it.
OWN = "own"
OWN_PATH = CHECKOUT / "eval" / "datasets" / OWN
#: When questions are asked whose set does not say it: after everything.
ASKED_AT = datetime(2030, 1, 1, tzinfo=UTC)
#: Texts of one call to the model.
BATCH = 64

Array = np.ndarray


def default_model() -> Embedder:
    """Return the embedding model of the default settings, which is built in."""
    return OnnxMiniLM(defaults().embeddings.model)


class Vectors:
    """The vectors of texts, as the database keeps them (half precision); remembered in a file where one is named.

    A file of another model's vectors is written anew.
    """

    def __init__(self, path: Path | None = None, load: Callable[[], Embedder] = default_model) -> None:
        self._path, self._model = path, load()
        self._known: dict[str, Array] = {}
        if path and path.exists():
            with np.load(path) as held:
                if held["model"] == self._model.model:
                    self._known = dict(zip(held["hashes"].tolist(), held["vectors"], strict=True))

    def of(self, texts: Sequence[str]) -> Array:
        """Return float32 (texts, dimensions)."""
        hashes = [text_hash(text).hex() for text in texts]
        missing = {key: text for key, text in zip(hashes, texts, strict=True) if key not in self._known}
        ordered = sorted(missing.items(), key=lambda pair: len(pair[1]))
        for start in range(0, len(ordered), BATCH):
            keys, part = zip(*ordered[start : start + BATCH], strict=True)
            self._known.update(zip(keys, self._model.encode(part).astype(np.float16), strict=True))
        return np.array([self._known[key] for key in hashes], np.float32)

    def save(self) -> None:
        """Write the file, where one is named."""
        if self._path and self._known:
            vectors = np.array(list(self._known.values()))
            np.savez(self._path, model=self._model.model, hashes=list(self._known), vectors=vectors)


@dataclass(frozen=True)
class Held:
    """A conversation as a bank holds it: one unit a piece of a turn, (n,) each; vectors (n, dimensions).

    `postings` maps a term to the units that hold it and how often. Units stand in order of address.
    """

    turns: Sequence[str]
    addresses: Addresses
    said_at: Array
    speakers: Array
    traits: Array
    vectors: Array
    lengths: Array
    postings: Mapping[int, Sequence[tuple[int, int]]]

    @cached_property
    def spoken(self) -> Mapping[int, int]:
        """How many units each speaker has said."""
        numbers, counts = np.unique(self.speakers[self.speakers != 0], return_counts=True)
        return dict(zip(numbers.tolist(), counts.tolist(), strict=True))


def hold(conversation: Conversation, vectors: Vectors, settings: Settings) -> Held:
    """Return a conversation as mode `chunks` retains it."""
    size = ChunkSize.of(settings.bank.retain_chunk_size, settings.bank.retain_structured_chunk_size)
    pieces = list(_pieces(conversation, size))
    texts = [text for _, _, _, text in pieces]
    forms = [form_of(text, turn.at) for _, _, turn, text in pieces]
    postings: dict[int, list[tuple[int, int]]] = defaultdict(list)
    lengths = np.ones(len(pieces), np.int64)
    for unit, text in enumerate(texts):
        terms = index_terms(text)
        lengths[unit] = max(1, sum(terms.values()))
        for term, tf in terms.items():
            postings[term].append((unit, tf))
    return Held(
        turns=[turn.id for _, _, turn, _ in pieces],
        addresses=Addresses(
            np.array([document for document, _, _, _ in pieces]),
            np.array([POSITIONS * ordinal for _, ordinal, _, _ in pieces]),
        ),
        said_at=np.array([turn.at.timestamp() for _, _, turn, _ in pieces]),
        speakers=np.array([form.speaker for form in forms]),
        traits=np.array([int(form.traits) for form in forms]),
        vectors=vectors.of(texts),
        lengths=lengths,
        postings=postings,
    )


def _pieces(conversation: Conversation, size: ChunkSize) -> Iterator[tuple[int, int, Turn, str]]:
    """Yield document, ordinal, turn and text of each piece: a session is a document, in a pool each turn is."""
    pooled = conversation.pooled
    sessions = [[turn] for turn in conversation.turns] if pooled else conversation.sessions()
    for document, session in enumerate(sessions, start=1):
        pieces = [(turn, piece) for turn in session for piece in chunk(turn.text, size)]
        for ordinal, (turn, piece) in enumerate(pieces):
            yield document, ordinal, turn, piece


def gathered(held: Held, asked: Question, vector: Array, settings: Settings) -> Gathered:
    """Return what the first trip of recall would bring: the queries of `search.sql`, in memory."""
    return Gathered(
        Statistics(len(held.turns), int(held.lengths.sum()), has_entities=False, has_links=False),
        tuple(_postings(held, asked, settings)),
        Distances(held.addresses, 1.0 - held.vectors @ vector, held.speakers, held.traits),
        named=(),
        dated=_dated(held, asked),
        later=_later(held, asked),
        tagged=None,
    )


def _postings(held: Held, asked: Question, settings: Settings) -> Iterator[TermPostings]:
    """Yield the postings of the rarest terms; the others only tell how frequent they are."""
    total = 0
    ranked = sorted((len(held.postings.get(term, ())), term) for term in asked.terms)
    rank = 0
    for frequency, term in ranked:
        rank, total = rank + bool(frequency), total + frequency
        few = rank == 1 or (rank <= settings.recall.max_query_terms and total <= settings.recall.max_postings)
        found = np.array(held.postings.get(term, ()) if few else (), np.int64).reshape(-1, 2)
        units, tf = found.T
        yield TermPostings(frequency, _of(held.addresses, units), tf, held.lengths[units])


def _dated(held: Held, asked: Question) -> Dated | None:
    if asked.window is None:
        return None
    start, end = temporal.reach(asked.window)
    near = np.flatnonzero((held.said_at >= start.timestamp()) & (held.said_at <= end.timestamp()))
    unknown = np.full(len(near), np.nan)
    return Dated(_of(held.addresses, near), unknown, unknown, held.said_at[near])


def _later(held: Held, asked: Question) -> Addresses | None:
    end = temporal.end_of_asking(asked.asked_at, ASKED_AT)
    return None if end is None else _of(held.addresses, np.flatnonzero(held.said_at > end.timestamp()))


def _of(addresses: Addresses, units: Array) -> Addresses:
    return Addresses(addresses.documents[units], addresses.positions[units])


@dataclass(frozen=True)
class Case:
    """One question: every signal of every unit (n,), of which turn each unit is, which turns answer.

    `plain` are the arms by themselves: BM25, and the cosine to the question as it was asked.
    """

    wanted: Wanted
    turns: Sequence[str]
    signals: Mapping[str, Array]
    plain: Mapping[str, Array]

    @cached_property
    def gold(self) -> Array:
        """Whether each unit is evidence (n,)."""
        return np.isin(self.turns, list(self.wanted.evidence))

    @cached_property
    def matrix(self) -> Array:
        """The signals in order of SIGNALS, 0 where there is none: (n, signals)."""
        none = np.zeros(len(self.turns))
        return np.stack([self.signals.get(name, none) for name in signals.SIGNALS], axis=1)

    def ranking(self, scores: Array) -> list[str]:
        """Return the best turns by the scores of their units, as many as are ever judged."""
        order = np.argsort(-scores, kind="stable")
        found: dict[str, None] = {}
        for unit in order:
            found.setdefault(self.turns[unit])
            if len(found) == DEPTH:
                break
        return list(found)


def cases(
    conversation: Conversation, vectors: Vectors, settings: Settings, names_out: bool = True
) -> list[Case]:
    """Return the questions of a conversation; `names_out`: speakers' names are taken out before encoding."""
    held = hold(conversation, vectors, settings)
    bm25 = Bm25(settings.recall.bm25_k1, settings.recall.bm25_b)
    made = []
    for wanted in conversation.questions:
        asked = question.read(RecallQuery(wanted.text), wanted.asked_at or ASKED_AT)
        speaking = [number for number in asked.called if held.spoken.get(number, 0) >= signals.SPEAKER_UNITS]
        plain, free = vectors.of([wanted.text, asked.without(speaking)])
        scene = ranking.scene(gathered(held, asked, free if names_out else plain, settings), asked, bm25)
        arms = {"bm25": scene.keywords.keyword, "dense": held.vectors @ plain}
        made.append(Case(wanted, held.turns, signals.read(scene), arms))
    return made


def add_sets(parser: argparse.ArgumentParser) -> None:
    """Declare how the sets are named; the project's own is always there."""
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=PATH",
        help=f"a question set: {', '.join(DATASETS)}",
    )
    parser.add_argument(
        "--vectors", type=Path, help="keep vectors in this file, so that a next run takes seconds"
    )


def sets(given: argparse.Namespace) -> dict[str, list[Conversation]]:
    """Return the named sets, and the project's own. Raises InvalidInput for a set that nobody knows."""
    return {name: DATASETS[name].read(path) for name, path in paths(given.set).items()}


def paths(named: Sequence[str]) -> dict[str, Path]:
    """Return the path of each set that is named as NAME=PATH, and of the project's own."""
    found = {OWN: OWN_PATH}
    for one in named:
        name, _, path = one.partition("=")
        if name not in DATASETS or not path:
            raise InvalidInput(f"give a set as NAME=PATH, NAME one of {', '.join(DATASETS)}: {one}")
        found[name] = Path(path)
    return found


def cases_of(conversations: Sequence[Conversation], vectors: Vectors, names_out: bool = True) -> list[Case]:
    """Return the questions of a set under the default settings."""
    settings = defaults()
    return [case for each in conversations for case in cases(each, vectors, settings, names_out)]
