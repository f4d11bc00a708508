"""Screening of what comes in: secrets are masked, or their item is refused, before anything is stored. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memorybank.model import EntityInput, RetainItem
from memorybank.retain.detectors import Detector, detectors
from memorybank.settings import MemoryDefense

#: The detector of a policy that we have; rules on other names do nothing.
SENSITIVE_DATA = "sensitive_data"
#: What stands in the place of a secret.
MASK = "[REDACTED:{}]"


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

        cleaned = replace(
            item,
            content=clean(item.content),
            context=clean(item.context),
            metadata={key: clean(value) for key, value in item.metadata.items()},
            tags=tuple(dict.fromkeys(map(clean, item.tags))),
            entities=tuple(EntityInput(clean(entity.text), entity.type) for entity in item.entities),
        )
        return cleaned, tuple(seen)


def mask(text: str, looks_for: Sequence[Detector]) -> tuple[str, tuple[str, ...]]:
    """Return a text with each secret as `[REDACTED:<class>]`, and the classes in the order of the detectors."""
    folded = _folded(text)
    spans: list[tuple[int, int, str]] = []
    for one in looks_for:
        searched = folded if one.kind.folds else text
        if one.literal not in searched:
            continue
        for found in one.pattern.finditer(searched):
            start, end = found.span(found.lastindex or 0)
            if one.kind.check is None or one.kind.check(text[start:end]):
                spans.append((start, end, one.kind.type))
    return _masked(text, spans), tuple(dict.fromkeys(type_ for _, _, type_ in spans))


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
