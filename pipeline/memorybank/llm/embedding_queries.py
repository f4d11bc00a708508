"""Vectors of questions: remembered, made once however many ask the same, and together where many ask at once."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field

import numpy as np

from memorybank.llm.embedding import BATCH_TEXTS, Embedder, RemoteEmbedder, embed


@dataclass
class _Batch:
    """Texts of one call to the model, in order, and the call."""

    rows: dict[str, int]
    call: "asyncio.Task[np.ndarray]" = field(init=False)


class QueryVectors:
    """The vectors of questions from one model; `kept` of them are remembered, the last used ones.

    A model that runs here works on one batch at a time: whoever asks meanwhile is in the next one, and reading the
    weights is paid for once by all. A model behind an API is asked by each at once.
    """

    def __init__(self, embedder: Embedder | RemoteEmbedder, prefix: str, kept: int) -> None:
        self._embedder, self._prefix, self._room = embedder, prefix, kept
        self._kept: OrderedDict[str, np.ndarray] = OrderedDict()
        self._under_way: dict[str, _Batch] = {}
        self._next: _Batch | None = None
        self._turn = None if isinstance(embedder, RemoteEmbedder) else asyncio.Lock()

    async def of(self, text: str) -> np.ndarray:
        """Return the vector of a question, float32 (dimensions,); raises what `embed` raises."""
        known = self._kept.get(text)
        if known is not None:
            self._kept.move_to_end(text)
            return known
        batch = self._under_way.get(text) or self._join(text)
        # Others may wait for it: one who gives up does not stop the call.
        vectors = await asyncio.shield(batch.call)
        return np.asarray(vectors[batch.rows[text]])

    def _join(self, text: str) -> _Batch:
        batch = self._next
        if batch is None or len(batch.rows) == BATCH_TEXTS:
            batch = _Batch({})
            batch.call = asyncio.create_task(self._make(batch))
            batch.call.add_done_callback(_seen)
            self._next = None if self._turn is None else batch
        batch.rows[text] = len(batch.rows)
        self._under_way[text] = batch
        return batch

    async def _make(self, batch: _Batch) -> np.ndarray:
        try:
            if self._turn is None:
                return await self._encode(batch)
            async with self._turn:
                if self._next is batch:
                    self._next = None
                return await self._encode(batch)
        finally:
            for text in batch.rows:
                del self._under_way[text]

    async def _encode(self, batch: _Batch) -> np.ndarray:
        vectors = await embed(self._embedder, [self._prefix + text for text in batch.rows])
        for text, vector in zip(batch.rows, vectors, strict=True):
            self._kept[text] = vector.copy()
        while len(self._kept) > self._room:
            self._kept.popitem(last=False)
        return vectors


def _seen(call: "asyncio.Task[np.ndarray]") -> None:
    """Take note of an error that nobody waits for any more, so that it is not reported as lost."""
    if not call.cancelled():
        call.exception()
