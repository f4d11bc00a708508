"""Reads a large bank: the candidates in place of all units. A small one is read whole.

A filter that few units pass is asked first, and the distances of those that pass are exact; one that many pass is asked
of the candidates only.
"""

import asyncio
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from memorybank.audience import Viewer
from memorybank.model import Bank
from memorybank.recall import ranking
from memorybank.recall import space as spaces
from memorybank.recall.ranking import Criteria, Scored
from memorybank.recall.signals import SAMPLED_NEIGHBOURS
from memorybank.storage import nearest
from memorybank.storage.found import Addresses, Candidates, Gathered, Sample, Tagged
from memorybank.storage.nearest import Nearest, VectorSearch
from memorybank.storage.queries import Connection
from memorybank.storage.search import FirstTrip
from memorybank.storage.vector_copies import VectorCopies

#: Nearest units asked of the index.
NEAREST = 200
#: Where the asker sees a smaller share of a bank, or wants a rarer type, all distances are read; where fewer units hold
#: the tags, these are asked first. An index that must skip so many costs more.
FEW = 0.1
#: Units reached through the graph that are read too.
REACHED = 40
#: Candidates of which type and tags are looked up, times what share of the units passes the filter.
LOOKED_UP = 300
#: Units that must pass a filter of those looked up; else it is asked first.
ENOUGH = 100
#: Units that are scored on the event loop at most (1 ms); more are worth the way to a thread.
LOOP_UNITS = 5_000
#: Neighbours on each side that signals look at.
NEIGHBOURS = 2


@dataclass(frozen=True)
class Reading:
    """One question to one bank: who asks, what is read, how it is scored, up to which size a search is exact.

    `copies`: by which the distances of all units may come.
    """

    bank: Bank
    viewer: Viewer
    trip: FirstTrip
    criteria: Criteria
    exact: int
    copies: VectorCopies

    def by_index(self) -> VectorSearch | None:
        """Return where vectors are read by index; None where the bank has no index or nobody asks for vectors."""
        trip, model = self.trip, self.bank.indexed_model
        if model is None or trip.vector is None:
            return None
        return VectorSearch(self.bank.id, self.viewer, model, trip.model, trip.vector)


async def gather(connection: Connection, reading: Reading) -> Gathered:
    """Read what the arms score from; of a large bank what is near or holds the words. Raises ArmTooSlow or TimedOut."""
    where, trip = reading.by_index(), reading.trip
    drawn = await nearest.sample(connection, where, reading.exact, trip.seconds) if where else None
    if where is None or drawn is None:
        return await _whole(connection, reading, trip)
    typed, tagged = await _shares(connection, reading, where, drawn)
    if min(typed, drawn.share) < FEW:
        return await _whole(connection, reading, trip)
    if tagged < FEW:
        return await _passing(connection, reading, where, drawn)
    near = Nearest(where, math.ceil(NEAREST / tagged), ranking.type_bits(reading.criteria.types))
    gathered = replace(
        await _whole(connection, reading, replace(trip, tags=None, facts=None, nearest=near)), sample=drawn
    )
    if typed == tagged == 1.0:
        return gathered
    gathered = await _looked_up(connection, reading, where, gathered, math.ceil(LOOKED_UP / (typed * tagged)))
    if trip.filters and len(_tagged(gathered.tagged, reading)) < ENOUGH:
        return await _passing(connection, reading, where, drawn)
    return gathered


async def scored(gathered: Gathered, criteria: Criteria) -> Scored:
    """Score what was gathered; in a thread where it is much."""
    many = len(gathered.distances.addresses) + sum(len(term.addresses) for term in gathered.postings)
    if many <= LOOP_UNITS:
        return ranking.score(gathered, criteria)
    return await asyncio.to_thread(ranking.score, gathered, criteria)


async def _whole(connection: Connection, reading: Reading, trip: FirstTrip) -> Gathered:
    return await reading.copies.gather(connection, reading.bank.id, reading.viewer, trip)


async def _passing(connection: Connection, reading: Reading, where: VectorSearch, drawn: Sample) -> Gathered:
    """Ask the filter first: all units that pass, each with its exact distance."""
    gathered = await _whole(connection, reading, replace(reading.trip, vector=None))
    distances = await nearest.at(connection, where, _tagged(gathered.tagged, reading))
    return replace(gathered, distances=distances, sample=drawn)


async def _looked_up(
    connection: Connection, reading: Reading, where: VectorSearch, gathered: Gathered, count: int
) -> Gathered:
    """Look up type and tags of the best candidates, of which a filter will leave a share only."""
    some = _best(await scored(gathered, reading.criteria), count)
    known = await nearest.at(connection, where, some)
    gathered = replace(gathered, distances=spaces.together(gathered.distances, known))
    if not reading.trip.filters:
        return gathered
    tagged = await nearest.tags(connection, where, gathered.distances.addresses, reading.trip.facts)
    return replace(gathered, tagged=tuple(tagged))


async def _shares(
    connection: Connection, reading: Reading, where: VectorSearch, drawn: Sample
) -> tuple[float, float]:
    """Return how many of the units pass the filter on types, and how many that on tags, each 0 to 1."""
    bits, traits = ranking.type_bits(reading.criteria.types), drawn.distances.traits
    typed = float(np.mean(traits & bits != 0)) if bits else 1.0
    if not reading.trip.filters:
        return typed, 1.0
    found = await nearest.tags(connection, where, drawn.distances.addresses, reading.trip.facts)
    return typed, len(_tagged(found, reading)) / len(traits)


async def narrow(
    connection: Connection,
    reading: Reading,
    gathered: Gathered,
    rough: Scored,
    reached: Addresses,
    count: int,
) -> Gathered:
    """Read the best candidates of a large bank with their neighbours, and what the graph reached; raises ArmTooSlow."""
    where, sample = reading.by_index(), gathered.sample
    if where is None or sample is None:
        return gathered
    if gathered.tagged is not None:
        tagged = await nearest.tags(connection, where, reached, reading.trip.facts)
        gathered = replace(gathered, tagged=(*gathered.tagged, *tagged))
    chosen = Addresses.joined([_best(rough, count), reached])
    drawn = sample.distances.addresses
    context = Addresses(drawn.documents[:SAMPLED_NEIGHBOURS], drawn.positions[:SAMPLED_NEIGHBOURS])
    windows = await nearest.windows(connection, where, Addresses.joined([chosen, context]), NEIGHBOURS)
    spread = rough.lexical.spread(rough.space.population)
    return replace(gathered, candidates=Candidates(chosen, windows, spread))


def _best(rough: Scored, count: int) -> Addresses:
    return rough.space.addresses(ranking.best(rough, count))


def _tagged(found: Sequence[Tagged] | None, reading: Reading) -> Addresses:
    return ranking.tagged_addresses(found or (), reading.criteria.tags)
