"""What the scripted model says: a function of the request alone, so that runs can be compared. Pure."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from memorybank.testing.scripted_checker import verdicts

Body = dict[str, Any]

#: Names of `response_format` that it answers by their meaning; any other schema gets a minimal object.
EXTRACTION, CONSOLIDATION = "extracted_facts", "consolidation_decision"
DOCUMENT, VERDICT = "mental_model_document", "directive_verdict"
#: A step of the reflect loop by a model that takes no tools.
STEP = "agent_step"
#: The order in which it uses the tools of a reflect loop.
TOOL_ORDER = ("search_mental_models", "search_observations", "recall")
#: Two claims are the same when they share this part of their words (Jaccard).
SAME_CLAIM = 0.85
#: Facts that a free answer quotes at most.
QUOTED_FACTS = 3

_BLOCK = r"<{0}\b[^>]*>(.*?)</{0}>"
_TURN = re.compile(r"^(?:\[[^\]]{1,40}\]\s*)?\(?(?:[A-Z]\d+:\d+\)?\s+)?[^\W\d_][\w .'-]{0,30}:\s")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=\S)|(?<=[。！？])(?=\S)")
_NAME = re.compile(r"[A-Z][\w'&-]*(?:\s+(?:of\s+)?[A-Z][\w'&-]*)*")
_WORD = re.compile(r"\w+")
_SCHEMA_IN_PROMPT = re.compile(r"JSON schema `(\w+)`:\n(\{.*\})", re.DOTALL)
_QUESTION = re.compile(r"(?:Question|Query)[:\s]+(.+)")
_GREETING = re.compile(r"^(?:hi|hello|hey|wow|thanks|thank you|bye|cool|yeah|ok|okay)\b", re.IGNORECASE)
#: Words of a line that is only a greeting, at most.
_GREETING_WORDS = 8
#: Capitalised words that open sentences and name nobody.
_NO_NAMES = frozenset(
    {
        "i", "i'm", "i've", "i'll", "the", "a", "an", "and", "but", "so", "if", "it", "it's", "that",
        "this", "these", "those", "there", "then", "they", "he", "she", "we", "you", "my", "our", "his",
        "her", "what", "when", "where", "which", "who", "why", "how", "yes", "no", "not", "oh", "ok",
        "okay", "hi", "hello", "hey", "thanks", "wow", "well", "do", "did", "does", "have", "has",
        "had", "is", "are", "was", "were", "can", "could", "would", "should", "will", "just", "also",
        "in", "on", "at", "for", "from", "with", "to", "of", "by", "after", "before",
    }
)  # fmt: skip


@dataclass(frozen=True)
class Said:
    """The content, or the tool calls as (name, arguments)."""

    kind: str
    content: str
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


def answer(body: Body) -> Said:
    """Return what the model says to a chat completion request."""
    name, schema = wanted(body)
    user = user_text(body)
    if name == EXTRACTION:
        return _json(name, {"facts": facts(user, whole=_is_whole(schema))})
    if name == CONSOLIDATION:
        return _json(name, {"actions": actions(user)})
    if name == DOCUMENT:
        return _json(name, document(user))
    if name == VERDICT:
        return _json(name, checked(user))
    if name == STEP:
        return _json(name, {"calls": [{"tool": "done", "answer": free_answer(user)}]})
    if schema is not None:
        return _json(name, minimal(schema, schema))
    if body.get("tools"):
        return _tool(body, user)
    return Said("text", free_answer(user))


def wanted(body: Body) -> tuple[str, dict[str, Any] | None]:
    """Return name and schema of the JSON asked for, by `response_format` or in words; ("", None) for text."""
    described = (body.get("response_format") or {}).get("json_schema")
    if described:
        return described.get("name", ""), described.get("schema") or {}
    for message in body.get("messages", ()):
        if message.get("role") == "system" and (match := _SCHEMA_IN_PROMPT.search(text_of(message))):
            return match.group(1), json.JSONDecoder().raw_decode(match.group(2))[0]
    return "", None


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a message, in one piece or in parts."""
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)


def user_text(body: Body) -> str:
    """Return what the user said, all turns."""
    return "\n".join(text_of(turn) for turn in body.get("messages", ()) if turn.get("role") == "user")


def blocks(tag: str, text: str) -> list[str]:
    """Return the insides of the fences with this tag."""
    return re.findall(_BLOCK.format(tag), text, re.DOTALL)


def _is_whole(schema: dict[str, Any] | None) -> bool:
    """Say whether a schema wants texts kept word for word: its facts have no `what`."""
    listed = (schema or {}).get("properties", {}).get("facts", {}).get("items", {})
    return "what" not in listed.get("properties", {"what": {}})


def facts(user: str, whole: bool = False) -> list[dict[str, Any]]:
    """Return one fact for each turn or sentence of the `<content>` fences, or (`whole`) one for each fence."""
    found = blocks("content", user)
    made = []
    for number, block in enumerate(found, 1):
        for unit in [block] if whole else units(block):
            said = {"entities": names(unit)} if whole else fact(unit)
            made.append(said | ({"content": number} if len(found) > 1 else {}))
    return made


def fact(what: str) -> dict[str, Any]:
    """Return a fact in the shape of extraction."""
    return {"what": what, "fact_kind": "conversation", "fact_type": "world", "entities": names(what)}


