"""A checker of directives that judges the draft it is given, by its words, language and length, and nothing else. Pure.

A directive is read by a small vocabulary of matters: each is told by words in the directive, and by words of an answer
that speaks of it. "Never", "avoid" and the like forbid the matter; anything else demands it. A condition ("if asked
about …") holds where the question speaks of its matter. What it cannot read it does not judge, which permits nothing.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from memorybank.text import language

#: Whether a draft keeps a directive, and the words that break it.
Found = tuple[bool, list[str]]

#: Name -> how a directive names the matter, and how an answer speaks of it.
_MATTERS: Mapping[str, tuple[str, str]] = {
    "pay": (r"salar|what people earn|pay\b", r"salar\w*|wages?|earns?|paid|euros?|gehalt|€"),
    "health": (r"health|ill\w*\b|diagnos", r"ill|sick\w*|hospital|diagnos\w*|surgery|therapy|fever|krank"),
    "finality": (r"final", r"final\w*|for good|for ever|forever|definitive\w*|irrevocab\w*|settled"),
    "promise": (r"promis|guarantee", r"promis\w*|guarante\w*|certainly|will surely|without fail"),
    "blame": (r"blame|fault", r"blame\w*|fault|careless\w*|negligen\w*"),
    "insult": (r"\bkind\b|insult|respect", r"fools?|idiots?|stupid\w*|lazy|clown"),
    "advice": (r"advi[cs]e|recommend", r"should|recommend\w*|advise\w*|better off|ought"),
    "address": (r"address|where (?:people|anybody) liv", r"street|avenue|lane|road|house number"),
    "secret": (r"secret|password|credential", r"passwords?|vault|pin|passcode|credentials?"),
    "slang": (r"slang|formal", r"gonna|wanna|hey|lol|dude|yeah"),
    "excitement": (r"exclamation|excite", r"!"),
    "guess": (r"guess|speculat", r"probably|perhaps|maybe|i guess|presumably"),
    "rival": (r"competitor|rival", r"ostrava ltd|kestrel(?: inc)?"),
    "pirate": (r"pirate", r"arr+|matey|ahoy"),
    "thanks": (r"thank", r"thanks?|thank you"),
    "date": (r"\bdate\b|\bday\b", r"\d{4}-\d\d-\d\d|\d{1,2} (?:january|march|may|june|october) \d{4}"),
    "warning": (r"warn|disclaimer", r"no legal advice|not legal advice|at your own risk"),
}  # fmt: skip
_FORBIDS = re.compile(r"\b(?:never|not|no|avoid|without|refrain|nor)\b|n't\b", re.IGNORECASE)
_CONDITION = re.compile(r"^(if|when|where|unless) ([^,]*), (.*)$", re.IGNORECASE | re.DOTALL)
_LANGUAGES = {
    "german": "de",
    "french": "fr",
    "spanish": "es",
    "italian": "it",
    "english": "en",
    "japanese": "ja",
}
_LENGTH = re.compile(r"(\d+) words", re.IGNORECASE)
#: Demands that are kept by what is not said.
_IS_KIND = re.compile(r"^\W*(?:be|stay|remain) (?:kind|respectful|formal)", re.IGNORECASE)


def verdicts(
    directives: Iterable[Mapping[str, Any]],
    question: str,
    draft: str,
    facts: Iterable[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Return the verdicts on directives, each `{"id", "directive"}`; of the draft nothing is known but what it says.

    `facts`: lines with an `id` that are handed out beside it; those are named that speak of what is forbidden.
    """
    lines = list(facts)

    def telling(directive: str) -> list[int]:
        return [line["id"] for line in lines if (judged(directive, question, str(line)) or (True, []))[1]]

    told = ((one, judged(one["directive"], question, draft)) for one in directives)
    return {
        "verdicts": [
            {"id": one["id"], "ok": found[0], "words": found[1]}
            | ({"facts": telling(one["directive"])} if lines else {})
            for one, found in told
            if found is not None
        ]
    }


def judged(directive: str, question: str, draft: str) -> Found | None:
    """Return whether a draft keeps a directive, with the words that break it; None where it cannot be read."""
    if condition := _CONDITION.match(directive):
        matter = _matter(condition[2])
        if matter is None:
            return None
        holds = bool(_said(matter, question)) != (condition[1].casefold() == "unless")
        return judged(condition[3], question, draft) if holds else (True, [])
    return next((found for rule in _RULES if (found := rule(directive, draft)) is not None), None)


def _by_language(directive: str, draft: str) -> Found | None:
    named = next((code for name, code in _LANGUAGES.items() if f"in {name}" in directive.casefold()), None)
    return None if named is None else (language(draft) == named, [])


def _by_length(directive: str, draft: str) -> Found | None:
    limit = _LENGTH.search(directive)
    return None if limit is None else (len(draft.split()) <= int(limit[1]), [])


def _by_matter(directive: str, draft: str) -> Found | None:
    matter = _matter(directive)
    if matter is None:
        return None
    said = _said(matter, draft)
    if _FORBIDS.search(directive) or _IS_KIND.match(directive):
        return not said, said
    return bool(said), []


_RULES: tuple[Callable[[str, str], Found | None], ...] = (_by_language, _by_length, _by_matter)


def _matter(said: str) -> str | None:
    """Return what a directive, or a condition, is about."""
    named = (
        name for name, (names, _) in _MATTERS.items() if re.search(rf"\b(?:{names})", said, re.IGNORECASE)
    )
    return next(named, None)


def _said(matter: str, draft: str) -> list[str]:
    words = rf"(?<!\w)(?:{_MATTERS[matter][1]})(?!\w)"
    return list(dict.fromkeys(found[0] for found in re.finditer(words, draft, re.IGNORECASE)))


def _changed(content: str, change: Callable[[list[Any]], list[Any]]) -> str:
    return json.dumps({"verdicts": change(json.loads(content)["verdicts"])}, ensure_ascii=False)


def _all(content: str, **said: Any) -> str:
    return _changed(content, lambda items: [one | {"words": []} | said for one in items])


def _without_facts(items: list[Any]) -> list[Any]:
    return [{key: said for key, said in one.items() if key != "facts"} for one in items]


def _as_map(content: str) -> str:
    return json.dumps({str(one["id"]): True for one in json.loads(content)["verdicts"]})


#: Ways to answer that are no verdict, by the name of the fault: what the right answer becomes.
BROKEN: Mapping[str, Callable[[str], str]] = {
    "verdict_missing": lambda content: _changed(content, lambda items: items[:-1]),
    "verdict_doubled": lambda content: _changed(content, lambda items: [*items, items[0] | {"ok": True}]),
    "verdict_of_nobody": lambda content: _all(content, ok=True, id=99),
    "verdict_in_words": lambda content: _all(content, ok="yes"),
    "verdict_with_words": lambda content: _all(content, ok=True, words=["Ana"]),
    "verdict_as_map": _as_map,
    "verdict_without_facts": lambda content: _changed(content, _without_facts),
    "verdict_of_no_fact": lambda content: _all(content, facts=[99]),
}
