"""How a search reads: number arrays straight into numpy, dates that Python cannot hold as none.

Ten thousand numbers take microseconds instead of milliseconds: in the binary form an array without nulls is a header,
then each element behind its length, and a strided view of the bytes is the whole of the parsing.
"""

from datetime import datetime
from typing import Any

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


def _numbers(kind: str) -> type[Loader]:
    """Return what reads a one-dimensional array of such numbers (big endian) without nulls."""
    row, own = np.dtype([("length", ">i4"), ("number", f">{kind}")]), np.dtype(kind)

    class Numbers(Loader):
        format = Format.BINARY

        def load(self, data: Buffer) -> np.ndarray[Any, Any]:
            """Return the numbers in the machine's byte order, (n,)."""
            if len(data) <= _HEADER:
                return np.empty(0, own)
            return np.frombuffer(data, row, offset=_HEADER)["number"].astype(own)

    return Numbers


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
    1007: _numbers("i4"),
    1016: _numbers("i8"),
    1021: _numbers("f4"),
    1022: _numbers("f8"),
    1184: _Moment,
}


def cursor(connection: Connection) -> AsyncCursor[DictRow]:
    """Return a cursor that reads binary, number arrays as numpy arrays (which must hold no null)."""
    made = connection.cursor(binary=True)
    for number, loader in _LOADERS.items():
        made.adapters.register_loader(number, loader)
    return made
