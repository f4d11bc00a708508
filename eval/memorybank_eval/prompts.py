"""Are the prompts of retain good on real text? Samples go through the real extraction, and a reader grades the facts.

    run     each sample is cut, asked about and read as retain does it; the facts are written to a file
    sheet   samples, expected statements and facts side by side, and an empty file of grades, for who grades
    grade   the grades as figures

What has to be kept is listed before anything is asked. See eval/datasets/prompts/README.md.
"""

import argparse
import asyncio
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from memorybank import templates
from memorybank.errors import InvalidInput
from memorybank.llm import litellm_client
from memorybank.llm.client import LanguageModel
from memorybank.llm.litellm_client import LitellmModel
from memorybank.llm.retry import Patience
from memorybank.model import Fact, RetainItem
from memorybank.retain import intake, preview, prompting
from memorybank.retain.extraction import Asking
from memorybank.retain.extractors import extractor_for
from memorybank.retain.work import ChunkWork, Extraction
from memorybank.settings import BankConfig, Settings, defaults, resolve_bank
from memorybank_eval import cassettes, grading, machine, report
from memorybank_eval.cassettes import NONCE, Recorder
from memorybank_eval.grading import Expected, Statement

#: Seconds an answer may take: a person may be the model.
TIMEOUT = 7200.0
#: The date of a sample that has none.
UNSET = "unset"
RESULTS = Path(__file__).resolve().parents[1] / "results" / "prompts.json"


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
    try:
        text = path.read_text(encoding="utf-8")
        raw = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InvalidInput(f"{path} cannot be parsed: {error}") from error
    return [_sample(one) for one in raw["samples"]]


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


async def run(samples: Sequence[Sample], settings: Settings, record: Path | None) -> list[dict[str, Any]]:
    """Ask about all samples at once, and return what would be stored of each, in order."""
    model = LitellmModel({"retain": settings.llm})

    async def one(sample: Sample) -> dict[str, Any]:
        recorder = Recorder(model, settings.llm.model)
        found = await extracted(sample, recorder, settings)
        if record:
            cassettes.save(record / f"{sample.id}.json", recorder)
        return {
            "id": sample.id,
            "prompt": _prompt(sample.config),
            "facts": [_stored(fact, sample.item.timestamp) for fact in found.facts],
            "dropped": dict(found.dropped),
            "error": found.error.code if found.error else None,
            "answers": [answer.content for answer in recorder.answers.values()],
        }

    try:
        with templates.fixed_nonce(NONCE):
            return list(await asyncio.gather(*map(one, samples)))
    finally:
        await litellm_client.close()


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


def add_command(commands: Any) -> None:
    """Add the command `prompts` to a command line."""
    parts = commands.add_parser("prompts", help="are the prompts good on real text?").add_subparsers(
        required=True
    )
    asked = parts.add_parser("run", help="extract the facts of samples through a model")
    asked.add_argument("--base-url", required=True, help="an OpenAI-compatible address")
    asked.add_argument("--model", default="openai/bridge", help="in litellm's form")
    asked.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds an answer may take")
    asked.add_argument("--out", type=Path, required=True, help="write the facts to this file")
    asked.add_argument("--record", type=Path, help="keep the answers in this folder, a file a sample")
    asked.set_defaults(run=_run)
    sheet = parts.add_parser("sheet", help="print what a grader needs, write an empty file of grades")
    sheet.set_defaults(run=_sheet)
    graded = parts.add_parser("grade", help="turn grades into figures")
    graded.add_argument("--out", type=Path, default=RESULTS, help="results; the set's own part is replaced")
    graded.add_argument("--checks", type=Path, help="write checks for the recordings to this file")
    graded.set_defaults(run=_grade)
    for part in (asked, sheet, graded):
        part.add_argument("--dataset", type=Path, required=True, help="samples and expected statements")
    for part in (sheet, graded):
        part.add_argument("--facts", type=Path, required=True, help="what `run` wrote")
        part.add_argument("--grades", type=Path, required=True, help="the grades, JSON")


def _run(given: argparse.Namespace) -> None:
    samples = read(given.dataset)
    shipped = defaults()
    llm = shipped.llm.model_copy(
        update={
            "model": given.model,
            "base_url": given.base_url,
            "api_key": "none",
            "timeout_seconds": given.timeout,
            "max_concurrent": len(samples),
        }
    )
    settings = shipped.model_copy(update={"llm": llm})
    results = asyncio.run(run(samples, settings, given.record))
    described = {"dataset": given.dataset.stem, "model": given.model, "commit": machine.commit()}
    report.write_json(given.out, {**described, "samples": results})
    for one in results:
        print(f"{one['id']}: {len(one['facts'])} facts, dropped {one['dropped']}, error {one['error']}")


def _sheet(given: argparse.Namespace) -> None:
    facts = {one["id"]: one["facts"] for one in _json(given.facts)["samples"]}
    expected = [sample.expected for sample in read(given.dataset)]
    if not given.grades.exists():
        report.write_json(given.grades, grading.blank(expected, facts))
    print(grading.sheet(expected, facts))


def _grade(given: argparse.Namespace) -> None:
    written = _json(given.facts)
    facts = {one["id"]: one["facts"] for one in written["samples"]}
    expected = [sample.expected for sample in read(given.dataset)]
    graded = grading.Graded(expected, facts, _json(given.grades))
    prompts = sorted({one["prompt"] for one in written["samples"]})
    asked = {"prompts": prompts, "model": written["model"], "extracted_at_commit": written["commit"]}
    result = {**asked, "date": machine.describe()["date"], **graded.figures()}
    print(grading.table({given.dataset.stem: result}))
    known = _json(given.out) if given.out.exists() else {}
    report.write_json(given.out, {"kind": "prompts", **known, given.dataset.stem: result})
    if given.checks:
        report.write_json(given.checks, graded.checks())


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error
