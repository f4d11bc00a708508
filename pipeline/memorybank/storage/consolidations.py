"""Runs of consolidation: triggers that coalesce, and the sweep for what nobody queued.

A bank has one run at a time, and one that waits: whoever triggers meanwhile gets that one. One that has begun may have
passed what is new, so then another waits behind it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from psycopg.types.json import Jsonb

from memorybank import clock
from memorybank.errors import NotFound
from memorybank.ids import new_id
from memorybank.settings import BankConfig
from memorybank.storage import operations
from memorybank.storage.observations import Scope
from memorybank.storage.queries import Connection, fetch_all, fetch_one, fetch_row

#: Runs of a bank go one after the other. No document has this id: a control character is in none.
SERIAL_KEY = "\x1fconsolidation"
#: Seconds that the sweep leaves facts to the run that their retain queues.
GRACE_SECONDS = 30.0
#: Seconds between a run and one that the sweep queues after it; where runs have failed for longer, as long as that, up
#: to the second.
PAUSE_SECONDS, PAUSE_CAP_SECONDS = 30.0, 1800.0
#: Banks that one sweep queues runs for; the next comes in seconds.
SWEPT_BANKS = 100


@dataclass(frozen=True)
class Queued:
    """The run that was asked for; `deduplicated`: it waited already."""

    operation_id: UUID
    deduplicated: bool = False


async def queue(connection: Connection, bank: int, scopes: Sequence[Scope] | None = None) -> Queued | None:
    """Let a run wait, over some scopes or all; None where the bank is being changed: the sweep comes back to it.

    The last statement of its transaction, so that who triggers the same never waits for more than its commit.
    """
    payload = {} if scopes is None else {"scopes": [list(scope) for scope in scopes]}
    parameters = {
        "id": new_id(),
        "bank": bank,
        "serial_keys": [SERIAL_KEY],
        "payload": Jsonb(payload),
        "now": clock.now(),
    }
    waiting = (
        None if scopes is not None else await fetch_one(connection, "consolidations.waiting", parameters)
    )
    if waiting is None and (made := await fetch_one(connection, "consolidations.add", parameters)):
        await operations.ring(connection)
        return Queued(made["id"])
    waiting = waiting or await fetch_one(connection, "consolidations.waiting", parameters)
    return Queued(waiting["id"], deduplicated=True) if waiting else None


async def ask(connection: Connection, bank: int, scopes: Sequence[Scope] | None = None) -> Queued:
    """Do the same, waiting for a bank that is being changed; first in its transaction. Raises NotFound."""
    await operations.hold_bank(connection, [bank])
    queued = await queue(connection, bank, scopes)
    if queued is None:
        raise NotFound("the bank was deleted meanwhile")
    return queued


async def queue_backlog(connection: Connection, bank: int, config: BankConfig) -> None:
    """Let a run wait if facts do, and the bank wants it; last in its transaction."""
    if config.enable_observations and config.enable_auto_consolidation:
        found = await fetch_row(connection, "consolidations.has_backlog", {"bank": bank})
        if found["waits"]:
            await queue(connection, bank)


async def sweep(connection: Connection, defaults: BankConfig, wait_seconds: float) -> int:
    """Queue a run for banks with a backlog that nobody works on; return for how many.

    `defaults` hold where a bank sets nothing else. Facts that only few may see wait for `wait_seconds`.
    """
    parameters = {
        "observations": defaults.enable_observations,
        "automatic": defaults.enable_auto_consolidation,
        "grace_seconds": GRACE_SECONDS,
        "wait_seconds": wait_seconds,
        "pause_seconds": PAUSE_SECONDS,
        "cap_seconds": PAUSE_CAP_SECONDS,
        "limit": SWEPT_BANKS,
    }
    rows = await fetch_all(connection, "consolidations.backlogs", parameters)
    made = [await queue(connection, row["bank"]) for row in rows]
    return sum(one is not None for one in made)
