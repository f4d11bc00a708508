"""The scopes of a fact, the limits of a scope, and which facts are decided on together."""

from dataclasses import replace
from itertools import combinations
from random import Random
from typing import Any

import pytest
from observation_samples import DAY, fact

from memorybank.consolidate.batching import Lane, batches, first, halves, lanes, open_scopes, parts
from memorybank.consolidate.scopes import MAX_COMBINATIONS, limit_of, scopes_of
from memorybank.settings import defaults, resolve_bank
from memorybank.storage.observations import Pending, Scope

ALL_THREE = [("a",), ("b",), ("c",), ("a", "b"), ("a", "c"), ("b", "c"), ("a", "b", "c")]


@pytest.mark.parametrize(
    ("tags", "form", "expected"),
    [
        (("b", "a"), None, [("a", "b")]),
        (("b", "a"), "combined", [("a", "b")]),
        (("b", "a"), [], [("a", "b")]),
        (("b", "a"), "something new", [("a", "b")]),
        ((), None, [()]),
        (("b", "a"), "per_tag", [("a",), ("b",)]),
        ((), "per_tag", [()]),
        (("c", "b", "a"), "all_combinations", ALL_THREE),
        ((), "all_combinations", [()]),
        (("b", "a"), "shared", [()]),
        ((), "shared", [()]),
        (("a",), [["x", "a"], ["a", "x", "x"], []], [("a", "x"), ()]),
        (("a",), [["b"]], [("b",)]),
        (("a",), ["b"], [("a",)]),
    ],
)
def test_scopes(tags: Scope, form: Any, expected: list[Scope]) -> None:
    assert list(scopes_of(tags, form)) == expected


def test_combinations_of_many_tags_are_bounded_and_hold_each_tag_and_all_of_them() -> None:
    tags = tuple(f"t{number:02}" for number in range(20))
    found = scopes_of(tags, "all_combinations")
    assert len(found) == len(set(found)) == MAX_COMBINATIONS
    assert {*((tag,) for tag in tags), tags} < set(found)


def test_combinations_of_six_tags_are_all_there() -> None:
    tags = tuple("abcdef")
    expected = {chosen for size in range(1, 7) for chosen in combinations(tags, size)}
    assert set(scopes_of(tags, "all_combinations")) == expected


@pytest.mark.parametrize(
    ("scope", "rules", "bank", "expected"),
    [
        ((), None, -1, None),
        ((), None, 5, 5),
        (("a",), [], 0, 0),
        (("user:1",), [{"scope": ["user:*"], "limit": 3}], 9, 3),
        (("user:1", "x"), [{"scope": ["user:*"], "limit": 3}], 9, 9),
        (("user:1",), [{"scope": ["user:*", "x"], "limit": 3}], 9, 9),
        (("user:1", "x"), [{"scope": ["user:*", "x"], "limit": 3}], 9, 3),
        (("user:1", "user:2"), [{"scope": ["user:*"], "limit": 3}], 9, 3),
        (("User:1",), [{"scope": ["user:*"], "limit": 3}], 9, 9),
        (("a",), [{"scope": ["b"], "limit": 1}, {"scope": ["*"], "limit": -1}], 9, None),
        (("a",), [{"scope": ["*"], "limit": 2}, {"scope": ["a"], "limit": 1}], 9, 2),
        ((), [{"scope": [], "limit": 0}], 9, 0),
        ((), [{"scope": ["*"], "limit": 0}], 9, 9),
        (("a",), [{"limit": 1}, {"scope": "a", "limit": 1}, {"scope": ["a"]}], 9, 9),
        (("a",), [{"scope": ["a"], "limit": "1"}, {"scope": [1], "limit": 1}], 9, 9),
        (("a",), [{"scope": ["a"], "limit": True}], 9, 9),
    ],
)
def test_limits(scope: Scope, rules: Any, bank: int, expected: int | None) -> None:
    overrides = {"max_observations_per_scope": bank, "observation_scope_limits": rules}
    assert limit_of(scope, resolve_bank(defaults().bank, overrides)) == expected


def test_a_lane_is_of_one_audience_and_one_scope() -> None:
    facts = [
        fact(3, tags=("a",)),
        fact(1, tags=("a",)),
        fact(2, tags=("a",), audience=2),
        fact(4, tags=("a", "b"), scopes="per_tag"),
        fact(5, tags=("b",), scopes="shared"),
    ]
    found = {lane: [one.id.int for one in inside] for lane, inside in lanes(facts, None).items()}
    assert found == {
        Lane(1, ("a",)): [1, 3, 4],
        Lane(2, ("a",)): [2],
        Lane(1, ("b",)): [4],
        Lane(1, ()): [5],
    }


