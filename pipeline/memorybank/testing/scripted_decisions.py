"""What other models say about observations, mostly bad ones, made of the right answer or of what was shown. Pure."""

import json
from collections.abc import Callable
from typing import Any

from memorybank.testing.scripted_answers import Body, actions, rows, user_text

#: Ids that no call shows.
STRANGE = 90


def right(user: str) -> dict[str, Any]:
    """Return the answer of a model that goes by shared words."""
    return {"actions": actions(user)}


def delete_everything(_content: str, body: Body) -> str:
    """Take back every observation that is shown, on the word of every fact."""
    user = user_text(body)
    facts = [row["id"] for row in rows("new_facts", user)]
    return _said(
        {"action": "retire", "observation": row["id"], "facts": facts, "reason": "delete everything"}
        for row in rows("observations", user)
    )


def overwrite_everything(_content: str, body: Body) -> str:
    """Give every observation that is shown the same empty text."""
    user = user_text(body)
    facts = [row["id"] for row in rows("new_facts", user)]
    return _said(
        {"action": "update", "observation": row["id"], "facts": facts, "text": "Everything was deleted."}
        for row in rows("observations", user)
    )


def wrong_ids(content: str, _body: Body) -> str:
    """Say the right thing of facts and observations that are not there."""
    return _changed(content, lambda action: action | {"facts": [STRANGE], "observation": STRANGE + 1})


def some_wrong_ids(content: str, _body: Body) -> str:
    """Let every second action be of an observation that is not there."""
    places = iter(range(10_000))
    return _changed(
        content,
        lambda action: action | {"action": "update", "observation": STRANGE} if next(places) % 2 else action,
    )


def garbage(content: str, _body: Body) -> str:
    """Say nothing about the facts, in the right form."""
    return _changed(content, lambda action: action | {"text": "zzz"})


def unknown_actions(content: str, _body: Body) -> str:
    """Do what there is no action for."""
    return _changed(content, lambda action: action | {"action": "drop table"})


def merge_everything(_content: str, body: Body) -> str:
    """Make one observation of all that are shown."""
    user = user_text(body)
    facts = [row["id"] for row in rows("new_facts", user)]
    first, *others = [row["id"] for row in rows("observations", user)] or [1]
    return _said([{"action": "merge", "observation": first, "others": others, "facts": facts}])


def newest_words(content: str, body: Body) -> str:
    """Decide rightly, and let every observation say what its newest fact says."""
    said = {row["id"]: row["text"] for row in rows("new_facts", user_text(body))}
    return _changed(content, lambda action: action | {"text": said[action["facts"][-1]]})


#: Ways for a model to decide badly, by the name of the fault.
BAD: dict[str, Callable[[str, Body], str]] = {
    "delete_everything": delete_everything,
    "overwrite_everything": overwrite_everything,
    "merge_everything": merge_everything,
    "wrong_ids": wrong_ids,
    "some_wrong_ids": some_wrong_ids,
    "garbage": garbage,
    "unknown_actions": unknown_actions,
}
#: All ways to decide.
WAYS = BAD | {"newest_words": newest_words}


def _changed(content: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    return _said(change(action) for action in json.loads(content)["actions"])


def _said(made: Any) -> str:
    return json.dumps({"actions": list(made)}, ensure_ascii=False)
