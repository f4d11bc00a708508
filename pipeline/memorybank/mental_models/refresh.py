"""One refresh of one model up to what it would write: reads, looks for evidence, asks, checks. Writes nothing.

The first build is always whole. A delta asks about the memories that are news to the model, and about nothing where
there are none. Whatever fails is kept in the draft: the old content stands.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from memorybank import text
from memorybank.audience import Viewer
from memorybank.directives import enforcing
from memorybank.directives.enforcing import Checker, Enforced
from memorybank.errors import DirectiveViolated, InvalidInput, MemoryBankError, ModelError, ModelMalformed
from memorybank.llm.client import ChatRequest, LanguageModel
from memorybank.llm.conforming import conforming
from memorybank.llm.ledger import MemoryLedger
from memorybank.llm.retry import Budget
from memorybank.llm.structured import structured
from memorybank.mental_models import delta, extractive, prompting
from memorybank.mental_models.delta import Changed
from memorybank.mental_models.draft import ENDINGS, Draft, Ending, Notes, Reason
from memorybank.mental_models.evidence import Asked, FindEvidence
from memorybank.mental_models.prompting import Evidence, Frame
from memorybank.mental_models.schema import Reader
from memorybank.mental_models.trigger import Mode, Trigger
from memorybank.model import Bank
from memorybank.sections import Document, cited, fitted, rendered, standing
from memorybank.settings import BankConfig
from memorybank.storage import directives, mental_models
from memorybank.storage.directives import Directive
from memorybank.storage.mental_models import Model
from memorybank.storage.pool import Database

T = TypeVar("T")

#: Tokens of memories that a whole document is written from, where the trigger does not say. A delta looks at twice as
#: many for what is news among them.
EVIDENCE_TOKENS = 8_000
DELTA_REACH = 2


@dataclass(frozen=True)
class Means:
    """With what a refresh works. `model` None is the extractive engine; `budget` makes the attempts for one answer."""

    database: Database
    find: FindEvidence
    model: LanguageModel | None
    budget: Callable[[], Budget]
    max_output_tokens: int | None
    checker: Checker


@dataclass(frozen=True)
class Page(enforcing.Draft):
    """A page before it is checked, with its sections."""

    document: Document = ()


@dataclass
class Refresh:
    """One refresh on its way. `seen_at`: until when nothing is news to it."""

    means: Means
    bank: Bank
    config: BankConfig
    model: Model
    trigger: Trigger
    ledger: MemoryLedger
    notes: Notes = field(default_factory=Notes)
    directives: Sequence[Directive] = ()
    seen_at: datetime | None = None
    failure: Reason | None = None
    too_long: bool = False

    async def draft(self) -> Draft:
        """Return what the refresh comes to; only what is no ModelError is raised."""
        began = time.perf_counter()
        async with self.means.database.connection() as connection:
            self.seen_at = await mental_models.seen(connection, self.model)
            self.directives = await directives.in_scope(connection, self.bank.id, self.model.tags)
        mode, fallback = self._mode()
        made = await (self._delta() if mode == "delta" else self._whole(fallback))
        self.notes.usage = self.ledger.usage
        self.notes.duration_ms = _since(began)
        return made

    def _mode(self) -> tuple[Mode, Reason | None]:
        """Return how to build, and why not as the trigger says."""
        if self.trigger.mode == "full" or self.means.model is None or self.model.rebuild:
            return "full", None
        if not self.model.document:
            return "full", Reason.NO_BASELINE
        if self.model.built_query != self.model.source_query:
            return "full", Reason.OTHER_QUESTION
        return "delta", None

    @property
    def _frame(self) -> Frame:
        return Frame(self.config, self.directives, self.means.max_output_tokens)

    def _made(self, mode: Mode, ending: Ending, evidence: Evidence, **more: Any) -> Draft:
        values = {"document": self.model.document, "read_at": self.model.read_at, **more}
        return Draft(
            self.model,
            self.trigger.mode,
            mode,
            ending,
            evidence=evidence,
            seen_at=self.seen_at,
            notes=self.notes,
            **values,
        )

    # --- the whole document ---

    async def _whole(self, fallback: Reason | None) -> Draft:
        evidence = await self._evidence(self.trigger.recall_max_tokens or EVIDENCE_TOKENS)
        if not evidence.shown:
            return self._made("full", Ending.PRESERVED, evidence, fallback=fallback)
        if self.means.model is None:
            kept = [one for one in evidence.shown if not enforcing.breaks(self.directives, one.text)]
            document = extractive.quoted(kept, self.model.max_tokens)
            return await self._ended("full", evidence, document, fallback=fallback)
        self.failure, budget = Reason.NO_ANSWER, self.means.budget()
        request = prompting.whole(self.model, evidence, self._frame)

        def read(value: Any) -> Document:
            return self._sections(value, evidence, budget)

        try:
            document = await self._call("full", self.means.model, request, read, budget)
            if not document:
                self.failure = Reason.EMPTY
                raise ModelMalformed("the model found nothing among the facts that concerns the question")
        except ModelError as error:
            return self._failed("full", evidence, error, fallback=fallback)
        return await self._ended("full", evidence, document, fallback=fallback)

    def _sections(self, value: Any, evidence: Evidence, budget: Budget) -> Document:
        """Read a document; raises ModelMalformed where nothing of it can be used, or it is too long."""
        self.failure = Reason.EMPTY
        reader = Reader(evidence.ids)
        document = reader.sections(value)
        if not document and value.get("sections") != []:
            raise ModelMalformed("no statement of it has a text and cites a fact that was shown")
        tokens = text.count_tokens(rendered(document))
        if tokens > self.model.max_tokens and budget.left:
            raise ModelMalformed(
                f"the page has {tokens} tokens of the {self.model.max_tokens} allowed: say less"
            )
        fitting = fitted(document, self.model.max_tokens)
        if left_out := _count(document) - _count(fitting):
            reader.dropped["statement_beyond_max_tokens"] = left_out
        self.notes.dropped = reader.dropped
        return fitting

    # --- a change of the document ---

    async def _delta(self) -> Draft:
        reach = DELTA_REACH * (self.trigger.recall_max_tokens or EVIDENCE_TOKENS)
        evidence, known = await self._news(reach)
        if known == len(evidence.shown):
            return self._made("delta", Ending.PRESERVED, evidence)
        assert self.means.model is not None
        base = standing(self.model.document, evidence.ids)
        self.failure, budget = Reason.FAILED, self.means.budget()
        asked = replace(self.model, document=base)
        request = prompting.change(asked, evidence, known, self._frame)

        def read(value: Any) -> Changed:
            return self._change(value, base, evidence, known)

        try:
            changed = await self._call("delta", self.means.model, request, read, budget)
        except ModelError as error:
            return (
                await self._whole(Reason.FAILED) if self.too_long else self._failed("delta", evidence, error)
            )
        return await self._ended("delta", evidence, changed.document, changed=changed)

    def _change(self, value: Any, base: Document, evidence: Evidence, known: int) -> Changed:
        """Read a change; raises ModelMalformed where none of it can be done, or nothing would be left."""
        reader = Reader(evidence.ids)
        changed = delta.apply(base, reader.operations(value), evidence.ids[known:])
        self.notes.dropped, self.too_long = reader.dropped, False
        if not changed.useful:
            self.failure = Reason.ALL_SKIPPED
            reasons = sorted({why for _, why in changed.skipped})
            raise ModelMalformed(f"none of its operations can be done ({', '.join(reasons)})")
        if not changed.document:
            self.failure = Reason.NOT_APPLIED
            raise ModelMalformed("nothing of the page would be left")
        tokens = text.count_tokens(rendered(changed.document))
        self.too_long = tokens > self.model.max_tokens
        if self.too_long:
            self.failure = Reason.NOT_APPLIED
            raise ModelMalformed(
                f"the page would have {tokens} tokens of the {self.model.max_tokens} allowed: replace sections by"
                " shorter ones"
            )
        return changed

    async def _news(self, max_tokens: int) -> tuple[Evidence, int]:
        """Return what the document cites and what is news, and how many the former are."""
        ids, chunks = await self._search(max_tokens)
        async with self.means.database.connection() as connection:
            sources = await mental_models.shown(connection, self.model, cited(self.model.document))
            held = {one.id for one in sources}
            rest = await mental_models.shown(connection, self.model, [id_ for id_ in ids if id_ not in held])
        seen = self.model.seen_at
        # What the document cites and has changed since is no news of its own: it is shown as it is now.
        news = [one for one in rest if seen is None or one.updated_at > seen]
        changed = [one for one in sources if seen is not None and one.updated_at > seen]
        known = [one for one in sources if one not in changed]
        return Evidence((*known, *changed, *news), chunks if news or changed else ()), len(known)

    # --- steps that both share ---

    async def _ended(self, mode: Mode, evidence: Evidence, document: Document, **more: Any) -> Draft:
        """Return the draft of a document that keeps the directives, with its answer in the shape that is asked for."""
        try:
            output = await self._structure(evidence, document)
        except ModelError as error:
            self.failure = Reason.UNSTRUCTURED
            return self._failed(mode, evidence, error)
        kept = await self._enforced(evidence, document, output)
        if kept.draft is None:
            self.failure = Reason.NO_ANSWER
            more |= {"changed": None, "violations": kept.violations}
            return self._failed(mode, evidence, DirectiveViolated(_withheld(kept)), **more)
        if kept.repaired:
            mode, more["changed"] = "full", None
        document, output = kept.draft.document, kept.draft.output
        same = _plain(document) == _plain(self.model.document)
        ending = Ending.UNCHANGED if same else Ending.WRITTEN
        said = {"document": document, "candidate": document, "structured_output": output}
        return self._made(mode, ending, evidence, **said, **more)

    async def _enforced(self, evidence: Evidence, document: Document, output: Any) -> Enforced[Page]:
        """Return the page that may be written, mended where it had to be."""
        model = self.means.model

        async def mended(wish: str) -> Page | None:
            assert model is not None
            budget = self.means.budget()
            request = prompting.mended(self.model, evidence, self._frame, document, wish)

            def read(value: Any) -> Document:
                return self._sections(value, evidence, budget)

            try:
                page = await self._call("repair", model, request, read, budget)
                return _said(page, await self._structure(evidence, page))
            except ModelError as error:
                self.notes.warnings.append(error.message)
                return None

        question, repair = self.model.source_query, mended if model else None
        page = _said(document, output)
        return await enforcing.enforced(
            self.means.checker, self.directives, question, page, repair, self.ledger
        )

    def _failed(self, mode: Mode, evidence: Evidence, error: MemoryBankError, **more: Any) -> Draft:
        reason = self.failure or Reason.NO_ANSWER
        ending = ENDINGS.get(reason, Ending.ERROR)
        return self._made(mode, ending, evidence, failure=reason, error=error, **more)

    async def _structure(self, evidence: Evidence, document: Document) -> Any:
        asked = self.trigger.response_schema
        if asked is None or not document:
            return None
        if self.means.model is None:
            raise ModelMalformed("a structured answer needs a language model; set llm.model")
        request = prompting.structure(self.model, evidence, document, asked, self.means.max_output_tokens)
        return await self._call(
            "structured", self.means.model, request, conforming(asked), self.means.budget()
        )

    async def _call(
        self, scope: str, model: LanguageModel, request: ChatRequest, read: Callable[[Any], T], budget: Budget
    ) -> T:
        began = time.perf_counter()
        try:
            return await structured(model, request, read, budget, self.ledger)
        finally:
            self.notes.called(scope, _since(began))

    async def _evidence(self, max_tokens: int) -> Evidence:
        ids, chunks = await self._search(max_tokens)
        async with self.means.database.connection() as connection:
            return Evidence(tuple(await mental_models.shown(connection, self.model, ids)), chunks)

    async def _search(self, max_tokens: int) -> tuple[list[UUID], tuple[str, ...]]:
        """Return memories under the question, seen as the model's audience alone may see them, and texts of chunks."""
        began, trigger = time.perf_counter(), self.trigger
        asked = Asked(
            self.model.source_query, trigger.budget, max_tokens, trigger.chunks_max_tokens, trigger.scope
        )
        viewer = Viewer(audiences=(self.model.audience_id,))
        try:
            ids, chunks = await self.means.find(self.bank, self.config, asked, viewer)
        except InvalidInput as error:
            self.notes.warnings.append(error.message)
            ids, chunks = (), ()
        self.notes.searches.append(
            {
                "tool": "recall",
                "input": {"query": self.model.source_query, "max_tokens": max_tokens},
                "result_count": len(ids),
                "duration_ms": _since(began),
            }
        )
        return list(ids), tuple(chunks)


def _said(document: Document, output: Any) -> Page:
    """Return all that readers get of a page: each statement of it cites its memories."""
    return Page(rendered(document), output, cited=True, document=document)


def _withheld(kept: Enforced[Page]) -> str:
    """Return why nothing was written, for who may read the operation: no word of directive or page."""
    broken = ", ".join(f"{one.directive.id} ({one.rule.value})" for one in kept.violations)
    return f"the page is not written: it breaks directives of the bank, or nobody can say that it keeps them: {broken}"


def _plain(document: Document) -> list[tuple[str, list[tuple[str, frozenset[UUID]]]]]:
    """Return what a document says, whatever the order of its citations."""
    return [
        (section.name, [(one.text, frozenset(one.sources)) for one in section.statements])
        for section in document
    ]


def _count(document: Document) -> int:
    return sum(len(section.statements) for section in document)


def _since(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)
