"""The ways in which a real endpoint goes wrong, for the scripted model: each by name. Pure."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from memorybank.testing.scripted_answers import CONSOLIDATION, VERDICT, Body, Said, rows, user_text, wanted
from memorybank.testing.scripted_checker import BROKEN

#: Words of JSON schema that some endpoints refuse.
_HARD_KEYWORDS = ("minimum", "maximum", "additionalProperties")
#: The turns of a first request: system and user.
FIRST_TURNS = 2
#: Every so many items of a list, "partly_malformed" spoils one, in each of the ways in turn.
SPOILED_EVERY = 3
_MARK = "what does not read"
#: What a model says that would rather chat.
_STORY = "I would rather tell you a story about this."
#: What a model that thinks aloud writes before it answers.
_DRAFT = 'Maybe {"facts":[]}? No, there is more.'


@dataclass
class Fault:
    """One way to go wrong, for the next `times` fitting calls (None: always).

    Fitting: the user's text holds `when` (if set) and is longer than `longer_than` characters; with `fresh` only the
    first request about something, none with turns that were added to it; of all these only each `every`-th.
    `asks`: only calls for the schema of this name, "" for those that ask for free text.
    `seconds`: of retry-after. `text`: the content, for the kind "says"; for "calls" the tools that are called, as JSON
    pairs of name and arguments. `endpoint`: embeddings and rerank
    know only the kinds that are HTTP errors.
    """

    kind: str
    times: int | None = 1
    when: str | None = None
    asks: str | None = None
    longer_than: int = -1
    fresh: bool = False
    seconds: float = 0.0
    text: str = ""
    every: int = 1
    met: int = 0
    endpoint: Literal["chat", "embeddings", "rerank"] = "chat"

    def __post_init__(self) -> None:
        """Refuse a name that means nothing."""
        if self.kind not in _APPLIES:
            raise ValueError(f"no fault is called {self.kind!r}; known: {', '.join(sorted(_APPLIES))}")

    def fits(self, body: Body) -> bool:
        """Say whether this call goes wrong in this way."""
        asked = "embeddings" if "input" in body else "rerank" if "documents" in body else "chat"
        if self.endpoint != asked:
            return False
        user = user_text(body)
        about = (self.when is None or self.when in user) and len(user) > self.longer_than
        asked_before = (
            self.fresh and body["messages"][-1]["role"] == "user" and len(body["messages"]) > FIRST_TURNS
        )
        other = self.asks is not None and (self.asks != wanted(body)[0] or bool(body.get("tools")))
        if self.times == 0 or not about or asked_before or other or not _APPLIES[self.kind](body):
            return False
        self.met += 1
        return self.met % self.every == 0

    def use_up(self) -> None:
        """Count one call."""
        if self.times is not None:
            self.times -= 1


@dataclass(frozen=True)
class Outcome:
    """An HTTP answer: `message` and `finish` make a completion, `error` an error body, `raw` is itself."""

    status: int = 200
    message: dict[str, Any] = field(default_factory=dict)
    finish: str = "stop"
    error: dict[str, Any] | None = None
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    way: Literal["answer", "hang", "drop"] = "answer"


def right(said: Said, number: int) -> Outcome:
    """Return the outcome of a call that goes well."""
    if not said.calls:
        return Outcome(message={"role": "assistant", "content": said.content})
    calls = [
        {
            "id": f"call_{number}_{index}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        for index, (name, arguments) in enumerate(said.calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return Outcome(message=message, finish="tool_calls")


def wrong(fault: Fault, said: Said, body: Body) -> Outcome:
    """Return the outcome of a call that goes wrong."""
    if fault.kind in _ERRORS:
        status, code, words = _ERRORS[fault.kind]
        headers = (
            {"retry-after": f"{fault.seconds:g}"} if fault.kind == "rate_limited" and fault.seconds else {}
        )
        return Outcome(status=status, error={"message": words, "type": code, "code": code}, headers=headers)
    if fault.kind in _CONTENTS:
        return says(_CONTENTS[fault.kind](said.content))
    return _SPECIAL[fault.kind](fault, said, body)


def says(content: str, finish: str = "stop", **more: Any) -> Outcome:
    """Return the outcome of a call that is answered with this content."""
    return Outcome(message={"role": "assistant", "content": content, **more}, finish=finish)


def _half(content: str) -> str:
    return content[: max(1, len(content) // 2)]


def _list(content: str) -> Any:
    """Return the only list of a reply, else the reply."""
    value = json.loads(content)
    return next(iter(value.values())) if isinstance(value, dict) and len(value) == 1 else value


def _items(content: str, change: Callable[[int, Any], Any]) -> str:
    """Return the reply with each item of its only list changed."""
    ((name, items),) = json.loads(content).items()
    return json.dumps({name: [change(at, item) for at, item in enumerate(items)]}, ensure_ascii=False)


def _spoiled(at: int, item: Any) -> Any:
    """Spoil the second of SPOILED_EVERY items."""
    ways = (len(item), None, {"wat": item}, {**item, "what": {"text": item.get("what")}}, [item])
    return ways[at // SPOILED_EVERY % len(ways)] if at % SPOILED_EVERY == 1 else item


def _marked(at: int, item: Any) -> Any:
    return _MARK if at == 1 else item


def _renamed(_at: int, item: Any) -> Any:
    names = {"what": "statement", "where": "location", "entities": "names"}
    return {names.get(name, name): value for name, value in item.items()}


def _echo(_fault: Fault, said: Said, body: Body) -> Outcome:
    described = (body.get("response_format") or {}).get("json_schema") or {}
    return says(json.dumps(described.get("schema") or {"type": "object", "properties": {}}))


def _calls(fault: Fault, _said: Said, _body: Body) -> Outcome:
    return right(Said("tool", "", tuple((name, given) for name, given in json.loads(fault.text))), 0)


def _newest_words(_fault: Fault, said: Said, body: Body) -> Outcome:
    """Decide rightly, and let every observation say what its newest fact says."""
    texts = {row["id"]: row["text"] for row in rows("new_facts", user_text(body))}
    made = [action | {"text": texts[action["facts"][-1]]} for action in json.loads(said.content)["actions"]]
    return says(json.dumps({"actions": made}, ensure_ascii=False))


#: kind -> (HTTP status, code, words of the provider)
_ERRORS = {
    "rate_limited": (429, "rate_limit_exceeded", "Rate limit reached, slow down"),
    "server_error": (500, "server_error", "The server had an error"),
    "overloaded": (503, "overloaded", "The engine is overloaded"),
    "unauthorized": (401, "invalid_api_key", "Incorrect API key provided"),
    "unknown_model": (404, "model_not_found", "The model does not exist"),
    "no_json_schema": (400, "invalid_request_error", "response_format json_schema is not supported"),
    "no_json_object": (400, "invalid_request_error", "response_format must be text"),
    "no_keywords": (400, "invalid_request_error", "Unsupported schema: keyword is not permitted"),
    "input_too_long": (400, "context_length_exceeded", "This model's maximum context length is 4096 tokens"),
    "no_tools": (400, "invalid_request_error", "This model does not support tools"),
    "policy": (400, "content_policy_violation", "content_policy_violation: the prompt was flagged"),
}
#: kind -> what the right content becomes
_CONTENTS: dict[str, Callable[[str], str]] = {
    **BROKEN,
    "unclosed": _half,
    "prose": lambda content: _STORY,
    "ignores_schema": lambda content: _STORY,
    "empty": lambda content: "",
    "no_facts": lambda content: json.dumps({key: [] for key in json.loads(content)}),
    "fenced": lambda content: f"Sure! Here you go:\n```json\n{content}\n```\nHope that helps.",
    "thinking": lambda content: f"<think>{_DRAFT}</think>{content}",
    "unopened_thinking": lambda content: f"{_DRAFT}\n</think>\n{content}",
    "bare_list": lambda content: json.dumps(_list(content)),
    "bare_items": lambda content: "\n".join(json.dumps(item) for item in _list(content)),
    "other_name": lambda content: json.dumps({"memories": _list(content)}),
    "wrapped": lambda content: json.dumps({"result": json.loads(content)}),
    "other_fields": lambda content: _items(content, _renamed),
    "partly_malformed": lambda content: _items(content, _spoiled),
    "unreadable_item": lambda content: _items(content, _marked).replace(f'"{_MARK}"', '{"what": not sure}'),
    "fenced_code": lambda content: "I ran `make`:\n```json\n{}\n```\nAll {{done}}.".format(
        content.replace('"what": "', '"what": "```sh\\nmake``` ')
    ),
    "doubly_encoded": json.dumps,
    "bad_escapes": lambda content: content.replace('": "', '": "\\d\\x1b '),
    "trailing_commas": lambda content: content.replace("}", ",}").replace("]", ",]").replace("[,]", "[]"),
    "python": lambda content: repr(json.loads(content)),
}
_SPECIAL: dict[str, Callable[[Fault, Said, Body], Outcome]] = {
    "says": lambda fault, said, body: says(fault.text),
    "calls": _calls,
    "newest_words": _newest_words,
    "schema_echo": _echo,
    "length": lambda fault, said, body: says(_half(said.content), "length"),
    "refusal": lambda fault, said, body: says("", refusal="I cannot help with that."),
    "filtered": lambda fault, said, body: says("", "content_filter"),
    "thought_only": lambda fault, said, body: says("", reasoning_content=f"{_DRAFT} {said.content}"),
    "no_choices": lambda fault, said, body: Outcome(
        raw=b'{"id":"x","object":"chat.completion","choices":[]}'
    ),
    "not_json": lambda fault, said, body: Outcome(raw=b"<html>Bad gateway</html>"),
    "hang": lambda fault, said, body: Outcome(way="hang"),
    "drop": lambda fault, said, body: Outcome(way="drop"),
}
KINDS = frozenset({*_ERRORS, *_CONTENTS, *_SPECIAL})


def _format(body: Body) -> str:
    return str((body.get("response_format") or {}).get("type", "text"))


def _always(_body: Body) -> bool:
    return True


def _has_tools(body: Body) -> bool:
    return bool(body.get("tools"))


def _judges(body: Body) -> bool:
    return wanted(body)[0] == VERDICT


#: Faults that only some requests run into.
_APPLIES: dict[str, Callable[[Body], bool]] = (
    dict.fromkeys(KINDS, _always)
    | dict.fromkeys(BROKEN, _judges)
    | {
        "no_tools": _has_tools,
        "calls": _has_tools,
        "newest_words": lambda body: wanted(body)[0] == CONSOLIDATION,
        "no_json_schema": lambda body: _format(body) == "json_schema",
        "ignores_schema": lambda body: _format(body) != "text",
        "no_json_object": lambda body: _format(body) != "text",
        "no_keywords": lambda body: any(
            word in json.dumps(body.get("response_format")) for word in _HARD_KEYWORDS
        ),
    }
)


def register(
    kind: str, outcome: Callable[[Fault, Said, Body], Outcome], applies: Callable[[Body], bool] = _always
) -> None:
    """Add a way to go wrong; `applies`: the requests that run into it."""
    _SPECIAL[kind], _APPLIES[kind] = outcome, applies
