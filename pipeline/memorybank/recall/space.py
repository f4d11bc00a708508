"""The space of one recall: every unit that the viewer may see, in order of address, and its neighbours. Of a large bank
it holds only some of them.

An address (document number, position) is one 64-bit key, so that sorting, joining and stepping to the next unit of a
document are array arithmetic.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memorybank.storage.found import OBSERVED, Addresses, Distances

#: Bits of a position inside a key.
_POSITION_BITS = 32
_POSITIONS = (1 << _POSITION_BITS) - 1

Floats = np.ndarray[tuple[int], np.dtype[np.float64]]
Integers = np.ndarray[tuple[int], np.dtype[np.int64]]
Flags = np.ndarray[tuple[int], np.dtype[np.bool_]]


@dataclass(frozen=True)
class Space:
    """`keys` (n,) ascending; `cosine` (n,), NaN where a unit has no vector of the model.

    `speakers` and `traits` (n,): what each text shows by its form, 0 where that is not known. `population` is how many
    units the viewer may see, here or not.
    """

    keys: Integers
    cosine: Floats
    speakers: Integers
    traits: Integers
    population: int

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def documents(self) -> Integers:
        """Document number of each unit (n,)."""
        return self.keys >> _POSITION_BITS

    @cached_property
    def document_index(self) -> Integers:
        """Number of each unit's document among those of the space, from 0 (n,)."""
        if not len(self):
            return self.keys
        return np.append(0, np.cumsum(~self._near(1)))

    @cached_property
    def document_numbers(self) -> Integers:
        """The documents of the space, ascending (documents,)."""
        return self._firsts >> _POSITION_BITS

    @cached_property
    def document_sizes(self) -> Integers:
        """Units that the space has of each document (documents,)."""
        return np.bincount(self.document_index)

    @cached_property
    def of_facts(self) -> Flags:
        """Whether each document holds facts and is not that of an observation, which has one to itself (documents,)."""
        of_facts: Flags = self._firsts & _POSITIONS != OBSERVED
        return of_facts

    @cached_property
    def _firsts(self) -> Integers:
        """The key of each document's first unit (documents,)."""
        return self.keys[:1] if len(self) < 2 else self.keys[np.append(True, ~self._near(1))]

    @cached_property
    def followed(self) -> Flags:
        """Whether another unit of the same document comes after each unit (n,)."""
        return np.append(self._near(1), False)[: len(self)]

    def find(self, addresses: Addresses) -> tuple[Integers, Flags]:
        """Return the index of each address, and which of them are in the space at all."""
        wanted = key(addresses)
        at = np.searchsorted(self.keys, wanted)
        known = at < len(self)
        known[known] = self.keys[at[known]] == wanted[known]
        return at, known

    def addresses(self, indices: Integers) -> Addresses:
        """Return the addresses of units by their indices."""
        keys = self.keys[indices]
        return Addresses(keys >> _POSITION_BITS, keys & _POSITIONS)

    def borrowed(self, values: Floats, weights: tuple[float, ...]) -> Floats:
        """Add to each unit's value those of its neighbours in the same document.

        `weights[0]` counts for the units just before and after, `weights[1]` for those one further, and so on.
        """
        total = values.copy()
        for step, weight in enumerate(weights, start=1):
            if weight and len(self) > step:
                near = self._near(step)
                total[step:] += weight * near * values[:-step]
                total[:-step] += weight * near * values[step:]
        return total

    def after(self, values: Floats) -> Floats:
        """Return for each unit the value of the one before it in the same document, 0 for the first."""
        shifted = np.zeros(len(self))
        if len(self) > 1:
            shifted[1:] = self._near(1) * values[:-1]
        return shifted

    def _near(self, step: int) -> Flags:
        """Whether each unit and the one `step` further stand in the same document (n - step,)."""
        if step not in self._near_by_step:
            self._near_by_step[step] = self.documents[step:] == self.documents[:-step]
        return self._near_by_step[step]

    @cached_property
    def _near_by_step(self) -> dict[int, Flags]:
        return {}


def key(addresses: Addresses) -> Integers:
    """Return addresses as 64-bit keys, which sort as the addresses do."""
    return addresses.documents.astype(np.int64) << _POSITION_BITS | addresses.positions.astype(np.int64)


def build(distances: Distances, others: Sequence[Addresses], population: int | None = None) -> Space:
    """Return the space of the units that have a vector or stand among `others` (units a posting was found for).

    `population`: how many units the viewer may see; where that is not said, these are all.
    """
    measured = key(distances.addresses)
    order = np.argsort(measured)
    cosine = 1.0 - distances.distances[order].astype(np.float64)
    speakers, traits = distances.speakers[order], distances.traits[order]
    space = Space(measured[order], cosine, speakers, traits, population or len(measured))
    without_vector = [_unknown(space, other) for other in others]
    if not any(len(keys) for keys in without_vector):
        return space
    more = distinct(np.concatenate(without_vector))
    keys = np.concatenate((space.keys, more))
    order = np.argsort(keys)
    nothing = np.zeros(len(more), np.int64)
    added = ((space.cosine, np.full(len(more), np.nan)), (space.speakers, nothing), (space.traits, nothing))
    cosine, speakers, traits = (np.concatenate(column)[order] for column in added)
    return Space(keys[order], cosine, speakers, traits, population or len(keys))


def distinct(numbers: Integers) -> Integers:
    """Return each number once, ascending: for these a sort is ten times as fast as numpy's own way, a hash table."""
    ordered = np.sort(numbers)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def together(*parts: Distances) -> Distances:
    """Return the distances of several reads of the same units, each unit once, in order of address."""
    addresses = Addresses.joined([part.addresses for part in parts])
    _, first = np.unique(key(addresses), return_index=True)
    columns = [[part.distances, part.speakers, part.traits] for part in parts]
    return Distances(
        Addresses(addresses.documents[first], addresses.positions[first]),
        *(np.concatenate(column)[first] for column in zip(*columns, strict=True)),
    )


def _unknown(space: Space, addresses: Addresses) -> Integers:
    _, known = space.find(addresses)
    return key(addresses)[~known]
