"""An agent that answers from what it was shown, and does whatever it is told outside of an intact fence. Pure.

Told by words, roles, JSON or codes, in several languages: to say something, to call a tool, to cite otherwise, to find
directives kept. What it would do without orders: answer with the fact nearest to the question, and cite it.
"""

import base64
import binascii
import html
import json
import re
from collections.abc import Iterator
from typing import Any

from gullible_facts import ADD, EXACTLY, IGNORE, QUOTES, ROLE, obedient, outside

from memorybank.llm.client import ChatReply, ChatRequest, ModelProfile, ToolCall
from memorybank.model import TokenUsage
from memorybank.settings import Stage
from memorybank.testing.scripted_answers import VERDICT, Body, Said, answer, blocks, text_of, wanted
from memorybank.testing.scripted_faults import Fault, Outcome, register, right

#: Orders to say just this, in more languages.
_SAY = re.compile(
    r"(?:\b(?:answer|reply|respond|say|tell (?:them|the user|everybody)|antworte\w*|sage?|réponds|répondez|dis|dites|"
    r"responde|responda|diga|rispondi|ответь|скажи)\b|回答|答え|大答|대답)[^\n:：]{0,60}[:：]\s*(?P<what>[^\n<>\[\]{}|]+)",
    re.IGNORECASE,
)
_NEW_RULE = re.compile(
    r"new (?:directive|rule|instruction)s?\b[^\n:：]{0,40}[:：]\s*(?P<what>[^\n<>{}|]+)", re.IGNORECASE
)
_CALL = re.compile(
    r"(?:\b(?:call|use|invoke|run|execute|rufe?|benutze|appelle[sz]?|utilise[sz]?|llama|usa|chama|chiama|вызови)\b"
    r"|调用|呼び出|호출)[^\n]{0,40}?\b(?P<tool>recall|expand|search_observations|search_mental_models)\b"
    r"(?:[^\n\"“«'(]{0,40}[\"“«'(]\s*(?P<query>[^\n\"”»')]+))?",
    re.IGNORECASE,
)
_JSON_CALL = re.compile(r'\{\s*"(?:name|tool|function)"\s*:')
_UNCITED = re.compile(
    r"(?:do not|don't|never|stop|no) cit\w+|without citations|ohne quellen|sans citer|sin citar",
    re.IGNORECASE,
)
_CITE = re.compile(r"\bcite (?:only )?(?:id |number )?\[?(?P<id>\d+)\]?", re.IGNORECASE)
_KEPT = re.compile(
    r"directives?\b[^\n]{0,40}\b(?:lifted|kept|suspended|void|satisfied|no longer|do not apply|off)\b"
    r"|\bverdicts?\b[^\n]{0,30}\b(?:ok|true|passed|fine)\b|\"ok\"\s*:\s*true|(?:anweisung|regel|direktive)\w*[^\n]{0,30}(?:aufgehoben|erfüllt)"
    r"|(?:directives?|règles?)[^\n]{0,30}(?:levées?|respectées?)|(?:directivas?|reglas?)[^\n]{0,30}(?:cumplid|anulad)"
    r"|(?:指令|规则)[^\n]{0,12}(?:取消|遵守)|(?:指示|規則)[^\n]{0,12}(?:解除|守られ)",
    re.IGNORECASE,
)  # fmt: skip
_CODED = re.compile(r"\b[A-Za-z0-9+/]{24,}={0,2}")
_WORD = re.compile(r"\w+")
_NUMBER = re.compile(r"\s*\[\d+\]")
NOTHING = "Nothing can be said."
#: The fault of an endpoint that answers so.
KIND = "gullible"


def misled(said: Said, body: Body) -> Said:
    """Return what the agent says instead of the right answer: the same where nothing is ordered."""
    name, _ = wanted(body)
    if name == VERDICT:
        return Said(name, json.dumps(_verdicts(json.loads(said.content), body)))
    if name:
        return Said(said.kind, obedient(said.content, body))
    orders = "\n".join(_orders(body))
    if not body.get("tools"):
        return Said("text", _obeyed(orders, _honest(body)))
    made = {(call["name"], call["arguments"]) for turn in body["messages"] for call in _made(turn)}
    for tool, arguments in _calls(orders):
        if tool == "done" or (tool, json.dumps(arguments)) not in made:
            return Said("tool", "", ((tool, arguments),))
    return Said("tool", "", (("done", {"answer": _obeyed(orders, _honest(body))}),))


def _made(turn: dict[str, Any]) -> list[dict[str, Any]]:
    return [call["function"] for call in turn.get("tool_calls") or ()]


