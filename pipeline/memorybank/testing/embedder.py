"""An embedder without a model: words and their pieces hashed to directions. For tests without weights."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

_WORD = re.compile(r"\w+")
#: Length of the pieces by which inflected forms of a word come near each other.
_PIECE = 3
#: A shared piece counts this much of a shared word.
_PIECE_WEIGHT = 0.3


class HashingEmbedder:
    """Deterministic vectors: texts that share words are near, texts that share none are nearly orthogonal."""

    model = "hashing"

    def __init__(self, dimensions: int = 384) -> None:
        """Choose the width."""
        self.dimensions = dimensions
        self.calls = 0

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (texts, dimensions), every row of L2 norm 1."""
        self.calls += len(texts)
        return np.stack([self._vector(text) for text in texts])

    def _vector(self, text: str) -> np.ndarray:
        vector = np.zeros(self.dimensions, np.float32)
        for word in _WORD.findall(text.casefold()) or [text]:
            self._add(vector, word, 1.0)
            for start in range(max(0, len(word) - _PIECE + 1)):
                self._add(vector, f"#{word[start : start + _PIECE]}", _PIECE_WEIGHT)
        norm = float(np.linalg.norm(vector))
        return vector / norm if norm else self._vector(f"{text}.")

    def _add(self, vector: np.ndarray, feature: str, weight: float) -> None:
        digest = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        place = int.from_bytes(digest[:4]) % self.dimensions
        vector[place] += weight if digest[4] & 1 else -weight
