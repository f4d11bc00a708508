"""Every byte of every answer is searched for words and ids that who asks must not know."""

import base64
import binascii
import json
import random
import re
from dataclasses import dataclass, field
from typing import Any

import httpx
from isolation_oracle import Asker, Circle
from isolation_site import UUID, WORD
from isolation_truth import Row, Truth
from isolation_world import World

#: Where Band shows more than the bank would.
BAND = "/api/v1"
_OPAQUE = re.compile(rb'"(?:next_cursor|cursor)":\s*"([^"]+)"')
#: Words and ids of all worlds, by which a leak across worlds is known.
OWNERS: dict[str, int] = {}


class Leak(AssertionError):
    """Somebody was told what they must not know, or was not told what is theirs."""


def everything(answer: httpx.Response) -> bytes:
    """Return all that an answer says: status, headers, body, and what its cursors hide."""
    headers = "\n".join(f"{name}: {value}" for name, value in answer.headers.items())
    said = f"{answer.status_code}\n{headers}\n".encode() + answer.content
    for cursor in _OPAQUE.findall(answer.content):
        try:
            said += base64.urlsafe_b64decode(cursor + b"==")
        except binascii.Error:
            continue
    return said


def named(said: bytes) -> set[str]:
    """Return the words and ids in what was said."""
    return {found.decode().lower() for found in (*WORD.findall(said), *UUID.findall(said))}


@dataclass
class Look:
    """Somebody who looks at a world. `truth` is what is there; `seen` grows by what they were told."""

    world: World
    truth: Truth
    asker: Asker
    chance: random.Random
    told: set[str] = field(default_factory=set)
    asked: int = 0

    # --- asking ---

    async def ask(
        self, method: str, path: str, body: Any = None, at: int | None = None, **options: Any
    ) -> httpx.Response:
        """Ask, and search the answer; `at`: the place where they say they are."""
        answer = await self.world.ask(self.asker, method, path, body, **options)
        self.asked += 1
        sent = named(f"{path} {json.dumps(body)} {options}".encode())
        for name in named(everything(answer)) - sent:
            if not (self._through_band(name) if path.startswith(BAND) else self.may_know(name, at)):
                raise Leak(
                    f"{self.asker} was told {name} of {self.owner(name)} by {method} {path} {body}: {answer.text}"
                )
            self.told.add(name)
        return answer

    async def get(self, path: str, **params: Any) -> Any:
        """Return the JSON of a good answer."""
        answer = await self.ask("GET", path, params=params)
        if answer.status_code != 200:
            raise Leak(f"{self.asker} may ask for {path} {params}, and was answered {answer.text}")
        return answer.json()

    def owner(self, name: str) -> Any:
        return self.world.secrets.get(name) or self.world.names.get(name) or f"world {OWNERS.get(name)}"

    def _through_band(self, name: str) -> bool:
        stated = self.world.band.get(name)
        if stated is None:
            return self.may_know(name)
        return self.world.oracle.sees_through_band(self.asker, stated.circle, stated.room)

    def may_know(self, name: str, at: int | None = None) -> bool:
        """Return whether somebody may know a word or an id."""
        circle = self.world.secrets.get(name)
        if circle is not None:
            return self.sees(circle, at)
        if name in self.world.names:
            return self._may_name(*self.world.names[name], at)
        everybody = self.asker.kind == "operator" and self.asker.bank is None
        return everybody or OWNERS.get(name, self.world.number) == self.world.number

    def _may_name(self, kind: str, number: int, at: int | None) -> bool:
        """Return whether somebody may know what a person, an agent, an organization or a place is called."""
        oracle, plan, me = self.world.oracle, self.world.plan, self.asker
        if me.kind == "operator" and me.bank is None:
            return True
        if kind == "place":
            return me.kind != "operator" and oracle.speaks_in(me, number)
        if (kind, number) == (me.kind, me.number):
            return True
        if kind == "agent" and me.kind == "person" and plan.agents[number].owner == me.number:
            return True
        own = None
        if me.kind != "operator":
            own = (plan.people if me.kind == "person" else plan.agents)[me.number].organization
        if kind == "organization":
            return own == number
        theirs = (plan.people if kind == "person" else plan.agents)[number].organization
        kept = self.world.kept.get((kind, number), ())
        return (own is not None and own == theirs) or any(self.sees(circle, at) for circle in kept)

    def sees(self, circle: Circle, at: int | None = None) -> bool:
        oracle = self.world.oracle
        return oracle.sees(self.asker, circle) if at is None else oracle.sees_at(self.asker, at, circle)

    def knows(self, bank: int) -> bool:
        return self.world.oracle.knows(self.asker, bank)

    def uses(self, bank: int) -> bool:
        return self.world.oracle.uses(self.asker, bank)

    # --- what is there for them ---

    def rows(self, table: str, bank: int, seen: bool = True) -> list[Row]:
        """Return the rows of a bank that they may see, or those that they may not."""
        return [row for row in self.truth.rows[table] if row.bank == bank and self.sees(row.circle) is seen]

    def entities(self, bank: int, seen: bool = True) -> dict[str, int]:
        """Return the entities that they may know, with how many facts name each; or those that they may not."""
        counted = {
            id_: sum(self.sees(circle) for circle in said)
            for (where, id_), said in self.truth.entities.items()
            if where == bank
        }
        return {id_: count for id_, count in counted.items() if (count > 0) is seen}

    def one(self, rows: list[Any]) -> Any:
        """Return one of them, or None."""
        return self.chance.choice(rows) if rows else None

    def hidden_word(self, bank: int | None = None) -> str | None:
        """Return a word that they must not know."""
        hidden = [
            word
            for word, circle in self.world.secrets.items()
            if word.startswith("zq") and not self.sees(circle) and bank in (None, circle.bank)
        ]
        return self.one(hidden)


def same(told: set[str], expected: set[str], what: str, asker: Asker) -> None:
    """Raise a Leak where somebody was told of other things than of those that are theirs."""
    if told != expected:
        raise Leak(f"{asker}, {what}: told of {told - expected} beside theirs, and not of {expected - told}")
