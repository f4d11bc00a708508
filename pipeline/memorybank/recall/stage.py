"""Recall: the units of a bank that answer a question, within a budget of tokens.

Read, embed (without the names of those who speak here), then one snapshot: gather, score, follow the graph, fetch page
by page until the budget is full, and what is asked for beside the hits. No connection is held while the question is
embedded. An arm that is too slow is left out, and the rest is asked again in a new snapshot.
"""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import UUID

import numpy as np

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import ArmTooSlow, TimedOut
from memorybank.llm.embedding import Embedder, RemoteEmbedder
from memorybank.llm.embedding_queries import QueryVectors
from memorybank.model import Bank, Hit, Scores
from memorybank.recall import beside, budget, fusion, hits, question, ranking, trace
from memorybank.recall.arms import temporal
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.beside import ChunkText, EntityState
from memorybank.recall.budget import Cost, Packing
from memorybank.recall.hits import Distinct
from memorybank.recall.query import RecallQuery
from memorybank.recall.question import Question
from memorybank.recall.ranking import Asked, Scored
from memorybank.recall.signals import SPEAKER_UNITS
from memorybank.recall.space import Floats, Integers
from memorybank.recall.trace import Steps, Told
from memorybank.settings import BankConfig, Settings
from memorybank.storage import search
from memorybank.storage.found import FoundUnit, Statistics
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.search import Filter, Seeds, Wanted
from memorybank.tags import needed

#: A further page is fetched only for more than this share of the tokens: the last few are not worth a trip.
FILL_SHARE = 0.1
#: Best hits from which the graph is followed.
SEEDS = 10
#: Arms of which one must answer: without both there is nothing to rank by.
PILLARS = ("semantic", "bm25")


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


@dataclass(frozen=True)
class _Run:
    """One question on its way: where it is asked, by whom, and how it was read."""

    bank: Bank
    config: BankConfig
    viewer: Viewer
    query: RecallQuery
    question: Question
    vector: np.ndarray[Any, Any]
    cost: Cost
    steps: Steps
    left_out: dict[str, str] = field(default_factory=dict)

    def has(self, arm: str) -> bool:
        """Whether an arm takes part: the bank has it switched on, and it was not too slow."""
        off = {
            "temporal": not self.config.enable_temporal_retrieval,
            "graph": not self.config.enable_graph_retrieval,
        }
        return arm not in self.left_out and not off.get(arm, False)

    def leave_out(self, slow: ArmTooSlow) -> None:
        """Go on without an arm; raises what stopped it where nothing would be left to rank by."""
        self.left_out[slow.arm] = slow.message
        if all(arm in self.left_out for arm in PILLARS):
            raise slow


@dataclass
class _Found:
    """What the pages brought: all ranked units that were looked at, the hits that fit, and chunks of the good enough."""

    scored: Scored
    packing: Packing
    distinct: Distinct = field(default_factory=Distinct)
    ranked: list[int] = field(default_factory=list)
    units: list[FoundUnit] = field(default_factory=list)
    chunks: list[UUID] = field(default_factory=list)


