"""Are the prompts good on real text? Samples go through the real stage, and a reader grades what came of them.

    run     each sample is asked about and the answer read as the stage does it; the outcome is written to a file
    sheet   samples, expected statements and outcome side by side, and an empty file of grades, for who grades
    grade   the grades as figures

What must come out is listed before anything is asked. See eval/datasets/prompts/README.md (retain),
eval/datasets/consolidation/README.md and eval/datasets/reflect/README.md.
"""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from memorybank import templates
from memorybank.llm import litellm_client
from memorybank.llm.client import LanguageModel
from memorybank.llm.litellm_client import LitellmModel
from memorybank.settings import Settings, defaults, stage_model
from memorybank_eval import (
    cassettes,
    grading,
    machine,
    prompts_consolidation,
    prompts_reflect,
    prompts_retain,
    report,
)
from memorybank_eval.cassettes import NONCE, Player, Recorder
from memorybank_eval.grading import Graded, Json

#: Seconds an answer may take: a person may be the model.
TIMEOUT = 7200.0
RESULTS = Path(__file__).resolve().parents[1] / "results"


class Judged(Protocol):
    """What the module of a stage has. A sample has an `id`, and what is `expected` of it."""

    def read(self, path: Path) -> Sequence[Any]:
        """Return the samples of a file."""
        ...

    async def run(
        self, samples: Sequence[Any], models: Mapping[str, LanguageModel], settings: Settings
    ) -> list[Json]:
        """Return the outcome of each sample, asked of the model with its id: `id`, `prompt`, `facts`, `error`."""
        ...

    def notes(self, outcome: Json) -> list[str]:
        """Return what a grader sees beside the facts of an outcome."""
        ...

    def figures(self, samples: Sequence[Any], outcomes: Mapping[str, Json], graded: Graded) -> Json:
        """Return what the grades come to."""
        ...

    def checks(self, graded: Graded) -> Json:
        """Return what must come of each sample when its recording is played."""
        ...

    def table(self, results: Mapping[str, Json]) -> str:
        """Return figures as a table, by the name of their set."""
        ...


STAGES: dict[str, Judged] = {
    "retain": prompts_retain,
    "consolidation": prompts_consolidation,
    "reflect": prompts_reflect,
}
#: Where the results of each stage stand.
KEPT = {
    "retain": "prompts.json",
    "consolidation": "prompts-consolidation.json",
    "reflect": "prompts-reflect.json",
}


def add_command(commands: Any) -> None:
    """Add the command `prompts` to a command line."""
    parts = commands.add_parser("prompts", help="are the prompts good on real text?").add_subparsers(
        required=True
    )
    asked = parts.add_parser("run", help="put samples through a stage with a model")
    model = asked.add_mutually_exclusive_group(required=True)
    model.add_argument("--base-url", help="an OpenAI-compatible address")
    model.add_argument("--replay", type=Path, help="answers that were recorded in this folder")
    asked.add_argument("--model", default="openai/bridge", help="in litellm's form")
    asked.add_argument("--timeout", type=float, default=TIMEOUT, help="seconds an answer may take")
    asked.add_argument("--out", type=Path, required=True, help="write the outcome to this file")
    asked.add_argument("--record", type=Path, help="keep the answers in this folder, a file a sample")
    asked.set_defaults(run=_run)
    sheet = parts.add_parser("sheet", help="print what a grader needs, write an empty file of grades")
    sheet.set_defaults(run=_sheet)
    graded = parts.add_parser("grade", help="turn grades into figures")
    graded.add_argument("--out", type=Path, help="results; the set's own part is replaced")
    graded.add_argument("--checks", type=Path, help="write checks for the recordings to this file")
    graded.set_defaults(run=_grade)
    for part in (asked, sheet, graded):
        part.add_argument("--stage", choices=sorted(STAGES), default="retain", help="whose prompts")
        part.add_argument("--dataset", type=Path, required=True, help="samples and expected statements")
    for part in (sheet, graded):
        part.add_argument("--facts", type=Path, required=True, help="what `run` wrote")
        part.add_argument("--grades", type=Path, required=True, help="the grades, JSON")


def _run(given: argparse.Namespace) -> None:
    samples = STAGES[given.stage].read(given.dataset)
    outcomes = asyncio.run(answered(given, samples))
    described = {"dataset": given.dataset.stem, "model": given.model, "commit": machine.commit()}
    report.write_json(given.out, {**described, "samples": outcomes})
    for one in outcomes:
        print(f"{one['id']}: {len(one['facts'])} facts, error {one['error']}")


async def answered(given: argparse.Namespace, samples: Sequence[Any]) -> list[Json]:
    """Return the outcome of each sample with the answers it came of; keep these where that is asked for."""
    shipped = defaults()
    update = {"model": given.model, "base_url": given.base_url, "timeout_seconds": given.timeout}
    llm = shipped.llm.model_copy(update={**update, "api_key": "none", "max_concurrent": len(samples)})
    settings = shipped.model_copy(update={"llm": llm})
    asked = LitellmModel({given.stage: stage_model(settings, given.stage)})
    models = {
        sample.id: Recorder(
            Player.load(given.replay / f"{sample.id}.json") if given.replay else asked, given.model
        )
        for sample in samples
    }
    try:
        with templates.fixed_nonce(NONCE):
            outcomes = await STAGES[given.stage].run(samples, models, settings)
    finally:
        await litellm_client.close()
    for name, recorder in models.items():
        if given.record:
            cassettes.save(given.record / f"{name}.json", recorder)
    return [
        one | {"answers": [said.content for said in models[one["id"]].answers.values()]} for one in outcomes
    ]


def _sheet(given: argparse.Namespace) -> None:
    stage = STAGES[given.stage]
    outcomes = grading.load(given.facts)["samples"]
    facts = {one["id"]: one["facts"] for one in outcomes}
    expected = [sample.expected for sample in stage.read(given.dataset)]
    if not given.grades.exists():
        report.write_json(given.grades, grading.blank(expected, facts))
    print(grading.sheet(expected, facts, {one["id"]: stage.notes(one) for one in outcomes}))


def _grade(given: argparse.Namespace) -> None:
    stage, written = STAGES[given.stage], grading.load(given.facts)
    outcomes = {one["id"]: one for one in written["samples"]}
    samples = stage.read(given.dataset)
    facts = {name: one["facts"] for name, one in outcomes.items()}
    graded = Graded([sample.expected for sample in samples], facts, grading.load(given.grades))
    prompts = sorted({one["prompt"] for one in outcomes.values()})
    asked = {"prompts": prompts, "model": written["model"], "extracted_at_commit": written["commit"]}
    result = {**asked, "date": machine.describe()["date"], **stage.figures(samples, outcomes, graded)}
    print(stage.table({given.dataset.stem: result}))
    out = given.out or RESULTS / KEPT[given.stage]
    known = grading.load(out) if out.exists() else {}
    report.write_json(out, {"kind": "prompts", **known, given.dataset.stem: result})
    if given.checks:
        report.write_json(given.checks, stage.checks(graded))
