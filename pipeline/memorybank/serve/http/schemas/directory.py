"""The directory and its keys on the wire. These calls are ours: an unknown field is refused, since a slip in one
would open or close something.
"""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from memorybank.audience import PlaceKind, PrincipalKind
from memorybank.serve.http.schemas.wire import WireResponse
from memorybank.storage import declared
from memorybank.storage.declared import Declared, Kind


def _as_text(raw: Any) -> Any:
    """Take a number for the id that it looks like: YAML reads `id: 7` as one."""
    return str(raw) if isinstance(raw, int) and not isinstance(raw, bool) else raw


def _unless_true(raw: Any) -> Any:
    """`key: true` says what not saying it does: one is made."""
    return None if raw is True else raw


Id = Annotated[str, BeforeValidator(_as_text)]
Key = Annotated[str | Literal[False] | None, BeforeValidator(_unless_true), Field(repr=False)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True)


class OrganizationEntry(_Strict):
    """An organization; `memory_access`: its plan includes Band's memories."""

    id: Id
    name: str = ""
    memory_access: bool = True


class PersonEntry(_Strict):
    """A person. `key`: one of your own; left out, one is made where there never was one; false: none is made."""

    id: Id
    name: str = ""
    handle: str = ""
    email: str | None = None
    organization: Id | None = None
    role: Literal["owner", "member"] = "member"
    key: Key = None


class AgentEntry(_Strict):
    """An agent, which remembers in `bank`, else in the bank of its own id; `key` as of a person."""

    id: Id
    name: str = ""
    handle: str = ""
    description: str = ""
    owner: Id | None = None
    organization: Id | None = None
    bank: Id | None = None
    key: Key = None


class PlaceEntry(_Strict):
    """A place; a thread says its `parent`, and has all else of its root. `members` replace those who were."""

    id: Id
    kind: PlaceKind | None = None
    organization: Id | None = None
    agent: Id | None = None
    parent: Id | None = None
    title: str = ""
    members: list[Id] | None = None


class RemovalEntry(_Strict):
    """Somebody or something that shall go; what is only left out of a declaration stays."""

    kind: Kind
    id: Id


class DirectoryRequest(_Strict):
    """A declaration of the directory."""

    organizations: list[OrganizationEntry] = []
    people: list[PersonEntry] = []
    agents: list[AgentEntry] = []
    places: list[PlaceEntry] = []
    remove: list[RemovalEntry] = []

    @property
    def declared(self) -> Declared:
        """The declaration as the engine takes it."""
        return Declared(
            organizations=[declared.NewOrganization(**vars(one)) for one in self.organizations],
            people=[declared.NewPerson(**vars(one)) for one in self.people],
            agents=[declared.NewAgent(**vars(one)) for one in self.agents],
            places=[declared.NewPlace(**vars(one)) for one in self.places],
            remove=[declared.Removal(**vars(one)) for one in self.remove],
        )


class MadeKeyResponse(WireResponse):
    """A key that was made: it is told here and never again. `id` and `uuid` of its holder, null for an operator."""

    kind: PrincipalKind
    id: str | None
    uuid: UUID | None
    key: str


class AppliedResponse(WireResponse):
    """What came of a declaration."""

    keys: list[MadeKeyResponse]
    made_private: list[UUID]
    removed: int


class Listed(WireResponse):
    """What all entries of the directory share: the caller's id, and the UUID that stands for it everywhere."""

    id: str
    uuid: UUID
    created_at: str
    updated_at: str


class ListedOrganization(Listed):
    """An organization."""

    name: str
    memory_access: bool


class ListedPerson(Listed):
    """A person."""

    name: str
    handle: str
    email: str | None
    organization: str | None
    role: str


class ListedAgent(Listed):
    """An agent."""

    name: str
    handle: str
    description: str
    owner: str | None
    organization: str | None
    bank: str


class ListedPlace(Listed):
    """A place; of a thread, `root` is the place whose members it has."""

    kind: str
    organization: str | None
    agent: str | None
    root: str
    title: str
    members: list[str]


class DirectoryResponse(WireResponse):
    """The directory; people, agents and places are named by the caller's ids."""

    organizations: list[ListedOrganization]
    people: list[ListedPerson]
    agents: list[ListedAgent]
    places: list[ListedPlace]


class CreateKeyRequest(_Strict):
    """A key to make, for one: an operator, of all banks or of `banks`, a person, or an agent."""

    kind: PrincipalKind
    id: Id | None = None
    banks: list[Id] | None = None
    name: str = ""


class CreatedKeyResponse(WireResponse):
    """A key, told this once."""

    key_id: UUID
    key: str


class WhoResponse(WireResponse):
    """Who asks; of an operator of some banks only, those."""

    kind: PrincipalKind
    uuid: UUID | None
    banks: list[str] | None


class KeyItem(WireResponse):
    """A key as it may be shown."""

    key_id: UUID
    prefix: str
    name: str
    kind: str
    id: str | None
    banks: list[str] | None
    created_at: str | None
    last_used_at: str | None
    revoked_at: str | None


class KeyListResponse(WireResponse):
    """Every key there ever was, the newest first."""

    items: list[KeyItem]
