"""What is stated through any interface is a memory like others: listed, reflected on, consolidated in its circle."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fact_workspace import BANK, WORKSPACE, Asking, workspace


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asking]:
    # A group of few is else given time to grow.
    at_once = {"MEMORYBANK_CONSOLIDATION__MAX_WAIT_SECONDS": "0"}
    with workspace(tmp_path_factory.mktemp("stated"), **at_once) as asking:
        yield asking


def _fact(ask: Asking, text: str) -> None:
    ask.add("olga", text, **{"for": WORKSPACE})


def _band(ask: Asking, text: str) -> None:
    memory = {"content": text, "system": "long_term", "type": "semantic", "segment": "agent", "thought": "t"}
    stored = ask("aide", "POST", "/api/v1/agent/memories", {"memory": memory | {"scope": "organization"}})
    assert stored.status_code == 201, stored.text


def _entry(ask: Asking, text: str) -> None:
    body = {"agentId": "aide", "key": text.split()[0], "memory": text}
    assert ask("aide", "POST", "/api/memory", body).status_code == 200


@pytest.mark.parametrize(
    ("state", "others_see"), [(_fact, True), (_band, True), (_entry, False)], ids=["facts", "band", "entries"]
)
def test_it_is_reflected_on_and_listed_for_who_may_see_it(
    ask: Asking, state: Callable[[Asking, str], None], others_see: bool
) -> None:
    name = state.__name__.strip("_").title()
    state(ask, f"{name}wart keeps the lantern.")
    question = {"query": f"Who keeps the lantern, {name}wart?", "include": {"facts": {}}}
    for who, sees in (("aide", True), ("olga", True), ("mia", others_see)):
        listed = ask(who, "GET", f"{BANK}/memories/list", params={"q": "lantern"})
        assert (f"{name}wart" in listed.text) is sees, who
        assert (f"{name}wart" in " ".join(ask.recalled(who, "lantern"))) is sees, who
    assert f"{name}wart" in ask("aide", "POST", f"{BANK}/reflect", question).json()["text"]


def _observations(ask: Asking, who: str, word: str) -> list[dict[str, Any]]:
    asked = {"type": "observation", "q": word}
    return ask(who, "GET", f"{BANK}/memories/list", params=asked).json()["items"]


@pytest.mark.parametrize("state", [_fact, _band], ids=["facts", "band"])
def test_it_is_consolidated_inside_its_circle(ask: Asking, state: Callable[[Asking, str], None]) -> None:
    """Said twice for the organization and twice in a talk: each is counted where it was said, and goes with it."""
    text = f"{state.__name__.strip('_').title()}win waters the plants."
    word = text.split()[0]
    for _ in range(2):
        state(ask, text)
        ask.learn(text, "talk")
    ask("operator", "POST", f"{BANK}/consolidate", {})
    until = time.monotonic() + 60
    while len(_observations(ask, "operator", word)) < 2:
        assert time.monotonic() < until
        time.sleep(0.2)
    told = {who: len(_observations(ask, who, word)) for who in ("operator", "mia", "nils", "aide")}
    # Mia is in the talk; Aide says where it is before it is told of that.
    assert told == {"operator": 2, "mia": 2, "nils": 1, "aide": 1}
    [seen] = _observations(ask, "nils", word)
    one = ask("nils", "GET", f"{BANK}/memories/{seen['id']}").json()
    assert len(one["source_memory_ids"]) == 2
    for source in one["source_memory_ids"]:
        assert ask("operator", "DELETE", f"{BANK}/memories/{source}").status_code == 200
    assert _observations(ask, "nils", word) == []
    assert len(_observations(ask, "mia", word)) == 1
