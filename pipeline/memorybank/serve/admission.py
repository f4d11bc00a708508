"""Who is asking, and what they may ask for: from what a request carries to a Principal, from that to a Viewer.

Until the first key is made, the server is reached over loopback only, by a name of this machine, and its callers are
the operator; from then on every request needs a key. Whom a key stands for is read for each request: what was revoked,
or left, ends at once.
"""

import asyncio
import ipaddress
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from urllib.parse import urlsplit

from memorybank.audience import OPERATOR, Principal, PrincipalKind, Viewer
from memorybank.errors import BadRequest, Forbidden, PlanRequired, Unauthorized
from memorybank.serve.calls import Call, Rule
from memorybank.storage import audiences, directory, keys
from memorybank.storage.banks import stored_id
from memorybank.storage.pool import Database
from memorybank.storage.queries import Connection

#: Seconds for which a process believes that there are no keys, so that a request without one costs no query. Whoever
#: makes the first key is answered after as many: by then no process lets anybody in without one.
OPEN_SECONDS = 1.0
#: Names of this machine, besides its addresses.
LOCAL_NAMES = ("localhost",)
#: Said to whoever has no valid key: the same for none, a wrong one and a revoked one.
NO_KEY = "a valid API key is needed: Authorization: Bearer <key>, or X-API-Key"
#: Said to whose organization has no memories; Band's own words.
NO_PLAN = (
    "Memory API access requires an Enterprise plan. Please upgrade your subscription to use this endpoint."
)
#: Whom a call is for, in words.
FOR_WHOM = {
    Rule.PERSON: (PrincipalKind.PERSON,),
    Rule.AGENT: (PrincipalKind.AGENT,),
    Rule.THEIRS: (PrincipalKind.PERSON, PrincipalKind.AGENT),
}


@dataclass(frozen=True)
class Carried:
    """What a request carries: a key, or a session, and for whom an operator acts ("person:<id>" or "agent:<id>").

    `host`: the name by which the server was asked.
    """

    key: str | None = None
    session: str | None = None
    acting_as: str | None = None
    host: str | None = None


def is_loopback(host: str) -> bool:
    """Return whether nobody beyond this machine reaches an address."""
    if host in LOCAL_NAMES:
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@asynccontextmanager
async def key_making(database: Database) -> AsyncIterator[Connection]:
    """Give a transaction that may make keys; after the first, wait until no process takes requests without one."""
    async with database.transaction() as connection:
        before = await keys.exist(connection)
        yield connection
        after = await keys.exist(connection)
    if after and not before:
        await asyncio.sleep(OPEN_SECONDS)


class Admission:
    """The door of one process."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._closed = False
        self._open_until = 0.0

    async def needs_key(self) -> bool:
        """Return whether requests need a key; once one was made, they always do."""
        asked = time.monotonic()
        if not self._closed and asked >= self._open_until:
            async with self._database.connection() as connection:
                if await keys.exist(connection):
                    # Never the other way: who asked before the first key was made may hear of it late.
                    self._closed = True
            self._open_until = asked + OPEN_SECONDS
        return self._closed

    async def principal(self, carried: Carried) -> Principal:
        """Return whom a request speaks for; raises Unauthorized, Forbidden, and NotFound for whom nobody knows."""
        if await self.needs_key():
            found = (await self.opened(carried)).principal
        else:
            _check_name(carried.host)
            found = OPERATOR
        return found if carried.acting_as is None else await self._acting(found, carried.acting_as)

    async def opened(self, carried: Carried) -> keys.Opened:
        """Return the key that a request carries; raises Unauthorized."""
        if carried.key is None and carried.session is None:
            raise Unauthorized(NO_KEY)
        async with self._database.connection() as connection:
            found = await keys.opened(connection, key=carried.key, session=carried.session)
        if found is None:
            raise Unauthorized(NO_KEY)
        return found

    async def viewer(self, principal: Principal, call: Call, bank_id: str | None) -> Viewer | None:
        """Return what somebody may see, or change, by a call; None for one that asks for no viewer.

        Raises NotFound for a bank that they have nothing to do with; Forbidden for what they may not do with one that
        they know of; Unauthorized and Forbidden for calls of other callers, PlanRequired.
        """
        self._check_kind(principal, call.rule)
        if call.options.planned and not principal.memory_access:
            raise PlanRequired(NO_PLAN)
        bank_id = None if bank_id is None else stored_id(bank_id)
        if call.rule in (Rule.USES, Rule.OWNS) and bank_id is not None:
            await self._check_right(principal, call.rule, bank_id)
        if call.rule is Rule.SEES or (call.takes_viewer and call.rule in (Rule.USES, Rule.OWNS)):
            return await self._resolved(principal, bank_id, changes=call.changes)
        return None

    def _check_kind(self, principal: Principal, rule: Rule) -> None:
        if rule is Rule.OPERATES and not principal.operates_all:
            raise Forbidden("this is for the operator of the installation")
        kinds = FOR_WHOM.get(rule)
        if kinds is not None and principal.kind not in kinds:
            whom = " or ".join(kinds)
            if principal.operates:
                raise Unauthorized(
                    f"this call is for one {whom}: use their key, or say X-Acting-As: {kinds[0]}:<id>"
                )
            raise Forbidden(f"this call is for one {whom}")

    async def _check_right(self, principal: Principal, rule: Rule, bank_id: str) -> None:
        """Raise NotFound for a bank of others, Forbidden where more is needed than to know of it."""
        if principal.operates and principal.uses(bank_id):
            return
        if not principal.uses(bank_id):
            await self._resolved(principal, bank_id, changes=False)
            raise Forbidden(f"this is for the agents of bank '{bank_id}' and their owners")
        if rule is Rule.OWNS:
            async with self._database.connection() as connection:
                owns = await directory.owns(connection, principal, bank_id)
            if not owns:
                raise Forbidden(f"this is for the owner of all agents of bank '{bank_id}'")

    async def _resolved(self, principal: Principal, bank_id: str | None, *, changes: bool) -> Viewer:
        if principal.operates_all:
            return Viewer.operator()
        resolve = audiences.resolve_changes if changes else audiences.resolve
        async with self._database.connection() as connection:
            return await resolve(connection, principal, bank_id)

    async def _acting(self, principal: Principal, acting_as: str) -> Principal:
        """Return for whom the operator acts. An operator of some banks may not: others reach beyond those."""
        if not principal.operates_all:
            raise Forbidden("only the operator of the installation acts for others")
        kind, _, named = acting_as.partition(":")
        if kind not in FOR_WHOM[Rule.THEIRS] or not named:
            raise BadRequest("X-Acting-As names a person:<id> or an agent:<id>")
        async with self._database.connection() as connection:
            found = await keys.principal(connection, PrincipalKind(kind), directory.id_of(kind, named))
        if found is None:
            raise directory.unknown(kind.capitalize(), named)
        return found


def _check_name(host: str | None) -> None:
    """Raise Forbidden where a server without keys is asked by a name of elsewhere.

    A page of any site may have its own name lead to this machine, and would read the answers as the operator.
    """
    try:
        name = None if host is None else urlsplit(f"//{host}").hostname
    except ValueError:
        name = host
    if name is not None and not is_loopback(name):
        raise Forbidden(
            "without keys this server answers to names of this machine alone, as localhost;"
            " make one first: memorybank keys create --operator"
        )
