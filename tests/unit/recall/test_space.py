"""Addresses, neighbours, and units that only one arm knows."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memorybank.recall.arms import semantic
from memorybank.recall.space import Space, build
from memorybank.storage.found import Addresses, Distances

ADDRESSES = st.sets(st.tuples(st.integers(1, 4), st.integers(0, 9)), max_size=25).map(sorted)


def addresses(pairs: list[tuple[int, int]]) -> Addresses:
    array = np.array(pairs, np.int32).reshape(-1, 2)
    return Addresses(array[:, 0], array[:, 1])


def distances(addresses: Addresses, far: np.ndarray) -> Distances:
    """Distances of units that nobody says: speaker and traits tell their place."""
    places = np.arange(1, len(addresses) + 1)
    return Distances(addresses, far, places, 10 * places)


def space(pairs: list[tuple[int, int]]) -> Space:
    return build(distances(addresses(pairs), np.zeros(len(pairs), np.float32)), [])


@given(ADDRESSES, st.randoms())
def test_units_stand_in_order_of_address_whatever_the_database_says(
    pairs: list[tuple[int, int]], random: st.DataObject
) -> None:
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    far = np.array([pairs.index(pair) for pair in shuffled], np.float32)
    made = build(distances(addresses(shuffled), far), [])
    found = made.addresses(np.arange(len(made)))
    assert list(zip(found.documents.tolist(), found.positions.tolist(), strict=True)) == pairs
    assert (1 - made.cosine).tolist() == list(range(len(pairs)))


@given(ADDRESSES)
def test_neighbours_lend_only_inside_their_document(pairs: list[tuple[int, int]]) -> None:
    values = np.random.default_rng(1).random(len(pairs))
    borrowed = space(pairs).borrowed(values, (0.5, 0.25))
    for at, (document, _) in enumerate(pairs):
        expected = values[at]
        for step, weight in ((1, 0.5), (2, 0.25)):
            for other in (at - step, at + step):
                if 0 <= other < len(pairs) and pairs[other][0] == document:
                    expected += weight * values[other]
        assert np.isclose(borrowed[at], expected)


@given(ADDRESSES, ADDRESSES)
def test_find_tells_what_is_there(pairs: list[tuple[int, int]], asked: list[tuple[int, int]]) -> None:
    at, known = space(pairs).find(addresses(asked))
    assert known.tolist() == [pair in pairs for pair in asked]
    assert [pairs[index] for index in at[known]] == [pair for pair in asked if pair in pairs]


def test_a_unit_without_a_vector_is_still_there() -> None:
    made = build(
        distances(addresses([(1, 0), (1, 2)]), np.array([0.2, 0.4])), [addresses([(1, 1), (1, 2), (2, 0)])]
    )
    assert made.documents.tolist() == [1, 1, 1, 2] and np.isnan(made.cosine).tolist() == [
        False,
        True,
        False,
        True,
    ]
    assert np.allclose(semantic.similarity(made), [0.8, 0.7, 0.6, 0.7])
    assert made.speakers.tolist() == [1, 0, 2, 0] and made.traits.tolist() == [10, 0, 20, 0]


def test_the_mean_around_a_lone_unit_is_its_own() -> None:
    cosine = np.array([0.1, 0.9, 0.5])
    assert np.allclose(semantic.around(space([(1, 0), (2, 0), (3, 0)]), cosine), cosine)
    assert np.allclose(semantic.around(space([(1, 0), (1, 1)]), cosine[:2]), [0.73 / 1.7, 0.97 / 1.7])


@given(ADDRESSES)
def test_what_comes_after_stands_in_the_same_document(pairs: list[tuple[int, int]]) -> None:
    values = np.arange(1.0, len(pairs) + 1)
    expected = [
        values[at - 1] if at and pairs[at - 1][0] == document else 0.0
        for at, (document, _) in enumerate(pairs)
    ]
    assert space(pairs).after(values).tolist() == expected


def test_documents_are_counted_and_followed() -> None:
    made = space([(1, 0), (1, 5), (4, 1)])
    assert made.document_index.tolist() == [0, 0, 1] and made.document_sizes.tolist() == [2, 1]
    assert made.followed.tolist() == [True, False, False]
    assert space([]).followed.tolist() == [] and len(space([]).document_sizes) == 0
