"""What a cross-encoder reads of a unit, and how its scores and the blend make one order. Pure."""

from dataclasses import replace

import numpy as np

from memorybank.recall.fusion import z_scored
from memorybank.recall.run import Page
from memorybank.recall.space import Floats
from memorybank.storage.found import FoundUnit

#: A spread of logits below this is no difference: a reranker that finds nothing to choose between decides nothing.
LOGIT_FLOOR = 0.5
#: Probabilities nearer to 0 or 1 are as good as these: their logits would drown all others.
_EDGE = 1e-4


def document(unit: FoundUnit) -> str:
    """Return a unit as a cross-encoder reads it: its date, its context, its text."""
    at = unit.occurred_start or unit.mentioned_at
    date = f"{at.day} {at:%B} {at.year}" if at else ""
    about = ", ".join(part for part in (date, unit.context) if part)
    return f"{about}: {unit.text}" if about else unit.text


def mixed(blend: Floats, scores: Floats, weight: float) -> Floats:
    """Return the blend and the reranker's scores (n,) on one scale, the latter with `weight` of 1 (n,).

    Both are z-scored over the units that were read: a cross-encoder knows what a text says, the blend who said it, when
    and beside what, and neither scale means anything to the other.
    """
    clear = np.clip(scores, _EDGE, 1 - _EDGE)
    logits = np.log(clear / (1 - clear))
    return (1 - weight) * z_scored(blend, 0.0) + weight * z_scored(logits, LOGIT_FLOOR)


def applied(page: Page, scores: Floats, weight: float) -> Page:
    """Return a page whose first units the reranker has read, in the order that follows; the others stay behind them.

    How likely a unit is evidence is told by both in the same shares.
    """
    count = len(scores)
    worth, relevance, reranked = page.worth.copy(), page.relevance.copy(), page.reranked.copy()
    reranked[:count] = scores
    relevance[:count] = (1 - weight) * page.relevance[:count] + weight * scores
    worth[:count] = mixed(page.worth[:count], scores, weight)
    worth[count:] += worth[:count].min() - page.worth[:count].min()
    order = np.argsort(-worth[:count], kind="stable")
    told = replace(page, worth=worth, relevance=relevance, reranked=reranked)
    return told.ordered(np.concatenate((order, np.arange(count, len(page.units)))))
