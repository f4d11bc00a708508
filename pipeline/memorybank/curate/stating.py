"""Keeps what somebody states, word for word: found at once, by meaning, words and names, when the call returns.

Nothing reads the text but the rules that find names: no model is asked, so it costs one vector. That is made outside of
the transaction, which writes everything else.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import numpy as np

from memorybank import clock
from memorybank.audience import Surface, Viewer
from memorybank.errors import Blocked, InvalidInput
from memorybank.ids import new_id
from memorybank.indexing import index_terms, text_hash
from memorybank.llm.embedding import Embedder, RemoteEmbedder
from memorybank.llm.extractive import names
from memorybank.llm.passages import passage_vectors
from memorybank.model import Bank, EntityInput, Fact, RetainItem
from memorybank.retain.curating import Curate
from memorybank.retain.editing import Edit
from memorybank.retain.facts import statement as same_statement
from memorybank.retain.naming import Named, write_names
from memorybank.retain.screening import Screen, Violation
from memorybank.retain.writing import semantic_links
from memorybank.settings import BankConfig, Settings
from memorybank.storage import (
    audiences,
    consolidations,
    forget,
    links,
    mentions,
    models,
    stated,
    units,
    vector_index,
)
from memorybank.storage.forget import Erasure
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection
from memorybank.storage.stated import Statement
from memorybank.storage.units import indexed
from memorybank.text import normalize, visible


@dataclass(frozen=True)
class Ready:
    """A statement that can be written: `vector` (d,) is that of its text, `model` made it; it names `named`."""

    bank: int
    model: int
    statement: Statement
    vector: np.ndarray
    named: tuple[EntityInput, ...]

    async def write(self, connection: Connection) -> UUID:
        """Write it with all that it is found by, and return its id; raises MemoryFull, and what a fact breaks.

        Several in one transaction: under `mentions.alone`, or two of these could wait for each other.
        """
        said, now, id_ = self.statement, clock.now(), new_id()
        known_by = text_hash(self._statement)
        audience = await audiences.ensure(connection, self.bank, said.audience)
        await stated.hold_place(connection, said.source.place)
        await mentions.beside(connection, self.bank, audience, [known_by])
        told: dict[str, Any] = {"statement": known_by, "terms": sorted(index_terms(said.text)), "now": now}
        number = await stated.add(connection, self.bank, audience, id_, stated.columns(said) | told)
        found = indexed(said.text, said.source.at, (number, 0, str(said.fact_type)))
        place, vectors = (connection, self.bank, audience), self.vector[np.newaxis]
        near = await semantic_links(*place, self.model, [(id_, found.fact_type)], vectors)
        await units.add_postings(*place, [found])
        await units.add_vectors(*place, self.model, [found], vectors)
        await links.add(connection, self.bank, near)
        await write_names(*place, [Named(None, number, said.text, False, [(id_, self.named)])], now)
        return id_

    @property
    def _statement(self) -> str:
        """What the memory is known by when it is said again. No document says an entry: that goes with its value."""
        statement = same_statement(Fact(self.statement.text, self.statement.fact_type))
        return f"{Surface.KV} {statement}" if self.statement.surface is Surface.KV else statement


@dataclass(frozen=True)
class Stating:
    """The stage."""

    database: Database
    embedder: Embedder | RemoteEmbedder
    settings: Settings
    curate: Curate

    async def ready(self, bank: Bank, config: BankConfig, statements: Sequence[Statement]) -> list[Ready]:
        """Return statements as they can be written, without secrets; raises Blocked, InvalidInput, and what the
        embedder raises.
        """
        screen = Screen.of(config.memory_defense, self.settings.retain.mask_secrets)
        clean = [_clean(statement, screen, index) for index, statement in enumerate(statements)]
        async with self.database.connection() as connection:
            model = await models.embedding_model(connection, self.embedder.model, self.embedder.dimensions)
        texts, prefix = [one.text for one in clean], self.settings.embeddings.passage_prefix
        vectors = await passage_vectors(self.database, self.embedder, (bank.id, model), texts, prefix)
        free = config.entities_allow_free_form
        return [
            Ready(
                bank.id,
                model,
                one,
                vectors[one.text],
                tuple(map(EntityInput, names(one.text) if free else ())),
            )
            for one in clean
        ]

    async def keep(self, bank: Bank, config: BankConfig, statement: Statement) -> UUID:
        """Keep a statement and return its id; raises what `ready` and `Ready.write` raise."""
        [ready] = await self.ready(bank, config, [statement])
        async with self.database.transaction() as connection:
            id_ = await ready.write(connection)
            await consolidations.queue_backlog(connection, bank.id, config)
        return id_

    async def queue_indexes(self) -> int:
        """Have banks that grew past exact search given an index of their own, as retain does; return how many."""
        async with self.database.transaction() as connection:
            model = await models.embedding_model(connection, self.embedder.model, self.embedder.dimensions)
            return await vector_index.sweep(connection, model, self.settings.recall.exact_units)

    async def change(self, bank: Bank, config: BankConfig, memory: UUID, edit: Edit, viewer: Viewer) -> None:
        """Correct a memory, or give it another status; raises NotFound, WrongState and what correcting raises."""
        await self.curate(bank, config, memory, edit, viewer)

    async def pin(self, bank: Bank, memory: UUID, viewer: Viewer, pinned: bool) -> None:
        """Put a pin on a memory, or take it away; raises NotFound."""
        async with self.database.transaction() as connection:
            await stated.pin(connection, bank.id, memory, viewer, pinned, clock.now())

    async def forget(self, bank: Bank, config: BankConfig, memory: UUID, viewer: Viewer) -> Erasure:
        """Forget a memory with all that stands on it, and return what went; raises NotFound."""
        async with self.database.transaction() as connection:
            erased = await forget.one(connection, bank.id, memory, viewer, clock.now())
            await consolidations.queue_backlog(connection, bank.id, config)
        return erased


def _clean(statement: Statement, screen: Screen, index: int) -> Statement:
    """Return a statement as it may be stored."""
    text = normalize(statement.text)
    if not visible(text).strip():
        raise InvalidInput("text must not be blank", loc=("body", "text"), value=statement.text)
    own = statement.taxonomy
    # What is screened of an item is its text, its context, and its metadata.
    said = dict.fromkeys(_texts({} if own is None else own.metadata))
    thought = "" if own is None else normalize(own.thought)
    item = RetainItem(
        text, None, context=thought, metadata={str(at): normalize(one) for at, one in enumerate(said)}
    )
    screened, found = screen.item(item)
    if found and screen.blocks:
        raise Blocked([vars(Violation.of(index, found))])
    if own is not None:
        clean = dict(zip(said, screened.metadata.values(), strict=True))
        own = replace(own, thought=screened.context, metadata=_worded(own.metadata, clean))
    return replace(statement, text=screened.content, taxonomy=own)


def _texts(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, keys too."""
    if isinstance(value, str):
        yield value
    for inner in (
        (*value, *value.values()) if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from _texts(inner)


def _worded(value: Any, words: Mapping[str, str]) -> Any:
    """Return a JSON value with other words for its texts."""
    if isinstance(value, str):
        return words[value]
    if isinstance(value, dict):
        return {words[key]: _worded(inner, words) for key, inner in value.items()}
    return [_worded(inner, words) for inner in value] if isinstance(value, list) else value