def test_l3_tags_of_a_classifier_do_not_split_what_is_sent_as_shared() -> None:
    """Each fact has its own scopes: the first of a group does not decide for the others."""
    facts = [fact(1, tags=("mood:glad",), scopes="shared"), fact(2, tags=("mood:sad", "x"), scopes="shared")]
    assert list(lanes([*facts, fact(3, tags=("mood:glad",))], None)) == [Lane(1, ()), Lane(1, ("mood:glad",))]


def test_facts_stand_in_the_order_in_which_they_were_said() -> None:
    facts = [
        fact(1, day=9),
        fact(2, day=3),
        fact(3, said=None),
        fact(5, day=3),
        fact(4, day=3, created_at=DAY.replace(year=2030)),
    ]
    [inside] = lanes(facts, None).values()
    assert [one.id.int for one in inside] == [3, 4, 2, 5, 1]


@pytest.mark.parametrize(
    ("form", "done", "wanted", "expected"),
    [
        ("per_tag", [], None, [("a",), ("b",)]),
        ("per_tag", [("a",)], None, [("b",)]),
        ("per_tag", [], [("b",), ("c",)], [("b",)]),
        ("per_tag", [("b",)], [("b",)], []),
        ("combined", [], [("a",)], []),
        ("all_combinations", [], [("a", "b"), ("a", "x"), ()], [("a", "b")]),
    ],
)
def test_open_scopes(form: str, done: list[Scope], wanted: list[Scope] | None, expected: list[Scope]) -> None:
    assert open_scopes(fact(1, tags=("a", "b"), scopes=form, done=frozenset(done)), wanted) == expected


def test_parts_and_halves() -> None:
    facts = [fact(number) for number in range(1, 8)]
    assert [len(batch) for batch in parts(facts, 3)] == [3, 3, 1]
    assert [[one.id.int for one in half] for half in halves(facts)] == [[1, 2, 3, 4], [5, 6, 7]]
    assert [len(half) for half in halves(facts[:2])] == [1, 1]


@pytest.mark.parametrize(
    ("cap", "size", "expected"), [(20, 8, [8, 8]), (16, 8, [8, 8]), (5, 5, [5]), (30, 8, [8, 8, 8, 6])]
)
def test_a_round_takes_whole_batches(cap: int, size: int, expected: list[int]) -> None:
    facts = [fact(number) for number in range(1, 31)]
    taken = first(batches(facts, None, size), cap)
    assert [len(batch) for _, batch in taken] == expected
    assert [one.id.int for _, batch in taken for one in batch] == list(range(1, sum(expected) + 1))


FORMS = [
    ((), None),
    (("a",), None),
    (("a", "b"), "per_tag"),
    (("a", "b", "c"), "per_tag"),
    (("x",), "shared"),
    (("a", "b"), "all_combinations"),
]


@pytest.mark.parametrize("seed", range(20))
def test_a_run_that_is_cut_anywhere_goes_on_with_the_same_batches(seed: int) -> None:
    draw = Random(seed)
    facts = [
        fact(number, day=draw.randint(1, 28), tags=tags, scopes=form)
        for number in range(1, draw.randint(2, 60))
        for tags, form in [draw.choice(FORMS)]
    ]
    size = draw.randint(1, 8)
    whole = decided(facts, size, 10_000, None)
    assert decided(facts, size, draw.randint(size, 40), draw) == whole


def decided(facts: list[Pending], size: int, cap: int, cut: Random | None) -> dict[Lane, list[list[int]]]:
    """Return the batches that each lane comes to; with `cut`, each lane stops somewhere in each round."""
    done: dict[int, set[Scope]] = {one.id.int: set() for one in facts}
    found: dict[Lane, list[list[int]]] = {}
    while facts := [one for one in waiting(facts, done) if open_scopes(one, None)]:
        stopped = set()
        for lane, batch in first(batches(facts, None, size), cap):
            if cut and cut.random() < 0.3:
                stopped.add(lane)
            if lane not in stopped:
                found.setdefault(lane, []).append([one.id.int for one in batch])
                for one in batch:
                    done[one.id.int].add(lane.scope)
    return found


def waiting(facts: list[Pending], done: dict[int, set[Scope]]) -> list[Pending]:
    return [replace(one, done=frozenset(done[one.id.int])) for one in facts]
