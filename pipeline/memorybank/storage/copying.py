"""COPY in PostgreSQL's binary form, straight from numpy: thousands of narrow rows in a millisecond.

A row of fixed width is a run of big-endian fields, each behind its length. `row_type` describes one as a numpy
structured type, `rows` gives an empty array of it with the lengths filled in, `copy_rows` sends such arrays.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from memorybank.storage.queries import Connection, load

INT4, INT8 = ">i4", ">i8"
#: Signature, flags and the length of a header extension: none.
_HEADER = b"PGCOPY\n\xff\r\n\x00" + bytes(8)
_TRAILER = b"\xff\xff"

RowType = np.dtype[np.void]
Rows = np.ndarray[Any, RowType]


def row_type(**columns: str) -> RowType:
    """Return the type of a row: column name -> numpy type of its bytes on the wire, big-endian."""
    fields: list[tuple[str, str]] = [("columns", ">i2")]
    for name, kind in columns.items():
        fields += [(f"{name}_length", ">i4"), (name, kind)]
    return np.dtype(fields)


def rows(kind: RowType, count: int) -> Rows:
    """Return `count` rows whose field counts and lengths are set and whose values are zero."""
    made = np.zeros(count, kind)
    names = kind.names or ()
    made["columns"] = len(names) // 2
    for name in names:
        if name.endswith("_length"):
            made[name] = kind[name.removesuffix("_length")].itemsize
    return made


def halfvec(dimensions: int) -> str:
    """Return the numpy type of a halfvec on the wire: two counts, then the halves."""
    return f"V{4 + 2 * dimensions}"


def halfvec_bytes(vectors: np.ndarray) -> np.ndarray:
    """Return float vectors (n, d) as n halfvecs on the wire."""
    count, dimensions = vectors.shape
    wide = np.zeros((count, dimensions + 2), ">f2")
    wide[:, 2:] = vectors
    wide[:, :2].view(">u2")[:] = (dimensions, 0)
    return wide.view(halfvec(dimensions)).reshape(count)


def literal(values: Iterable[object]) -> str:
    """Return numbers or ids as PostgreSQL reads an array: for lists, whose items psycopg would each turn into text."""
    return f"{{{','.join(map(str, values))}}}"


def floats(packed: bytes, dimensions: int) -> np.ndarray:
    """Return halfvecs that the server packed with halfvec_send as float32 (n, dimensions)."""
    wide = np.frombuffer(packed, ">f2").reshape(-1, dimensions + 2)
    return wide[:, 2:].astype(np.float32)


async def copy_rows(connection: Connection, name: str, arrays: Sequence[Rows]) -> None:
    """Send arrays of rows through the named COPY … FROM STDIN (FORMAT BINARY)."""
    if not any(array.size for array in arrays):
        return
    async with connection.cursor() as cursor, cursor.copy(load()[name].sql) as copy:
        await copy.write(_HEADER + b"".join(array.tobytes() for array in arrays) + _TRAILER)


async def copy_records(connection: Connection, name: str, records: Sequence[Sequence[Any]]) -> None:
    """Send Python values through the named COPY … FROM STDIN; for wide rows of changing length."""
    if not records:
        return
    async with connection.cursor() as cursor, cursor.copy(load()[name].sql) as copy:
        for record in records:
            await copy.write_row(record)
