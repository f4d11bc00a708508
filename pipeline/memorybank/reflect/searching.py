"""The tools at work. Every search stands under the scope and the viewer of the question, whatever a model asks for."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from memorybank.errors import InvalidInput, TimedOut
from memorybank.model import FactType, Hit
from memorybank.reflect import prompting, tools
from memorybank.reflect.notebook import Page, joined
from memorybank.reflect.query import TOLD, FindModels, Recall, Search, Step
from memorybank.reflect.run import Run
from memorybank.reflect.tools import Call
from memorybank.sections import Document, cited, standing
from memorybank.storage import observations, reflecting
from memorybank.storage.mental_models import Model
from memorybank.storage.pool import Database
from memorybank.timeline.stamps import day

#: Tokens of mental models that one search shows.
MODEL_TOKENS = 2_000
#: Facts waiting for consolidation from which on observations are stale: below, slightly so.
STALE = 10
#: Best facts whose texts are shown around them: further ones would not fit anyhow.
TEXTS_OF = 10
#: Tokens that looking behind facts shows, and chunks to each side where the whole document is asked for.
EXPANDED_TOKENS, DOCUMENT_STEPS = 4_000, 20
#: Earlier states of an observation that are shown.
VERSIONS = 5


@dataclass(frozen=True)
class Text:
    """A text behind a fact: what it was drawn from, or, with the day it was said, what an observation said before."""

    fact: UUID
    text: str
    said: str | None = None


@dataclass(frozen=True)
class Looked:
    """What one call found, before it is numbered."""

    call: Call
    facts: Sequence[Hit] = ()
    models: Sequence[tuple[Model, Document]] = ()
    texts: Sequence[Text] = ()
    text_tokens: int = 0
    freshness: str = ""
    problem: str | None = None
    duration_ms: int = 0


@dataclass(frozen=True)
class Searcher:
    """The tools of one question."""

    run: Run
    recall: Recall
    models: FindModels
    database: Database

    async def look(self, call: Call, *, first: bool = False) -> Looked:
        """Do one call. What a model asks wrongly is told to it; in the `first` look it is the caller's fault."""
        began = time.perf_counter()
        try:
            found = Looked(call, problem=call.problem) if call.problem else await self._do(call)
        except (InvalidInput, TimedOut) as error:
            if first:
                raise
            found = Looked(call, problem=error.message)
        return replace(found, duration_ms=round((time.perf_counter() - began) * 1000))

    async def _do(self, call: Call) -> Looked:
        match call.tool:
            case "search_mental_models":
                return await self._models(call)
            case "search_observations":
                return await self._observations(call)
            case "recall":
                return await self._recall(call)
            case _:
                return await self._expand(call)

    async def _models(self, call: Call) -> Looked:
        run, count = self.run, call.number("max_results", tools.MODELS, 1, tools.MOST_MODELS)
        scope, excluded = run.query.scope, set(run.query.exclude_mental_model_ids)
        found = await self.models(run.bank, call.text("query"), run.viewer)
        allowed = [one for one in found if one.document and one.id not in excluded and scope.passes(one.tags)]
        shown = [(one, await self._in_scope(one.document)) for one in allowed[:count]]
        return Looked(call, models=[(one, document) for one, document in shown if document])

    async def _in_scope(self, document: Document) -> Document:
        """Return what of a document stands on facts that may be looked at alone."""
        scope = self.run.query.scope
        if scope.condition is None and scope.fact_types is None:
            return document
        return standing(document, [fact.id for fact in await self._facts(cited(document))])

    async def _facts(self, ids: Sequence[UUID]) -> list[Hit]:
        """Return those of the facts that may be looked at."""
        if not ids:
            return []
        async with self.database.connection() as connection:
            found = await reflecting.facts(connection, self.run.bank.id, self.run.viewer, ids)
        return [fact for fact in found if self.run.query.scope.admits(fact)]

    async def _observations(self, call: Call) -> Looked:
        least = tools.LEAST_OBSERVATION_TOKENS
        most = call.number("max_tokens", tools.OBSERVATION_TOKENS, least, tools.MOST_TOKENS)
        found = await self._search(call, self.run.query.scope.types(FactType.OBSERVATION), most)
        if not found:
            return Looked(call)
        async with self.database.connection() as connection:
            waiting = await reflecting.waiting(connection, self.run.bank.id, self.run.viewer, STALE)
        freshness = "up_to_date" if not waiting else "slightly_stale" if waiting < STALE else "stale"
        sources = await self._behind(found, self.run.config.reflect_source_facts_max_tokens)
        return Looked(call, facts=[*found, *sources], freshness=freshness)

    async def _behind(self, observations: Sequence[Hit], max_tokens: int) -> list[Hit]:
        """Return the facts that observations stand on, the first ones that so many tokens have room for."""
        wanted = [id_ for one in observations for id_ in one.source_fact_ids] if max_tokens > 0 else []
        fitting: list[Hit] = []
        for fact in await self._facts(wanted):
            max_tokens -= self.run.notebook.cost(fact)
            if max_tokens < 0:
                break
            fitting.append(fact)
        return fitting

    async def _recall(self, call: Call) -> Looked:
        config = self.run.config
        most = call.number("max_tokens", config.recall_max_tokens, tools.LEAST_TOKENS, tools.MOST_TOKENS)
        found = await self._search(call, self.run.query.scope.types(*TOLD), most)
        chunk_tokens = call.number("max_chunk_tokens", config.recall_chunks_max_tokens, 0, tools.MOST_TOKENS)
        if not config.recall_include_chunks or not chunk_tokens:
            return Looked(call, facts=found)
        texts = await self._texts([fact.id for fact in found[:TEXTS_OF]], 0)
        return Looked(call, facts=found, texts=texts, text_tokens=chunk_tokens)

    async def _search(self, call: Call, types: tuple[str, ...], max_tokens: int) -> Sequence[Hit]:
        run = self.run
        search = Search(
            call.text("query"), run.query.budget, types, max_tokens, run.query.scope, run.notebook.cost
        )
        return await self.recall(run.bank, run.config, search, run.viewer) if types else ()

    async def _texts(self, ids: Sequence[UUID], steps: int) -> list[Text]:
        """Return texts around facts, where texts may be looked at: those retained under tags that pass."""
        scope = self.run.query.scope
        if not ids or not scope.types(*TOLD):
            return []
        async with self.database.connection() as connection:
            found = await reflecting.around(connection, self.run.bank.id, self.run.viewer, ids, steps)
        return [Text(one.fact, one.text) for one in found if scope.passes(one.tags)]

    async def _expand(self, call: Call) -> Looked:
        notes = self.run.notes(call.numbers("memory_ids"))[: tools.MOST_EXPANDED]
        facts = [note.fact for note in notes if note.fact is not None]
        if not facts:
            return Looked(call, problem="memory_ids names no fact that was shown")
        steps = DOCUMENT_STEPS if call.text("depth") == "document" else 0
        told = [fact.id for fact in facts if fact.fact_type is not FactType.OBSERVATION]
        concluded = [fact for fact in facts if fact.fact_type is FactType.OBSERVATION]
        sources = await self._behind(concluded, EXPANDED_TOKENS)
        texts = [one for fact in concluded for one in await self._versions(fact.id)]
        texts += await self._texts([*told, *(fact.id for fact in sources)], steps)
        return Looked(call, facts=sources, texts=texts, text_tokens=EXPANDED_TOKENS)

    async def _versions(self, observation: UUID) -> list[Text]:
        async with self.database.connection() as connection:
            rows = await observations.versions(connection, observation, self.run.viewer)
        scope = self.run.query.scope
        return [
            Text(observation, row["text"], day(row["mentioned_at"]))
            for row in rows[:VERSIONS]
            if scope.passes(row["tags"])
        ]

    def told(self, looked: Looked, iteration: int) -> str:
        """Number what a call found, take note of the step, and return it as the model gets it."""
        notebook = self.run.notebook
        page = joined(
            [
                notebook.add_models(looked.models, MODEL_TOKENS),
                notebook.add_facts(looked.facts),
                notebook.add_chunks(
                    ((one.fact, one.text, one.said) for one in looked.texts), looked.text_tokens
                ),
            ]
        )
        self.run.done(_step(looked, page, iteration))
        if looked.problem:
            return f"This call failed: {looked.problem}."
        return prompting.result(page, looked.freshness, self.run.nonce)


def _step(looked: Looked, page: Page, iteration: int) -> Step:
    output = {
        "memories": [{"id": str(one.id), "text": one.text, "type": one.fact_type} for one in looked.facts],
        "mental_models": [{"id": model.id, "name": model.name} for model, _ in looked.models],
        "chunks": len(page.chunks),
        "freshness": looked.freshness,
        "error": looked.problem,
    }
    return Step(
        # A name that is none is the model's own words, which may leave no more than its answer does.
        tool=looked.call.tool if looked.call.tool in tools.NAMES else tools.UNKNOWN,
        input=looked.call.arguments,
        output={name: value for name, value in output.items() if value},
        duration_ms=looked.duration_ms,
        iteration=iteration,
        count=len(looked.facts) + len(looked.models) + len(page.chunks),
    )
