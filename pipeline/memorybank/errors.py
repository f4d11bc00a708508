"""Every error of memorybank.

MemoryBankError                     500  internal
├── InvalidInput                    422  invalid_input         a field is wrong; names where
│   ├── Blocked                     422  blocked               memory defense lets no item through; names each
│   ├── InvalidConfig               400  invalid_config        a setting or bank override is refused
│   └── BadRequest                  400  bad_request           well-formed, but cannot be asked for
├── NotFound                        404  not_found             unknown, or not visible to the caller: the same answer
├── Conflict                        409  conflict              the row is in another state than the request needs
├── TimedOut                        504  timed_out             the whole request ran over its limit
├── DatabaseUnavailable             503  database_unavailable  the server is not there, too old, or lacks pgvector
├── ModelError                      502  model_error           a language or embedding model call failed
│   ├── ModelRateLimited            503  model_rate_limited    wait as told, then ask again
│   ├── ModelUnavailable            503  model_unavailable     network, time-out or 5xx: back off
│   ├── ModelRefused                502  model_refused         the provider's policy: no retry
│   ├── ModelTruncated              502  model_truncated       the output was cut: ask for less
│   ├── ModelMalformed              502  model_malformed       no usable JSON: repair turn
│   ├── ModelFormatUnsupported      502  model_format          this response format is not taken: ask plainer
│   └── ModelMisconfigured          503  model_misconfigured   wrong key, unknown model, missing weights
└── LeaseLost                       409  lease_lost            another process works on this operation now
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar


class MemoryBankError(Exception):
    """Root of the tree; `message` is written for the person who can act on it."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(MemoryBankError):
    """A request field is wrong; `loc` is its path, e.g. ("body", "items", 0, "content")."""

    code = "invalid_input"
    status = 422

    def __init__(self, message: str, *, loc: tuple[str | int, ...] = (), value: Any = None) -> None:
        super().__init__(message)
        self.loc = loc
        self.value = value


class Blocked(InvalidInput):
    """The bank's memory defense lets none of the items through; `violations` says of each why, and never what."""

    code = "blocked"

    def __init__(self, violations: Sequence[Mapping[str, Any]]) -> None:
        super().__init__("every item is blocked by the bank's memory_defense", loc=("body", "items"))
        self.violations = violations


class InvalidConfig(InvalidInput):
    """A setting or a bank's override is refused; nothing was saved."""

    code = "invalid_config"
    status = 400


class BadRequest(InvalidInput):
    """Well-formed, but cannot be asked for in this way or in this state."""

    code = "bad_request"
    status = 400


class NotFound(MemoryBankError):
    """Unknown, or not visible to the caller: both get the same answer."""

    code = "not_found"
    status = 404


class Conflict(MemoryBankError):
    """The row is in another state than the request needs."""

    code = "conflict"
    status = 409


class TimedOut(MemoryBankError):
    """The whole request ran over its limit."""

    code = "timed_out"
    status = 504


class DatabaseUnavailable(MemoryBankError):
    """PostgreSQL is not reachable, broke off what was asked, is too old, or lacks pgvector."""

    code = "database_unavailable"
    status = 503


class ModelError(MemoryBankError):
    """A language or embedding model call failed."""

    code = "model_error"
    status = 502


class ModelRateLimited(ModelError):
    """The provider asks to wait; `retry_after` in seconds where it said so."""

    code = "model_rate_limited"
    status = 503

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelUnavailable(ModelError):
    """Network error, time-out or a 5xx answer: back off and try again."""

    code = "model_unavailable"
    status = 503


class ModelRefused(ModelError):
    """The provider's policy refused the content: asking again cannot help."""

    code = "model_refused"


class ModelTruncated(ModelError):
    """The output was cut at its limit: ask for less."""

    code = "model_truncated"


class ModelMalformed(ModelError):
    """The reply holds no usable JSON: a repair turn may help."""

    code = "model_malformed"


class ModelFormatUnsupported(ModelError):
    """The endpoint does not take this response format or schema: ask in a plainer one."""

    code = "model_format"


class ModelMisconfigured(ModelError):
    """Wrong key, unknown model or missing weights: a person must act."""

    code = "model_misconfigured"
    status = 503


class LeaseLost(MemoryBankError):
    """The operation's lease is no longer ours: nothing may be written."""

    code = "lease_lost"
    status = 409
