"""The units of a large bank that may answer, in place of all. Pure.

What keywords, the nearest vectors, dates and names bring is scored once roughly, where a cosine or a speaker may not be
known. The best of them are read again with their neighbours and exact distances, and scored like any small bank.
Means and deviations are not those of the candidates, who are all good, but of a sample that stands for all units.
"""

import numpy as np

from memorybank.recall import space as spaces
from memorybank.recall.arms.lexical import Documents
from memorybank.recall.space import Floats, Space
from memorybank.storage.found import OBSERVED, Candidates, Gathered, Sample


def space(gathered: Gathered, sample: Sample) -> tuple[Space, Documents]:
    """Return the candidates of a large bank, and what is known of their documents."""
    population = max(1, gathered.statistics.units)
    candidates = gathered.candidates
    if candidates:
        measured, others = spaces.together(candidates.windows.distances, sample.distances), []
    else:
        measured = spaces.together(gathered.distances, sample.distances)
        others = [term.addresses for term in gathered.postings]
        others += [named.addresses for named in gathered.named]
        others += [gathered.dated.addresses] if gathered.dated else []
    made = spaces.build(measured, others, population)
    return made, _documents(made, candidates, sample)


def _documents(space: Space, candidates: Candidates | None, sample: Sample) -> Documents:
    """Return the sizes of documents, the mean of those of facts where one is not known.

    A document is met in a sample of units as often as it has units: so the mean over documents is the harmonic one.
    """
    addresses = sample.distances.addresses
    told = addresses.positions != OBSERVED
    mean = 1.0 / float((1.0 / sample.sizes[told]).mean()) if told.any() else 1.0
    sizes: Floats = np.where(space.of_facts, mean, 1.0)
    known = [(addresses.documents, sample.sizes)]
    known += [(candidates.windows.documents, candidates.windows.sizes)] if candidates else []
    for documents, counted in known:
        sizes[np.searchsorted(space.document_numbers, documents)] = counted
    return Documents(sizes, space.population * float(told.mean()) / mean, mean)
