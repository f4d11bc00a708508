"""What holds for every recall, whatever is asked: checked against the facts as they were told, without the engine."""

import threading
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import psutil
import pytest
from bank_calls import Bank, Running, good
from hypothesis import given, settings
from hypothesis import strategies as st

from memorybank.text import count_tokens

#: Every run asks the same.
SAME = settings(derandomize=True, deadline=None, database=None, max_examples=40)
#: Everything of a bank as small as this fits.
EVERYTHING = 100_000
NAMES = ("Rosa", "Jude Okafor", "林晓雨", "Zoë")
TAGS: tuple[tuple[str, ...], ...] = ((), ("a",), ("b",), ("a", "b"), ("a", "b", "c"), ("c",))
#: What follows the name: short and long, of one byte a letter and of four.
DEEDS = (
    "keeps bees",
    "fired the kiln on Monday, " + "and it took patience, " * 12,
    "painted 🏳️‍🌈 👩‍👩‍👧‍👦 on the wall",
    "在东京机房修理自行车",
    "rented the hall in March",
)


class Told:
    """A bank, and what was told to it: the tags and the names of each text."""

    def __init__(self, http: httpx.Client, shift: int) -> None:
        self.bank = Bank(http, f"holds-{uuid4()}")
        self.bank.call("PATCH", "/config", {"updates": {"retain_extraction_mode": "chunks"}})
        self.tags: dict[str, frozenset[str]] = {}
        self.names: dict[str, str] = {}
        items = []
        for at, (name, deed) in enumerate((name, deed) for name in NAMES for deed in DEEDS):
            for half in ("first", "second"):
                text = f"{name} {deed}, said the {half}."
                tags = TAGS[(at + shift + (half == "second")) % len(TAGS)]
                day = f"2026-{1 + at % 12:02}-{1 + at:02}T10:00:00Z"
                item = {"content": text, "tags": tags, "timestamp": day, "document_id": f"d{len(items)}"}
                items.append(item | {"entities": [{"text": name}]})
                self.tags[text], self.names[text] = frozenset(tags), name
        self.bank.retain(*items)

    def recall(self, body: dict[str, Any]) -> Any:
        return good(self.bank.call("POST", "/memories/recall", body))


@pytest.fixture(scope="module")
def told(http: httpx.Client) -> Iterator[Told]:
    """One of two banks with equal texts under other tags."""
    Told(http, 3)
    yield Told(http, 0)


def passes(held: frozenset[str], body: dict[str, Any]) -> bool:
    """The contract's words on one fact, as plainly as they can be written."""
    if "tag_groups" in body:
        return all(_group(held, group) for group in body["tag_groups"])
    return _leaf(held, set(body.get("tags") or ()), body.get("tags_match", "any"))


def _group(held: frozenset[str], group: dict[str, Any]) -> bool:
    if "and" in group:
        return all(_group(held, part) for part in group["and"])
    if "or" in group:
        return any(_group(held, part) for part in group["or"])
    if "not" in group:
        return not _group(held, group["not"])
    return _leaf(held, set(group["tags"]), group.get("match", "any_strict"))


def _leaf(held: frozenset[str], asked: set[str], match: str) -> bool:
    if match == "exact":
        return held == asked
    if not asked:
        return True
    if not held:
        return match in ("any", "all")
    return held >= asked if match.startswith("all") else bool(held & asked)


modes = st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"])
tag_lists = st.sampled_from(
    [["a"], ["b"], ["a", "b"], ["c", "a"], ["c"], ["z"], ["b", "z"], ["a", "b", "b", "c"], []]
)
leaves = st.fixed_dictionaries({"tags": tag_lists, "match": modes}) | st.fixed_dictionaries(
    {"tags": tag_lists}
)
groups = st.recursive(
    leaves,
    lambda inner: (
        st.fixed_dictionaries({"and": st.lists(inner, max_size=2)})
        | st.fixed_dictionaries({"or": st.lists(inner, min_size=1, max_size=3)})
        | st.fixed_dictionaries({"not": inner})
    ),
    max_leaves=4,
)
filters = st.one_of(
    st.fixed_dictionaries({"tags": tag_lists}),
    st.fixed_dictionaries({"tags": tag_lists, "tags_match": modes}),
    st.fixed_dictionaries({"tags_match": modes}),
    st.fixed_dictionaries({"tag_groups": st.lists(groups, min_size=1, max_size=2)}),
    st.fixed_dictionaries({"tag_groups": groups.map(lambda group: [group])}),
)
scores = st.sampled_from([-1.0, 0.0, 0.1, 0.3, 0.9, 5.0])
floors = st.fixed_dictionaries({}, optional={"final": scores, "semantic": scores, "keyword": scores})
budgets = st.integers(-2, 400) | st.just(EVERYTHING)
questions = st.fixed_dictionaries(
    {
        "query": st.sampled_from(
            [
                "Who keeps bees?",
                "What did Rosa do in March?",
                "林晓雨",
                "kiln Monday patience",
                "🏳️‍🌈 wall",
                "the",
                "what happened last week",
                "quantum chromodynamics",
            ]
        )
    },
    optional={
        "budget": st.sampled_from(["low", "mid", "high"]),
        "types": st.sampled_from([[], ["world"], ["world", "experience"], ["observation"], ["opinion"]]),
        "query_timestamp": st.sampled_from(["2026-06-15", "2020-01-01T00:00:00+05:30", "9999-12-31"]),
        "temporal_window": st.just({"start": "2026-03-01", "end": "2026-04-30"}),
        "prefer_observations": st.booleans(),
    },
)


