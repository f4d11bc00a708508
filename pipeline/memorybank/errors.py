"""Every error of memorybank, as a tree: each class with its code on the wire and its HTTP status."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class MemoryBankError(Exception):
    """Root of the tree; `message` is written for the person who can act on it."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init_subclass__(cls, *, code: str = "", status: int = 0) -> None:
        """Give a class its own code and status; what it does not name is its parent's."""
        cls.code, cls.status = code or cls.code, status or cls.status

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(MemoryBankError, code="invalid_input", status=422):
    """A request field is wrong; `loc` is its path, e.g. ("body", "items", 0, "content")."""

    def __init__(self, message: str, *, loc: tuple[str | int, ...] = (), value: Any = None) -> None:
        super().__init__(message)
        self.loc = loc
        self.value = value


class Blocked(InvalidInput, code="blocked"):
    """The bank's memory defense lets none of the items through; `violations` says of each why, and never what."""

    def __init__(self, violations: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("every item is blocked by the bank's memory_defense", loc=("body", "items"))
        self.violations = violations


class InvalidConfig(InvalidInput, code="invalid_config", status=400):
    """A setting or a bank's override is refused; nothing was saved."""


class BadRequest(InvalidInput, code="bad_request", status=400):
    """Well-formed, but cannot be asked for in this way or in this state."""


class ScopeNeedsOrganization(InvalidInput, code="org_scope_requires_organization"):
    """An agent without an organization has none to share with."""


class SubjectNeedsScope(InvalidInput, code="subject_id_requires_subject_scope"):
    """A memory about somebody has the scope of a subject."""


class ScopeNeedsSubject(InvalidInput, code="subject_scope_requires_subject_id"):
    """The scope of a subject, and nobody it is about."""


class MixedPagination(InvalidInput, code="mixed_pagination"):
    """A page by its number and by a cursor."""


class WrongTransition(InvalidInput, code="invalid_status_transition"):
    """A memory of this status does not get that one."""


class WrongState(BadRequest, code="wrong_state"):
    """The memory is in a state in which it cannot be changed in this way."""


class FactTooLong(InvalidInput, code="fact_too_long"):
    """A fact has more characters than one may have."""


class FactNotOneParagraph(InvalidInput, code="fact_not_one_paragraph"):
    """A fact has a blank line in it."""


class SourceNotPublic(InvalidInput, code="workspace_source_not_public"):
    """What an agent learned where not everybody may read is nothing for all of a workspace."""


class CustomerData(InvalidInput, code="customer_data_not_remembered"):
    """It is marked as a customer's data: nothing of it is kept."""


class DirectiveViolated(MemoryBankError, code="directive_violated", status=422):
    """An answer breaks a directive of its bank, or nobody can say that it keeps them: nothing of it leaves."""


class NotFound(MemoryBankError, code="not_found", status=404):
    """Unknown, or not visible to the caller: both get the same answer."""


class Unauthorized(MemoryBankError, code="unauthorized", status=401):
    """No key, one that opens nothing, or one that is not the kind of caller whom the call is for."""


class Forbidden(MemoryBankError, code="forbidden", status=403):
    """The caller sees what it is about, and may not do this with it."""


class OwnerRequired(Forbidden, code="owner_required"):
    """Only owners of a workspace change what all of it knows."""


class PlanRequired(Forbidden, code="plan_required"):
    """The plan of the caller's organization does not include memories."""


class Conflict(MemoryBankError, code="conflict", status=409):
    """The row is in another state than the request needs."""


class MemoryFull(Conflict, code="memory_full"):
    """The agent holds as many facts as it may."""


class TimedOut(MemoryBankError, code="timed_out", status=504):
    """The whole request ran over its limit."""


class ArmTooSlow(TimedOut):
    """One arm of recall ran over its limit: what it would have found may be left out."""

    def __init__(self, arm: str) -> None:
        super().__init__(f"recall's {arm} search took too long")
        self.arm = arm


class DatabaseUnavailable(MemoryBankError, code="database_unavailable", status=503):
    """PostgreSQL is not reachable, broke off what was asked, is too old, or lacks pgvector."""


class ConnectionLost(DatabaseUnavailable):
    """The server went away in the middle: what only reads may be asked again."""


class ModelError(MemoryBankError, code="model_error", status=502):
    """A language or embedding model call failed."""


class ModelRateLimited(ModelError, code="model_rate_limited", status=503):
    """The provider asks to wait; `retry_after` in seconds where it said so."""

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelUnavailable(ModelError, code="model_unavailable", status=503):
    """Network error, time-out or a 5xx answer: back off and try again."""


class ModelRefused(ModelError, code="model_refused"):
    """The provider's policy refused the content: asking again cannot help."""


class ModelTruncated(ModelError, code="model_truncated"):
    """The output was cut at its limit: ask for less."""


class ModelMalformed(ModelError, code="model_malformed"):
    """The reply holds no usable JSON: a repair turn may help."""


class ModelFormatUnsupported(ModelError, code="model_format"):
    """The endpoint does not take this response format or schema: ask in a plainer one."""


class ModelMisconfigured(ModelError, code="model_misconfigured", status=503):
    """Wrong key, unknown model or missing weights: a person must act."""


class LeaseLost(MemoryBankError, code="lease_lost", status=409):
    """The operation's lease is no longer ours: nothing may be written."""
