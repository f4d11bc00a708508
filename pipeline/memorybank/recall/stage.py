"""Recall: the units of a bank that answer a question, within a budget of tokens.

Read, embed (without the names of those who speak here), then one snapshot: gather, score, follow the graph, fetch page
by page until the budget is full, and what is asked for beside the hits. No connection is held while the question is
embedded or a reranker reads. An arm that is too slow is left out, and the rest is asked again in a new snapshot; a
reranker that fails or is too slow leaves the order as it was.
"""

import asyncio
from dataclasses import dataclass
from functools import partial
from uuid import UUID

import numpy as np

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import ArmTooSlow, ModelError, TimedOut
from memorybank.llm.embedding import Embedder, RemoteEmbedder
from memorybank.llm.embedding_queries import QueryVectors
from memorybank.llm.reranking import Reranker
from memorybank.model import Bank, FactType, Hit, Scores
from memorybank.recall import beside, budget, diversity, fusion, hits, question, ranking, rerank, trace
from memorybank.recall.arms import temporal
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.budget import Cost
from memorybank.recall.large import reading as large
from memorybank.recall.large.reading import REACHED, Reading
from memorybank.recall.query import RecallQuery
from memorybank.recall.question import Question
from memorybank.recall.ranking import Criteria, Scored
from memorybank.recall.run import RERANKER, Found, Page, RecallResult, Run, Steps
from memorybank.recall.signals import SPEAKER_UNITS
from memorybank.settings import BankConfig, Settings
from memorybank.storage import search
from memorybank.storage.found import Addresses, Statistics
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.search import FirstTrip
from memorybank.storage.vector_copies import VectorCopies

#: A further page is fetched only for more than this share of the tokens: the last few are not worth a trip.
FILL_SHARE = 0.1
#: What is looked up before the arms, by the name under which it is told.
SPEAKERS = "speakers"
#: Best hits from which the graph is followed.
SEEDS = 10
#: Sources of observations that are read at most, those of the best ones: more than any budget of tokens holds.
MOST_SOURCES = 500


