"""Reflect, judged on real text: questions to one bank, each under its own directives and disposition.

The bank holds a conversation of our own, a turn a fact, and observations of which some are outdated by later turns. A
question's directives are tagged with its id, and so hold for it alone.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memorybank import templates
from memorybank.assembly import RecallForReflect
from memorybank.audience import Viewer
from memorybank.consolidate.stage import Consolidate
from memorybank.directives import verdict
from memorybank.errors import MemoryBankError
from memorybank.llm.client import ChatReply, ChatRequest, LanguageModel, ModelProfile
from memorybank.llm.embedding import Embedder
from memorybank.model import Bank, Fact, RetainItem
from memorybank.operations import Kind
from memorybank.recall.stage import Recall
from memorybank.reflect import tools
from memorybank.reflect.citations import Answer
from memorybank.reflect.query import Reflection, ReflectQuery, Scope
from memorybank.reflect.stage import Reflect
from memorybank.settings import BankConfig, Settings, Stage, defaults, resolve_bank
from memorybank.storage import consolidations, directives
from memorybank.storage.directives import Changes
from memorybank.storage.mental_models import Model as MentalModel
from memorybank.storage.pool import Database
from memorybank.testing.scripted_answers import rows
from memorybank.testing.scripted_model import ScriptedModel
from memorybank_eval import datasets, grading, prompts_consolidation, report
from memorybank_eval.grading import FINE, Expected, Graded, Json, Statement
from memorybank_eval.ground import Ground, fresh_database
from memorybank_eval.offline import OWN_PATH, default_model

#: Questions that have to be answered right, of fifteen; every citation has to support its sentence.
GOAL = 13
CITATION = "citation"
#: Verdict on a line that supports its clause only with those cited beside it.
TOGETHER = "may"
#: A question waits as long as whoever answers.
_PATIENT = dict.fromkeys(("timeout_seconds", "verdict_timeout_seconds"), 1e6)


@dataclass(frozen=True)
class Told:
    """Further text of the bank: a fact by itself, or an observation with the turns that it stands on."""

    text: str
    said: str = ""
    source: str = ""
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sample:
    """One question, what it is asked under, and what is right; `told` and `conversation` make the bank of all."""

    id: str
    kind: str
    question: str
    directives: tuple[str, ...]
    config: BankConfig
    expected: Expected
    conversation: str
    told: tuple[Told, ...]


def read(path: Path) -> list[Sample]:
    """Return the questions of a TOML or JSON file; raises InvalidInput where it is none."""
    raw = grading.load(path)
    told = (
        *(Told(one["text"], one["said"], one["source"]) for one in raw.get("facts", ())),
        *(Told(one["text"], sources=tuple(one["sources"])) for one in raw.get("observations", ())),
    )
    return [_sample(one, raw["conversation"], told) for one in raw["questions"]]


def _sample(raw: Mapping[str, Any], conversation: str, told: tuple[Told, ...]) -> Sample:
    held = tuple(raw.get("directives", ()))
    right = tuple(Statement(f"r{at}", says) for at, says in enumerate(raw["right"], 1))
    config = resolve_bank(defaults().bank, raw.get("config", {}))
    head = [raw["question"], *(f"directive: {one}" for one in held)]
    if "config" in raw:
        head.append(f"disposition: {config.disposition._asdict()}")
    expected = Expected(raw["id"], "\n".join(head), right, tuple(raw["may"]), tuple(raw["never"]))
    return Sample(raw["id"], raw["kind"], raw["question"], held, config, expected, conversation, told)


# --- asking ---


@dataclass
class Heard:
    """A model that remembers what it was asked and said. A `LanguageModel`."""

    inner: LanguageModel
    calls: list[tuple[ChatRequest, ChatReply]] = field(default_factory=list)

    def profile(self, stage: Stage) -> ModelProfile:
        """Return what is known of the model."""
        return self.inner.profile(stage)

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask it."""
        reply = await self.inner.complete(request)
        self.calls.append((request, reply))
        return reply

    @property
    def shown(self) -> dict[int, str]:
        """What was shown, by number: the line of every result, and below it the texts that are cited by it."""
        asked = (request for request, _ in self.calls if request.schema_name != verdict.NAME)
        turns = (turn for request in asked for turn in (request.user, *_texts(request)))
        lines = dict.fromkeys(line for turn in turns for line in turn.splitlines())
        found = {json.loads(line)["id"]: line for line in lines if line.startswith('{"id":')}
        for line in lines:
            if line.startswith('{"of":'):
                found[json.loads(line)["of"]] += f"\n{line}"
        return found

    @property
    def drafts(self) -> list[Answer]:
        """Every answer that was written, with its numbers."""
        replies = (reply for request, reply in self.calls if request.schema_name != verdict.NAME)
        return [Answer(templates.unescaped(draft)) for reply in replies if (draft := _draft(reply))]


