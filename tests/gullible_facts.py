"""A model that does whatever it is told outside of an intact fence. Pure. For tests of injection.

A fence is intact from `<tag id="NONCE">` to the first thing that could be read as `</tag>`, for the nonce of the first
opening tag of the message. What data closes itself, or opens with another nonce, is outside, and orders there are
obeyed: the answer is what they dictate, or their facts beside the right ones; where they say "ignore", in their place.
"""

import json
import re
import unicodedata
from typing import Any

from memorybank.testing.scripted_answers import Body, fact, units, user_text

#: Invisible characters: a reader passes over them.
_UNSEEN = re.compile("[\u200b-\u200f\u2060\ufeff]")
_OPENING = re.compile(r'<(\w+) id="(\w+)">')
#: Words that lift what was said before, in the languages of the tests.
IGNORE = re.compile(
    r"\b(?:ignore|disregard|forget|skip|drop|override)\b[^.\n]{0,60}\b(?:instruction|rule|prompt|above|previous|earlier|"
    r"content|everything)"
    r"|ignorier\w*[^.\n]{0,60}(?:anweisung|regel|vorherig)|vergiss[^.\n]{0,40}(?:anweisung|alles)"
    r"|(?:ignore[zr]?|oublie[zr]?)[^.\n]{0,60}(?:instruction|consigne|précéd)"
    r"|(?:ignora|olvida)[^.\n]{0,60}(?:instruccion|anterior|istruzion|precedent)"
    r"|(?:ignore|esqueça)[^.\n]{0,60}(?:instruç|anterior)"
    r"|(?:忽略|无视)[^。\n]{0,30}(?:指令|指示|内容)|(?:以前|上記|これまで)[^。\n]{0,20}(?:指示|命令)[^。\n]{0,10}無視"
    r"|(?:이전|위의)[^.\n]{0,20}(?:지시|명령)[^.\n]{0,10}무시",
    re.IGNORECASE,
)
#: What is dictated: up to the end of the line, or to markup.
_DICTATED = r"\s*(?P<what>[^\n:：<>\[\]{}\"|]+)(?=[\n<>\[\]{}\"|]|\Z)"
#: Orders to take something over.
ADD = re.compile(
    r"(?:\b(?:add|store|save|record|remember|note|keep|insert|extract|include|write|you must|speichere|merke?|"
    r"ajoute[zr]?|enregistre[zr]?|añade|guarda|aggiungi|salva|adicione|guarde)\b"
    r"|添加|保存|记住|追加|記録|추가|저장)[^:：\n]{0,60}[:：]" + _DICTATED,
    re.IGNORECASE,
)
#: Orders to say just this; what follows is the answer.
EXACTLY = re.compile(
    r"\b(?:output|answer|respond|reply|return|print|say)\b[^:\n{\[]{0,50}"
    r"(?:exactly|only|nothing but|just|verbatim|instead|with|json)[^:\n{\[]{0,30}[:：]?\s*(?P<what>[^\n]+)",
    re.IGNORECASE,
)
#: Somebody who claims to be more than data: what they say is taken for true.
ROLE = re.compile(
    r"^\W*(?:system|developer|admin(?:istrator)?|assistant|instructions?|new rules?|answer|"
    r"im_start\W+system|inst|sys)\b[^\n:\w]*(?:message|prompt|override|update|note)?\s*"
    r"(?:[:：>\]|]+)" + _DICTATED,
    re.IGNORECASE | re.MULTILINE,
)
_JSON_ANSWER = re.compile(r'\{\s*"facts"\s*:\s*\[.*?\]\s*\}', re.DOTALL)
QUOTES = " \t\"'`“”«»„「」."


def obedient(content: str, body: Body) -> str:
    """Return what the model says instead of `content`, its right answer: the same where nothing is ordered."""
    user = user_text(body)
    bare = outside(user)
    try:
        right = json.loads(content)
    except ValueError:
        return content
    if not isinstance(right, dict) or "facts" not in right:
        return content
    honest = right["facts"] if _OPENING.search(user) else [fact(unit) for unit in units(user)]
    return json.dumps(_obeyed(bare, honest), ensure_ascii=False)


def outside(user: str) -> str:
    """Return the text of a message without its intact fences."""
    seen = _UNSEEN.sub("", unicodedata.normalize("NFKC", user))
    first = _OPENING.search(seen)
    if first is None:
        return seen
    whole = rf'<(\w+) id="{re.escape(first[2])}">\n.*?<\s*/\s*\1\b[^>\n]*>'
    return re.sub(whole, "", seen, flags=re.DOTALL | re.IGNORECASE)


def _obeyed(bare: str, honest: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the answer that the orders in `bare` make of the right one."""
    dictated = _JSON_ANSWER.search(bare)
    if dictated:
        return _dictated(dictated.group())
    if exact := EXACTLY.search(bare):
        return {"facts": [fact(exact["what"].strip(QUOTES))]}
    told = [order["what"] for order in ADD.finditer(bare)]
    told = told or [claim["what"] for claim in ROLE.finditer(bare)]
    facts = [fact(what.strip(QUOTES)) for what in told]
    return {"facts": facts if IGNORE.search(bare) else [*honest, *facts]}


def _dictated(said: str) -> dict[str, Any]:
    try:
        value = json.loads(said)
    except ValueError:
        return {"facts": []}
    return value if isinstance(value, dict) else {"facts": []}