def units(block: str) -> Iterator[str]:
    """Yield the turns of a conversation (JSON or one a line) and the sentences of prose."""
    try:
        turns = json.loads(block)
    except ValueError:
        turns = None
    if isinstance(turns, list) and all(isinstance(turn, dict) for turn in turns):
        for turn in turns:
            speaker = turn.get("speaker") or turn.get("role") or "user"
            yield f"{speaker}: {turn.get('content') or turn.get('text')}"
        return
    for line in filter(None, (line.strip() for line in block.splitlines())):
        yield from [line] if _TURN.match(line) else _SENTENCE_END.split(line)


def names(text: str) -> list[str]:
    """Return capitalised names in order, at most eight."""
    found: dict[str, None] = {}
    for chain in _NAME.findall(text):
        words = [word.removesuffix("'s") for word in chain.split()]
        while words and words[0].casefold() in _NO_NAMES:
            words.pop(0)
        name = " ".join(words)
        if len(name) > 1 and name.casefold() not in _NO_NAMES:
            found.setdefault(name)
    return list(found)[:8]


def actions(user: str) -> list[dict[str, Any]]:
    """Return an update for a fact that an observation already says, a create for any other but greetings."""
    seen = [(_words(row["text"]), row) for row in rows("observations", user)]
    decided = []
    for row in rows("new_facts", user):
        body = row["text"].split(": ", 1)[-1]
        if len(body.split()) < _GREETING_WORDS and _GREETING.match(body):
            continue
        same = [(_shared(_words(row["text"]), words), other) for words, other in seen]
        likeness, nearest = max(same, key=lambda pair: pair[0], default=(0.0, {}))
        if likeness >= SAME_CLAIM:
            what = {"action": "update", "observation": nearest["id"], "text": nearest["text"]}
        else:
            what = {"action": "create", "text": row["text"]}
        decided.append(what | {"facts": [row["id"]], "reason": "by shared words"})
    return decided


def document(user: str) -> dict[str, Any]:
    """Return a section of all facts; of a page that is there, what is new appended to its first section."""
    page = rows("draft", user)
    said = [
        {"text": row["text"], "facts": [row["id"]]} for row in rows("new_facts" if page else "facts", user)
    ]
    if not page:
        return {"sections": [{"name": "What is known", "statements": said}]}
    return {"operations": [{"op": "append", "section": page[0]["section"], "statements": said}]}


def checked(user: str) -> dict[str, Any]:
    """Return verdicts on `<draft>` and `<facts>` under the directives, one a line before the first fence."""
    lines = user.split("\n<")[0].splitlines()
    found = (json.loads(line) for line in lines if line.startswith('{"id"'))
    directives = [one for one in found if "directive" in one]
    question, draft = ("\n".join(blocks(tag, user)) for tag in ("question", "draft"))
    return verdicts(directives, question, draft, rows("facts", user))


def rows(tag: str, user: str) -> list[dict[str, Any]]:
    """Return the JSON objects, one a line, inside the fences with this tag."""
    lines = (line for block in blocks(tag, user) for line in block.splitlines())
    return [json.loads(line) for line in lines if line.strip().startswith("{")]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _shared(left: set[str], right: set[str]) -> float:
    return len(left & right) / max(1, len(left | right))


def free_answer(user: str) -> str:
    """Return the `<facts>` nearest to the question, each with its id in brackets; else "I do not know."."""
    asked = _words(" ".join((*_QUESTION.findall(user), *blocks("question", user))))
    found = [(len(asked & _words(row["text"])), row) for row in rows("facts", user)]
    best = sorted((pair for pair in found if pair[0]), key=lambda pair: -pair[0])[:QUOTED_FACTS]
    return " ".join(f"{row['text']} [{row['id']}]" for _, row in best) or "I do not know."


def _tool(body: Body, user: str) -> Said:
    """Use the forced tool, else the next of TOOL_ORDER, else `done`."""
    offered = [tool["function"]["name"] for tool in body["tools"]]
    used = sum(message.get("role") == "tool" for message in body["messages"])
    choice = body.get("tool_choice")
    forced = choice["function"]["name"] if isinstance(choice, dict) else None
    order = [name for name in TOOL_ORDER if name in offered]
    last = "done" if "done" in offered else offered[0]
    name = forced or (order[used] if used < len(order) else last)
    asked = blocks("question", user) or _QUESTION.findall(user) or [user]
    question = asked[-1].strip()[:300]
    shown = "\n".join(text_of(turn) for turn in body["messages"] if turn.get("role") in ("user", "tool"))
    said = {"answer": free_answer(shown)} if name == "done" else {"reason": "look it up", "query": question}
    return Said("tool", "", ((name, said),))


def minimal(schema: dict[str, Any], root: dict[str, Any]) -> Any:
    """Return the smallest value that fits a schema."""
    if "$ref" in schema:
        return minimal(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    for word in ("anyOf", "oneOf", "allOf"):
        if word in schema:
            kinds = [kind for kind in schema[word] if kind.get("type") != "null"]
            return minimal((kinds or schema[word])[0], root)
    if "enum" in schema:
        return schema["enum"][0]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = schema.get("properties", {})
        return {name: minimal(properties[name], root) for name in schema.get("required", properties)}
    plain = {"array": [], "string": "ok", "integer": 0, "number": 0.0, "boolean": False, "null": None}
    return plain.get(kind, "ok")


def _json(kind: str, value: Any) -> Said:
    return Said(kind, json.dumps(value, ensure_ascii=False))
