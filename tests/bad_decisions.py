"""What other models say about observations, mostly bad ones, made of the right answer or of what was shown. Pure."""

import json
from collections.abc import Callable
from typing import Any

from memorybank.testing.scripted_answers import CONSOLIDATION, Body, rows, user_text, wanted
from memorybank.testing.scripted_faults import register, says

#: Ids that no call shows.
STRANGE = 90


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


def _changed(content: str, change: Callable[[dict[str, Any]], dict[str, Any]]) -> str:
    return _said(change(action) for action in json.loads(content)["actions"])


def _said(made: Any) -> str:
    return json.dumps({"actions": list(made)}, ensure_ascii=False)


def _decides(body: Body) -> bool:
    return wanted(body)[0] == CONSOLIDATION


for _kind, _way in BAD.items():
    register(_kind, lambda _, said, body, way=_way: says(way(said.content, body)), _decides)
