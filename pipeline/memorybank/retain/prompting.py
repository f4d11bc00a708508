"""What a model is asked to extract: one request about one or several contents. Pure.

The system part is the same for all banks, so that providers keep it; all that differs stands behind it, in the user
part. Each mode has a prompt of its own.
"""

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from typing import Any

from memorybank import templates
from memorybank.llm.client import ChatRequest
from memorybank.retain import labels, schema
from memorybank.retain.facts import Source
from memorybank.retain.work import ChunkWork
from memorybank.settings import BankConfig

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
#: What stands before a bank's label groups.
LABELS = (
    "Labels: give each one a field labels, an object of what holds of these keys, values as they stand here. Leave out"
    " a key that does not fit, unless it is required."
)


def mode(config: BankConfig) -> str:
    """Return which prompt is used: the mode's own; custom without instructions is concise."""
    named = config.retain_extraction_mode
    return "concise" if named == "custom" and not _instructions(config) else named


def request(works: Sequence[ChunkWork], max_output_tokens: int | None = None) -> ChatRequest:
    """Return the call that asks for the facts of all works; they are of one bank and one configuration."""
    config = works[0].config
    template = templates.load("retain", mode(config))
    values = {
        "mission": (config.retain_mission or "").strip(),
        "keep": _instructions(config),
        "language": _line(config.llm_output_language or ""),
        "labels": _catalogue(config),
        "contents": _contents(works, templates.fresh_nonce()),
    }
    prompt = template.render(**{name: values[name] for name in template.text})
    return ChatRequest(
        stage="retain",
        system=prompt.system,
        user=prompt.user,
        schema_name=schema.NAME,
        schema=schema.asked(_is_whole(config), labels.described(config.entity_labels or ())),
        max_output_tokens=max_output_tokens,
    )


def reader(config: BankConfig) -> Callable[[Any], schema.Answer]:
    """Return what reads an answer to `request`."""
    return partial(schema.read, whole=_is_whole(config))


def sources(works: Sequence[ChunkWork]) -> tuple[Source, ...]:
    """Return what the facts of an answer to `request(works)` are drawn from, for `facts.build`."""
    config = works[0].config
    system = templates.load("retain", mode(config)).system
    groups = config.entity_labels or ()
    return tuple(Source(work.text, work.anchor, system, groups, _is_whole(config)) for work in works)


def _is_whole(config: BankConfig) -> bool:
    return config.retain_extraction_mode == "verbatim"


def _instructions(config: BankConfig) -> str:
    return (config.retain_custom_instructions or "").strip()


def _catalogue(config: BankConfig) -> str:
    groups = labels.catalogue(config.entity_labels or ())
    return f"{LABELS}\n{groups}" if groups else ""


def _contents(works: Sequence[ChunkWork], nonce: str) -> str:
    """Return all contents, each in a fence of its own; what is the same for all of them is said once, before them."""
    contexts = [_context(work) for work in works]
    is_shared = len(set(contexts)) == 1
    blocks = [_fenced("context", contexts[0], nonce)] if is_shared else []
    for number, (work, context) in enumerate(zip(works, contexts, strict=True), 1):
        blocks += [f"Content {number}"] if len(works) > 1 else []
        blocks += _head(work)
        blocks += [] if is_shared else [_fenced("context", context, nonce)]
        blocks.append(templates.fence("content", work.text, nonce))
    return "\n".join(block for block in blocks if block)


def _head(work: ChunkWork) -> list[str]:
    """Return the lines on one content."""
    part = f"Part: {work.number} of {work.total}" if work.total > 1 else ""
    narrator = f"Narrator: {_line(work.narrator)}" if work.narrator.strip() else ""
    return [f"Date: {_date(work.anchor)}", part, narrator]


def _context(work: ChunkWork) -> str:
    return "\n".join([work.context, *(f"{key}: {value}" for key, value in work.metadata.items())]).strip()


def _fenced(tag: str, text: str, nonce: str) -> str:
    return templates.fence(tag, text, nonce) if text else ""


def _date(anchor: datetime | None) -> str:
    return f"{anchor.date().isoformat()} ({WEEKDAYS[anchor.weekday()]})" if anchor else "unknown"


def _line(text: str) -> str:
    return " ".join(text.split())
