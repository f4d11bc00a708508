"""How a search reads: number arrays straight into numpy, dates that Python cannot hold as none.

Ten thousand numbers take microseconds instead of milliseconds: in the binary form an array without nulls is a header,
then each element behind its length, and a strided view of the bytes is the whole of the parsing.
"""

from datetime import datetime
from typing import Any, ClassVar

import numpy as np
from psycopg import AsyncCursor, DataError
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.rows import DictRow
from psycopg.types.datetime import TimestamptzBinaryLoader

from memorybank.storage.queries import Connection

#: Dimensions, flags, element type, then length and lower bound of the one dimension: five 32-bit numbers.
_HEADER = 20
#: What stands before each element: its length.
_LENGTH = np.dtype(">i4")


class _Numbers(Loader):
    """Reads a one-dimensional array without nulls."""

    format = Format.BINARY
    kind: ClassVar[np.dtype[Any]]

    def load(self, data: Buffer) -> np.ndarray[Any, Any]:
        """Return the numbers in the machine's byte order, (n,)."""
        if len(data) <= _HEADER:
            return np.empty(0, self.kind.newbyteorder("="))
        rows = np.frombuffer(data, [("length", _LENGTH), ("number", self.kind)], offset=_HEADER)
        return rows["number"].astype(self.kind.newbyteorder("="))


class _Int4(_Numbers):
    kind = np.dtype(">i4")


class _Int8(_Numbers):
    kind = np.dtype(">i8")


class _Float4(_Numbers):
    kind = np.dtype(">f4")


class _Float8(_Numbers):
    kind = np.dtype(">f8")


class _Moment(TimestamptzBinaryLoader):
    """Reads a timestamptz; one before year 1 or after 9999 is no date for us: a bad row must not fail a search."""

    def load(self, data: Buffer) -> datetime | None:  # type: ignore[override]
        """Return the moment, or None where a datetime cannot hold it."""
        try:
            return super().load(data)
        except DataError:
            return None


#: By their fixed numbers in PostgreSQL's catalogue: integer[], bigint[], real[], double precision[], timestamptz.
_LOADERS: dict[int, type[Loader]] = {
    1007: _Int4,
    1016: _Int8,
    1021: _Float4,
    1022: _Float8,
    1184: _Moment,
}


def cursor(connection: Connection) -> AsyncCursor[DictRow]:
    """Return a cursor that reads binary, number arrays as numpy arrays (which must hold no null)."""
    made = connection.cursor(binary=True)
    for number, loader in _LOADERS.items():
        made.adapters.register_loader(number, loader)
    return made
