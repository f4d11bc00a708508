"""Ids: uuid version 7 (RFC 9562), so that ids sort by the time they were made; and those that callers choose."""

import hashlib
import os
import re
import threading
import time
import unicodedata
import uuid

#: Bits of the sub-millisecond counter (rand_a of RFC 9562, method 1): ids of one process never go backwards.
COUNTER_BITS = 12
#: Under which ids that are no UUIDs become some. It must never change: stored ids were made from it.
CALLERS = uuid.UUID("8f4c1f52-6a35-4b0e-9d3b-2f6c4f0f7a11")

_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)

_lock = threading.Lock()
_last = (0, 0)


def new_id() -> uuid.UUID:
    """Return a new uuid v7, greater than every earlier one of this process."""
    global _last
    with _lock:
        millisecond, counter = time.time_ns() // 1_000_000, 0
        if millisecond <= _last[0]:
            millisecond, counter = _last[0], _last[1] + 1
            if counter >> COUNTER_BITS:
                millisecond, counter = millisecond + 1, 0
        _last = (millisecond, counter)
    tail = int.from_bytes(os.urandom(8)) & ((1 << 62) - 1)
    return uuid.UUID(int=millisecond << 80 | 0x7 << 76 | counter << 64 | 0b10 << 62 | tail)


def stable_id(kind: str, given: str) -> uuid.UUID:
    """Return the id of what a caller names: a UUID is itself, any other text the same UUID (version 5) each time.

    `kind` keeps apart what is called alike: a person and an agent of one name.
    """
    if _UUID.fullmatch(given):
        return uuid.UUID(given)
    # By hand: `uuid.uuid5` fails on lone surrogates, which a caller may send as well.
    named = unicodedata.normalize("NFC", f"{kind}:{given}").encode("utf-8", "surrogatepass")
    return uuid.UUID(
        bytes=hashlib.sha1(CALLERS.bytes + named, usedforsecurity=False).digest()[:16], version=5
    )
