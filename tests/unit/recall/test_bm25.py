"""BM25 equals the reference scorer, with our IDF in place of its own."""

from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rank_bm25 import BM25Okapi

from memorybank.recall.arms import lexical
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.space import Space, build
from memorybank.storage.found import OBSERVED, Addresses, Distances, Statistics, TermPostings

WORDS = "abcdefgh"
TEXTS = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=12), min_size=1, max_size=30)
QUERIES = st.sets(st.sampled_from(WORDS + "xyz"), min_size=1).map(sorted)


def space_of(count: int, per_document: int = 1) -> Space:
    numbers = np.arange(count)
    addresses = Addresses(numbers // per_document + 1, numbers % per_document)
    none = np.zeros(count, np.int64)
    return build(Distances(addresses, np.zeros(count), none, none), [])


def postings_of(texts: list[list[str]], term: str, per_document: int = 1) -> TermPostings:
    at = np.array([index for index, text in enumerate(texts) if term in text], np.int64)
    tf = np.array([Counter(texts[index])[term] for index in at])
    lengths = np.array([len(texts[index]) for index in at])
    return TermPostings(len(at), Addresses(at // per_document + 1, at % per_document), tf, lengths)


def score(
    texts: list[list[str]], query: list[str], constants: Bm25, per_document: int = 1
) -> lexical.Lexical:
    statistics = Statistics(len(texts), sum(map(len, texts)))
    postings = [postings_of(texts, term, per_document) for term in query]
    return lexical.score(space_of(len(texts), per_document), statistics, postings, constants)


@given(TEXTS, QUERIES, st.floats(0.1, 3), st.floats(0, 1))
def test_equals_the_reference_scorer(texts: list[list[str]], query: list[str], k1: float, b: float) -> None:
    reference = BM25Okapi(texts, k1=k1, b=b)
    reference.idf = {
        term: float(lexical.idf(len(texts), sum(term in text for text in texts))) for term in reference.idf
    }
    expected = reference.get_scores(query)
    assert score(texts, query, Bm25(k1, b)).keyword == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(TEXTS, QUERIES, st.integers(1, 6))
def test_a_session_scores_as_its_whole_text_would(
    texts: list[list[str]], query: list[str], size: int
) -> None:
    equal = [(text * 12)[:6] for text in texts]
    whole = [list(chain(*equal[at : at + size])) for at in range(0, len(equal), size)]
    reference = BM25Okapi(whole, k1=lexical.SESSION_K1, b=lexical.SESSION_B)
    reference.idf = {
        term: float(lexical.idf(len(whole), sum(term in text for text in whole))) for term in reference.idf
    }
    expected = np.repeat(reference.get_scores(query), size)[: len(texts)]
    assert score(equal, query, Bm25(0.9, 0.4), size).session == pytest.approx(expected, rel=1e-9, abs=1e-12)


@given(TEXTS, QUERIES, st.integers(1, 6), st.data())
def test_observations_leave_the_sessions_of_facts_as_they_are(
    texts: list[list[str]], query: list[str], size: int, data: st.DataObject
) -> None:
    observed = data.draw(st.lists(st.sampled_from(texts), max_size=len(texts)))
    place = np.arange(len(texts))
    documents = np.append(place // size + 1, 1_000 + np.arange(len(observed)))
    positions = np.append(place % size, np.full(len(observed), OBSERVED))
    both = [*texts, *observed]
    none = np.zeros(len(both), np.int64)
    of_all = Distances(Addresses(documents, positions), none, none, none)
    postings = []
    for term in query:
        found = postings_of(both, term)
        at = found.addresses.documents - 1
        postings.append(replace(found, addresses=Addresses(documents[at], positions[at])))
    statistics = Statistics(len(both), sum(map(len, both)))
    seen = lexical.score(build(of_all, []), statistics, postings, Bm25(0.9, 0.4))
    alone = score(texts, query, Bm25(0.9, 0.4), size)
    assert seen.session[: len(texts)] == pytest.approx(alone.session, rel=1e-9)


def test_rarer_terms_weigh_more_and_none_is_negative() -> None:
    weights = [float(lexical.idf(100, frequency)) for frequency in (0, 1, 50, 100)]
    assert weights == sorted(weights, reverse=True) and weights[-1] > 0


def test_a_count_of_the_bank_beyond_what_was_counted_does_no_harm() -> None:
    assert float(lexical.idf(3, 5)) == float(lexical.idf(3, 3)) > 0


def test_what_nothing_holds_lowers_the_coverage() -> None:
    texts = [["a", "b"], ["c"], ["d"]]
    whole = score(texts, ["a", "b"], Bm25(0.9, 0.4)).coverage[0]
    part = score(texts, ["a", "b", "x", "y"], Bm25(0.9, 0.4)).coverage[0]
    assert 0.8 < whole < 1.3 and part < whole / 2


def test_no_terms_score_nothing() -> None:
    found = score([["a"], ["b"]], [], Bm25(0.9, 0.4))
    assert not found.keyword.any() and not found.session.any() and not found.coverage.any()
