"""Delta: unchanged chunks stay, whatever their place; the rest is new, retried, replaced or gone."""

from dataclasses import replace
from datetime import UTC, datetime
from uuid import uuid4

import pytest

from memorybank.indexing import text_hash
from memorybank.retain.delta import Piece, again, appended, compare
from memorybank.storage.chunks import About, Stored

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


def stored(
    text: str, ordinal: int, state: str = "extracted", about: About | None = None, error: str | None = None
) -> Stored:
    return Stored(uuid4(), ordinal, text_hash(text), state, text, about or About(), error)


def piece(text: str, about: About | None = None) -> Piece:
    return Piece(text, about or About())


def test_the_same_document_changes_nothing() -> None:
    old = [stored("a", 0), stored("b", 1)]
    change = compare(old, [piece("a"), piece("b")])
    assert (change.new, change.moved, change.gone, change.described) == ({}, {}, (), {})
    assert change.unchanged == 2


def test_an_inserted_chunk_is_new_and_the_others_move() -> None:
    old = [stored("a", 0), stored("b", 1)]
    change = compare(old, [piece("top"), piece("a"), piece("b")])
    assert [new.text for new in change.new.values()] == ["top"]
    assert list(change.new) == [0]
    assert change.moved == {old[0].id: 1, old[1].id: 2}


def test_a_changed_chunk_is_new_and_the_old_one_waits_behind_it_where_it_has_facts() -> None:
    old = [stored("a", 0), stored("b", 1), stored("c", 2, "failed")]
    change = compare(old, [piece("a"), piece("b, changed")])
    assert list(change.new) == [1]
    assert (change.replaced, change.gone, change.moved) == ((old[1].id,), (old[2].id,), {old[1].id: 2})


def test_a_chunk_that_lost_facts_is_read_again_as_it_was_told_first() -> None:
    first, now = About("mail", AT, tags=("old",)), About("chat", AT.replace(year=2027), tags=("new",))
    old = [stored("a", 0, about=first, error="1 malformed"), stored("b", 1, about=first)]
    change = compare(old, [piece("a", now), piece("b", now)])
    assert change.new == {0: piece("a", replace(first, context="chat", tags=("new",)))}
    assert (change.replaced, change.retried, change.gone) == ((old[0].id,), {}, ())
    assert (change.moved, change.unchanged, set(change.described)) == (
        {old[0].id: 2},
        1,
        {one.id for one in old},
    )


def test_equal_chunks_are_matched_in_order() -> None:
    old = [stored("yes", 0), stored("x", 1), stored("yes", 2)]
    change = compare(old, [piece("yes"), piece("yes")])
    assert change.moved == {old[1].id: 2, old[2].id: 1}
    assert change.replaced == (old[1].id,)


def test_what_an_earlier_operation_left_is_retried_with_its_text() -> None:
    old = [stored("a", 0, "failed"), stored("b", 1, "pending"), stored("c", 2)]
    change = compare(old, [piece("a"), piece("b"), piece("c")])
    assert change.retried == {old[0].id: "a", old[1].id: "b"}
    assert change.unchanged == 1


def test_other_tags_are_described_without_extraction() -> None:
    old = [stored("a", 0, about=About(tags=("x", "y"))), stored("b", 1, about=About(context="chat"))]
    new = About(tags=("y", "x"))
    change = compare(old, [piece("a", new), piece("b", new)])
    assert change.described == {old[1].id: new}
    assert change.new == {}


def test_appended_pieces_stand_behind_and_nothing_else_changes() -> None:
    old = [stored("a", 0), stored("b", 4)]
    change = appended(old, [piece("c"), piece("a")])
    assert {ordinal: new.text for ordinal, new in change.new.items()} == {5: "c", 6: "a"}
    assert (change.gone, change.moved, change.unchanged) == ((), {}, 2)
    assert list(appended([], [piece("c")]).new) == [0]


def test_the_stored_hash_never_changes() -> None:
    assert text_hash("Ana moved.").hex() == "fba913413a7b7a2be2d09ab3447b450f"


SENT = About("chat", AT, True, ("x",), {"page": "1"}, "shared", (("Ana", "PERSON"),))


@pytest.mark.parametrize(
    ("other", "reads_again"),
    [
        ({"mentioned_at_assumed": False, "mentioned_at": AT}, True),
        ({"mentioned_at": None, "mentioned_at_assumed": False}, True),
        ({"strategy": "brief"}, True),
        ({"entities": (("Ana", "PERSON"), ("Bo", "PERSON"))}, True),
        ({"resolve_entities": False}, True),
        ({"mentioned_at": AT.replace(year=2027)}, False),
        ({"context": "mail"}, False),
        ({"tags": ()}, False),
        ({"metadata": {}}, False),
        ({"observation_scopes": None}, False),
    ],
)
def test_what_reads_the_same_text_again(other: dict[str, object], reads_again: bool) -> None:
    old = [stored("a", 0, about=SENT), stored("b", 1, about=SENT)]
    told = replace(SENT, **other)  # type: ignore[arg-type]
    change = compare(old, [piece("a", told), piece("b", told)])
    assert [one.about for one in change.new.values()] == [told] * 2 * reads_again
    assert change.replaced == (tuple(one.id for one in old) if reads_again else ())
    assert change.unchanged == (0 if reads_again else 2)
    # A text that has grown keeps what was read of it.
    grown = compare(old, [piece(text, told) for text in "abc"])
    assert (list(grown.new), grown.replaced, grown.unchanged) == ([2], (), 2)


def test_a_stated_date_stays_whatever_other_is_stated() -> None:
    dated = replace(SENT, mentioned_at_assumed=False)
    later = replace(dated, mentioned_at=AT.replace(year=2027))
    assert compare([stored("a", 0, about=dated)], [piece("a", later)]).new == {}


def test_read_again_chunks_with_facts_wait_behind_the_new_ones() -> None:
    old = [stored("a", 0), stored("b", 1, "failed"), stored("c", 2), stored("z", 3, "replaced")]
    change = again(old, [piece("a"), piece("b, c")])
    assert [one.text for one in change.new.values()] == ["a", "b, c"]
    assert change.moved == {old[0].id: 2, old[2].id: 3, old[3].id: 4}
    assert (change.replaced, change.gone) == ((old[0].id, old[2].id, old[3].id), (old[1].id,))
    assert (change.unchanged, change.highest) == (0, 4)


def test_what_waits_to_be_replaced_is_never_matched_and_goes_with_the_next_end() -> None:
    old = [stored("a", 0, "pending"), stored("a", 1, "replaced")]
    change = compare(old, [piece("a")])
    assert (change.retried, change.replaced, change.gone) == ({old[0].id: "a"}, (old[1].id,), ())
    other = compare(old, [piece("b")])
    assert (list(other.new), other.replaced, other.gone) == ([0], (old[1].id,), (old[0].id,))


def test_a_text_that_was_not_kept_is_given_again() -> None:
    old = [replace(stored("a", 0), text=None), stored("b", 1)]
    assert compare(old, [piece("a"), piece("b")]).untold == {old[0].id: "a"}
