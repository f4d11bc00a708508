"""What would leave, and what a check says of it. No I/O."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from memorybank.storage.directives import Directive


class Rule(StrEnum):
    """What decided: a model, one of the rules that code checks, or nobody; the words of the caller's trace."""

    MODEL = "model"
    LANGUAGE = "language"
    LENGTH = "length"
    MUST_CITE = "must_cite"
    FORBIDDEN_WORDS = "forbidden_words"
    NO_VERDICT = "no_verdict"


@dataclass(frozen=True)
class Draft:
    """ALL that would leave: the text as its reader gets it, and the structured output.

    `cited`: every sentence that states something names what it rests on, so that the reader sees it; also where
    nothing is stated. `handed`: what it rests on, a line each, as far as the reader may ask to see it.
    """

    text: str
    output: Mapping[str, Any] | None = None
    cited: bool = False
    handed: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """The text and every value of the output, as text."""
        return (self.text, *(said for said, is_key in _strings(self.output) if not is_key))

    @property
    def keys(self) -> tuple[str, ...]:
        """Every key of the output."""
        return tuple(said for said, is_key in _strings(self.output) if is_key)


@dataclass(frozen=True)
class Violation:
    """A directive that a draft breaks, or that nobody can say it keeps. `words` go to the operator's log alone."""

    directive: Directive
    rule: Rule
    words: tuple[str, ...] = ()

    def told(self) -> dict[str, str]:
        """Return what a caller may know."""
        return {"directive_id": str(self.directive.id), "rule": self.rule.value}


def _strings(value: Any) -> Iterator[tuple[str, bool]]:
    """Yield the strings and numbers inside a JSON value, each with whether it is a key."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key), True
            yield from _strings(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _strings(inner)
    elif isinstance(value, str) or (isinstance(value, int | float) and not isinstance(value, bool)):
        yield str(value), False
