"""Mental models as the wire has them."""

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Any

from memorybank.mental_models.draft import Draft, Ending
from memorybank.mental_models.trigger import tags_match
from memorybank.sections import cited, rendered
from memorybank.serve.http.schemas.mental_models import (
    Detail,
    MentalModelDeltaOperations,
    MentalModelDryRunRefreshResult,
    MentalModelFactCounts,
    MentalModelRefreshScope,
    MentalModelRefreshWindow,
    MentalModelResponse,
    MentalModelTrigger,
)
from memorybank.serve.http.schemas.wire import TokenUsage, stamp
from memorybank.storage.mental_models import Model, Shown
from memorybank.storage.queries import Row

#: What is shown of a model that was never built. It is no content: the first build knows nothing of it.
PLACEHOLDER = "Not built yet: its first refresh is on its way."


def content(model: Model) -> str:
    """Return what a model says."""
    return rendered(model.document) if model.version else PLACEHOLDER


def model(bank_id: str, one: Model, sources: Sequence[Row], detail: Detail) -> MentalModelResponse:
    """Return a model in the detail asked for."""
    return MentalModelResponse(
        id=one.id,
        bank_id=bank_id,
        name=one.name,
        source_query=one.source_query,
        content=None if detail == "metadata" else content(one),
        tags=list(one.tags),
        max_tokens=one.max_tokens,
        trigger=trigger_of(one),
        last_refreshed_at=stamp(one.refreshed_at),
        last_full_refreshed_at=stamp(one.full_refreshed_at),
        last_refresh_failed_at=stamp(one.failed_at),
        last_memory_seen_at=stamp(one.seen_at),
        created_at=stamp(one.created_at),
        reflect_response=_reflected(one, sources) if detail == "full" and one.refreshed_at else None,
        is_stale=one.is_stale,
        is_knowledge_page=one.is_managed or None,
    )


def trigger_of(one: Model) -> dict[str, Any]:
    """Return a trigger with what holds where it does not say."""
    return MentalModelTrigger.model_validate(one.trigger).model_dump(exclude_none=True)


def _reflected(one: Model, sources: Sequence[Row]) -> dict[str, Any]:
    """Return what the last refresh gave: the text, what it is based on, and which statement on what."""
    return {
        "text": rendered(one.document),
        "based_on": {"memories": [_source(row) for row in sources], "mental_models": [], "directives": []},
        "sections": [
            {
                "name": section.name,
                "statements": [
                    {"text": said.text, "memory_ids": [str(id_) for id_ in said.sources]}
                    for said in section.statements
                ],
            }
            for section in one.document
        ],
        **one.response,
    }


def _source(row: Row) -> dict[str, Any]:
    found = {
        "id": str(row["id"]),
        "text": row["text"],
        "type": row["fact_type"],
        "context": row["context"] or None,
        "occurred_start": stamp(row["occurred_start"]),
        "occurred_end": stamp(row["occurred_end"]),
    }
    return {name: value for name, value in found.items() if value is not None}


def dry_run(draft: Draft) -> MentalModelDryRunRefreshResult:
    """Return what a refresh would do. A failure that the contract has no word for counts as an empty candidate."""
    one, before, after = draft.model, content(draft.model), draft.document
    outcome = Ending.EMPTY if draft.ending is Ending.ERROR else draft.ending
    preview = rendered(after) if draft.ending is Ending.WRITTEN else before
    operations = draft.delta_operations()
    warnings = [*draft.notes.warnings, *([draft.error.message] if draft.error else [])]
    return MentalModelDryRunRefreshResult(
        mental_model_id=one.id,
        name=one.name,
        requested_mode=draft.requested,
        effective_mode=draft.mode,
        mode_fallback_reason=draft.fallback,
        outcome=outcome,
        would_persist=draft.ending is Ending.WRITTEN,
        scope=_scope(one),
        window=MentalModelRefreshWindow(
            created_after=stamp(one.seen_at) if draft.mode == "delta" else None,
            created_before=(draft.seen_at or draft.read_at).isoformat(),
            watermark=stamp(draft.seen_at),
        ),
        facts=_counts(draft),
        based_on={"memories": [_fact(one) for one in _used(draft)]},
        current_content=before,
        candidate_content=rendered(draft.candidate),
        preview_content=preview,
        diff="\n".join(
            difflib.unified_diff(before.split("\n"), preview.split("\n"), "now", "then", lineterm="")
        ),
        delta_operations=MentalModelDeltaOperations(**operations) if operations else None,
        trace={**draft.trace(), "outcome": outcome},
        usage=TokenUsage(**draft.notes.usage.counts()),
        duration_ms=draft.notes.duration_ms,
        warnings=warnings,
    )


def _scope(one: Model) -> MentalModelRefreshScope:
    return MentalModelRefreshScope(
        tags=list(one.tags) or None,
        tags_match=tags_match(one.trigger, one.tags),
        tag_groups=one.trigger.get("tag_groups"),
        fact_types=one.trigger.get("fact_types"),
        exclude_mental_models=bool(one.trigger.get("exclude_mental_models")),
        exclude_mental_model_ids=one.trigger.get("exclude_mental_model_ids"),
    )


def _used(draft: Draft) -> list[Shown]:
    known = set(cited(draft.candidate))
    return [one for one in draft.evidence.shown if one.id in known]


def _counts(draft: Draft) -> MentalModelFactCounts:
    return MentalModelFactCounts(
        retrieved=Counter(one.fact_type for one in draft.evidence.shown),
        used=Counter(one.fact_type for one in _used(draft)),
    )


def _fact(one: Shown) -> dict[str, Any]:
    return _source(vars(one))
