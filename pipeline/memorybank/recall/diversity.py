"""Diversity: what repeats a better hit comes later. Off by default: on no set did it find more. Pure."""

from collections.abc import Sequence

import numpy as np

from memorybank.recall.space import Floats, Integers
from memorybank.text import terms


def spread_out(scores: Floats, texts: Sequence[str], strength: float) -> Integers:
    """Return the places of texts (n,) in an order that weighs their score against what they repeat.

    Maximal marginal relevance (Carbonell and Goldstein 1998): next comes the text with the largest (1 - strength) ×
    score − strength × likeness to the likest text before it; scores are scaled to 0 to 1, likeness is the share of the
    terms that two texts hold of those that either holds (Jaccard).
    """
    alike = _likeness(texts)
    span = np.ptp(scores) if len(scores) else 0.0
    worth = (1 - strength) * ((scores - scores.min()) / span if span else np.zeros(len(scores)))
    repeated = np.zeros(len(texts))
    chosen: list[int] = []
    for _ in texts:
        at = int(np.argmax(worth - strength * repeated))
        chosen.append(at)
        worth[at] = -np.inf
        repeated = np.maximum(repeated, alike[at])
    return np.array(chosen, np.int64)


def _likeness(texts: Sequence[str]) -> np.ndarray:
    """Return the Jaccard likeness of all pairs (n, n)."""
    held = [frozenset(terms(text)) for text in texts]
    place = {term: at for at, term in enumerate(dict.fromkeys(term for each in held for term in each))}
    rows = np.zeros((len(texts), len(place)), np.float32)
    for row, each in enumerate(held):
        rows[row, [place[term] for term in each]] = 1.0
    both, sizes = rows @ rows.T, rows.sum(axis=1)
    either = sizes[:, None] + sizes[None, :] - both
    return np.asarray(np.divide(both, either, out=np.zeros_like(both), where=either > 0))
