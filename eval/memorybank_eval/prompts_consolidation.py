"""Consolidation, judged on real text: each batch of facts meets its observations in a bank of its own.

Old facts go through retain, the observations on them through the real stage, with a model that says just what is
given; then the new facts and the model that is judged.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from memorybank import templates
from memorybank.consolidate.stage import Consolidate
from memorybank.errors import MemoryBankError
from memorybank.llm.client import LanguageModel
from memorybank.llm.embedding import Embedder
from memorybank.model import Fact, FactType, RetainItem
from memorybank.operations import Kind
from memorybank.settings import Settings
from memorybank.storage import consolidations
from memorybank.storage.pool import Database
from memorybank.testing.scripted_answers import rows
from memorybank.testing.scripted_model import ScriptedModel
from memorybank_eval import grading
from memorybank_eval.decisions import Batch, Decision, Known, Told, checks, figures, table
from memorybank_eval.grading import Expected, Json, Statement
from memorybank_eval.ground import Ground, fresh_database
from memorybank_eval.offline import default_model

__all__ = ["checks", "figures", "notes", "read", "run", "table"]

_FOUND = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")
#: A round takes as long as whoever answers: no other worker is there to take it over.
_PATIENT = dict.fromkeys(("dead_seconds", "lease_seconds", "round_seconds", "round_cap_seconds"), 1e6)


def read(path: Path) -> list[Batch]:
    """Return the batches of a TOML or JSON file; raises InvalidInput where it is none."""
    return [_batch(one) for one in grading.load(path)["batches"]]


def _batch(raw: Mapping[str, Any]) -> Batch:
    decisions = tuple(_decision(one) for one in raw["decisions"])
    expected = Expected(
        raw["id"],
        "\n".join(_lines(raw)),
        tuple(
            Statement(name, says)
            for one in decisions
            for name, says in zip(one.pieces, one.says, strict=True)
        ),
        tuple(raw.get("may", ())),
        tuple(raw["never"]),
    )
    known = tuple(Known(one["id"], one["text"], tuple(one["sources"])) for one in raw["observations"])
    return Batch(
        raw["id"],
        _told(raw["old"]),
        known,
        _told(raw["facts"]),
        expected,
        decisions,
        tuple((one, other) for one, other in raw.get("apart", ())),
        frozenset(raw.get("optional", ())),
    )


def _decision(raw: Mapping[str, Any]) -> Decision:
    return Decision(
        raw["id"],
        tuple(raw["says"]),
        frozenset(raw["sources"]),
        frozenset(raw.get("also", ())),
        frozenset(raw.get("outdated", ())),
        frozenset(raw.get("merged", ())),
        raw.get("split", False),
    )


def _told(raw: Iterable[Mapping[str, str]]) -> tuple[Told, ...]:
    def one(row: Mapping[str, str]) -> Told:
        happened = _day(row["happened"]) if "happened" in row else None
        return Told(
            row["id"],
            Fact(row["text"], occurred_start=happened, occurred_end=happened),
            _day(row["said"]),
        )

    return tuple(map(one, raw))


def _day(said: str) -> datetime:
    return datetime.fromisoformat(said).replace(tzinfo=UTC)


def _lines(raw: Mapping[str, Any]) -> Iterable[str]:
    """Return a batch as a grader reads it."""
    for title in ("old", "observations", "facts"):
        yield f"{title}:"
        for one in raw[title]:
            yield f"- {one['id']} ({one.get('said') or ', '.join(one['sources'])}): {one['text']}"


async def run(
    batches: Sequence[Batch],
    models: Mapping[str, LanguageModel],
    settings: Settings,
    embedder: Embedder | None = None,
) -> list[Json]:
    """Consolidate all batches at once, each by its own model, and return what became of each, in order."""
    settings = by_itself(settings)
    async with fresh_database(settings) as database:
        used = embedder or default_model()
        return list(
            await asyncio.gather(
                *(consolidated(database, settings, used, one, models[one.id]) for one in batches)
            )
        )


def by_itself(settings: Settings) -> Settings:
    """Return settings under which runs are asked for, and wait for their answers."""
    bank = settings.bank.model_copy(update={"enable_auto_consolidation": False})
    worker = settings.worker.model_copy(update=_PATIENT)
    return settings.model_copy(update={"bank": bank, "worker": worker})


async def consolidated(
    database: Database, settings: Settings, embedder: Embedder, batch: Batch, model: LanguageModel
) -> Json:
    """Return the observations that a batch comes to in a new bank, and how its facts stand."""
    ground = await Ground.laid(database, settings, embedder, batch.id)
    await _keep(ground, batch.old)
    await _consolidate(ground, ScriptedModel(decide=lambda user: _as_given(batch, user)))
    given = {one.text: one.id for one in batch.observations}
    known = {row["id"]: given[row["text"]] for row in await observed(ground)}
    if set(known.values()) != set(given.values()):
        raise MemoryBankError(f"{batch.id}: its observations cannot stand as they are given")
    await _keep(ground, batch.new)
    try:
        error, result = None, await _consolidate(ground, model)
    except MemoryBankError as failed:
        error, result = failed.message, {}
    template = templates.load("consolidation", "decide")
    told = {one.fact.text: one.id for one in (*batch.old, *batch.new)}
    units = await ground.rows(_FOUND)
    facts = {row["id"]: told[row["text"]] for row in units if row["fact_type"] != FactType.OBSERVATION}
    return {
        "id": batch.id,
        "prompt": f"{template.name}.v{template.version}",
        "facts": [_stored(row, known, facts) for row in units if row["fact_type"] == FactType.OBSERVATION],
        "states": {facts[row["id"]]: row["state"] for row in units if row["id"] in facts},
        "result": result,
        "error": error,
    }


async def _keep(ground: Ground, told: Sequence[Told]) -> None:
    items = [RetainItem(one.fact.text, one.said) for one in told]
    await ground.keep(items, {one.fact.text: one.fact for one in told})


async def _consolidate(ground: Ground, model: LanguageModel) -> Json:
    """Run consolidation to its end; return what it says of itself."""
    async with ground.database.transaction() as connection:
        queued = await consolidations.ask(connection, ground.bank.id)
    stage = Consolidate(ground.database, ground.embedder, model, ground.settings)
    return await ground.work(queued.operation_id, {Kind.CONSOLIDATION: stage.work})


def _as_given(batch: Batch, user: str) -> Json:
    """Answer with the observations of a batch, by the numbers that its old facts are shown under."""
    number = {row["text"]: row["id"] for row in rows("new_facts", user)}
    text = {one.id: one.fact.text for one in batch.old}
    return {
        "actions": [
            {"action": "create", "text": one.text, "facts": [number[text[source]] for source in one.sources]}
            for one in batch.observations
        ]
    }


async def observed(ground: Ground) -> list[Json]:
    """Return the observations of a bank."""
    return [row for row in await ground.rows(_FOUND) if row["fact_type"] == FactType.OBSERVATION]


def _stored(row: Json, known: Mapping[UUID, str], facts: Mapping[UUID, str]) -> Json:
    """Return an observation as JSON: what it says, which one it was, the ids of what it stands on."""
    start, end = row["occurred_start"], row["occurred_end"]
    return {
        "text": row["text"],
        "fact_type": row["fact_type"],
        "occurred_start": start.isoformat() if start else None,
        "occurred_end": end.isoformat() if end else None,
        "place": None,
        "entities": [],
        "labels": [],
        "was": known.get(row["id"]),
        "sources": sorted(facts[source] for source in row["sources"]),
    }


def notes(outcome: Json) -> list[str]:
    """Return what a grader sees of a batch beside its observations: the answer as it came, and what was skipped."""
    said = outcome["result"]
    counts = {name: said.get(name) for name in ("skipped_by_reason", "failed_by_reason")}
    return [*outcome["answers"], f"{counts}, error {outcome['error']}"]
