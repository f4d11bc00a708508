"""No answer leaves that breaks a directive or that nobody verified: 40 drafts, 12 broken verdicts, every byte searched.

The checker that the server asks judges the draft it is given (`memorybank.testing.scripted_checker`), never the case.
"""

import json
import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from bank_calls import Bank, Running, good
from directive_cases import CANARY, CASES, Case
from test_reflect_calls import parsed

from memorybank.directives.enforcing import UNVERIFIED, WITHHELD
from memorybank.directives.handing import HIDDEN
from memorybank.testing.scripted_answers import VERDICT
from memorybank.testing.scripted_llm import ScriptedLLM

INCLUDED = {"facts": {}, "tool_calls": {"output": True}}
SCHEMA = {"type": "object", "properties": {"note": {"type": "string"}}, "required": ["note"]}
_WORD = re.compile(r"[^\W\d_]{5,}")


@pytest.fixture(scope="module")
def asked_bank(modelled: Running) -> Iterator[Bank]:
    with httpx.Client(base_url=modelled.url, timeout=60, trust_env=False) as client:
        bank = Bank(client, f"bank-{uuid4()}")
        bank.retain("Bert has a dog.")
        yield bank


@pytest.fixture
def bank(asked_bank: Bank, model: ScriptedLLM) -> Iterator[Bank]:
    """A bank that knows something, without directives."""
    yield asked_bank
    model.reset()
    for one in asked_bank.get("/directives")["items"]:
        good(asked_bank.call("DELETE", f"/directives/{one['id']}"))


def direct(bank: Bank, *contents: str) -> list[str]:
    made = ({"name": "rule", "content": content} for content in contents)
    return [str(good(bank.call("POST", "/directives", one))["id"]) for one in made]


def drafting(model: ScriptedLLM, first: str, second: str) -> None:
    """Let the model answer with the first draft, and write the second where it is told what is wrong."""
    model.reset()
    model.fail("calls", times=None, text=json.dumps([["done", {"answer": first}]]))
    model.fail("says", times=None, text=second, asks="")


def asked(bank: Bank, question: str, **more: Any) -> list[tuple[bytes, dict[str, Any]]]:
    """Ask, and ask for a stream; return every byte of both answers, and what each says in the end."""
    body = {"query": question, "include": INCLUDED, **more}
    plain = bank.call("POST", "/reflect", body)
    stream = bank.call("POST", "/reflect/stream", body)
    told = parsed(stream.text)
    assert "".join(data["text"] for name, data in told if name == "token") == told[-1][1]["text"]
    seen = [f"{answer.headers}".encode() + answer.content for answer in (plain, stream)]
    return list(zip(seen, (good(plain), told[-1][1]), strict=True))


def scopes(answer: dict[str, Any]) -> list[str]:
    return [call["scope"] for call in answer["trace"]["llm_calls"]]


def leaks(seen: bytes, *drafts: str) -> set[str]:
    """The words of drafts that can be read in what was sent."""
    text = seen.decode().casefold()
    words = {word.casefold() for draft in drafts for word in _WORD.findall(draft)}
    return {word for word in words - set(_WORD.findall((WITHHELD + UNVERIFIED).casefold())) if word in text}


def test_there_are_forty_drafts() -> None:
    assert len({case.directive for case in CASES}) == 20
    assert all(
        CANARY in case.bad and CANARY not in f"{case.directive}{case.question}{case.good}" for case in CASES
    )
    assert sum(not case.by_code for case in CASES) == 13


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_breaks_one_never_leaves_and_what_keeps_it_is_untouched(
    bank: Bank, model: ScriptedLLM, case: Case
) -> None:
    [directive] = direct(bank, case.directive)
    judged = [] if case.by_code else ["directive_verdict"]
    drafting(model, case.bad, case.bad)
    for seen, answer in asked(bank, case.question):
        assert answer["text"] == WITHHELD and leaks(seen, case.bad, case.directive) == set()
        assert answer["based_on"] == {"memories": [], "mental_models": [], "directives": []}
        assert [one["directive_id"] for one in answer["trace"]["violations"]] == [directive]
        assert scopes(answer) == ["agent_1", *judged, "repair", *judged]
    assert model.calls == 2 * (2 + 2 * len(judged))
    for first, second, made in (
        (case.bad, case.good, ["agent_1", *judged, "repair", *judged]),
        (case.good, case.bad, ["agent_1", *judged]),
    ):
        drafting(model, first, second)
        for seen, answer in asked(bank, case.question):
            assert answer["text"] == case.good and CANARY.casefold() not in seen.decode().casefold()
            assert "violations" not in answer["trace"] and len(answer["based_on"]["directives"]) == 1
            assert scopes(answer) == made


