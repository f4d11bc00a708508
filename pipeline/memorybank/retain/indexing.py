"""What search needs of a fact's text: its terms, counted, and a hash by which its vector is found again. Pure."""

from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from hashlib import blake2b

from memorybank import text

#: Bytes of a text's hash.
HASH_BYTES = 16


def text_hash(fact: str) -> bytes:
    """Return the hash under which the vector of a text is kept."""
    return blake2b(fact.encode("utf-8", "surrogatepass"), digest_size=HASH_BYTES).digest()


def index_terms(fact: str) -> Mapping[int, int]:
    """Return the hashed terms of a text and how often each stands in it."""
    return Counter(map(_hash, text.terms(fact)))


#: Words repeat from fact to fact; hashing one takes longer than finding it again.
_hash = lru_cache(maxsize=65_536)(text.term_hash)
