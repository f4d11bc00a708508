"""Texts to vectors: the built-in model (onnxruntime, no torch) and the call to any model."""

import asyncio
import ctypes
import functools
import importlib
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
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
#: What a forward pass costs beyond its tokens, in tokens: reading the weights once (2.4 ms at 0.16 ms a token).
PASS_TOKENS = 15
#: Characters that are looked at before tokenizing: no model here reads this far, and a text of 300 kB costs nothing.
_CHARACTERS = 16_384
#: Threads of one forward pass at most; beyond these more threads bring little on a model this small.
_THREADS = 4
#: The built-in model, and the same with its matrix products in eight bits.
FLOAT, INT8 = "all-MiniLM-L6-v2", "all-MiniLM-L6-v2-int8"
#: The file of each graph, beside this one.
GRAPHS = {FLOAT: "minilm.onnx", INT8: "minilm_int8.onnx"}


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

    The graph is shipped without weights and fed from the weights package; loading takes about 0.2 s. In eight bits it
    costs less than half; those vectors are not quite the same, so they are those of a model with a name of its own.
    Raises ModelMisconfigured when the weights are missing or broken.
    """

    dimensions = 384
    #: `max_seq_length` of the published model.
    max_tokens = 256

    def __init__(self, model: str = FLOAT, threads: int | None = None) -> None:
        """Load FLOAT or INT8; `threads` of one forward pass, half the cores by default."""
        self.model = model
        folder = weights.find()
        tensors = weights.read_safetensors(folder / "model.safetensors")
        graph = (Path(__file__).parent / GRAPHS[model]).read_bytes()
        # The session may read the mapped file for as long as it lives, so the views must live too.
        self._tensors, self._session = session(graph, tensors, threads or default_threads())
        _give_memory_back()
        self._tokenizer = load_tokenizer(folder / "tokenizer.json", self.max_tokens)

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        """Return float32 (texts, 384), every row of L2 norm 1."""
        tokens = self.tokens(texts)
        rows = np.empty((len(texts), self.dimensions), np.float32)
        for batch in batches([len(ids) for ids in tokens]):
            rows[batch] = self._session.run(None, inputs([tokens[index] for index in batch]))[0]
        return rows

    def tokens(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the token ids of each text, cut at `max_tokens`."""
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(map(readable, texts)))]


def readable(text: str) -> str:
    """Return what a tokenizer is given of a text; characters that UTF-8 does not have would stop it."""
    return text[:_CHARACTERS].encode("utf-8", "replace").decode()


def inputs(tokens: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """Return what the graph reads: ids and mask, int64 (texts, longest), padded with zeros."""
    ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
    mask = np.zeros_like(ids)
    for row, of_text in enumerate(tokens):
        ids[row, : len(of_text)] = of_text
        mask[row, : len(of_text)] = 1
    return {"input_ids": ids, "attention_mask": mask}


def default_threads() -> int:
    """Return the threads of one forward pass: half the cores, at least one, at most four."""
    return max(1, min(_THREADS, (os.cpu_count() or 1) // 2))


def batches(lengths: Sequence[int]) -> list[list[int]]:
    """Return the indices of texts in batches of like length, within BATCH_TEXTS and BATCH_TOKENS: the split that costs
    least when a pass costs its tokens, padding included, and PASS_TOKENS more.

    By the dozen, as they come from a model, turns of a chat cost 8.8 ms CPU each in batches that were merely filled
    up, and 7.6 so split (2.4 for 3.3 in eight bits).
    """
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    # By the texts that are placed: the least cost, and where its last batch begins.
    best = [(0, 0)]
    for end, index in enumerate(order, start=1):
        starts = range(max(0, end - BATCH_TEXTS), end)
        sizes = ((start, (end - start) * lengths[index]) for start in starts)
        fit = [(start, size) for start, size in sizes if size <= BATCH_TOKENS or start == end - 1]
        best.append(min((best[start][0] + size + PASS_TOKENS, start) for start, size in fit))
    split: list[list[int]] = []
    end = len(order)
    while end:
        start = best[end][1]
        split.append(order[start:end])
        end = start
    return split


def _give_memory_back() -> None:
    """Return to the system what loading has freed: up to 190 MB of weights in between, which would stay with us."""
    with suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def load_tokenizer(path: Path, max_tokens: int) -> Any:
    """Return a tokenizer that cuts at `max_tokens` and does not pad."""
    tokenizer = importlib.import_module("tokenizers").Tokenizer.from_file(str(path))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    return tokenizer


def runtime() -> Any:
    """Load onnxruntime. Its published builds report usage to their maker, unless told before they are loaded."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    return importlib.import_module("onnxruntime")


def session_options(threads: int) -> Any:
    """Return how a model runs here: `threads` of one forward pass, no idle ones that spin, no memory kept."""
    library = runtime()
    options = library.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Constants are folded; nothing is fused beyond what the graph says.
    options.graph_optimization_level = library.GraphOptimizationLevel.ORT_ENABLE_BASIC
    # An arena would keep the largest batch ever seen; idle threads that spin would eat the cores of the
    # event loop.
    options.enable_cpu_mem_arena = False
    options.enable_mem_pattern = False
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def session(graph: bytes, tensors: Mapping[str, np.ndarray], threads: int) -> tuple[list[Any], Any]:
    """Return the values that the session reads, and the session over a graph without weights."""
    library, options = runtime(), session_options(threads)
    # Only what the graph names may be given to it.
    named = {name: data for name, data in tensors.items() if name.encode() in graph}
    values = [library.OrtValue.ortvalue_from_numpy(data) for data in named.values()]
    options.add_external_initializers(list(named), values)
    return values, library.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
