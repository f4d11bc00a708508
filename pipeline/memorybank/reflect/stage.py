"""Reflect, first version: one search, then one answer from the facts found, then, if asked for, its structured form.

Without a model the facts are quoted. Without facts no model is asked: there is nothing to answer from.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memorybank import templates
from memorybank.audience import Viewer
from memorybank.errors import BadRequest, ModelError, ModelMalformed, TimedOut
from memorybank.llm.client import ChatRequest, LanguageModel
from memorybank.llm.ledger import Ledger, MemoryLedger
from memorybank.llm.retry import Budget, Patience
from memorybank.llm.stored_ledger import StoredLedger
from memorybank.llm.structured import structured, written
from memorybank.model import Bank, Hit
from memorybank.reflect import citations, extractive
from memorybank.reflect.query import Asked, Evidence, Recall, Reflection, ReflectQuery, Searched
from memorybank.settings import BankConfig, Settings, stage_model
from memorybank.storage.llm_calls import Caller
from memorybank.storage.pool import Database

#: What is answered from a bank that holds nothing on the matter.
UNKNOWN = "I do not know: no memory is stored that could answer this."
#: Name of the schema of a structured answer.
STRUCTURED = "structured_answer"


@dataclass
class _Run:
    """One question on its way, and what was done for it."""

    bank: Bank
    config: BankConfig
    query: ReflectQuery
    viewer: Viewer
    ledger: MemoryLedger
    searches: list[Searched] = field(default_factory=list)
    calls: list[Asked] = field(default_factory=list)


@dataclass(frozen=True)
class Reflect:
    """Reflect over recall and one language model; None is the extractive engine."""

    recall: Recall
    model: LanguageModel | None
    database: Database
    settings: Settings

    async def __call__(
        self, bank: Bank, config: BankConfig, query: ReflectQuery, viewer: Viewer
    ) -> Reflection:
        """Answer a question.

        Raises InvalidInput on a wrong query, BadRequest for a structured answer without a model, TimedOut
        when it takes too long, and the ModelError of the last attempt.
        """
        checked = query.check()
        if checked.response_schema is not None and self.model is None:
            raise BadRequest(
                "a structured answer needs a language model; set llm.model", loc=("body", "response_schema")
            )
        run = _Run(bank, config, checked, viewer, MemoryLedger(self._stored(bank)))
        try:
            async with asyncio.timeout(self.settings.reflect.timeout_seconds):
                return await self._reflect(run)
        except TimeoutError as error:
            raise TimedOut(
                f"the answer took more than {self.settings.reflect.timeout_seconds:g} seconds"
            ) from error

    def _stored(self, bank: Bank) -> Ledger:
        return StoredLedger(self.database, Caller(bank.id))

    async def _reflect(self, run: _Run) -> Reflection:
        facts = await self._search(run)
        if self.model is None:
            text, used = extractive.quoted(facts, run.query.max_tokens)
            return Reflection(text, used, searches=tuple(run.searches))
        if not facts:
            return Reflection(UNKNOWN, searches=tuple(run.searches))
        answer = await self._answer(run, self.model, facts)
        output, error = await self._structure(run, self.model, facts, answer)
        return Reflection(
            text=citations.shortened(citations.plain(answer), run.query.max_tokens),
            facts=citations.cited(answer, facts) or tuple(facts),
            structured_output=output,
            structured_output_error=error,
            usage=run.ledger.usage,
            searches=tuple(run.searches),
            calls=tuple(run.calls),
        )

    async def _search(self, run: _Run) -> Sequence[Hit]:
        query = run.query
        began = time.perf_counter()
        evidence = Evidence(query.query, query.budget, run.config.recall_max_tokens, query.scope)
        facts = await self.recall(run.bank, run.config, evidence, run.viewer)
        run.searches.append(Searched(query.query, tuple(fact.id for fact in facts), _since(began)))
        return facts

    async def _answer(self, run: _Run, model: LanguageModel, facts: Sequence[Hit]) -> str:
        """Return the model's answer with its citations."""
        prompt = templates.load("reflect", "answer").render(
            mission=run.config.reflect_mission or "",
            directives="",
            disposition=_disposition(run.config),
            language="",
            context=run.query.context,
            facts=citations.numbered(facts),
            question=run.query.query,
        )
        began = time.perf_counter()
        reply = await written(model, self._request(prompt), self._budget(), run.ledger)
        run.calls.append(Asked("final", _since(began)))
        return templates.unescaped(reply.content)

    async def _structure(
        self, run: _Run, model: LanguageModel, facts: Sequence[Hit], answer: str
    ) -> tuple[Mapping[str, Any] | None, str | None]:
        """Return the answer in the shape asked for, or why it could not be put into it: the text stands anyway."""
        schema = run.query.response_schema
        if schema is None:
            return None, None
        prompt = templates.load("reflect", "structure").render(
            facts=citations.numbered(facts), draft=citations.plain(answer), question=run.query.query
        )
        request = self._request(prompt, dict(schema))
        began = time.perf_counter()
        try:
            output = await structured(model, request, _object, self._budget(), run.ledger)
        except ModelError as error:
            return None, error.message
        finally:
            run.calls.append(Asked("structured", _since(began)))
        return output, None

    def _request(self, prompt: templates.Rendered, schema: dict[str, Any] | None = None) -> ChatRequest:
        return ChatRequest(
            stage="reflect",
            system=prompt.system,
            user=prompt.user,
            schema_name=STRUCTURED if schema is not None else None,
            schema=schema,
            max_output_tokens=stage_model(self.settings, "reflect").max_output_tokens,
        )

    def _budget(self) -> Budget:
        own = stage_model(self.settings, "reflect")
        return Budget(self.settings.reflect.attempts, Patience(own.backoff_seconds, own.backoff_cap_seconds))


def _disposition(config: BankConfig) -> str:
    """Return the traits in words; empty where the bank sets none."""
    traits = {
        "skepticism": config.disposition_skepticism,
        "literalism": config.disposition_literalism,
        "empathy": config.disposition_empathy,
    }
    named = [f"{name} {value} of 5" for name, value in traits.items() if value is not None]
    return ", ".join(named)


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict) or not value:
        raise ModelMalformed("the reply is no JSON object with fields")
    return value


def _since(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)
