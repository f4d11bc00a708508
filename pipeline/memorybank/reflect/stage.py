"""Reflect: look up, answer, check what would leave, and let it go.

With a model a loop looks up and answers (`loop`), without one the nearest facts are quoted. Whatever is made is held to
the bank's directives before a word of it leaves; what breaks one after a repair is withheld with all that came of it.
"""

import asyncio
import time
from collections.abc import Collection
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from memorybank.audience import Viewer
from memorybank.directives import rules
from memorybank.directives.checks import Language, MustCite
from memorybank.directives.enforcing import Checker, Draft, Enforced, enforced
from memorybank.errors import BadRequest, DirectiveViolated, ModelError, TimedOut
from memorybank.llm.client import LanguageModel
from memorybank.llm.ledger import StoredLedger
from memorybank.model import Bank, Hit
from memorybank.reflect import extractive, handing, unknown
from memorybank.reflect.answering import Answering
from memorybank.reflect.citations import Answer
from memorybank.reflect.handing import Basis
from memorybank.reflect.loop import Loop
from memorybank.reflect.query import (
    FindModels,
    Recall,
    Reflection,
    ReflectQuery,
    Search,
    Step,
    UsedModel,
    Watch,
)
from memorybank.reflect.run import Run, Spending
from memorybank.reflect.searching import Searcher
from memorybank.settings import BankConfig, Settings
from memorybank.storage import directives
from memorybank.storage.llm_calls import Caller
from memorybank.storage.pool import Database

#: What the checks and repairs of an answer are called among its model calls.
VERDICT, REPAIR = "directive_verdict", "repair"
#: Why there is no structured answer where nothing was found.
NOTHING_TO_FILL = "nothing is remembered that could fill the schema"


@dataclass(frozen=True)
class Made(Draft):
    """An answer before it is checked. `answer`: as the model wrote it; `based`: what it rests on."""

    answer: Answer = field(kw_only=True)
    output_error: str | None = None
    based: tuple[Basis, ...] = ()


