"""Tag filters: the table of the five modes, groups, and what is refused."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.errors import InvalidInput
from memorybank.tags import (
    MAX_GROUPS,
    TagAll,
    TagAny,
    TagGroup,
    TagLeaf,
    TagNot,
    is_open,
    needed,
    parse_groups,
    passing,
)


def passes(held: frozenset[str], group: TagGroup) -> bool:
    """Whether one set of tags passes."""
    return bool(passing([held], group)[0])


A, B, BOTH, NONE = frozenset("a"), frozenset("b"), frozenset("ab"), frozenset[str]()

#: (match, asked tags) -> whether rows with {a}, {b}, {a, b} and {} pass.
TABLE = {
    ("any", "a"): (True, False, True, True),
    ("all", "ab"): (False, False, True, True),
    ("any_strict", "a"): (True, False, True, False),
    ("all_strict", "ab"): (False, False, True, False),
    ("exact", "a"): (True, False, False, False),
    ("exact", ""): (False, False, False, True),
    ("any", ""): (True, True, True, True),
    ("all", ""): (True, True, True, True),
    ("any_strict", ""): (True, True, True, True),
    ("all_strict", ""): (True, True, True, True),
}


@pytest.mark.parametrize(("asked", "expected"), TABLE.items())
def test_the_table(asked: tuple[str, str], expected: tuple[bool, ...]) -> None:
    leaf = TagLeaf(tuple(asked[1]), asked[0])  # type: ignore[arg-type]
    assert tuple(passes(held, leaf) for held in (A, B, BOTH, NONE)) == expected
    assert is_open(leaf) is all(expected)


def test_groups_nest() -> None:
    group = parse_groups([{"tags": ["a"]}, {"not": {"tags": ["b"], "match": "any_strict"}}])
    assert [passes(held, group) for held in (A, B, BOTH, NONE)] == [True, False, False, False]
    either = parse_groups(
        [{"or": [{"tags": ["a", "b"], "match": "all_strict"}, {"and": [{"tags": [], "match": "exact"}]}]}]
    )
    assert [passes(held, either) for held in (A, B, BOTH, NONE)] == [False, False, True, True]
    assert passes(NONE, parse_groups([]))


LEAVES = st.builds(
    TagLeaf,
    st.lists(st.sampled_from("ab"), unique=True).map(tuple),
    st.sampled_from(["any", "all", "any_strict", "all_strict", "exact"]),
)
GROUPS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda parts: TagAll(tuple(parts))),
        st.lists(inner, max_size=3).map(lambda parts: TagAny(tuple(parts))),
        inner.map(TagNot),
    ),
)


@given(GROUPS, st.sets(st.sampled_from("abc")))
def test_what_is_needed_is_really_held_by_all_that_pass(group: TagGroup, held: set[str]) -> None:
    tags = needed(group)
    if tags is not None and passes(frozenset(held), group):
        assert held & set(tags)


def test_tags_are_compared_as_they_are_however_the_client_says_so() -> None:
    leaf = parse_groups([{"tags": ["a"]}])
    for resolve in (None, "exact", "fuzzy"):
        assert parse_groups([{"tags": ["a"], "match": "any_strict", "resolve": resolve}]) == leaf


@pytest.mark.parametrize(
    "wrong",
    [
        "a",
        {},
        {"tags": "a"},
        {"tags": [1]},
        {"tags": ["a"], "match": "some"},
        {"tags": ["a"], "match": ["any"]},
        {"and": {"tags": ["a"]}},
        {"not": ["a"]},
        {"tags": ["a"], "not": {"tags": ["b"]}},
        {"tags": ["a"], "matches": "all"},
        {"nor": [{"tags": ["a"]}]},
        {"tags": ["a"], "resolve": "sometimes"},
        {"tags": ["a"], "resolve": ["exact"]},
        {"not": {"tags": ["a"]}, "resolve": "exact"},
        {"not": {"tags": ["a"]}, "match": "any"},
        None,
    ],
)
def test_what_is_no_group_is_refused_with_its_place(wrong: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        parse_groups([{"tags": ["a"]}, {"or": [wrong]}])
    assert refused.value.loc[:4] == ("body", "tag_groups", 1, "or")


def test_groups_are_not_bottomless() -> None:
    deep: object = {"tags": ["a"]}
    for _ in range(100):
        deep = {"not": deep}
    with pytest.raises(InvalidInput):
        parse_groups([deep])


@pytest.mark.parametrize(
    "wrong", [{"tags": ["a"], "not": {"tags": ["b"]}}, {"and": [], "or": []}, {"or": [], "tags": []}]
)
def test_a_group_says_one_thing(wrong: object) -> None:
    # Read as one of them, the other condition would be lost without a word.
    with pytest.raises(InvalidInput):
        parse_groups([wrong])


def test_groups_are_counted() -> None:
    leaf = {"tags": ["a"]}
    parse_groups([leaf] * MAX_GROUPS)
    for many in ([leaf] * (MAX_GROUPS + 1), [{"or": [leaf] * MAX_GROUPS}]):
        with pytest.raises(InvalidInput) as refused:
            parse_groups(many)
        assert refused.value.loc == ("body", "tag_groups")


def truth(held: frozenset[str], group: TagGroup) -> bool:
    """The contract's table, word by word and set by set."""
    match group:
        case TagAll(parts):
            return all(truth(held, part) for part in parts)
        case TagAny(parts):
            return any(truth(held, part) for part in parts)
        case TagNot(part):
            return not truth(held, part)
        case TagLeaf(tags, "exact"):
            return held == set(tags)
        case TagLeaf(tags, mode):
            untagged = not held and not mode.endswith("_strict")
            matching = held >= set(tags) if mode.startswith("all") else bool(held & set(tags))
            return not tags or untagged or (bool(held) and matching)


@given(GROUPS, st.lists(st.frozensets(st.sampled_from("abc")), max_size=5))
def test_many_sets_pass_as_each_does_alone(group: TagGroup, held: list[frozenset[str]]) -> None:
    assert passing(held, group).tolist() == [truth(tags, group) for tags in held]


def test_filters_of_many_parts_over_many_sets_are_quick() -> None:
    held = [frozenset((f"session:{number}", "x")) for number in range(20_000)]
    leaves = tuple(TagLeaf((f"session:{number}",)) for number in range(MAX_GROUPS))
    wide = TagLeaf(tuple(f"session:{number}" for number in range(5_000)))
    began = time.process_time()
    assert passing(held, TagAny(leaves)).sum() == MAX_GROUPS and passing(held, wide).sum() == 5_000
    # Asked set by set, this takes a minute.
    assert time.process_time() - began < 3.0
