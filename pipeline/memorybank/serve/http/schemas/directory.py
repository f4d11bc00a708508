"""The directory and its keys on the wire. These calls are ours: an unknown field is refused, since a slip in one
would open or close something.
"""

from uuid import UUID

from pydantic import BaseModel

from memorybank.audience import PrincipalKind
from memorybank.serve.http.schemas.wire import WireResponse
from memorybank.storage import declared
from memorybank.storage.declared import Id


class _Strict(BaseModel):
    model_config = declared.STRICT


class DirectoryRequest(_Strict):
    """A declaration of the directory."""

    organizations: list[declared.NewOrganization] = []
    people: list[declared.NewPerson] = []
    agents: list[declared.NewAgent] = []
    places: list[declared.NewPlace] = []
    remove: list[declared.Removal] = []

    @property
    def declared(self) -> declared.Declared:
        """The declaration as the engine takes it."""
        return declared.Declared(**vars(self))


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
    forgotten: int


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
