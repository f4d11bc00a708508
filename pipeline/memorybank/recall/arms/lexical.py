"""The lexical arm: true BM25 with the frequencies of what the viewer may see, smoothed over neighbouring units.

Scores are those of rank-bm25's BM25Okapi with its IDF replaced by ln(1 + (N - df + 0.5) / (df + 0.5)), which is never
negative (Lucene's form of Robertson's).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memorybank.recall.space import Floats, Integers, Space, distinct
from memorybank.storage.found import OBSERVED, Statistics, TermPostings

#: A whole session is a long text: the usual constants of BM25 hold there.
SESSION_K1, SESSION_B = 1.5, 0.75


@dataclass(frozen=True)
class Bm25:
    """Constants of BM25: `k1`, how slowly a repeated term stops counting; `b`, how much long texts are held down."""

    k1: float
    b: float


@dataclass(frozen=True)
class Lexical:
    """`keyword`: BM25 of each unit; `session`: BM25 of the whole document it stands in; (n,) each.

    `asked` is the weight of all terms of the question, those that nothing holds included.
    """

    keyword: Floats
    session: Floats
    asked: float

    def spread(self, population: int) -> float:
        """Return the standard deviation over so many units; those that are not here hold nothing of the question."""
        if not population:
            return 0.0
        mean = self.keyword.sum() / population
        return float(np.sqrt(max(0.0, (self.keyword**2).sum() / population - mean**2)))

    @property
    def coverage(self) -> Floats:
        """Share of the question's weight that each unit holds, 0 to about 1 (n,)."""
        return self.keyword / self.asked if self.asked else self.keyword


@dataclass(frozen=True)
class Documents:
    """How many units each document of the space has (documents,); how many documents the bank has, their mean size."""

    sizes: Integers | Floats
    count: float
    mean: float


def whole(space: Space) -> Documents:
    """Return the documents of a space that holds all units.

    Those of observations are scored but not counted: with one to each fact, sessions would seem long and their words
    common, and facts would be found worse (frac@10 88.7 to 87.6 on our own set).
    """
    sizes = space.document_sizes
    told = sizes[space.of_facts]
    return Documents(sizes, len(told), float(told.mean()) if len(told) else 1.0)


def idf(units: float, frequency: Integers | int) -> Floats:
    """Return the weight of a term that `frequency` of `units` texts hold."""
    held = np.minimum(np.asarray(frequency, np.float64), units)
    return np.log1p((units - held + 0.5) / (held + 0.5))


def score(
    space: Space,
    statistics: Statistics,
    postings: Sequence[TermPostings],
    constants: Bm25,
    documents: Documents | None = None,
) -> Lexical:
    """Return BM25 of every unit of the space and of every unit's document.

    `documents`: where the space does not hold all units; those of a document count for it all the same.
    """
    held = documents or whole(space)
    keyword, session, asked = np.zeros(len(space)), np.zeros(len(held.sizes)), 0.0
    mean = statistics.mean_length
    for term in postings:
        weight = float(idf(statistics.units, term.frequency))
        asked += weight
        if not len(term.addresses):
            continue
        at, known = space.find(term.addresses)
        at, tf, length = at[known], term.tf[known].astype(np.float64), term.lengths[known]
        norm = constants.k1 * (1 - constants.b + constants.b * length / mean)
        keyword[at] += weight * tf * (constants.k1 + 1) / (tf + norm)
        if documents is None:
            inside = np.asarray(np.bincount(space.document_index[at], tf, len(held.sizes)), np.float64)
            session += _session_part(held, inside, int(np.count_nonzero(inside[space.of_facts])))
        else:
            session += _session_part(held, *_inside(space, term))
    return Lexical(keyword, session[space.document_index], asked)


def _inside(space: Space, term: TermPostings) -> tuple[Floats, int]:
    """Return how often a term stands in each document of the space, and in how many of all documents it does."""
    numbers, documents, positions = space.document_numbers, term.addresses.documents, term.addresses.positions
    at = np.minimum(np.searchsorted(numbers, documents), len(numbers) - 1)
    here = numbers[at] == documents
    inside = np.bincount(at[here], term.tf[here], len(numbers))
    return np.asarray(inside, np.float64), len(distinct(documents[positions != OBSERVED]))


def _session_part(documents: Documents, inside: Floats, holders: int) -> Floats:
    """Return one term's BM25 of whole documents, whose length is the number of their units."""
    norm = SESSION_K1 * (1 - SESSION_B + SESSION_B * documents.sizes / documents.mean)
    return idf(documents.count, holders) * inside * (SESSION_K1 + 1) / (inside + norm)
