"""Consolidation: facts in, observations that follow them. `work` does a round; a fact is never changed by it."""

from collections import Counter
from dataclasses import dataclass

from memorybank.consolidate.deciding import ByCounting, ByModel, Decider
from memorybank.consolidate.run import Run
from memorybank.llm.client import LanguageModel
from memorybank.llm.embedding import Embedder, RemoteEmbedder
from memorybank.operations import Outcome
from memorybank.rounds import Round
from memorybank.settings import BankConfig, Settings, resolve_bank
from memorybank.storage import banks, models, retains
from memorybank.storage.pool import Database


@dataclass(frozen=True)
class Consolidate:
    """The stage over one language model; None is the extractive engine."""

    database: Database
    embedder: Embedder | RemoteEmbedder
    model: LanguageModel | None
    settings: Settings

    async def work(self, round_: Round) -> Outcome:
        """Do a round of one operation: the handler of `Kind.CONSOLIDATION`."""
        run = await self._begin(round_)
        if run.config.enable_observations and await run.consolidate():
            return Outcome(more=True)
        return await run.end()

    async def _begin(self, round_: Round) -> Run:
        """Return the operation where its last round left it."""
        claim = round_.claim
        async with self.database.connection() as connection:
            bank = await banks.by_number(connection, claim.bank)
            carried = await retains.carried(connection, claim.lease.operation_id)
            model = await models.embedding_model(connection, self.embedder.model, self.embedder.dimensions)
        config = resolve_bank(self.settings.bank, bank.config)
        asked = claim.payload.get("scopes")
        return Run(
            self.database,
            self.embedder,
            self._decider(round_, config),
            self.settings,
            round_,
            config,
            None if asked is None else [tuple(sorted(set(scope))) for scope in asked],
            model,
            Counter(carried.counts),
        )

    def _decider(self, round_: Round, config: BankConfig) -> Decider:
        if self.model is None:
            return ByCounting(self.database, config)
        operation = round_.claim.lease.operation_id
        return ByModel(self.model, self.database, self.settings, config, operation)
