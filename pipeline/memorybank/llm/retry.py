"""What follows a failed attempt at a model. Pure: error, history and budget give the next step.

rate limited          wait as told, else back off; longer than the budget allows: give up, the operation waits
unavailable           back off
format not supported  ask in the next plainer format, remembered for the model
malformed             repair turn, then a plainer format, in turns: no request is sent twice unchanged
cut while thinking    twice the room, once
cut at the limit      give up: the caller splits its input
never closed          the model says it was done: one repair turn, then as cut at the limit
refused, wrong key    give up
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from enum import Enum

from memorybank import errors
from memorybank.llm.client import AnswerFormat

#: A wait is stretched by up to this share at random, so that parallel calls do not come back together.
SPREAD = 0.5


class Change(Enum):
    """How the next request differs from the failed one."""

    SAME = "same"
    REPAIR = "repair"
    PLAINER = "plainer"
    ROOMIER = "roomier"


@dataclass(frozen=True)
class Patience:
    """How long is waited for a provider, in seconds.

    `first` where it names no time, doubled by every further wait; `longest` without giving the operation back.
    """

    first: float = 0.5
    longest: float = 10.0


@dataclass(frozen=True)
class Step:
    """Try again: what changes, and the seconds to wait before."""

    change: Change
    wait: float = 0.0


class OutOfRoom(errors.ModelTruncated):
    """Nothing but thinking came: more room may help."""


class Unclosed(errors.ModelTruncated):
    """The JSON begins and does not end, though the model says that it was done."""


@dataclass
class Budget:
    """The attempts of one unit of work, whatever goes wrong. Pass the same budget on when the work is split.

    `pause` is the seam for waiting.
    """

    attempts: int = 4
    patience: Patience = field(default_factory=Patience)
    pause: Callable[[float], Awaitable[None]] | None = field(default=None, repr=False)
    spent: int = 0

    @property
    def left(self) -> int:
        """Return how many attempts remain."""
        return max(0, self.attempts - self.spent)


@dataclass(frozen=True)
class Tried:
    """What happened in this call before: counts of failures by kind, and the format of the last request."""

    malformed: int = 0
    waited: int = 0
    roomier: int = 0
    answer_format: AnswerFormat = AnswerFormat.JSON_SCHEMA
    structured: bool = True


def next_step(error: errors.ModelError, tried: Tried, patience: Patience, chance: float = 0.0) -> Step | None:
    """Return how to go on after `error`, or None to give up; `chance` in [0, 1) spreads the waits.

    `tried` counts what happened before this error. The number of attempts is the budget's matter.
    """
    match error:
        case errors.ModelRateLimited():
            return _waiting(error.retry_after, tried.waited, patience, chance)
        case errors.ModelUnavailable():
            return _waiting(None, tried.waited, patience, chance)
        case errors.ModelFormatUnsupported():
            return Step(Change.PLAINER) if tried.answer_format < AnswerFormat.PROMPT else None
        case OutOfRoom():
            return None if tried.roomier else Step(Change.ROOMIER)
        case Unclosed():
            return None if tried.malformed else Step(Change.REPAIR)
        case errors.ModelMalformed():
            return Step(_after_malformed(tried))
        case _:
            return None


def counted(tried: Tried, error: errors.ModelError) -> Tried:
    """Return `tried` with this error counted under its kind."""
    match error:
        case errors.ModelRateLimited() | errors.ModelUnavailable():
            return replace(tried, waited=tried.waited + 1)
        case OutOfRoom():
            return replace(tried, roomier=tried.roomier + 1)
        case errors.ModelMalformed() | Unclosed():
            return replace(tried, malformed=tried.malformed + 1)
        case _:
            return tried


def _after_malformed(tried: Tried) -> Change:
    can_be_plainer = tried.structured and tried.answer_format < AnswerFormat.PROMPT
    return Change.PLAINER if tried.malformed % 2 and can_be_plainer else Change.REPAIR


def _waiting(told: float | None, waited: int, patience: Patience, chance: float) -> Step | None:
    """Return the wait the provider asked for, else the next of our own; None where it is too long to wait here."""
    seconds = float(patience.first * 2**waited * (1 + SPREAD * chance)) if told is None else told
    return Step(Change.SAME, seconds) if seconds <= patience.longest else None
