"""Changes a fact as a person wants it: found by its new words at once, and nothing stands any more on its old ones.

The model that makes vectors is asked outside of the transaction. What was planned is written if the fact is still as it
was read; else it is planned anew, so that of two edits at once none is lost.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import Conflict
from memorybank.indexing import index_terms
from memorybank.llm.embedding import Embedder, RemoteEmbedder
from memorybank.llm.passages import passage_vectors
from memorybank.model import Bank, Source
from memorybank.retain.editing import Edit, Names, Plan, clean, planned
from memorybank.retain.naming import Named, write_names
from memorybank.retain.screening import Screen
from memorybank.retain.writing import semantic_links
from memorybank.settings import BankConfig, Settings
from memorybank.storage import consolidations, curation, entities, links, mentions, models, stated, units
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.units import indexed

#: Times that an edit is planned anew because others were quicker: each time one of them is done.
ATTEMPTS = 30


@dataclass(frozen=True)
class Curate:
    """The stage."""

    database: Database
    embedder: Embedder | RemoteEmbedder
    settings: Settings

    async def __call__(self, bank: Bank, config: BankConfig, fact: UUID, edit: Edit, viewer: Viewer) -> None:
        """Edit a fact; raises NotFound, BadRequest, InvalidInput, Blocked, and what the embedder raises."""
        edit = clean(edit, Screen.of(config.memory_defense, self.settings.retain.mask_secrets))
        for _ in range(ATTEMPTS):
            async with self.database.connection() as connection:
                stored = await curation.get(connection, bank.id, fact, viewer)
                model = await models.embedding_model(
                    connection, self.embedder.model, self.embedder.dimensions
                )
            plan = planned(stored, edit, clock.now(), free_form=config.entities_allow_free_form)
            if plan is None:
                return
            vector = await self._vector(bank.id, model, plan)
            work = _Writing(bank.id, model, plan, vector, edit.source, clock.now())
            async with self.database.transaction() as connection:
                await mentions.alone(connection, bank.id)
                if await curation.get(connection, bank.id, fact, viewer) == stored:
                    await work.write(connection, exact=not edit.resolve_entities)
                    await consolidations.queue_backlog(connection, bank.id, config)
                    return
        raise Conflict("this memory was changed as fast as it was read; try again")

    async def _vector(self, bank: int, model: int, plan: Plan) -> np.ndarray | None:
        if not plan.searched:
            return None
        text, prefix = plan.fact.text, self.settings.embeddings.passage_prefix
        return (await passage_vectors(self.database, self.embedder, (bank, model), [text], prefix))[text]


@dataclass(frozen=True)
class _Writing:
    """One fact to be written. `vector` (d,) None: it is not to be found; `source` None: that stays."""

    bank: int
    model: int
    plan: Plan
    vector: np.ndarray | None
    source: Source | None
    now: datetime

    async def write(self, connection: Connection, *, exact: bool) -> None:
        """Write the fact with all that is derived from it, and drop what stood on what it said."""
        fact = self.plan.fact
        named = await entities.of(connection, "units", [fact.id])
        with stated.rules():
            await curation.write(connection, fact, self.plan.acts, self.now)
        if self.source is not None:
            await stated.set_source(connection, fact.id, self.source)
        if self.plan.names is not None:
            await self._name(connection, self.plan.names, exact)
        await self._index(connection)
        await entities.prune(connection, self.bank, named)

    async def _name(self, connection: Connection, names: Names, exact: bool) -> None:
        fact = self.plan.fact
        await entities.keep(connection, fact.id, names.kept)
        said = Named(None, fact.document_number, fact.text, exact, [(fact.id, names.added)])
        await write_names(connection, self.bank, fact.audience_id, [said], self.now)

    async def _index(self, connection: Connection) -> None:
        fact = self.plan.fact
        await units.unindex(connection, self.bank, [fact.id])
        if self.plan.afresh:
            await curation.unlink(connection, fact.id)
            await stated.reword(connection, fact.id, list(index_terms(fact.text)))
        if self.vector is None:
            return
        place, vectors = (connection, self.bank, fact.audience_id), self.vector[np.newaxis]
        if self.plan.afresh:
            near = await semantic_links(*place, self.model, [(fact.id, fact.fact_type)], vectors)
            await links.add(connection, self.bank, near)
        address = (fact.document_number, fact.position, fact.fact_type)
        found = [indexed(fact.text, fact.mentioned_at, address)]
        await units.add_postings(*place, found)
        await units.add_vectors(*place, self.model, found, vectors)
