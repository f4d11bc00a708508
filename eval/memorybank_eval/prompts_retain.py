"""Retain, judged on real text: samples go through the real extraction. What must be kept is listed with them."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from memorybank import templates
from memorybank.llm.client import LanguageModel
from memorybank.llm.retry import Patience
from memorybank.model import Fact, RetainItem
from memorybank.retain import intake, preview, prompting
from memorybank.retain.extraction import Asking
from memorybank.retain.extractors import extractor_for
from memorybank.retain.work import ChunkWork, Extraction
from memorybank.settings import BankConfig, Settings, defaults, resolve_bank
from memorybank_eval import grading
from memorybank_eval.grading import Expected, Graded, Json, Statement

#: The date of a sample that has none.
UNSET = "unset"


@dataclass(frozen=True)
class Sample:
    """A text as a client would send it, the configuration of its bank, and what must become of it."""

    id: str
    item: RetainItem
    config: BankConfig
    narrator: str
    expected: Expected


def read(path: Path) -> list[Sample]:
    """Return the samples of a TOML or JSON file; raises InvalidInput where it is none."""
    return [_sample(one) for one in grading.load(path)["samples"]]


def _sample(raw: Mapping[str, Any]) -> Sample:
    dated = raw["timestamp"] != UNSET
    item = RetainItem(
        content=raw["content"].strip("\n"),
        timestamp=datetime.fromisoformat(raw["timestamp"]) if dated else None,
        context=raw.get("context", ""),
        metadata=raw.get("metadata", {}),
    )
    expected = Expected(
        raw["id"],
        item.content,
        tuple(_statement(one) for one in raw["lasting"]),
        tuple(raw.get("may", ())),
        tuple(raw.get("must_not", ())),
    )
    config = resolve_bank(defaults().bank, raw.get("config", {}))
    return Sample(raw["id"], item, config, raw.get("narrator", ""), expected)


def _statement(raw: Mapping[str, Any]) -> Statement:
    first, last = map(date.fromisoformat, raw["date"]) if "date" in raw else (None, None)
    return Statement(raw["id"], raw["says"], raw.get("owner", ""), first, last, raw.get("type", ""))


def works(sample: Sample, settings: Settings) -> list[ChunkWork]:
    """Return the chunks of a sample as retain would extract them: checked, screened, without recalled memories, cut."""
    limits = intake.Limits(settings.retain, lambda _: sample.config)
    [item] = intake.accept([sample.item], limits).items
    return preview.works(item, sample.config, sample.narrator)


async def extracted(sample: Sample, model: LanguageModel, settings: Settings) -> Extraction:
    """Return the facts that retain would store of a sample; a chunk that was lost is the error of the whole."""
    own = settings.llm
    patience = Patience(own.backoff_seconds, own.backoff_cap_seconds)
    asking = Asking(settings.retain.attempts, patience, own.max_output_tokens)
    extractor = extractor_for(sample.config, model, asking)
    whole = Extraction()
    for work in works(sample, settings):
        [found] = await extractor.extract([work])
        if found.error:
            return found
        whole = whole.followed_by(found)
    return whole


async def run(
    samples: Sequence[Sample], models: Mapping[str, LanguageModel], settings: Settings
) -> list[dict[str, Any]]:
    """Ask about all samples at once, each by its own model, and return what would be stored of each, in order."""

    async def one(sample: Sample) -> dict[str, Any]:
        found = await extracted(sample, models[sample.id], settings)
        return {
            "id": sample.id,
            "prompt": _prompt(sample.config),
            "facts": [_stored(fact, sample.item.timestamp) for fact in found.facts],
            "dropped": dict(found.dropped),
            "error": found.error.code if found.error else None,
        }

    return list(await asyncio.gather(*map(one, samples)))


def _prompt(config: BankConfig) -> str:
    template = templates.load("retain", prompting.mode(config))
    return f"{template.name}.v{template.version}"


def _stored(fact: Fact, anchor: datetime | None) -> dict[str, Any]:
    """Return a fact as JSON, with the fields that a client would see."""
    said = fact.mentioned_at or anchor
    return {
        "text": fact.text,
        "fact_type": str(fact.fact_type),
        "occurred_start": fact.occurred_start.isoformat() if fact.occurred_start else None,
        "occurred_end": fact.occurred_end.isoformat() if fact.occurred_end else None,
        "mentioned_at": said.isoformat() if said else None,
        "place": fact.place_name,
        "entities": [name.text for name in fact.entities if not name.is_label],
        "labels": [name.text for name in fact.entities if name.is_label],
        "tags": list(fact.tags),
        "causes": list(fact.causes),
    }


def notes(outcome: Json) -> list[str]:
    """Return what a grader sees of a sample beside its facts."""
    return [f"dropped {outcome['dropped']}, error {outcome['error']}"]


def figures(samples: Sequence[Sample], outcomes: Mapping[str, Json], graded: Graded) -> Json:
    """Return what the grades come to."""
    return graded.figures()


checks = Graded.checks
table = grading.table