@dataclass
class Recall:
    """Recall over one database with one embedding model, and with a reranker where one is set."""

    database: Database
    embedder: Embedder | RemoteEmbedder
    settings: Settings
    reranker: Reranker | None = None

    def __post_init__(self) -> None:
        own = self.settings.recall
        self._weights = fusion.weights(own.weights, ranking.COUNTED)
        self._bm25 = Bm25(own.bm25_k1, own.bm25_b)
        self._copies = VectorCopies(self.database, own.vector_copies_mb * 1_000_000, own.exact_units)
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

    async def close(self) -> None:
        """End what goes on beside the questions."""
        await self._copies.close()

    async def _recall(
        self, bank: Bank, config: BankConfig, query: RecallQuery, viewer: Viewer, cost: Cost
    ) -> RecallResult:
        steps = Steps()
        with steps.step("read_question"):
            asked = question.read(query, query.query_timestamp or clock.now())
        left_out: dict[str, str] = {}
        with steps.step("find_speakers"):
            speaking = await self._speaking(bank, viewer, asked, left_out)
        with steps.step("embed_question"):
            vector = await self._vectors.of(asked.without(speaking))
        run = Run(bank, config, viewer, query, asked, vector, cost, steps, left_out)
        while True:
            try:
                return await self._answer(run)
            except ArmTooSlow as slow:
                run.leave_out(slow)

    async def _answer(self, run: Run) -> RecallResult:
        async with self.database.snapshot() as connection:
            found = await self._found(connection, run)
            first = await self._page(connection, found, 0)
            if self.reranker is None or not run.has(RERANKER) or not first.units:
                return await self._rest(connection, found, first)
        first = await self._reranked(run, self.reranker, first)
        async with self.database.snapshot() as connection:
            return await self._rest(connection, found, first)

    async def _speaking(
        self, bank: Bank, viewer: Viewer, asked: Question, left_out: dict[str, str]
    ) -> frozenset[int]:
        """Return those whom the question names and who speak in the bank; nobody where that takes too long."""
        if not asked.called:
            return frozenset()
        seconds = self.settings.recall.arm_timeout_seconds
        try:
            async with asyncio.timeout(seconds), self.database.connection() as connection:
                return await search.speakers(connection, bank.id, viewer, asked.called, SPEAKER_UNITS)
        except TimeoutError:
            left_out[SPEAKERS] = f"it took more than {seconds:g} seconds"
            return frozenset()

    async def _found(self, connection: Connection, run: Run) -> Found:
        """Score every unit, and rank the candidates."""
        scored, statistics = await self._score(connection, run)
        indices = ranking.best(scored, budget.candidates(run.config, run.query.budget, statistics.units))
        size = budget.page_size(run.query.max_tokens, statistics.mean_length)
        if self.reranker:
            size = max(size, budget.reranked(self.settings.reranker, run.query.budget))
        return Found(run, scored, indices, size)

    async def _score(self, connection: Connection, run: Run) -> tuple[Scored, Statistics]:
        """Return every unit's scores, and how large the bank is."""
        criteria = Criteria(run.question, self._weights, self._bm25, run.query.types, run.query.tag_filter)
        exact = self.settings.recall.exact_units
        reading = Reading(run.bank, run.viewer, self._first_trip(run), criteria, exact, self._copies)
        with run.steps.step("gather"):
            gathered = await large.gather(connection, reading)
        with run.steps.step("score"):
            scored = self._fused(await large.scored(gathered, criteria))
        statistics, reached = gathered.statistics, None
        if run.has("graph") and len(scored.space):
            with run.steps.step("follow_graph"):
                seeds = ranking.seeds(scored, SEEDS)
                reached = await search.reach(connection, run.bank.id, run.viewer, seeds, gathered)
        if gathered.sample:
            with run.steps.step("narrow"):
                count = budget.chosen(run.config, run.query.budget, run.query.max_tokens, statistics)
                near = ranking.near_in_graph(criteria, reached, REACHED)
                gathered = await large.narrow(connection, reading, gathered, scored, near, count)
                scored = self._fused(await large.scored(gathered, criteria))
        if reached and (gathered.named or reached.around or reached.linked):
            scored = self._fused(ranking.with_graph(scored, criteria, gathered.named, reached))
        return scored, statistics

    def _fused(self, scored: Scored) -> Scored:
        return ranking.by_ranks(scored) if self.settings.recall.fusion == "rrf" else scored

    def _first_trip(self, run: Run) -> FirstTrip:
        own, window = self.settings.recall, run.question.window if run.has("temporal") else None
        after = temporal.end_of_asking(run.query.query_timestamp, clock.now())
        return FirstTrip(
            seconds=own.arm_timeout_seconds,
            vector=run.vector if run.has("semantic") else None,
            model=self.embedder.model,
            terms=run.question.terms if run.has("bm25") else (),
            max_terms=own.max_query_terms,
            max_postings=own.max_postings,
            names=run.question.names if run.has("graph") else (),
            dates=temporal.reach(window) if window else None,
            after=None if "temporal" in run.left_out else after,
            tags=run.query.tag_filter,
            facts=run.query.facts,
            entries=run.config.kv_recall,
        )

    async def _page(self, connection: Connection, found: Found, start: int) -> Page:
        """Read the candidates from `start` on that make a page, and what observations among them stand on."""
        run, indices = found.run, found.indices[start : start + found.size]
        with run.steps.step("fetch"):
            addresses = found.scored.space.addresses(indices)
            units = await search.units(connection, run.bank.id, run.viewer, addresses)
            if run.query.types is not None:
                units = [unit for unit in units if unit.fact_type in run.query.types]
            observations = [unit.id for unit in units if unit.fact_type == FactType.OBSERVATION]
            if observations:
                found.add_sources(await search.sources(connection, run.bank.id, run.viewer, observations))
        return Page.of(found.scored, indices[[unit.place for unit in units]], units, start)

    async def _reranked(self, run: Run, reranker: Reranker, page: Page) -> Page:
        """Return the page with its best units in the order that they have with the reranker's scores."""
        own = self.settings.reranker
        texts = [rerank.document(unit) for unit in page.units[: budget.reranked(own, run.query.budget)]]
        try:
            with run.steps.step("rerank"):
                async with asyncio.timeout(own.timeout_seconds):
                    scores = await reranker.scores(run.question.text, texts)
        except TimeoutError:
            run.left_out[RERANKER] = f"it took more than {own.timeout_seconds:g} seconds"
            return page
        except ModelError as error:
            run.left_out[RERANKER] = error.message
            return page
        return rerank.applied(page, scores, own.weight)

    async def _rest(self, connection: Connection, found: Found, first: Page) -> RecallResult:
        """Pack page by page until the budget is full or the candidates are through, and put the answer together."""
        run, page, end = found.run, self._diverse(first), found.size
        while True:
            with run.steps.step("pack"):
                found.take(page, end)
            if end >= len(found.indices) or found.packing.left <= FILL_SHARE * run.query.max_tokens:
                return await self._result(connection, found)
            page, end = await self._page(connection, found, end), end + found.size

    def _diverse(self, page: Page) -> Page:
        strength = self.settings.recall.diversity
        if not strength:
            return page
        return page.ordered(diversity.spread_out(page.worth, [unit.text for unit in page.units], strength))

    async def _result(self, connection: Connection, found: Found) -> RecallResult:
        """Read what is asked for beside the hits, and put the answer together."""
        run, include, packed = found.run, found.run.query.include, found.packing.hits
        states, chunks, facts, truncated = None, None, None, None
        with run.steps.step("beside"):
            if include.entities_max_tokens is not None:
                states = beside.entities(packed, include.entities_max_tokens)
            if include.chunks_max_tokens is not None:
                texts = await search.chunks(connection, run.bank.id, run.viewer, found.chunks)
                chunks = beside.chunks(run.bank, found.chunks, texts, include.chunks_max_tokens)
            if include.source_facts_max_tokens is not None:
                facts, truncated = beside.source_facts(
                    [hit.source_fact_ids for hit in packed],
                    await self._sources(connection, found),
                    include.source_facts_max_tokens,
                    include.source_facts_max_tokens_per_observation,
                )
        return RecallResult(
            hits=tuple(packed),
            stages=found.stages,
            left_out=run.left_out,
            entities=states,
            chunks=chunks,
            source_facts=facts,
            source_facts_truncated=truncated,
            trace=trace.build(found) if run.query.trace else None,
        )

    async def _sources(self, connection: Connection, found: Found) -> dict[UUID, Hit]:
        """Read the facts that the observations among the hits stand on, those of the best ones first."""
        wanted = found.sources_of_hits()[:MOST_SOURCES]
        if not wanted:
            return {}
        run = found.run
        addresses = Addresses(
            np.array([source.document for source in wanted]), np.array([source.position for source in wanted])
        )
        units = await search.units(connection, run.bank.id, run.viewer, addresses)
        return {unit.id: hits.make(run.bank, unit, Scores(0.0)) for unit in units}
