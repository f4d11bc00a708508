"""Embeddings from a provider, through litellm."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from memorybank.errors import (
    ModelMalformed,
    ModelMisconfigured,
    ModelRateLimited,
    ModelTruncated,
    ModelUnavailable,
)
from memorybank.llm.litellm_client import call
from memorybank.llm.retry import Patience, Tried, counted, next_step

#: Texts of one request; providers take up to 2,048, small ones 32 to 100.
REQUEST_TEXTS = 32
#: Part of the model's limit that a text may fill by our estimate: the provider counts with another tokenizer.
HEADROOM = 0.9
#: Characters of a token in ASCII text, low enough for dense code; any other character counts as a token.
ASCII_CHARACTERS = 3
#: Attempts of one request, and how long is waited between two.
ATTEMPTS, PATIENCE = 4, Patience()
#: Short text by which `probe` learns the width of the vectors.
_PROBE = "probe"


def cut(text: str, tokens: int) -> str:
    """Return the beginning of the text that is safely within `tokens`, counted from above."""
    if len(text) <= tokens:
        return text
    room = float(tokens)
    for place, character in enumerate(text):
        room -= 1 / ASCII_CHARACTERS if character.isascii() else 1
        if room < 0:
            return text[:place]
    return text


@dataclass
class LitellmEmbedder:
    """An embedding model behind an API; `model` in litellm's form, e.g. "openai/text-embedding-3-small".

    `dimensions`: 0 until `probe` was called, unless it is known.
    """

    model: str
    dimensions: int = 0
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 60.0
    max_tokens: int = 8192
    pause: Callable[[float], Awaitable[None]] = field(default=asyncio.sleep, repr=False)

    async def probe(self) -> int:
        """Return the width of the model's vectors, from one call.

        Raises ModelMisconfigured when another width is configured, and what `fetch` raises.
        """
        width = int((await self._rows([_PROBE])).shape[1])
        if self.dimensions not in (0, width):
            raise ModelMisconfigured(
                f"{self.model} makes vectors of {width} dimensions, {self.dimensions} are configured"
            )
        self.dimensions = width
        return width

    async def fetch(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (texts, dimensions), every row of L2 norm 1.

        A text is cut with headroom below the model's limit; where the provider still finds one too long, the
        longest of the request are cut in half, once. Raises a ModelError.
        """
        if not self.dimensions:
            await self.probe()
        short = [cut(text, int(self.max_tokens * HEADROOM)) for text in texts]
        parts = [short[start : start + REQUEST_TEXTS] for start in range(0, len(short), REQUEST_TEXTS)]
        rows = [await self._rows(part) for part in parts]
        return np.concatenate(rows) if rows else np.empty((0, self.dimensions), np.float32)

    async def _rows(self, texts: list[str]) -> np.ndarray:
        try:
            return await self._patiently(texts)
        except ModelTruncated:
            half = max(1, max(map(len, texts)) // 2)
            return await self._patiently([text[:half] for text in texts])

    async def _patiently(self, texts: list[str]) -> np.ndarray:
        """Ask, and wait as the policy says, within ATTEMPTS."""
        tried, left = Tried(structured=False), ATTEMPTS
        while True:
            left -= 1
            try:
                return await self._ask(texts)
            except (ModelRateLimited, ModelUnavailable) as error:
                step = next_step(error, tried, PATIENCE)
                if step is None or not left:
                    raise
                tried = counted(tried, error)
            await self.pause(step.wait)

    async def _ask(self, texts: list[str]) -> np.ndarray:
        asked = {
            "model": self.model,
            # An empty input is refused by most providers.
            "input": [text if text.strip() else "." for text in texts],
            "api_base": self.base_url,
            "api_key": self.api_key,
            "timeout": self.timeout_seconds,
            "encoding_format": "float",
        }
        answer = await call("aembedding", asked)
        return unit_rows(answer.data, len(texts))


def unit_rows(data: Sequence[Any], count: int) -> np.ndarray:
    """Return the vectors of an answer in the order of their texts, each of L2 norm 1.

    Raises ModelMalformed where vectors are missing, empty, or of several widths.
    """
    vectors = [entry["embedding"] for entry in sorted(data, key=lambda entry: int(entry["index"]))]
    if len(vectors) != count or len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ModelMalformed(f"the embedding model answered {len(vectors)} usable vectors for {count} texts")
    rows = np.asarray(vectors, np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: np.ndarray = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return unit
