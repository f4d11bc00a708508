"""Mental models: `work` refreshes one in a round, `preview` says what a refresh would do.

A refresh is read, thought over and written: what it read is checked in the transaction that writes, so that a crash, a
deletion or an edit meanwhile leaves the old content, or has it done again.
"""

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from memorybank.audience import Viewer
from memorybank.directives.enforcing import Checker
from memorybank.errors import DirectiveViolated, MemoryBankError, ModelMalformed, ModelRefused, ModelTruncated
from memorybank.llm.client import LanguageModel
from memorybank.llm.embedding import Embedder, RemoteEmbedder, embed
from memorybank.llm.ledger import MemoryLedger, StoredLedger
from memorybank.llm.retry import Budget, Patience
from memorybank.mental_models import pages, trigger
from memorybank.mental_models.draft import Draft, Ending, Notes
from memorybank.mental_models.evidence import FindEvidence
from memorybank.mental_models.refresh import Means, Refresh
from memorybank.model import Bank
from memorybank.operations import Outcome
from memorybank.rounds import Round
from memorybank.sections import standing
from memorybank.settings import Settings, resolve_bank, stage_model
from memorybank.storage import banks, knowledge, mental_models, models, retains
from memorybank.storage.listings import Page
from memorybank.storage.llm_calls import Caller
from memorybank.storage.mental_models import Model, Version
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.text import cut_to_tokens

#: Errors that say something of this model's refresh; any other is the provider's, and a preview raises it.
OWN = (ModelMalformed, ModelTruncated, ModelRefused, DirectiveViolated)
#: Models that a question is held against, the newest: each is read whole.
MOST = Page(1_000)


@dataclass(frozen=True)
class MentalModels:
    """The stage over a search for evidence and one language model; None is the extractive engine."""

    find: FindEvidence
    model: LanguageModel | None
    embedder: Embedder | RemoteEmbedder
    database: Database
    settings: Settings

    async def work(self, round_: Round) -> Outcome:
        """Refresh the model of an operation: the handler of `Kind.REFRESH_MENTAL_MODEL`.

        Raises the error by which it failed; the old content stands, and the operation says how it ended.
        """
        claim = round_.claim
        model = await self.database.ask(mental_models.by_number, claim.bank, claim.payload["number"])
        if model is None:
            return Outcome(error_message="the mental model was deleted meanwhile")
        if round_.over():
            return Outcome(more=True)
        try:
            draft = await self._draft(model, Caller(model.bank, model.audience_id, claim.lease.operation_id))
        except MemoryBankError:
            # Else the sweep, which knows of no failure, would ask for it again at once.
            async with round_.writing() as connection:
                await mental_models.fail(connection, model.number)
            raise
        async with round_.writing() as connection:
            if draft.error is None:
                return await self._write(connection, draft)
            await mental_models.fail(connection, model.number)
            await retains.set_result(connection, claim.lease.operation_id, draft.result())
        raise draft.error

    async def preview(self, bank: int, viewer: Viewer, id_: str) -> Draft:
        """Return what a refresh would do, and store nothing; raises NotFound, and the ModelError of a provider."""
        model = await self.database.ask(mental_models.get, bank, viewer, id_)
        text_alone = replace(model, trigger={**model.trigger, "response_schema": None})
        draft = await self._draft(text_alone, Caller(model.bank, model.audience_id))
        if draft.error is not None and not isinstance(draft.error, OWN):
            raise draft.error
        return draft

    async def question(self, asked: str) -> tuple[int, np.ndarray]:
        """Return the number of the embedding model and the vector (d,) of a question, cut where it is too long."""
        cut = cut_to_tokens(asked, self.settings.recall.query_max_tokens)
        [vector] = await embed(self.embedder, [self.settings.embeddings.query_prefix + cut])
        number = await self.database.ask(
            models.embedding_model, self.embedder.model, self.embedder.dimensions
        )
        return number, vector

    async def find_for(self, bank: Bank, question: str, viewer: Viewer) -> list[Model]:
        """Return the models that say something and come near a question, the nearest first."""
        known, _ = await self.database.ask(mental_models.list_, bank.id, viewer, mental_models.ALL, MOST)
        known = [model for model in known if model.document]
        if not known:
            return []
        asked = await self.question(question)
        near = await self.database.ask(knowledge.nearness, bank.id, viewer, asked, managed=False)
        return [one.page for one in pages.search(known, question, near, len(known))]

    async def _draft(self, model: Model, caller: Caller) -> Draft:
        bank = await self.database.ask(banks.by_number, model.bank)
        own = stage_model(self.settings, "reflect")
        patience = Patience(own.backoff_seconds, own.backoff_cap_seconds)
        attempts = self.settings.reflect.attempts
        notes = Notes()
        checker = Checker.of(self.model, self.settings, partial(notes.called, "verdict"))
        budget = partial(Budget, attempts, patience)
        means = Means(self.database, self.find, self.model, budget, own.max_output_tokens, checker)
        config = resolve_bank(self.settings.bank, bank.config)
        asked = trigger.read(model.trigger, model.tags)
        ledger = MemoryLedger(StoredLedger(self.database, caller))
        return await Refresh(means, bank, config, model, asked, ledger, notes).draft()

    async def _write(self, connection: Connection, draft: Draft) -> Outcome:
        """Store a draft where what it stands on is as it was read; else it is to be made anew."""
        model = draft.model
        live = await mental_models.live(connection, model, draft.evidence.shown)
        if not await mental_models.unchanged(connection, model):
            return Outcome(more=True)
        says_new = draft.ending is Ending.WRITTEN
        if says_new and standing(draft.document, live) != draft.document:
            return Outcome(more=True)
        asked = trigger.read(model.trigger, model.tags)
        response = (
            model.response
            if draft.ending is Ending.PRESERVED
            else draft.response(keep_trace=asked.keep_trace)
        )
        full = draft.mode == "full" and draft.ending is not Ending.PRESERVED
        made = Version(draft.document, draft.mode, full, draft.seen_at, response)
        await mental_models.write(connection, model, made, says_new=says_new)
        return Outcome(result=draft.result())
