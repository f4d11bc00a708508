"""A declaration of the directory, and the rows that it asks for: checked against what is there. No I/O.

Nothing goes because a file forgot it: an agent that is removed takes its memories along, so that is said in `remove`;
and what an entry does not say stays as it is.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Annotated, Any, ClassVar, Literal
from uuid import UUID

from pydantic import BeforeValidator, ConfigDict

from memorybank.audience import PlaceKind
from memorybank.errors import Conflict, InvalidInput
from memorybank.ids import stable_id
from memorybank.storage.banks import stored_id
from memorybank.storage.directory import Directory, ListedPlace
from memorybank.text import normalize

#: Longest id, name, handle, title or address; longest description; entries of one list.
MAX_WORD_CHARS, MAX_DESCRIPTION_CHARS, MAX_ENTRIES = 200, 4_000, 10_000
#: What key-value callers say for all of their agents; so no agent is called that.
RESERVED_AGENT = "all"

#: An unknown field is refused: a slip in one would open or close something. What is refused may hold a key.
STRICT = ConfigDict(extra="forbid", hide_input_in_errors=True)


def _as_text(raw: Any) -> Any:
    """Take a number for the id that it looks like: YAML reads `id: 7` as one."""
    return str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else raw


def _named(raw: Any) -> Any:
    """Return the id of whom an entry belongs to; null says nobody, which is not what not saying it does."""
    return "" if raw is None else _as_text(raw)


def _unless_true(raw: Any) -> Any:
    """`key: true` says what not saying it does: one is made."""
    return None if raw is True else raw


Kind = Literal["organization", "person", "agent", "place"]
#: What callers call somebody or something.
Id = Annotated[str, BeforeValidator(_as_text)]
#: Whom an entry belongs to; "": nobody, None: as it is.
Ref = Annotated[str | None, BeforeValidator(_named)]
#: One of the caller's own; None: one is made where there never was one; False: none is made.
GivenKey = Annotated[str | Literal[False] | None, BeforeValidator(_unless_true)]
Row = dict[str, Any]
Loc = tuple[str | int, ...]


@dataclass(frozen=True)
class NewOrganization:
    """An organization; `memory_access`: its plan includes Band's memories."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    id: Id
    name: str | None = None
    memory_access: bool | None = None


@dataclass(frozen=True)
class NewPerson:
    """A person. `key`: one of your own; left out, one is made where there never was one; false: none is made."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    id: Id
    name: str | None = None
    handle: str | None = None
    email: str | None = None
    organization: Ref = None
    role: Literal["owner", "member"] | None = None
    key: GivenKey = field(default=None, repr=False)


@dataclass(frozen=True)
class NewAgent:
    """An agent, which remembers in `bank`, else in the bank of its own id; `key` as of a person."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    id: Id
    name: str | None = None
    handle: str | None = None
    description: str | None = None
    owner: Ref = None
    organization: Ref = None
    bank: Id | None = None
    key: GivenKey = field(default=None, repr=False)


@dataclass(frozen=True)
class NewPlace:
    """A place; a thread says its `parent`, and has all else of its root. `members` replace those who were."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    id: Id
    kind: PlaceKind | None = None
    organization: Ref = None
    agent: Ref = None
    parent: Id | None = None
    title: str | None = None
    members: Sequence[Id] | None = None


@dataclass(frozen=True)
class Removal:
    """Somebody or something that shall go; what is only left out of a declaration stays."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    kind: Kind
    id: Id

    @property
    def uuid(self) -> UUID:
        """Whose id that is."""
        return stable_id(self.kind, self.id)


@dataclass(frozen=True)
class Declared:
    """A declaration."""

    organizations: Sequence[NewOrganization] = ()
    people: Sequence[NewPerson] = ()
    agents: Sequence[NewAgent] = ()
    places: Sequence[NewPlace] = ()
    remove: Sequence[Removal] = ()


#: The lists of a declaration, and what each holds.
LISTS: Mapping[str, Kind] = {
    "organizations": "organization",
    "people": "person",
    "agents": "agent",
    "places": "place",
}