@SAME
@given(
    question=questions, chosen=filters, least=floors, max_tokens=budgets, beside=st.tuples(budgets, budgets)
)
def test_whatever_is_asked(
    told: Told,
    question: dict[str, Any],
    chosen: dict[str, Any],
    least: dict[str, float],
    max_tokens: int,
    beside: tuple[int, int],
) -> None:
    include = {"entities": {"max_tokens": beside[0]}, "chunks": {"max_tokens": beside[1]}}
    body = question | chosen | {"include": include, "min_scores": least, "max_tokens": max_tokens}
    answer = told.recall(body)
    assert told.recall(body) == answer, "the same question has the same answer"
    whole = told.recall(body | {"max_tokens": EVERYTHING, "min_scores": None})["results"]
    allowed = {text for text, held in told.tags.items() if passes(held, body)}
    if question.get("types") in (["observation"], ["opinion"]):
        allowed = set()
    assert {hit["text"] for hit in whole} == allowed, "all that passes the filters, and nothing else"
    assert len({hit["id"] for hit in whole}) == len(whole) == len(allowed)
    assert [hit["scores"]["final"] for hit in whole] == sorted(
        (hit["scores"]["final"] for hit in whole), reverse=True
    )
    good_enough = [hit for hit in whole if all((hit["scores"].get(k) or 0) >= v for k, v in least.items())]
    check_packing(answer["results"], good_enough, max_tokens)
    check_beside(told, answer, {hit["chunk_id"]: hit["text"] for hit in good_enough}, beside)


def check_packing(results: list[Any], ranked: list[Any], max_tokens: int) -> None:
    """The ranked hits in order, each that fits what is left; the best one is cut where it must be."""
    left, expected = max_tokens, []
    for hit in ranked:
        cost = count_tokens(hit["text"])
        if cost <= left:
            expected.append(hit)
            left -= cost
        elif not expected and left > 0 and results and results[0]["id"] == hit["id"]:
            cut = results[0]["text"]
            assert cut and hit["text"].startswith(cut) and count_tokens(cut) <= left
            expected, left = [hit | {"text": cut}], 0
    assert results == expected
    assert sum(count_tokens(hit["text"]) for hit in results) <= max(0, max_tokens)
    assert bool(results) == bool(ranked and max_tokens > 0) or max_tokens < 4


def check_beside(told: Told, answer: Any, chunks: dict[str, str], budgets_: tuple[int, int]) -> None:
    """Entities and chunks belong to hits that passed, within their budgets, the last chunk alone cut."""
    named = {
        told.names[text] for hit in answer["results"] for text in told.names if text.startswith(hit["text"])
    }
    assert answer["entities"].keys() <= named
    assert sum(map(count_tokens, answer["entities"])) <= max(0, budgets_[0])
    assert budgets_[0] < 50 or len(answer["entities"]) == len(
        {hit["entities"][0] for hit in answer["results"]}
    )
    taken = list(answer["chunks"].values())
    assert answer["chunks"].keys() <= chunks.keys()
    assert all(chunks[chunk["id"]].startswith(chunk["text"]) for chunk in taken)
    assert sum(count_tokens(chunk["text"]) for chunk in taken) <= max(0, budgets_[1])
    assert not any(chunk["truncated"] for chunk in taken[:-1])
    assert all(chunk["truncated"] == (chunk["text"] != chunks[chunk["id"]]) for chunk in taken)
    assert budgets_[1] < EVERYTHING or len(taken) == len(chunks)


def test_a_trace_tells_nothing_of_what_the_filter_keeps_out(told: Told) -> None:
    body = {"query": "Who keeps bees in March?", "tags": ["c"], "tags_match": "exact", "trace": True}
    told_of = {entry["text"] for entry in told.recall(body)["trace"]["rrf_merged"]}
    assert told_of == {text for text, held in told.tags.items() if held == {"c"}}


def test_while_others_write_every_answer_is_of_one_moment(http: httpx.Client) -> None:
    """While a document is replaced, old and new may both be found; each hit comes with the chunk it was drawn from."""
    bank, broken = Bank(http, f"busy-{uuid4()}"), []
    bank.call("PATCH", "/config", {"updates": {"retain_extraction_mode": "chunks"}})

    def write() -> None:
        for turn in range(10):
            bank.retain({"content": f"Rosa's queen bee sat on hive {turn}.", "document_id": "queen"})
            if turn % 3 == 2:
                good(bank.call("DELETE", "/documents/queen"))

    writer = threading.Thread(target=write)
    writer.start()
    while writer.is_alive():
        answer = bank.recall("Where did Rosa's queen bee sit?", include={"entities": {}, "chunks": {}})
        hits = {hit["chunk_id"]: hit["text"] for hit in answer["results"]}
        chunks = {id_: chunk["text"] for id_, chunk in answer["chunks"].items()}
        if len(hits) != len(answer["results"]) or hits != chunks:
            broken.append(answer)
    writer.join()
    assert broken == []
    assert [hit["text"] for hit in bank.recall("queen bee")["results"]] == ["Rosa's queen bee sat on hive 9."]


def test_s1_a_hundred_recalls_keep_their_memory(server: Running, told: Told) -> None:
    process = psutil.Process(server.up.pid)

    def ask(count: int) -> int:
        for at in range(count):
            told.recall({"query": f"Who keeps bees number {at}?"})
        return int(process.memory_info().rss)

    before = ask(30)
    assert ask(100) - before < 20 * 1024 * 1024
