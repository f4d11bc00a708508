"""What a refresh looked at and came to, before anything is written. No I/O."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from memorybank.directives.enforcing import Violation
from memorybank.errors import MemoryBankError
from memorybank.mental_models.delta import Changed
from memorybank.mental_models.prompting import Evidence
from memorybank.mental_models.trigger import Mode
from memorybank.model import TokenUsage
from memorybank.sections import Document
from memorybank.storage.mental_models import Model


class Ending(StrEnum):
    """How a refresh ended; the wire's words."""

    WRITTEN = "content_written"
    UNCHANGED = "content_unchanged"
    PRESERVED = "content_preserved_no_new_facts"
    EMPTY = "refresh_failed_empty_candidate"
    NOT_APPLIED = "refresh_failed_delta_not_applied"
    UNSTRUCTURED = "refresh_failed_structured_output"
    ERROR = "refresh_failed_error"


class Reason(StrEnum):
    """Why a refresh failed, or why it was not a delta; the wire's words."""

    NO_BASELINE = "no_baseline_content"
    OTHER_QUESTION = "source_query_changed"
    EMPTY = "empty_candidate"
    FAILED = "delta_ops_failed"
    ALL_SKIPPED = "delta_ops_all_skipped"
    NOT_APPLIED = "delta_not_applied"
    UNSTRUCTURED = "structured_output_failed"
    NO_ANSWER = "no_answer"


#: What the failure of a refresh means for it.
ENDINGS = {
    Reason.EMPTY: Ending.EMPTY,
    Reason.FAILED: Ending.NOT_APPLIED,
    Reason.ALL_SKIPPED: Ending.NOT_APPLIED,
    Reason.NOT_APPLIED: Ending.NOT_APPLIED,
    Reason.UNSTRUCTURED: Ending.UNSTRUCTURED,
}


@dataclass
class Notes:
    """What was done on the way: steps with their milliseconds, what of an answer was dropped, and the cost."""

    searches: list[dict[str, Any]] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    usage: TokenUsage = field(default_factory=TokenUsage)
    warnings: list[str] = field(default_factory=list)
    duration_ms: int = 0

    def called(self, scope: str, milliseconds: int) -> None:
        """Note a call of a model."""
        self.calls.append({"scope": scope, "duration_ms": milliseconds})


@dataclass(frozen=True)
class Draft:
    """What a refresh would make of a model as it was read; `error` where it failed, and the old content stands.

    `violations`: the directives that what it wrote breaks; of that nothing is in here.
    """

    model: Model
    requested: Mode
    mode: Mode
    ending: Ending
    document: Document
    evidence: Evidence
    seen_at: datetime | None
    read_at: datetime
    notes: Notes
    fallback: Reason | None = None
    failure: Reason | None = None
    error: MemoryBankError | None = None
    violations: tuple[Violation, ...] = ()
    changed: Changed | None = None
    candidate: Document = ()
    structured_output: Mapping[str, Any] | None = None

    def result(self) -> dict[str, Any]:
        """Return what the operation says of it, by number."""
        skipped = Counter(why for _, why in self.changed.skipped) if self.changed else Counter()
        return {
            "mental_model_id": self.model.id,
            "outcome": self.ending.value,
            **({"failure_reason": self.failure.value} if self.failure else {}),
            **({"violations": [one.told() for one in self.violations]} if self.violations else {}),
            "effective_mode": self.mode,
            **({"mode_fallback_reason": self.fallback.value} if self.fallback else {}),
            "facts_shown": len(self.evidence.shown),
            "dropped_by_reason": dict(self.notes.dropped),
            "operations_applied": len(self.changed.applied) if self.changed else 0,
            "operations_skipped_by_reason": dict(skipped),
            "llm_calls": len(self.notes.calls),
            "usage": self.notes.usage.counts(),
            "cost": self.notes.usage.cost,
        }

    def delta_operations(self) -> dict[str, Any] | None:
        """Return the operations of a delta, those that could not be done with the reason."""
        if self.changed is None:
            return None
        return {
            "applied": [one.told() for one in self.changed.applied],
            "skipped": [(one.told() if one else {}) | {"reason": why} for one, why in self.changed.skipped],
        }

    def trace(self) -> dict[str, Any]:
        """Return how it came about."""
        notes = self.notes
        made = {
            "effective_mode": self.mode,
            "mode_fallback_reason": self.fallback,
            "outcome": self.ending.value,
            "recorded_at": self.read_at.isoformat(),
            "duration_ms": notes.duration_ms,
            "tool_calls": notes.searches,
            "llm_calls": notes.calls,
            "delta_operations": self.delta_operations(),
            "usage": notes.usage.counts(),
            "warnings": notes.warnings,
        }
        return {name: value for name, value in made.items() if value is not None}

    def response(self, *, keep_trace: bool) -> dict[str, Any]:
        """Return what is stored beside the document."""
        made: dict[str, Any] = {"usage": self.notes.usage.counts()}
        if self.structured_output is not None:
            made["structured_output"] = dict(self.structured_output)
        if keep_trace:
            made["trace"] = self.trace()
        return made
