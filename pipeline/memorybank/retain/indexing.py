"""What is derived from a text to find it again: its terms, counted, and a hash. Pure."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

from memorybank import text

#: Bytes of a text's hash.
HASH_BYTES = 16


def text_hash(written: str) -> bytes:
    """Return the hash by which a chunk, or the vector of a fact, is known again."""
    return blake2b(written.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def index_terms(fact: str) -> Mapping[int, int]:
    """Return the hashed terms of a text and how often each stands in it."""
    return Counter(map(_hash, text.terms(fact)))


#: Words repeat from fact to fact; hashing one takes longer than finding it again.
_hash = lru_cache(maxsize=65_536)(text.term_hash)