class Plan:
    """The rows that a declaration asks for; raises InvalidInput for what cannot be, Conflict for what must stay."""

    def __init__(self, before: Directory, declared: Declared) -> None:
        self._before = before
        self._declared = declared
        self._check_words()
        self._check_removals()
        self.organizations = [
            self._row(one, {"memory_access": True}, memory_access=one.memory_access)
            for one in declared.organizations
        ]
        self.people = [self._person(loc, one) for loc, one in _entries("people", declared.people)]
        self.agents = [self._agent(loc, one) for loc, one in _entries("agents", declared.agents)]
        if both := self._ids["person"] & self._ids["agent"]:
            raise InvalidInput(f"{min(both)} would be a person and an agent", loc=("body",))
        self.places: dict[UUID, Row] = {}
        # Roots before their threads.
        for loc, one in sorted(
            _entries("places", declared.places), key=lambda entry: self._is_thread(*entry)
        ):
            self.places[stable_id("place", one.id)] = self._place(loc, one)

    @property
    def members(self) -> list[tuple[UUID, list[UUID]]]:
        """The places whose members are declared, and those."""
        return [
            (stable_id("place", one.id), [stable_id("person", member) for member in one.members])
            for one in self._declared.places
            if one.members is not None
        ]

    @property
    def made_private(self) -> tuple[UUID, ...]:
        """Public places that are private from now on."""
        private = {
            id_ for id_, row in self.places.items() if row["kind"] == PlaceKind.PRIVATE and row["root"] == id_
        }
        return tuple(
            old.id for old in self._before.places if old.kind == PlaceKind.PUBLIC and old.id in private
        )

    @cached_property
    def _ids(self) -> Mapping[Kind, set[UUID]]:
        """Whom the directory knows afterwards."""
        gone = {(removal.kind, removal.uuid) for removal in self._declared.remove}
        return {
            kind: {one.id for one in getattr(self._before, name) if (kind, one.id) not in gone}
            | {stable_id(kind, one.id) for one in getattr(self._declared, name)}
            for name, kind in LISTS.items()
        }

    @cached_property
    def _places_before(self) -> Mapping[UUID, ListedPlace]:
        return {place.id: place for place in self._before.places}

    @cached_property
    def _parents(self) -> Mapping[UUID, UUID]:
        """The place above each thread."""
        above = {place.id: place.root for place in self._before.places}
        for one in self._declared.places:
            id_ = stable_id("place", one.id)
            if one.parent is not None:
                above[id_] = stable_id("place", one.parent)
        return {thread: parent for thread, parent in above.items() if thread != parent}

    def _check_words(self) -> None:
        for name, kind in LISTS.items():
            entries = list(_entries(name, getattr(self._declared, name)))
            if len(entries) > MAX_ENTRIES:
                raise InvalidInput(f"at most {MAX_ENTRIES} entries", loc=("body", name))
            seen: set[UUID] = set()
            for loc, one in entries:
                _check_entry(loc, one)
                if stable_id(kind, one.id) in seen:
                    raise InvalidInput("stands twice", loc=(*loc, "id"), value=one.id)
                seen.add(stable_id(kind, one.id))

    def _check_removals(self) -> None:
        declared = {
            (kind, stable_id(kind, one.id))
            for name, kind in LISTS.items()
            for one in getattr(self._declared, name)
        }
        for loc, removal in _entries("remove", self._declared.remove):
            _check_entry(loc, removal)
            if (removal.kind, removal.uuid) in declared:
                raise InvalidInput("is declared as well", loc=(*loc, "id"), value=removal.id)

    def _row(self, one: Any, plain: Row, **said: Any) -> Row:
        """Return the columns of an entry: what it says, else what is there, else `plain`; a name is the id at first."""
        kind, words = _KINDS[type(one)], {**plain}
        if kind != "place":
            words["name"], said["name"] = one.id, one.name or None
        id_ = stable_id(kind, one.id)
        before = self._known[kind].get(id_)
        for word, default in words.items():
            held = default if before is None else getattr(before, word)
            words[word] = held if said[word] is None else None if said[word] is _NOBODY else said[word]
        return {"id": id_, "external_id": one.id, **words}

    @cached_property
    def _known(self) -> Mapping[Kind, Mapping[UUID, Any]]:
        """Who and what is there already."""
        return {kind: {one.id: one for one in getattr(self._before, name)} for name, kind in LISTS.items()}

    def _ref(self, kind: Kind, named: str | None, loc: Loc) -> "UUID | object | None":
        """Return whom a caller names, or nobody; None: nothing is said. Raises InvalidInput for who is not there."""
        if named is None:
            return None
        if not named:
            return _NOBODY
        id_ = stable_id(kind, named)
        if id_ not in self._ids[kind]:
            raise InvalidInput(f"there is no {kind} of the id {named!r}", loc=loc, value=named)
        return id_

    def _person(self, loc: Loc, one: NewPerson) -> Row:
        organization = self._ref("organization", one.organization, (*loc, "organization"))
        plain = {"handle": "", "email": None, "role": "member", "organization": None}
        return self._row(
            one, plain, handle=one.handle, email=one.email, role=one.role, organization=organization
        )

    def _agent(self, loc: Loc, one: NewAgent) -> Row:
        if one.id == RESERVED_AGENT:
            raise InvalidInput("this id stands for all agents", loc=(*loc, "id"), value=one.id)
        made = self._row(
            one,
            {
                "handle": "",
                "description": "",
                "owner": None,
                "organization": None,
                "bank_id": stored_id(one.id),
            },
            handle=one.handle,
            description=one.description,
            owner=self._ref("person", one.owner, (*loc, "owner")),
            organization=self._ref("organization", one.organization, (*loc, "organization")),
            bank_id=None if one.bank is None else stored_id(one.bank),
        )
        for old in self._before.agents:
            if old.id == made["id"] and old.bank_id != made["bank_id"]:
                raise Conflict(f"agent '{one.id}' remembers in another bank already, and an agent has one")
        return made

    def _is_thread(self, loc: Loc, one: NewPlace) -> bool:
        return stable_id("place", one.id) in self._parents

    def _place(self, loc: Loc, one: NewPlace) -> Row:
        made = self._thread(loc, one) if self._is_thread(loc, one) else self._room(loc, one)
        for member in one.members or ():
            self._ref("person", member, (*loc, "members"))
        old = self._places_before.get(made["id"])
        if old is not None and old.root != made["root"]:
            raise Conflict(f"place '{one.id}' has memories where it stands: it stays there")
        if old is not None and old.kind != made["kind"] and PlaceKind.DM in (old.kind, made["kind"]):
            raise Conflict(f"place '{one.id}': a direct talk stays one, and nothing else becomes one")
        return made

    def _room(self, loc: Loc, one: NewPlace) -> Row:
        if one.parent is not None:
            raise InvalidInput("it is its own parent", loc=(*loc, "parent"), value=one.parent)
        made = self._row(
            one,
            {"kind": None, "title": "", "agent": None, "organization": None},
            kind=one.kind,
            title=one.title,
            agent=self._ref("agent", one.agent, (*loc, "agent")),
            organization=self._ref("organization", one.organization, (*loc, "organization")),
        )
        if made["kind"] is None:
            raise InvalidInput("say what kind of place it is", loc=(*loc, "kind"))
        made["root"] = made["id"]
        if made["organization"] is None:
            made["organization"] = self._organization_of(made["agent"])
        if made["kind"] == PlaceKind.DM:
            new = made["id"] not in self._places_before
            if made["agent"] is None or (
                len(set(one.members or ())) != 1 and (new or one.members is not None)
            ):
                raise InvalidInput("a direct talk has one agent and one member", loc=loc, value=one.id)
        return made

    def _organization_of(self, agent: UUID | None) -> UUID | None:
        """Return the organization of an agent, as it is declared or was."""
        before = {old.id: old.organization for old in self._before.agents}
        declared = {row["id"]: row["organization"] for row in self.agents}
        return None if agent is None else (before | declared)[agent]

    def _thread(self, loc: Loc, one: NewPlace) -> Row:
        root = self._root(loc, one)
        for word, given, held in (
            ("kind", one.kind, root["kind"]),
            (
                "organization",
                one.organization and stable_id("organization", one.organization),
                root["organization"],
            ),
            ("agent", one.agent and stable_id("agent", one.agent), root["agent"]),
            ("members", one.members, None),
        ):
            if given is not None and given != held:
                raise InvalidInput("a thread has that of its root", loc=(*loc, word))
        return {**root, **self._row(one, {"title": ""}, title=one.title)}

    def _root(self, loc: Loc, one: NewPlace) -> Row:
        """Return the place at the end of a chain of parents."""
        at, seen = stable_id("place", one.id), set[UUID]()
        while at in self._parents:
            if at in seen:
                raise InvalidInput("its parents go in a circle", loc=(*loc, "parent"), value=one.parent)
            seen.add(at)
            at = self._parents[at]
        if at in self.places:
            return self.places[at]
        if at not in self._places_before or at not in self._ids["place"]:
            raise InvalidInput("there is no place of this id", loc=(*loc, "parent"), value=one.parent)
        old = self._places_before[at]
        return {name: getattr(old, name) for name in ("kind", "organization", "agent", "root")}