@dataclass(frozen=True)
class Reflect:
    """Reflect over recall, mental models and one language model; None is the extractive engine."""

    recall: Recall
    models: FindModels
    model: LanguageModel | None
    database: Database
    settings: Settings

    async def __call__(
        self, bank: Bank, config: BankConfig, query: ReflectQuery, viewer: Viewer, watch: Watch | None = None
    ) -> Reflection:
        """Answer a question; `watch` is told of each step.

        Raises InvalidInput on a wrong query, BadRequest for a structured answer without a model, TimedOut when it takes
        too long, DirectiveViolated where the settings want that, and the ModelError of the last attempt.
        """
        checked = query.check()
        if checked.response_schema is not None and self.model is None:
            raise BadRequest(
                "a structured answer needs a language model; set llm.model", loc=("body", "response_schema")
            )
        try:
            async with asyncio.timeout(self.settings.reflect.timeout_seconds):
                run = await self._begun(bank, config, checked, viewer, watch)
                made = await (self._quoted(run) if self.model is None else self._made(run, self.model))
                return await self._released(run, made)
        except TimeoutError as error:
            raise TimedOut(
                f"the answer took more than {self.settings.reflect.timeout_seconds:g} seconds"
            ) from error

    async def _begun(
        self, bank: Bank, config: BankConfig, query: ReflectQuery, viewer: Viewer, watch: Watch | None
    ) -> Run:
        tags, everything = query.scope.tags, query.apply_all_directives
        async with self.database.connection() as connection:
            held = await directives.in_scope(connection, bank.id, tags, everything=everything)
        spending = Spending(StoredLedger(self.database, Caller(bank.id)), settings=self.settings)
        return Run(bank, config, query, viewer, spending, held, watch)

    # --- an answer ---

    async def _made(self, run: Run, model: LanguageModel) -> Made:
        answering = Answering(run, model)
        answer = await Loop(run, Searcher(run, self.recall, self.models, self.database), model).answer()
        if not run.notebook.notes:
            return await self._unknown(run, answering)
        return await _finished(answering, await answering.fitted(answer or await answering.final()))

    async def _unknown(self, run: Run, answering: Answering) -> Made:
        """Say that nothing is known: in the words of a model only where the bank names a language."""
        codes = [check.code for check in _checks(run) if isinstance(check, Language)]
        answer = Answer(unknown.said(run.query.query, codes))
        if run.config.llm_output_language and not codes:
            answer = await _spoken(answering) or answer
        return _nothing(run, answer)

    async def _quoted(self, run: Run) -> Made:
        """Return the nearest facts word for word."""
        query = run.query
        types = query.scope.types(*extractive.TYPES)
        search = Search(query.query, query.budget, types, run.config.recall_max_tokens, query.scope)
        began = time.perf_counter()
        found = await self.recall(run.bank, run.config, search, run.viewer)
        took = round((time.perf_counter() - began) * 1000)
        text, used = extractive.quoted(found, query.max_tokens)
        memories = [{"id": str(fact.id), "text": fact.text, "type": fact.fact_type} for fact in found]
        asked = {"query": query.query, "max_tokens": search.max_tokens}
        run.done(Step("recall", asked, {"memories": memories}, took, 0, len(found)))
        return Made(text, cited=True, handed=handing.lines(used), answer=Answer(text), based=used)

    # --- what may leave ---

    async def _released(self, run: Run, made: Made) -> Reflection:
        """Hold an answer to the directives; one that breaks some is repaired once, else withheld."""
        budget = partial(run.spending.budget, self.settings.reflect.verdict_attempts)
        checker = replace(Checker.of(self.model, self.settings), budget=budget)

        async def repair(verdict: str) -> Made | None:
            mended = await self._repaired(run, made, verdict)
            run.spending.about(VERDICT)
            return mended

        run.spending.about(VERDICT)
        ended = await enforced(checker, run.directives, run.query.query, made, repair, run.spending)
        return (
            self._withheld(run, ended) if ended.draft is None else _answered(run, ended.draft, ended.hidden)
        )

    async def _repaired(self, run: Run, made: Made, verdict: str) -> Made | None:
        """Return another answer after a verdict; None where there is none."""
        if self.model is None:
            return None
        answering = Answering(run, self.model)
        turns = ({"role": "assistant", "content": made.answer.text}, {"role": "user", "content": verdict})
        try:
            if not run.notebook.notes:
                spoken = await _spoken(answering, REPAIR, turns)
                return _nothing(run, spoken) if spoken else None
            answer = await answering.final(REPAIR, turns)
            return await _finished(answering, answer.within(run.query.max_tokens))
        except ModelError:
            return None

    def _withheld(self, run: Run, ended: Enforced[Made]) -> Reflection:
        """Return a refusal and nothing of what is withheld: steps by name alone, for what was asked says something too.

        Raises DirectiveViolated where the settings want an error.
        """
        if self.settings.reflect.on_violation == "error":
            raise DirectiveViolated(ended.refusal)
        return Reflection(
            ended.refusal,
            usage=run.spending.usage,
            steps=tuple(replace(step, input={}, output={}) for step in run.steps),
            calls=tuple(run.spending.asked),
            broken=tuple(one.told() for one in ended.violations),
        )


async def _finished(answering: Answering, answer: Answer) -> Made:
    """Return all that would leave of an answer; where a directive wants it cited, its sources are shown."""
    run = answering.run
    output, error = await answering.structure(answer)
    shows = any(isinstance(check, MustCite) for check in _checks(run))
    text = answer.with_sources(run.notebook) if shows else answer.plain
    based = handing.basis(run.notes(answer.numbers))
    cited, handed = answer.cites(run.notebook), handing.lines(based)
    return Made(text, output, cited, handed, error, based, answer=answer)


async def _spoken(answering: Answering, scope: str = "final", turns: Any = ()) -> Answer | None:
    """Return how a model says that nothing is known; None where it quotes a directive, having nothing else to tell."""
    answer = await answering.final(scope, turns)
    contents = [one.content for one in answering.run.directives]
    return None if unknown.quotes(answer.plain, contents) else Answer(answer.plain)


def _nothing(run: Run, answer: Answer) -> Made:
    """Return an answer that states nothing."""
    said = answer.within(run.query.max_tokens)
    error = NOTHING_TO_FILL if run.query.response_schema else None
    return Made(said.text, cited=True, answer=said, output_error=error)


def _checks(run: Run) -> list[Any]:
    """Return what code can check of the directives."""
    return [check for directive in run.directives for check in rules.read(directive.content).checks]


def _answered(run: Run, made: Made, hidden: Collection[int]) -> Reflection:
    based = handing.shown(made.based, hidden)
    return Reflection(
        text=made.text,
        facts=tuple(one for one in based if isinstance(one, Hit)),
        models=tuple(one for one in based if isinstance(one, UsedModel)),
        directives=tuple(run.directives),
        structured_output=made.output,
        structured_output_error=made.output_error,
        usage=run.spending.usage,
        steps=handing.steps(run.steps, run.directives),
        calls=tuple(run.spending.asked),
    )