@dataclass
class Recall:
    """Recall over one database with one embedding model."""

    database: Database
    embedder: Embedder | RemoteEmbedder
    settings: Settings

    def __post_init__(self) -> None:
        own = self.settings.recall
        self._weights = fusion.weights(own.weights, ranking.COUNTED)
        self._bm25 = Bm25(own.bm25_k1, own.bm25_b)
        self._slots = asyncio.Semaphore(own.max_concurrent)
        embeddings = self.settings.embeddings
        self._vectors = QueryVectors(self.embedder, embeddings.query_prefix, embeddings.kept_queries)

    async def __call__(
        self, bank: Bank, config: BankConfig, query: RecallQuery, viewer: Viewer, cost: Cost = budget.of_text
    ) -> RecallResult:
        """Return the best hits of a bank; `cost` is what a hit takes of `max_tokens`, by default its text.

        Raises BadRequest and InvalidInput on a wrong query, TimedOut when it takes too long, and what the
        embedding model and the database raise.
        """
        checked = query.check(self.settings.recall.query_max_tokens)
        try:
            async with asyncio.timeout(self.settings.recall.timeout_seconds), self._slots:
                recall = partial(self._recall, bank, config, checked, viewer, cost)
                return await self.database.patiently(recall)
        except TimeoutError as error:
            raise TimedOut(
                f"the recall took more than {self.settings.recall.timeout_seconds:g} seconds"
            ) from error

    async def _recall(
        self, bank: Bank, config: BankConfig, query: RecallQuery, viewer: Viewer, cost: Cost
    ) -> RecallResult:
        steps = Steps()
        with steps.step("read_question"):
            asked = question.read(query, query.query_timestamp or clock.now())
        with steps.step("find_speakers"):
            speaking = await self._speaking(bank, viewer, asked)
        with steps.step("embed_question"):
            vector = await self._vectors.of(asked.without(speaking))
        run = _Run(bank, config, viewer, query, asked, vector, cost, steps)
        while True:
            try:
                return await self._answer(run)
            except ArmTooSlow as slow:
                run.leave_out(slow)

    async def _answer(self, run: _Run) -> RecallResult:
        async with self.database.snapshot() as connection:
            scored, sizes = await self._score(connection, run)
            found = await self._fetch(connection, run, scored, sizes)
            return await self._result(connection, run, found, sizes)

    async def _speaking(self, bank: Bank, viewer: Viewer, asked: Question) -> frozenset[int]:
        """Return those whom the question names and who speak in the bank."""
        if not asked.called:
            return frozenset()
        async with self.database.connection() as connection:
            return await search.speakers(connection, bank.id, viewer, asked.called, SPEAKER_UNITS)

    async def _score(self, connection: Connection, run: _Run) -> tuple[Scored, Statistics]:
        """Return every unit's scores, and the sizes of the bank."""
        with run.steps.step("gather"):
            gathered = await search.gather(connection, run.bank.id, run.viewer, self._wanted(run))
        with run.steps.step("score"):
            asked = Asked(run.question, self._weights, self._bm25, run.query.types, run.query.tag_filter)
            scored = self._fused(ranking.score(gathered, asked))
        sizes = gathered.statistics
        if run.has("graph") and len(scored.space) and (sizes.has_entities or sizes.has_links):
            with run.steps.step("follow_graph"):
                seeds = Seeds(*ranking.seeds(scored, SEEDS))
                around, linked = await search.reach(connection, run.bank.id, run.viewer, seeds, sizes)
                scored = self._fused(
                    ranking.with_graph(scored, self._weights, gathered.named, around, linked)
                )
        return scored, sizes

    def _fused(self, scored: Scored) -> Scored:
        return ranking.by_ranks(scored) if self.settings.recall.fusion == "rrf" else scored

    def _wanted(self, run: _Run) -> Wanted:
        query, own = run.query, self.settings.recall
        tags = query.tag_filter
        window = run.question.window if run.has("temporal") else None
        after = temporal.end_of_asking(query.query_timestamp, clock.now())
        return Wanted(
            seconds=own.arm_timeout_seconds,
            vector=run.vector if run.has("semantic") else None,
            model=self.embedder.model,
            terms=run.question.terms if run.has("bm25") else (),
            max_terms=own.max_query_terms,
            max_postings=own.max_postings,
            names=run.question.names if run.has("graph") else (),
            dates=temporal.reach(window) if window else None,
            after=None if "temporal" in run.left_out else after,
            filter=Filter(needed(tags)) if tags else None,
        )

    async def _fetch(self, connection: Connection, run: _Run, scored: Scored, sizes: Statistics) -> _Found:
        """Read ranked units page by page until the budget is full or the candidates are through."""
        found = _Found(scored, Packing(run.query.max_tokens, run.cost))
        indices = ranking.best(scored, budget.candidates(run.config, run.query.budget, sizes.units))
        size = budget.page_size(run.query.max_tokens, sizes.mean_length)
        floors = np.append(ranking.finals(scored, indices), 0.0)
        for start in range(0, len(indices), size):
            if start and found.packing.left <= FILL_SHARE * run.query.max_tokens:
                break
            page = indices[start : start + size]
            with run.steps.step("fetch"):
                addresses = scored.space.addresses(page)
                units = await search.units(connection, run.bank.id, run.viewer, addresses)
            with run.steps.step("pack"):
                self._take(run, found, page, units, float(floors[start + len(page)]))
        return found

    def _take(self, run: _Run, found: _Found, page: Integers, units: list[FoundUnit], floor: float) -> None:
        """Pack what is good enough on one page."""
        if run.query.types is not None:
            units = [unit for unit in units if unit.fact_type in run.query.types]
        ranked = page[[unit.place for unit in units]]
        scores = _scores(found.scored, ranked, ranking.finals(found.scored, ranked, floor))
        found.ranked.extend(ranked.tolist())
        found.units.extend(units)
        least = run.query.min_scores
        good = [pair for pair in zip(units, scores, strict=True) if hits.good_enough(pair[1], least)]
        found.chunks.extend(unit.chunk for unit, _ in good if unit.chunk)
        chosen = (hits.make(run.bank, unit, score) for unit, score in good if found.distinct(unit))
        found.packing.add(hits.without_sources(list(chosen)) if run.query.prefer_observations else chosen)

    async def _result(
        self, connection: Connection, run: _Run, found: _Found, sizes: Statistics
    ) -> RecallResult:
        """Read what is asked for beside the hits, and put the answer together."""
        include, packed = run.query.include, found.packing.hits
        states, chunks = None, None
        with run.steps.step("beside"):
            units = [hit.id for hit in packed] if sizes.has_entities else []
            mentioned = await search.entities(connection, run.bank.id, units) if units else []
            packed = beside.named(packed, mentioned)
            if include.entities_max_tokens is not None:
                states = beside.entities(packed, mentioned, include.entities_max_tokens)
            if include.chunks_max_tokens is not None:
                texts = await search.chunks(connection, run.bank.id, run.viewer, found.chunks)
                chunks = beside.chunks(run.bank, found.chunks, texts, include.chunks_max_tokens)
        with_sources = include.source_facts_max_tokens is not None
        return RecallResult(
            hits=tuple(packed),
            stages=tuple(arm for arm in found.scored.arms if run.has(arm)),
            left_out=run.left_out,
            entities=states,
            chunks=chunks,
            source_facts={} if with_sources else None,
            source_facts_truncated=False if with_sources else None,
            trace=self._trace(run, found, packed) if run.query.trace else None,
        )

    def _trace(self, run: _Run, found: _Found, packed: list[Hit]) -> dict[str, Any]:
        told = Told(
            run.query,
            run.question,
            run.vector,
            found.scored,
            np.array(found.ranked, np.int64),
            found.units,
            packed,
            run.left_out,
        )
        return trace.build(told, run.steps)


def _scores(scored: Scored, ranked: Integers, finals: Floats) -> list[Scores]:
    """Return the scores of ranked units; an arm that did not see a unit has none."""
    cosines, keywords = scored.space.cosine[ranked].tolist(), scored.lexical.keyword[ranked].tolist()
    return [
        Scores(final, None if math.isnan(cosine) else cosine, keyword if keyword > 0 else None)
        for final, cosine, keyword in zip(finals.tolist(), cosines, keywords, strict=True)
    ]