def _entries(name: str, entries: Iterable[Any]) -> "list[tuple[Loc, Any]]":
    """Return entries, each with where it stands."""
    return [(("body", name, index), one) for index, one in enumerate(entries)]


#: Somebody's owner, agent or organization, where an entry says that there is none.
_NOBODY = object()
_KINDS: Mapping[type, Kind] = {
    NewOrganization: "organization",
    NewPerson: "person",
    NewAgent: "agent",
    NewPlace: "place",
}


def _check_entry(loc: Loc, one: Any) -> None:
    """Raise InvalidInput for words that may not be stored so; keys and banks have their own rules."""
    for word in (found.name for found in fields(one) if found.name not in ("key", "bank", "kind", "role")):
        given = getattr(one, word)
        limit = MAX_DESCRIPTION_CHARS if word == "description" else MAX_WORD_CHARS
        if not isinstance(given, str):
            continue
        lines = word == "description"
        if len(given) > limit or given != normalize(given) or ("\n" in given and not lines) or "\t" in given:
            raise InvalidInput(
                f"at most {limit} characters, none of them a control character", loc=(*loc, word)
            )
        if (word == "id" and given != given.strip()) or (not given and word in ("id", "parent")):
            raise InvalidInput("an id is not empty and has no space around it", loc=(*loc, word), value=given)