def _texts(request: ChatRequest) -> Iterator[str]:
    yield from (str(turn.get("content") or "") for turn in request.messages)


def _draft(reply: ChatReply) -> str:
    """Return the answer that a reply holds, "" where it only calls tools."""
    calls = (tools.read(call, [tools.DONE]) for call in reply.tool_calls)
    said = [call.text("answer") for call in calls if not call.problem]
    return next(iter(said), "" if reply.tool_calls else reply.content)


async def run(
    samples: Sequence[Sample],
    models: Mapping[str, LanguageModel],
    settings: Settings,
    embedder: Embedder | None = None,
) -> list[Json]:
    """Ask one bank all questions at once, each by its own model, and return the answers in order."""
    settings = prompts_consolidation.by_itself(settings)
    patient = settings.reflect.model_copy(update=_PATIENT)
    settings = settings.model_copy(update={"reflect": patient})
    async with fresh_database(settings) as database:
        ground = await laid(database, settings, embedder or default_model(), samples)
        return list(await asyncio.gather(*(answered(ground, one, models[one.id]) for one in samples)))


async def laid(
    database: Database, settings: Settings, embedder: Embedder, samples: Sequence[Sample]
) -> Ground:
    """Return the bank that all samples ask, with their directives."""
    first = samples[0]
    [conversation] = [one for one in datasets.own(OWN_PATH) if one.id == first.conversation]
    ground = await Ground.laid(database, settings, embedder, "shipping-team")
    items = [
        RetainItem("\n".join(turn.text for turn in turns), turns[0].at, context=conversation.context)
        for turns in conversation.sessions()
    ]
    items += [RetainItem(one.text, _day(one.said), context=one.source) for one in first.told if one.said]
    facts = {line: Fact(line) for item in items for line in item.content.splitlines()}
    await ground.keep(items, facts)
    await _observe(ground, first.told, {turn.id: turn.text for turn in conversation.turns})
    async with database.transaction() as connection:
        for sample in samples:
            for content in sample.directives:
                made = Changes("rule", content, 0, is_active=True, tags=(sample.id,)).checked()
                await directives.add(connection, ground.bank.id, made)
    return ground


def _day(said: str) -> datetime:
    return datetime.fromisoformat(said).replace(tzinfo=UTC)


async def _observe(ground: Ground, told: Sequence[Told], turns: Mapping[str, str]) -> None:
    """Let the observations that are given stand, by a consolidation that says just them."""
    wanted = {one.text: [turns[name] for name in one.sources] for one in told if one.sources}

    def decide(user: str) -> Json:
        number = {row["text"]: row["id"] for row in rows("new_facts", user)}
        return {
            "actions": [
                {"action": "create", "text": text, "facts": [number[source] for source in sources]}
                for text, sources in wanted.items()
                if all(source in number for source in sources)
            ]
        }

    async with ground.database.transaction() as connection:
        queued = await consolidations.ask(connection, ground.bank.id)
    stage = Consolidate(ground.database, ground.embedder, ScriptedModel(decide=decide), ground.settings)
    await ground.work(queued.operation_id, {Kind.CONSOLIDATION: stage.work})
    if {row["text"] for row in await prompts_consolidation.observed(ground)} != wanted.keys():
        raise MemoryBankError("the observations cannot stand as they are given")


async def answered(ground: Ground, sample: Sample, model: LanguageModel) -> Json:
    """Return the answer to a question, sentence by sentence, with what each cites."""
    recall = Recall(ground.database, ground.embedder, ground.settings)
    heard = Heard(model)
    reflect = Reflect(RecallForReflect(recall), _no_models, heard, ground.database, ground.settings)
    query = ReflectQuery(sample.question, scope=Scope(tags=(sample.id,)))
    try:
        found, error = await reflect(ground.bank, sample.config, query, Viewer.operator()), None
    except MemoryBankError as failed:
        found, error = Reflection(""), failed.message
    drafts = [draft for draft in heard.drafts if draft.plain == found.text]
    return {
        "id": sample.id,
        "prompt": _prompts(),
        "facts": list(_parts(drafts[-1] if drafts else Answer(found.text), heard.shown)),
        "text": found.text,
        "calls": dict(Counter(call.scope for call in found.calls)),
        "steps": [f"{step.tool} {step.input.get('query', '')}" for step in found.steps if step.iteration],
        "broken": [one["rule"] for one in found.broken],
        "handed": [fact.text for fact in found.facts] if found.directives else [],
        "tokens": found.usage.input_tokens,
        "error": error,
    }


