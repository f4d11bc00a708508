"""What follows a failed attempt at a model. Pure: error, history and budget give the next step.

rate limited          wait as told, else back off; longer than the budget allows: give up, the operation waits
unavailable           back off
format not supported  ask in the next plainer format, remembered for the model; tools: give up, the caller does without
malformed             repair turn, then give up where the caller can divide the work or has more of it to ask for
                      first, else plain JSON without any format, then further repair turns: no request is sent twice
                      unchanged
cut while thinking    twice the room, once
cut at the limit      give up: the caller divides its work; what is not divisible is asked for more briefly, once
never closed          the model says it was done: one repair turn, then as cut at the limit
asked too much, refused, wrong key: give up
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
    PLAIN = "plain"
    ROOMIER = "roomier"
    SHORTER = "shorter"


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


class OverLong(errors.ModelTruncated):
    """What was asked is longer than the model takes: no other wording helps."""


class Unclosed(errors.ModelTruncated):
    """The JSON begins and does not end, though the model says that it was done."""


@dataclass
class Budget:
    """The attempts of one unit of work, whatever goes wrong. Pass the same budget on when the work is divided.

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

    def regain(self) -> None:
        """Give one attempt back: what a part of divided work took that was answered."""
        self.attempts += 1


@dataclass(frozen=True)
class Tried:
    """What happened before: counts of failures by kind, and how the last request asked.

    `divisible`: the caller can ask for less. `more`: the caller has other parts of the work to ask for first.
    """

    malformed: int = 0
    waited: int = 0
    roomier: int = 0
    cut: int = 0
    refused: int = 0
    answer_format: AnswerFormat = AnswerFormat.JSON_SCHEMA
    structured: bool = True
    divisible: bool = False
    more: bool = False


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
            plainer = tried.structured and tried.answer_format < AnswerFormat.PROMPT
            return Step(Change.PLAINER) if plainer else None
        case OutOfRoom():
            return None if tried.roomier else Step(Change.ROOMIER)
        case OverLong():
            return None
        case Unclosed() if not tried.malformed:
            return Step(Change.REPAIR)
        case errors.ModelTruncated():
            return None if tried.divisible or tried.cut else Step(Change.SHORTER)
        case errors.ModelMalformed():
            return _after_malformed(tried)
        case _:
            return None


def counted(tried: Tried, error: errors.ModelError) -> Tried:
    """Return `tried` with this error counted under its kind."""
    match error:
        case errors.ModelRateLimited() | errors.ModelUnavailable():
            return replace(tried, waited=tried.waited + 1)
        case OutOfRoom():
            return replace(tried, roomier=tried.roomier + 1)
        case errors.ModelMalformed():
            return replace(tried, malformed=tried.malformed + 1)
        case Unclosed() if not tried.malformed:
            return replace(tried, malformed=1)
        case errors.ModelTruncated():
            return replace(tried, cut=tried.cut + 1)
        case errors.ModelFormatUnsupported():
            return replace(tried, refused=tried.refused + 1)
        case _:
            return tried


def _after_malformed(tried: Tried) -> Step | None:
    if tried.malformed and (tried.divisible or tried.more):
        return None
    can_be_plain = tried.structured and tried.answer_format < AnswerFormat.PROMPT
    return Step(Change.PLAIN if tried.malformed and can_be_plain else Change.REPAIR)


def _waiting(told: float | None, waited: int, patience: Patience, chance: float) -> Step | None:
    """Return the wait the provider asked for, else the next of our own; None where it is too long to wait here."""
    seconds = float(patience.first * 2**waited * (1 + SPREAD * chance)) if told is None else told
    return Step(Change.SAME, seconds) if seconds <= patience.longest else None
