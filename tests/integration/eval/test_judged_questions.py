"""A question of `memorybank_eval prompts --stage reflect` goes through the real stage, and can be played again."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memorybank.directives import verdict
from memorybank.directives.handing import HIDDEN
from memorybank.errors import ModelRefused
from memorybank.llm.client import ChatReply, ChatRequest, ModelProfile, ToolCall
from memorybank.model import TokenUsage
from memorybank.settings import Settings, Stage
from memorybank.storage.pool import Database
from memorybank.templates import fixed_nonce
from memorybank.testing.embedder import HashingEmbedder
from memorybank_eval import datasets, grading
from memorybank_eval import prompts_reflect as judged
from memorybank_eval.cassettes import NONCE, Player, Recorder, save
from memorybank_eval.grading import Graded, Json
from memorybank_eval.offline import OWN_PATH

OWN = Path(judged.__file__).resolve().parents[1] / "datasets" / "reflect" / "own.toml"
SECOND = OWN.with_name("second.toml")
SAMPLES = {sample.id: sample for sample in judged.read(OWN)}


@dataclass
class Reader:
    """Calls `done` with an answer made of the lines that were shown, and calls every directive kept.

    `tells`: places of the lines handed out that it says tell what is forbidden.
    """

    answer: Callable[[dict[str, int]], str]
    tells: list[int] = field(default_factory=list)
    known: ModelProfile = field(default_factory=lambda: ModelProfile("reader"))

    def profile(self, stage: Stage) -> ModelProfile:
        return self.known

    async def complete(self, request: ChatRequest) -> ChatReply:
        if request.schema:
            kept = {"verdicts": [{"id": 1, "ok": True, "words": [], "facts": self.tells}]}
            return ChatReply(json.dumps(kept), "", "stop", TokenUsage(9), "reader")
        turns = "\n".join(str(turn.get("content")) for turn in request.messages)
        rows = (json.loads(line) for line in turns.splitlines() if line.startswith('{"id"'))
        said = self.answer({row["text"]: row["id"] for row in rows})
        call = ToolCall("any", "done", json.dumps({"answer": said}))
        return ChatReply("", "", "tool_calls", TokenUsage(9), "reader", tool_calls=(call,))


def about(shown: dict[str, int], word: str) -> int:
    return next(number for text, number in shown.items() if word in text)


async def asked(database: Database, settings: Settings, id_: str, model: Any) -> Json:
    sample = SAMPLES[id_]
    with fixed_nonce(NONCE):
        ground = await judged.laid(database, settings, HashingEmbedder(64), [sample])
        return await judged.answered(ground, sample, model)


def places(parts: Iterable[Json]) -> list[tuple[str, str]]:
    return [(part["fact_type"], part["text"]) for part in parts]


async def test_an_answer_is_taken_apart_and_can_be_played_again(
    database: Database, settings: Settings, tmp_path: Path
) -> None:
    recorder = Recorder(
        Reader(lambda shown: f"1,000 a minute [{about(shown, '1,000')}][99]. Before it was 600."), "reader"
    )
    outcome = await asked(database, settings, "u1-limit", recorder)
    sentence, line, nothing, last = places(outcome["facts"])
    assert sentence[0] == "sentence" and sentence[1].startswith("1,000 a minute [")
    assert line[0] == nothing[0] == "citation" and "put them up to 1,000" in line[1]
    assert nothing[1] == "99: never shown" and last == ("sentence", "Before it was 600.")
    assert outcome["error"] is None and outcome["calls"] == {"agent_1": 1}
    save(tmp_path / "u1.json", recorder)
    assert Player.load(tmp_path / "u1.json").answers == recorder.answers


async def test_a_directive_holds_for_its_question_and_is_judged(
    database: Database, settings: Settings
) -> None:
    outcome = await asked(database, settings, "d1-secrets", Reader(lambda shown: "That may not be told."))
    assert outcome["calls"] == {"agent_1": 1, "directive_verdict": 1}
    assert places(outcome["facts"]) == [("sentence", "That may not be told.")]


async def test_what_the_model_fails_at_is_the_error_of_the_question(
    database: Database, settings: Settings
) -> None:
    def refuse(shown: dict[str, int]) -> str:
        raise ModelRefused("no")

    outcome = await asked(database, settings, "u1-limit", Reader(refuse))
    assert (outcome["error"], outcome["facts"]) == ("no", [])


def test_the_set_is_as_it_says() -> None:
    kinds = [sample.kind for sample in SAMPLES.values()]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "update": 2, "time": 2, "multi-hop": 2, "unknown": 1, "contradiction": 1, "directive": 3, "disposition": 4
    }  # fmt: skip
    asked = {sample.question for sample in SAMPLES.values()}
    [conversation] = [one for one in datasets.own(OWN_PATH) if one.id == "c10"]
    assert len(asked & {question.text for question in conversation.questions}) == 9
    assert all(sample.expected.lasting and sample.expected.must_not for sample in SAMPLES.values())


def test_half_of_the_second_set_is_new() -> None:
    second = judged.read(SECOND)
    fresh = [sample for sample in second if sample.id not in SAMPLES]
    assert (len(second), len(fresh)) == (15, 8)
    assert {sample.question for sample in fresh}.isdisjoint(sample.question for sample in SAMPLES.values())
    assert {sample.kind for sample in fresh} == {sample.kind for sample in SAMPLES.values()}
    assert all(sample.expected.lasting and sample.expected.must_not for sample in second)


async def test_the_second_set_can_be_asked(database: Database, settings: Settings) -> None:
    """Its bank is laid with all that it tells; what a directive keeps back is not handed out."""
    [sample] = [one for one in judged.read(SECOND) if one.id == "d4-names"]
    reader = Reader(lambda shown: f"They want 1,500 a minute [{about(shown, 'Yildirim')}][1][2].", tells=[1])
    ground = await judged.laid(database, settings, HashingEmbedder(64), [sample])
    outcome = await judged.answered(ground, sample, reader)
    _, told, *others = [text for _, text in places(outcome["facts"])]
    assert "Yildirim" in told.splitlines()[0]
    assert [json.loads(line.splitlines()[0])["id"] for line in others] == [1, 2]
    assert all("text" in json.loads(line.splitlines()[0]) for line in others), "a directive's line is none"
    assert outcome["handed"][0] == HIDDEN and HIDDEN not in outcome["handed"][1:]
    assert any(note.startswith("handed: ") and HIDDEN in note for note in judged.notes(outcome))


def test_a_line_is_judged_with_the_texts_that_its_id_stands_for() -> None:
    result = '{"id":1,"text":"Yes."}\n{"id":2,"text":"No."}\n{"of":1,"text":"Who leads? Yes."}'
    asked = ChatRequest("reflect", "", "", messages=({"role": "tool", "content": result},))
    checked = ChatRequest("reflect", "", '{"id":1,"text":"a draft\'s"}', schema_name=verdict.NAME)
    reply = ChatReply("", "", "stop", TokenUsage(), "reader")
    heard = judged.Heard(Reader(str), [(asked, reply), (asked, reply), (checked, reply)])
    one, two, text = result.splitlines()
    assert heard.shown == {1: f"{one}\n{text}", 2: two}


def part(kind: str, text: str) -> Json:
    return {"text": text, "fact_type": kind}


@pytest.mark.parametrize(
    ("statement", "sentence", "citation", "right", "unsupported"),
    [
        (0, "ok", "ok", 1, []),
        (0, "ok", "may", 1, []),
        (0, "ok", "invented", 1, ["u1-limit/1"]),
        (None, "ok", "ok", 0, []),
        (0, "invented", "ok", 0, []),
    ],
)
def test_grades_become_figures(
    statement: int | None, sentence: str, citation: str, right: int, unsupported: list[str]
) -> None:
    sample = SAMPLES["u1-limit"]
    facts = {sample.id: [part("sentence", "1,000 [1]."), part("citation", "line")]}
    grades = {sample.id: {"statements": {"r1": statement}, "facts": {"0": sentence, "1": citation}}}
    outcomes = {sample.id: {"calls": {"agent_1": 1}, "tokens": 4000}}
    figures = judged.figures([sample], outcomes, Graded([sample.expected], facts, grades))
    assert (figures["right"], figures["unsupported"]) == (right, unsupported)
    assert figures["together"] == (["u1-limit/1"] if citation == "may" else [])
    assert figures["by_kind"] == {"update": f"{right} of 1"} and figures["prompt_tokens_a_question"] == 4000
    assert f"{right} of 1" in judged.table({"own": figures})
    assert grading.sheet([sample.expected], {sample.id: []})