BROKEN: list[dict[str, Any]] = [
    {"kind": "verdict_missing"},
    {"kind": "verdict_doubled"},
    {"kind": "verdict_of_nobody"},
    {"kind": "verdict_in_words"},
    {"kind": "verdict_with_words"},
    {"kind": "verdict_as_map"},
    {"kind": "prose"},
    {"kind": "empty"},
    {"kind": "length"},
    {"kind": "server_error"},
    {"kind": "schema_echo"},
    {"kind": "unauthorized"},
]


@pytest.mark.parametrize("fault", BROKEN, ids=lambda fault: fault["kind"])
def test_without_a_clear_verdict_nothing_leaves(
    bank: Bank, model: ScriptedLLM, fault: dict[str, Any]
) -> None:
    direct(bank, "Be kind to everybody.", "Do not promise anything.")
    for draft in ("Ana of Quorvane has a garden.", "Ana of Quorvane is a fool, I promise."):
        drafting(model, draft, draft)
        model.fail(**fault, asks=VERDICT, times=None)
        for seen, answer in asked(bank, "Who is Ana?"):
            assert answer["text"] in (WITHHELD, UNVERIFIED) and leaks(seen, draft) == set()
            assert answer["trace"]["violations"] and "structured_output" not in answer
        assert model.calls <= 2 * 6


@pytest.mark.parametrize("case", [case for case in CASES if case.name in ("word", "kindness", "secrets", "guesses")],
                         ids=lambda case: case.name)  # fmt: skip
def test_what_breaks_one_in_the_structured_answer_alone_is_withheld(
    bank: Bank, model: ScriptedLLM, case: Case
) -> None:
    direct(bank, case.directive)
    drafting(model, case.good, case.good)
    model.fail("says", times=None, text=json.dumps({"note": case.bad}), asks="structured_answer")
    for seen, answer in asked(bank, case.question, response_schema=SCHEMA):
        assert answer["text"] == WITHHELD and "structured_output" not in answer
        assert leaks(seen, case.bad) == set()


PLACE = "The password of the printer is kept under the Quorvane mat."


@pytest.mark.parametrize(
    ("directive", "fault", "hidden"),
    [
        ('Never say "mat".', None, 1),
        ("Do not tell where passwords are kept.", None, 1),
        ("Do not tell where passwords are kept.", "verdict_without_facts", 2),
        ("Do not tell where passwords are kept.", "verdict_of_no_fact", 2),
    ],
)
def test_what_an_answer_rests_on_does_not_tell_what_the_answer_keeps(
    asked_bank: Bank, model: ScriptedLLM, directive: str, fault: str | None, hidden: int
) -> None:
    bank = Bank(asked_bank.http, f"bank-{uuid4()}")
    model.reset()
    bank.retain(PLACE)
    bank.retain("Bert looks after the printer.")
    question = "Who looks after the printer?"
    drafting(model, "Ask Bert [1][2].", "Ask Bert [1][2].")
    for seen, answer in asked(bank, question):
        told = {one["text"] for one in answer["based_on"]["memories"]}
        assert len(told) == 2 and CANARY.encode() in seen
    direct(bank, directive)
    if fault:
        model.fail(fault, times=None)
    for seen, answer in asked(bank, question):
        texts = [one["text"] for one in answer["based_on"]["memories"]]
        assert answer["text"] == "Ask Bert." and CANARY.casefold() not in seen.decode().casefold()
        assert len(texts) == 2 and texts.count(HIDDEN) == hidden
        assert len(scopes(answer)) == (1 if "mat" in directive else 2)


def test_what_each_costs(bank: Bank, model: ScriptedLLM) -> None:
    """No directive, or one that code decides: one call; one that a model judges, or twenty: two; mended: four."""

    def cost(*drafts: str) -> int:
        drafting(model, *drafts)
        good(bank.call("POST", "/reflect", {"query": "Who is Ana?"}))
        return model.calls

    kind, unkind = "Ana is a dear colleague.", "Ana is a fool."
    assert cost(kind, kind) == 1
    direct(bank, 'Never say "Heron".')
    assert cost(kind, kind) == 1
    direct(bank, *["Be kind to everybody."] * 20)
    assert (cost(kind, kind), cost(unkind, kind), cost(unkind, unkind)) == (2, 4, 4)
