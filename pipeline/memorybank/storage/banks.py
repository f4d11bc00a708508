"""Banks: the outer wall around everything remembered."""

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from psycopg.types.json import Jsonb

from memorybank.audience import Viewer
from memorybank.errors import InvalidInput, NotFound
from memorybank.model import Bank
from memorybank.storage import mentions, operations
from memorybank.storage.queries import Connection, Row, execute, fetch_all, fetch_one, fetch_row
from memorybank.text import normalize

#: Longest id of a bank, in characters: PostgreSQL cannot index longer ones (2,700 bytes).
MAX_ID_CHARS = 512


def stored_id(bank_id: str) -> str:
    """Return the id of a bank as it may be stored; raises InvalidInput for one that cannot be."""
    stored = unicodedata.normalize("NFC", bank_id)
    strange = stored != normalize(bank_id) or "\n" in stored or "\t" in stored
    if strange or not stored.strip() or len(stored) > MAX_ID_CHARS:
        raise InvalidInput(
            f"a bank_id has 1 to {MAX_ID_CHARS} characters, none of them a control character",
            loc=("path", "bank_id"),
            value=bank_id,
        )
    return stored


#: What goes with a bank, in this order; the rest by foreign key.
DELETED = "mental_models knowledge_folders postings embeddings unit_links unit_entities observations units documents"


@dataclass(frozen=True)
class BankListing:
    """A bank in the list: what it holds, as far as the viewer may see."""

    bank: Bank
    fact_count: int
    last_document_at: datetime | None
    last_write_at: datetime | None


@dataclass(frozen=True)
class BankPage:
    """One page of the list and how many banks match in all."""

    banks: tuple[BankListing, ...]
    total: int


@dataclass(frozen=True)
class Deleted:
    """What went with a bank; `indexed`: it had an index of its own, which is still to be dropped."""

    units: int = 0
    entities: int = 0
    documents: int = 0
    indexed: bool = False

    @property
    def total(self) -> int:
        """Units, entities and documents together: the wire's `deleted_count`."""
        return self.units + self.entities + self.documents


async def ensure(connection: Connection, bank_id: str, now: datetime) -> Bank:
    """Return a bank, making it and its `bank` audience on first use; the name begins as the id.

    Raises InvalidInput for an id that is blank or longer than MAX_ID_CHARS; NotFound when it is deleted meanwhile.
    """
    if not bank_id.strip() or len(bank_id) > MAX_ID_CHARS:
        raise InvalidInput(f"bank_id must have 1 to {MAX_ID_CHARS} characters", loc=("path", "bank_id"))
    row = await fetch_one(connection, "banks.get", {"bank_id": bank_id})
    if row is None:
        await execute(connection, "banks.add", {"bank_id": bank_id, "now": now})
        row = await fetch_one(connection, "banks.get", {"bank_id": bank_id})
    return _found(row, bank_id)


async def get(connection: Connection, bank_id: str) -> Bank:
    """Return a bank; raises NotFound."""
    return _found(await fetch_one(connection, "banks.get", {"bank_id": bank_id}), bank_id)


async def by_number(connection: Connection, bank: int) -> Bank:
    """Return the bank with this inner number; raises NotFound."""
    return _found(await fetch_one(connection, "banks.by_number", {"bank": bank}), str(bank))


async def lock(connection: Connection, bank_id: str) -> Bank:
    """Return a bank and hold it until the transaction ends, so that what was read can be changed; raises NotFound."""
    return _found(await fetch_one(connection, "banks.lock", {"bank_id": bank_id}), bank_id)


async def set_name(connection: Connection, bank: Bank, name: str, now: datetime) -> Bank:
    """Name a bank."""
    return _bank(await fetch_row(connection, "banks.set_name", {"bank": bank.id, "name": name, "now": now}))


async def set_config(connection: Connection, bank: Bank, config: Mapping[str, Any], now: datetime) -> Bank:
    """Replace a bank's overrides."""
    parameters = {"bank": bank.id, "config": Jsonb(dict(config)), "now": now}
    return _bank(await fetch_row(connection, "banks.set_config", parameters))


async def list_(connection: Connection, viewer: Viewer, q: str | None, limit: int, offset: int) -> BankPage:
    """Return banks that the viewer knows of whose id or name contains `q`, the one written to last first."""
    known = {"known": None if viewer.banks is None else list(viewer.banks)}
    parameters = {"q": q, "limit": limit, "offset": offset, **viewer.parameters(), **known}
    rows = await fetch_all(connection, "banks.page", parameters)
    total = await fetch_row(connection, "banks.count", {"q": q, **known})
    return BankPage(tuple(_listing(row) for row in rows), int(total["total"]))


async def default_audience(connection: Connection, bank: int) -> int:
    """Return the audience of whoever may use the bank: where retain writes unless told otherwise; raises NotFound."""
    row = await fetch_one(connection, "banks.default_audience", {"bank": bank})
    if row is None:
        raise NotFound("the bank was deleted meanwhile")
    return int(row["id"])


async def delete(connection: Connection, bank_id: str) -> Deleted:
    """Delete a bank with all it holds and return how much that was; an unknown bank is no error.

    Runs in the caller's transaction. Locks come first, in the order of all writers: the bank, so that no work is
    added; its operations, so that work in flight ends (whose row goes writes nothing more); its facts; its documents.
    """
    row = await fetch_one(connection, "banks.get", {"bank_id": bank_id})
    if row is None:
        return Deleted()
    bank = {"bank": row["id"]}
    if await fetch_one(connection, "banks.close", bank) is None:
        return Deleted()
    await operations.lock_bank(connection, row["id"])
    await mentions.alone(connection, row["id"])
    await execute(connection, "banks.lock_documents", bank)
    counts = await fetch_row(connection, "banks.held", bank)
    for table in DELETED.split():
        await execute(connection, f"banks.delete_{table}", bank)
    await operations.delete_bank(connection, row["id"])
    await execute(connection, "banks.delete", bank)
    return Deleted(**counts, indexed=row["indexed_model"] is not None)


def _found(row: Row | None, bank_id: str) -> Bank:
    if row is None:
        raise NotFound(f"Bank '{bank_id}' not found")
    return _bank(row)


def _bank(row: Row) -> Bank:
    return Bank(**{field.name: row[field.name] for field in fields(Bank)})


def _listing(row: Row) -> BankListing:
    return BankListing(_bank(row), row["fact_count"], row["last_document_at"], row["last_write_at"])
