"""Texts to vectors: the built-in model (onnxruntime, no torch) and the call to any model."""

import asyncio
import functools
import importlib
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from memorybank.errors import ModelMalformed
from memorybank.llm import weights

#: Texts of one forward pass at most: memory stays flat however many texts come.
BATCH_TEXTS = 32
#: Tokens of one forward pass, padding included. Small enough for the activations to stay in the cache of a
#: core: 7.1 ms CPU a chat turn, against 7.5 with 2,048.
BATCH_TOKENS = 512
#: Characters that are looked at before tokenizing: 256 tokens never reach this far, and a text of 300 kB
#: costs nothing.
_CHARACTERS = 16_384
#: Threads of one forward pass at most; beyond these more threads bring little on a model this small.
_THREADS = 4


class Embedder(Protocol):
    """A model that runs here. `encode` is plain CPU work: call it through `embed`."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (texts, dimensions), every row of L2 norm 1."""
        ...


@runtime_checkable
class RemoteEmbedder(Protocol):
    """A model behind an API."""

    @property
    def model(self) -> str: ...

    @property
    def dimensions(self) -> int: ...

    async def fetch(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (texts, dimensions), every row of L2 norm 1."""
        ...


async def embed(embedder: Embedder | RemoteEmbedder, texts: Sequence[str]) -> np.ndarray:
    """Return one L2-normalised float32 row for each text: (texts, dimensions).

    Equal texts are encoded once. Local models run in one thread of their own, a small batch at a time, so
    that the event loop lives and a question waits for a batch, not for a whole document.
    Raises ModelMalformed on an empty or broken vector, and what the model raises.
    """
    if not texts:
        return np.empty((0, embedder.dimensions), np.float32)
    row_of = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    if isinstance(embedder, RemoteEmbedder):
        rows = await embedder.fetch(list(row_of))
    else:
        rows = await _in_thread(embedder, list(row_of))
    rows = checked(rows, len(row_of), embedder.dimensions)
    return rows[[row_of[text] for text in texts]].astype(np.float32, copy=False)


async def _in_thread(embedder: Embedder, texts: list[str]) -> np.ndarray:
    loop = asyncio.get_running_loop()
    rows = np.empty((len(texts), embedder.dimensions), np.float32)
    by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    for start in range(0, len(texts), BATCH_TEXTS):
        part = by_length[start : start + BATCH_TEXTS]
        rows[part] = await loop.run_in_executor(_thread(), embedder.encode, [texts[index] for index in part])
    return rows


@functools.cache
def _thread() -> ThreadPoolExecutor:
    """Return the one thread of this process that embeds."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="embed")


def checked(rows: np.ndarray, count: int, dimensions: int) -> np.ndarray:
    """Return the rows; raise ModelMalformed where they are too few, of another width, zero or not numbers."""
    if rows.shape != (count, dimensions):
        raise ModelMalformed(
            f"the embedding model answered {rows.shape} for {count} texts of {dimensions} dimensions"
        )
    norms = np.linalg.norm(rows, axis=1)
    if not np.all(np.isfinite(norms) & (norms > 0)):
        raise ModelMalformed("the embedding model answered an empty vector")
    return rows


class OnnxMiniLM:
    """all-MiniLM-L6-v2: 384 dimensions, the first 256 tokens of a text.

    The graph is shipped without weights and fed from the weights package; loading takes about 0.2 s.
    Raises ModelMisconfigured when the weights are missing or broken.
    """

    model = "all-MiniLM-L6-v2"
    dimensions = 384
    #: `max_seq_length` of the published model.
    max_tokens = 256

    def __init__(self, threads: int | None = None) -> None:
        """Load the model; `threads` of one forward pass, half the cores by default."""
        folder = weights.find()
        tensors = weights.read_safetensors(folder / "model.safetensors")
        # The session may read the mapped file for as long as it lives, so the views must live too.
        self._tensors, self._session = _session(tensors, threads or default_threads())
        tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.enable_truncation(self.max_tokens)
        self._tokenizer = tokenizer

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (texts, 384), every row of L2 norm 1."""
        whole = [text[:_CHARACTERS].encode("utf-8", "replace").decode() for text in texts]
        tokens = [encoding.ids for encoding in self._tokenizer.encode_batch(whole)]
        rows = np.empty((len(texts), self.dimensions), np.float32)
        for batch in batches([len(ids) for ids in tokens]):
            rows[batch] = self._forward([tokens[index] for index in batch])
        return rows

    def _forward(self, tokens: list[list[int]]) -> np.ndarray:
        ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
        mask = np.zeros_like(ids)
        for row, of_text in enumerate(tokens):
            ids[row, : len(of_text)] = of_text
            mask[row, : len(of_text)] = 1
        vectors: np.ndarray = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return vectors


def default_threads() -> int:
    """Return the threads of one forward pass: half the cores, at least one, at most four."""
    return max(1, min(_THREADS, (os.cpu_count() or 1) // 2))


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Yield the indices of texts in batches of near-equal length, within BATCH_TEXTS and BATCH_TOKENS.

    Sorting by length leaves almost no padding: half the CPU of batches in the given order.
    """
    batch: list[int] = []
    for index in sorted(range(len(lengths)), key=lengths.__getitem__):
        if batch and (len(batch) == BATCH_TEXTS or lengths[index] * (len(batch) + 1) > BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _runtime() -> Any:
    """Load onnxruntime. Its published builds report usage to their maker, unless told before they are loaded."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return importlib.import_module("onnxruntime")


def _session(tensors: dict[str, np.ndarray], threads: int) -> tuple[list[Any], Any]:
    """Return the values that the session reads, and the session over the shipped graph."""
    runtime = _runtime()
    options = runtime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # An arena would keep the largest batch ever seen; idle threads that spin would eat the cores of the
    # event loop.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    graph = (Path(__file__).parent / "minilm.onnx").read_bytes()
    # Only what the graph names may be given to it.
    named = {name: data for name, data in tensors.items() if name.encode() in graph}
    values = [runtime.OrtValue.ortvalue_from_numpy(data) for data in named.values()]
    options.add_external_initializers(list(named), values)
    return values, runtime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
