"""Delta: unchanged chunks stay, whatever their place; the rest is new, retried or gone."""

from uuid import uuid4

from memorybank.retain.delta import Piece, appended, compare
from memorybank.retain.indexing import text_hash
from memorybank.storage.chunks import About, Stored


def stored(text: str, ordinal: int, state: str = "extracted", about: About | None = None) -> Stored:
    about = about or About()
    return Stored(
        uuid4(), ordinal, text_hash(text), state, True, about.tags, about.metadata, about.observation_scopes,
        about.context,
    )  # fmt: skip


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


def test_a_changed_chunk_is_new_and_the_old_one_gone() -> None:
    old = [stored("a", 0), stored("b", 1)]
    change = compare(old, [piece("a"), piece("b, changed")])
    assert list(change.new) == [1]
    assert change.gone == (old[1].id,)


def test_equal_chunks_are_matched_in_order() -> None:
    old = [stored("yes", 0), stored("x", 1), stored("yes", 2)]
    change = compare(old, [piece("yes"), piece("yes")])
    assert change.moved == {old[2].id: 1}
    assert change.gone == (old[1].id,)


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
