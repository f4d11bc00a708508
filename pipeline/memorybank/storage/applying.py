"""Applying a declaration to the directory: what it names is put as it says, what it does not name stays."""

from dataclasses import dataclass
from uuid import UUID

from psycopg import errors as postgres

from memorybank import clock
from memorybank.audience import PrincipalKind, Viewer
from memorybank.errors import Conflict, InvalidInput
from memorybank.ids import stable_id
from memorybank.storage import banks, directory, forget, keys, stated
from memorybank.storage.declared import Declared, GivenKey, Plan, Removal
from memorybank.storage.keys import Holder
from memorybank.storage.queries import Connection, execute, execute_many, fetch_all

#: Any fixed number: two declarations are applied one after the other.
DIRECTORY_LOCK = 0x6D656D64
#: The order in which things are removed: those that others stand on last.
REMOVED = ("place", "agent", "person", "organization")


@dataclass(frozen=True)
class MadeKey:
    """A key that was made, to be told once; `id` and `uuid` of its holder, None for an operator."""

    kind: PrincipalKind
    id: str | None
    uuid: UUID | None
    key: str


@dataclass(frozen=True)
class Applied:
    """What came of it: keys that were made; public places that are private from now on; how many were removed, and how
    many memories went with them.
    """

    keys: tuple[MadeKey, ...]
    made_private: tuple[UUID, ...]
    removed: int
    forgotten: int = 0


async def apply(connection: Connection, declared: Declared) -> Applied:
    """Put a declaration into the directory, all of it or, with one error, nothing; again changes nothing.

    Runs in the caller's transaction. Raises InvalidInput for what cannot be, Conflict for what others need or hold.
    """
    await fetch_all(connection, "directory.alone", {"number": DIRECTORY_LOCK})
    going = {"ids": [one.uuid for one in declared.remove]}
    for hold in ("directory.hold", "directory.hold_places"):
        await fetch_all(connection, hold, going)
    plan = Plan(await directory.show(connection), declared)
    await _put(connection, plan)
    for place in plan.made_private:
        await stated.withdraw(connection, place, clock.now())
    made = await _give_keys(connection, declared)
    try:
        removed = [
            await _remove(connection, one)
            for one in sorted(declared.remove, key=lambda one: REMOVED.index(one.kind))
        ]
    except postgres.ForeignKeyViolation as error:
        raise Conflict(
            "what shall be removed is needed: an organization by its people, agents and places, a person by agents"
        ) from error
    return Applied(
        made, plan.made_private, sum(there for there, _ in removed), sum(gone for _, gone in removed)
    )


async def _put(connection: Connection, plan: Plan) -> None:
    now = {"now": clock.now()}
    for kind, rows in (
        ("organization", plan.organizations),
        ("person", plan.people),
        ("agent", plan.agents),
        ("place", list(plan.places.values())),
    ):
        await execute_many(connection, f"directory.put_{kind}", [row | now for row in rows])
    members = [{"place": place, "members": members} for place, members in plan.members]
    await execute_many(connection, "directory.leave", members)
    await execute_many(connection, "directory.join", members)


async def _give_keys(connection: Connection, declared: Declared) -> tuple[MadeKey, ...]:
    """Make the keys that are missing, and an operator's with the first: else nobody could operate any more."""
    wanted: list[tuple[PrincipalKind, str, GivenKey, tuple[str | int, ...]]] = [
        (PrincipalKind.PERSON, one.id, one.key, ("body", "people", index, "key"))
        for index, one in enumerate(declared.people)
    ]
    wanted += [
        (PrincipalKind.AGENT, one.id, one.key, ("body", "agents", index, "key"))
        for index, one in enumerate(declared.agents)
    ]
    first = not await keys.exist(connection)
    held = await keys.held(connection, [stable_id(kind, id_) for kind, id_, _, _ in wanted])
    made = []
    for kind, id_, given, loc in wanted:
        uuid = stable_id(kind, id_)
        if given is False or (given is None and (kind.value, uuid) in held):
            continue
        try:
            _, key = await keys.create(connection, Holder(kind, uuid), given=given)
        except InvalidInput as error:
            raise InvalidInput(error.message, loc=loc) from error
        if given is None:
            made.append(MadeKey(kind, id_, uuid, key))
    if first and await keys.exist(connection):
        _, key = await keys.create(connection, Holder(PrincipalKind.OPERATOR))
        made.append(MadeKey(PrincipalKind.OPERATOR, None, None, key))
    return tuple(made)


async def _remove(connection: Connection, removal: Removal) -> tuple[int, int]:
    """Remove somebody or something, with the keys; return whether it was there, and how many memories went."""
    who = {"id": removal.uuid}
    forgotten = await _forget(connection, f"audiences.of_{removal.kind}", removal.uuid)
    if removal.kind in ("agent", "person"):
        await execute(connection, "directory.orphan", who)
        await keys.revoke_all(connection, PrincipalKind(removal.kind), removal.uuid)
    return await execute(connection, f"directory.remove_{removal.kind}", who), forgotten


async def _forget(connection: Connection, circles: str, whose: UUID) -> int:
    """Forget what nobody could see any more, and return how much; their circles go too: nothing comes afterwards."""
    forgotten = 0
    for row in await fetch_all(connection, circles, {"id": whose}):
        going = {"ids": row["audiences"]}
        bank = await banks.get(connection, row["bank_id"])
        await execute(connection, "forget.work", going)
        viewer = Viewer(tuple(row["audiences"]))
        forgotten += await forget.clear(connection, bank.id, None, viewer, clock.now())
        await execute(connection, "audiences.remove", going)
    return forgotten