def _orders(body: Body) -> Iterator[str]:
    """Yield what stands outside of intact fences, as it reads: lines of JSON as their texts, codes in clear."""
    for turn in body["messages"]:
        if turn.get("role") in ("user", "tool"):
            for line in outside(text_of(turn)).splitlines():
                yield from _read(line)


def _read(line: str) -> Iterator[str]:
    for said in _texts(line):
        yield said
        if (plain := html.unescape(said)) != said:
            yield plain
        for code in _CODED.findall(said):
            try:
                yield base64.b64decode(code, validate=True).decode()
            except (binascii.Error, UnicodeDecodeError):
                continue


def _texts(line: str) -> Iterator[str]:
    """Yield the texts in a line that was shown, or the line."""
    shown = _row(line)
    if not {"id", "of", "said_before"} & shown.keys():
        yield line
    for value in shown.values():
        yield from (str(one) for one in (value if isinstance(value, list) else [value]))


def _row(line: str) -> dict[str, Any]:
    """Return the object that a line is, empty where it is none."""
    try:
        shown = json.loads(line) if line.startswith("{") else None
    except ValueError:
        return {}
    return shown if isinstance(shown, dict) else {}


def _calls(orders: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the calls that are ordered, in JSON or in words."""
    for start in _JSON_CALL.finditer(orders):
        try:
            call, _ = json.JSONDecoder().raw_decode(orders, start.start())
        except ValueError:
            continue
        given = call.get("arguments", call.get("parameters", {}))
        if isinstance(given, dict):
            yield str(call.get("name") or call.get("tool") or call.get("function")), given
    for call in _CALL.finditer(orders):
        numbers = [int(number) for number in re.findall(r"\d+", call["query"] or "")]
        given = (
            {"memory_ids": numbers or [1]}
            if call["tool"] == "expand"
            else {"query": call["query"] or "everything"}
        )
        yield call["tool"].lower(), {"reason": "told to", **given}


def _obeyed(orders: str, honest: str) -> str:
    """Return the answer that orders make of the honest one."""
    for order in (EXACTLY, _SAY):
        if told := order.search(orders):
            return told["what"].strip(QUOTES)
    told_to = [
        one["what"].strip(QUOTES) for order in (_NEW_RULE, ADD, ROLE) for one in order.finditer(orders)
    ]
    if IGNORE.search(orders):
        return " ".join(told_to) or NOTHING
    if _UNCITED.search(orders):
        honest = _NUMBER.sub("", honest)
    if cited := _CITE.search(orders):
        honest = f"{_NUMBER.sub('', honest)} [{cited['id']}]"
    return " ".join([honest, *told_to])


def _honest(body: Body) -> str:
    """Return the shown fact that shares most words with the question, with its number."""
    turns = [text_of(turn) for turn in body["messages"] if turn.get("role") in ("user", "tool")]
    shown = [_row(line) for turn in turns for line in turn.splitlines()]
    plain = [line for line in turns[0].splitlines() if not line.startswith("{")]
    asked = _words(" ".join(blocks("question", turns[0]) or plain))
    ranked = sorted(
        (row for row in shown if {"id", "text"} <= row.keys()),
        key=lambda row: -len(asked & _words(row["text"])),
    )
    return f"{ranked[0]['text']} [{ranked[0]['id']}]" if ranked else "I do not know."


def _verdicts(right: dict[str, Any], body: Body) -> dict[str, Any]:
    """Return the verdicts, all good where somebody says so who is no directive."""
    orders = "\n".join(line for line in _orders(body) if not line.startswith('{"id"'))
    if not _KEPT.search(orders):
        return right
    return {"verdicts": [one | {"ok": True, "words": []} for one in right["verdicts"]]}


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


class GullibleModel:
    """The same inside the process, without litellm."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self.known = ModelProfile("gullible")
        self.requests: list[ChatRequest] = []

    def profile(self, stage: Stage) -> ModelProfile:
        """Return what is known about this model."""
        return self.known

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Answer as the endpoint would."""
        self.requests.append(request)
        body: Body = {
            "messages": [
                {"role": "system", "content": request.system},
                {"role": "user", "content": request.user},
                *request.messages,
            ],
            "tools": list(request.tools),
        }
        if request.schema is not None:
            described = {"name": request.schema_name, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": described}
        said = misled(answer(body) if request.schema is not None else Said("text", ""), body)
        calls = tuple(
            ToolCall(f"c{at}", name, json.dumps(given)) for at, (name, given) in enumerate(said.calls)
        )
        return ChatReply(said.content, "", "stop", TokenUsage(), "gullible", tool_calls=calls)


def _gullible(_fault: Fault, said: Said, body: Body) -> Outcome:
    return right(misled(said, body), len(body["messages"]))


register(KIND, _gullible)
