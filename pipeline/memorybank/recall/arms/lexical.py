"""The lexical arm: true BM25 with the bank's own document frequencies, smoothed over neighbouring units.

Scores are those of rank-bm25's BM25Okapi with its IDF replaced by ln(1 + (N - df + 0.5) / (df + 0.5)), which is never
negative (Lucene's form of Robertson's).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memorybank.recall.space import Floats, Integers, Space
from memorybank.storage.found import Statistics, TermPostings

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

    @property
    def coverage(self) -> Floats:
        """Share of the question's weight that each unit holds, 0 to about 1 (n,)."""
        return self.keyword / self.asked if self.asked else self.keyword


def idf(units: int, frequency: Integers | int) -> Floats:
    """Return the weight of a term that `frequency` of `units` texts hold."""
    held = np.minimum(np.asarray(frequency, np.float64), units)
    return np.log1p((units - held + 0.5) / (held + 0.5))


def score(space: Space, statistics: Statistics, postings: Sequence[TermPostings], constants: Bm25) -> Lexical:
    """Return BM25 of every unit and of every unit's document."""
    keyword, session, asked = np.zeros(len(space)), np.zeros(len(space.document_sizes)), 0.0
    mean = statistics.mean_length
    for term in postings:
        at, known = space.find(term.addresses)
        at, tf, length = at[known], term.tf[known].astype(np.float64), term.lengths[known]
        weight = float(idf(statistics.units, term.frequency))
        asked += weight
        if not len(at):
            continue
        norm = constants.k1 * (1 - constants.b + constants.b * length / mean)
        keyword[at] += weight * tf * (constants.k1 + 1) / (tf + norm)
        session += _session_part(space, at, tf)
    return Lexical(keyword, session[space.document_index], asked)


def _session_part(space: Space, at: Integers, tf: Floats) -> Floats:
    """Return one term's BM25 of whole documents, whose length is the number of their units."""
    sizes = space.document_sizes
    inside = np.bincount(space.document_index[at], weights=tf, minlength=len(sizes))
    weight = idf(len(sizes), int(np.count_nonzero(inside)))
    norm = SESSION_K1 * (1 - SESSION_B + SESSION_B * sizes / sizes.mean()) if len(sizes) else sizes
    return weight * inside * (SESSION_K1 + 1) / (inside + norm)
