"""What is derived from a text to find it again: its terms, counted, its form, and a hash. Pure."""

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from hashlib import blake2b

from memorybank import text
from memorybank.text.traits import Form, form
from memorybank.timeline import find_times

#: Bytes of a text's hash.
HASH_BYTES = 16
#: Characters of a text in which a time is looked for.
_TIME_CHARS = 1_500


def text_hash(written: str) -> bytes:
    """Return the hash by which a chunk, or the vector of a fact, is known again."""
    return blake2b(written.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def index_terms(fact: str) -> Mapping[int, int]:
    """Return the hashed terms of a text and how often each stands in it."""
    return Counter(map(_hash, text.terms(fact)))


def form_of(fact: str, said_at: datetime | None) -> Form:
    """Return what a text shows by its form; `said_at` is what its relative times count from."""
    return form(fact, bool(find_times(fact[:_TIME_CHARS], said_at)))


#: Words repeat from fact to fact; hashing one takes longer than finding it again.
_hash = lru_cache(maxsize=65_536)(text.term_hash)
