"""A model that decides as the prompt asks, from what it is shown alone: for residence and taste, by the dates.

What it says is right only where the stage shows it the observation, its sources and all dates.
"""

import re
from collections import defaultdict
from typing import Any

from memorybank.testing.scripted_answers import rows

HOME = re.compile(r"(?P<who>\w+) (?:lives in|has moved to) (?P<what>\w+)")
TASTE = re.compile(
    r"(?P<who>\w+) (?P<no>can't stand|do(?:n't| not) like|does(?:n't| not) like|no longer likes?|dislikes?)? ?"
    r"(?:likes?|loves?|enjoys?)? ?"
    r"(?P<what>oysters|teal|jazz)"
)
_SAID = re.compile(r"(\d{4}-\d\d-\d\d)[ \d:]*")

#: Who, and about what.
Matter = tuple[str, str]


def careful(user: str) -> Any:
    """Return the answer to what the user says."""
    shown = {matter: row for row in rows("observations", user) if (matter := _matter(row["text"]))}
    told: defaultdict[Matter, list[tuple[str, str, int]]] = defaultdict(list)
    actions: list[dict[str, Any]] = []
    for row in rows("new_facts", user):
        if matter := _matter(row["text"]):
            told[matter].append((row["said"][:10], _value(row["text"]), row["id"]))
        else:
            actions.append({"action": "keep", "facts": [row["id"]]})
    for matter, said in told.items():
        before = _history(shown.get(matter))
        action: dict[str, Any] = {
            "text": _text(matter, before + [(day, value) for day, value, _ in said]),
            "facts": [number for *_, number in said],
        }
        if matter in shown:
            action |= {"action": "update", "observation": shown[matter]["id"]}
        else:
            action |= {"action": "create"}
        actions.append(action)
    return {"actions": actions}


def _matter(text: str) -> Matter | None:
    for found in (HOME.search(text), TASTE.search(text)):
        if found:
            return found["who"], "home" if found.re is HOME else found["what"]
    return None


def _value(text: str) -> str:
    if found := HOME.search(text):
        return f"lives in {found['what']}"
    found = TASTE.search(text)
    assert found
    return f"{'does not like' if found['no'] else 'likes'} {found['what']}"


def _history(row: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return what the observation and the facts behind it say, each with its day."""
    if row is None:
        return []
    said = [(row["said"][:10], _value(row["text"]))]
    for source in row.get("sources", ()):
        day = _SAID.match(source)
        assert day
        said.append((day[1], _value(source)))
    return said


def _text(matter: Matter, said: list[tuple[str, str]]) -> str:
    said = sorted(said)
    now = said[-1][1]
    since = said[-1][0]
    for day, value in reversed(said):
        if value != now:
            break
        since = day
    before = dict.fromkeys(value for _, value in reversed(said) if value != now)
    past = f"; before that {matter[0]} {', '.join(before)}" if before else ""
    return f"{matter[0]} {now} since {since}{past}"