async def _no_models(bank: Bank, question: str, viewer: Viewer) -> Sequence[MentalModel]:
    """Find no mental model: the bank has none."""
    return ()


def _prompts() -> str:
    named = (
        templates.load(*name)
        for name in (("reflect", "answer"), ("reflect", "agent"), ("directives", "verdict"))
    )
    return ", ".join(f"{one.name}.v{one.version}" for one in named)


def _parts(answer: Answer, shown: Mapping[int, str]) -> Iterator[Json]:
    """Yield each sentence, and behind it each line that it cites: a grader judges them one by one."""
    for sentence in answer.sentences:
        yield _part("sentence", sentence.text)
        yield from (_part(CITATION, shown.get(one, f"{one}: never shown")) for one in sentence.numbers)


def _part(kind: str, said: str) -> Json:
    """Return a piece of an answer in the form in which grades know facts."""
    empty = dict.fromkeys(("occurred_start", "occurred_end", "place"))
    return {"text": said, "fact_type": kind, "entities": [], "labels": [], **empty}


# --- judging ---


def notes(outcome: Json) -> list[str]:
    """Return what a grader sees of a question beside its answer."""
    return [
        *(f"{name}: {outcome[name]}" for name in ("calls", "steps", "broken", "handed", "tokens", "error"))
    ]


def figures(samples: Sequence[Sample], outcomes: Mapping[str, Json], graded: Graded) -> Json:
    """Return how many questions are answered right and how many citations support their sentence.

    Right is an answer that says all that is right, in sentences that are not wrong themselves, and nothing wrong.
    """
    kinds: dict[str, list[bool]] = {}
    cited: list[tuple[str, str]] = []
    wrong = {sample.id: _faults(sample, graded) for sample in samples}
    for sample in samples:
        kinds.setdefault(sample.kind, []).append(not wrong[sample.id])
        verdicts = graded.grades[sample.id]["facts"]
        for place, part in enumerate(graded.facts[sample.id]):
            if part["fact_type"] == CITATION:
                cited.append((f"{sample.id}/{place}", verdicts[str(place)]))
    return {
        "questions": len(samples),
        "right": sum(not found for found in wrong.values()),
        "by_kind": {kind: f"{sum(each)} of {len(each)}" for kind, each in kinds.items()},
        "wrong": {name: found for name, found in wrong.items() if found},
        "citations": len(cited),
        "together": [name for name, said in cited if said == TOGETHER],
        "unsupported": [name for name, said in cited if said not in FINE],
        "calls": sum(sum(one["calls"].values()) for one in outcomes.values()),
        "prompt_tokens_a_question": round(sum(one["tokens"] for one in outcomes.values()) / len(samples)),
    }


def _faults(sample: Sample, graded: Graded) -> list[str]:
    """Say what is wrong with an answer."""
    missing = [
        one.says for one in sample.expected.lasting if graded.place_of(sample.expected, one.id) is None
    ]
    verdicts = graded.grades[sample.id]["facts"]
    bad = [
        f"{verdicts[str(place)]}: {part['text']}"
        for place, part in enumerate(graded.facts[sample.id])
        if part["fact_type"] != CITATION and verdicts[str(place)] not in FINE
    ]
    return [*(f"not said: {says}" for says in missing), *bad]


def checks(graded: Graded) -> Json:
    """Return the answers that were judged, by question."""
    return {name: [part["text"] for part in parts] for name, parts in graded.facts.items()}


def table(results: Mapping[str, Json]) -> str:
    """Return figures as a Markdown table, and below it each answer that is wrong."""
    rows = [
        [name, f"{one['right']} of {one['questions']}", f"{len(one['unsupported'])} of {one['citations']}",
         str(one["calls"]), str(one["prompt_tokens_a_question"])]
        for name, one in results.items()
    ]  # fmt: skip
    head = ["set", f"right (≥ {GOAL})", "unsupported citations (0)", "calls", "prompt tokens a question"]
    wrong = [
        f"{name}: {'; '.join(found)}" for one in results.values() for name, found in one["wrong"].items()
    ]
    return "\n".join([report.table(head, rows), *wrong])
