"""Absolute relevance: how likely a unit is evidence at all, whatever else the bank holds.

The blend orders units within one question; its scale says nothing across questions. Here the absolute parts, the cosine
and the share of the question's words that a unit and its neighbours hold, go through a logistic curve, so that the best
of a bank that holds nothing fitting still scores low.
"""

import numpy as np

from memorybank.recall.space import Floats

#: Fitted by logistic regression on the LongMemEval pool (240 questions): evidence against the best twenty other units,
#: the latter weighted double, because a false alarm is worse than a modest score. Checked: the best unit scores .73 in
#: the median when a bank holds the answer, .12 to .26 when the question is another bank's, .10 for "best pizza dough".
INTERCEPT, COSINE, COVERAGE = -3.5, 3.7, 4.3


def probability(cosine: Floats, coverage: Floats) -> Floats:
    """Return relevance in 0 to 1 from cosines and shares of the question's term weight, (n,) each."""
    return 1.0 / (1.0 + np.exp(-(INTERCEPT + COSINE * cosine + COVERAGE * coverage)))


def descending(ranked: Floats) -> Floats:
    """Return the least scores that never rise along the ranking and are nowhere below the given ones.

    A unit that stands before a better one by its place in a conversation is at least as relevant as that one.
    """
    return np.maximum.accumulate(ranked[::-1])[::-1]
