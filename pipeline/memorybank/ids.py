"""Ids: uuid version 7 (RFC 9562), so that ids sort by the time they were made."""

import os
import threading
import time
import uuid

#: Bits of the sub-millisecond counter (rand_a of RFC 9562, method 1): ids of one process never go backwards.
COUNTER_BITS = 12

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
