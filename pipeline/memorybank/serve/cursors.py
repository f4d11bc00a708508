"""Cursors of lists that go by the time and the id of their rows."""

import base64
import binascii
from datetime import datetime
from uuid import UUID

from memorybank.errors import InvalidInput
from memorybank.storage.stated import Memory
from memorybank.timeline import iso


def cursor(last: Memory) -> str:
    """Return the cursor of what comes after a memory."""
    return base64.urlsafe_b64encode(f"{iso(last.created_at)} {last.id}".encode()).decode()


def position(given: str) -> tuple[datetime, UUID]:
    """Return the time and the id that a cursor holds; raises InvalidInput."""
    try:
        at, _, id_ = base64.urlsafe_b64decode(given.encode("ascii")).decode("ascii").partition(" ")
        return datetime.fromisoformat(at), UUID(id_)
    except (ValueError, binascii.Error) as error:
        raise InvalidInput("not a cursor of a list", loc=("query", "cursor"), value=given) from error
