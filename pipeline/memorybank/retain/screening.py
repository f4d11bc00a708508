"""Screening of what comes in: secrets are masked, or their item is refused, before anything is stored. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memorybank.model import EntityInput, RetainItem
from memorybank.retain.detectors import Detector, detectors
from memorybank.settings import MemoryDefense
from memorybank.text import UNSEEN

#: The detector of a policy that we have; rules on other names do nothing.
SENSITIVE_DATA = "sensitive_data"
#: What stands in the place of a secret.
MASK = "[REDACTED:{}]"
#: So many characters before a find may belong to it: the largest key in use has 13,000.
MAX_ABOVE = 16_000


@dataclass(frozen=True)
class Violation:
    """Why an item was blocked; says what was found, never the find. `index`: its place in the request."""

    index: int
    detector: str
    message: str

    @classmethod
    def of(cls, index: int, found: Sequence[str]) -> "Violation":
        """Return what is said of an item in which these classes were found."""
        return cls(index, SENSITIVE_DATA, f"blocked by the bank's memory_defense: {', '.join(found)}")


@dataclass(frozen=True)
class Screen:
    """What holds for an item: `looks_for` is empty where it is let through as it is."""

    looks_for: tuple[Detector, ...] = ()
    blocks: bool = False

    @classmethod
    def of(cls, policy: MemoryDefense | None, mask_secrets: bool) -> "Screen":
        """Return what a bank's policy asks for; where it says nothing of secrets, the installation masks credentials.

        The first rule on the detector wins. A policy that is not enabled lets everything through.
        """
        if policy is not None and not policy.enabled:
            return cls()
        rules = policy.rules if policy else ()
        action = next((rule.action for rule in rules if rule.on == SENSITIVE_DATA), None)
        if action is None:
            return cls(detectors(personal=False) if mask_secrets else ())
        return cls(() if action == "allow" else detectors(personal=True), blocks=action == "block")

    def item(self, item: RetainItem) -> tuple[RetainItem, tuple[str, ...]]:
        """Return an item without secrets, and the classes that were found in it."""
        seen: dict[str, None] = {}

        def clean(text: str) -> str:
            masked, found = mask(text, self.looks_for)
            seen.update(dict.fromkeys(found))
            return masked

        def each(tags: Sequence[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(map(clean, tags)))

        scopes = item.observation_scopes
        cleaned = replace(
            item,
            content=clean(item.content),
            context=clean(item.context),
            metadata={clean(key): clean(value) for key, value in item.metadata.items()},
            tags=each(item.tags),
            entities=tuple(EntityInput(clean(one.text), clean(one.type)) for one in item.entities),
            observation_scopes=scopes
            if scopes is None or isinstance(scopes, str)
            else tuple(map(each, scopes)),
        )
        return cleaned, tuple(seen)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        return mask(text, self.looks_for)[0]


def mask(text: str, looks_for: Sequence[Detector]) -> tuple[str, tuple[str, ...]]:
    """Return a text with each secret as `[REDACTED:<class>]`, and the classes in the order of the detectors.

    Signs that nobody sees hide none.
    """
    if text.isascii() or not UNSEEN.search(text):
        spans = _spans(text, looks_for)
    else:
        seen = [place for place, char in enumerate(text) if not UNSEEN.match(char)]
        found = _spans("".join(text[place] for place in seen), looks_for)
        spans = [(seen[start], seen[end - 1] + 1, type_) for start, end, type_ in found]
    return _masked(text, spans), tuple(dict.fromkeys(type_ for _, _, type_ in spans))


def _spans(text: str, looks_for: Sequence[Detector]) -> list[tuple[int, int, str]]:
    """Return where secrets stand, and their classes."""
    folded = _folded(text)
    spans: list[tuple[int, int, str]] = []
    for one in looks_for:
        searched = folded if one.folds else text
        if one.literal not in searched:
            continue
        for found in one.pattern.finditer(searched):
            start, end = found.span(found.lastindex or 0)
            if one.check is not None and not one.check(text[start:end]):
                continue
            if one.before is not None:
                above = one.before.match(text[max(start - MAX_ABOVE, 0) : start][::-1])
                if above is None:
                    continue
                start -= above.end()
            spans.append((start, end, one.type))
    return spans


def _folded(text: str) -> str:
    """Return a text in lower case and of the same length: the dotted capital I alone would become two letters."""
    return text.replace("İ", "i").lower()


def _masked(text: str, spans: Sequence[tuple[int, int, str]]) -> str:
    """Return a text without what stands at the spans; where they overlap, all of it goes under the first one's name."""
    parts: list[str] = []
    end = 0
    for start, stop, type_ in sorted(spans, key=lambda span: span[0]):
        if start >= end:
            parts += [text[end:start], MASK.format(type_)]
        end = max(end, stop)
    return "".join([*parts, text[end:]])
