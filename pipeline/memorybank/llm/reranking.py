"""Cross-encoders: how well each of a few texts answers a question, by a model that reads both together."""

import asyncio
import functools
import importlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from memorybank.errors import ModelMalformed, ModelMisconfigured
from memorybank.llm.embedding import (
    batches,
    default_threads,
    inputs,
    load_tokenizer,
    readable,
    runtime,
    session_options,
)
from memorybank.llm.litellm_client import call

#: Tokens of question and text together that a cross-encoder reads; the longer of the two is cut.
PAIR_TOKENS = 512
#: Files of a model in its folder.
GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"
#: Logits beyond this are 0 or 1 in double precision.
_LOGIT = 700.0


class Reranker(Protocol):
    """A model that reads question and text together."""

    @property
    def model(self) -> str: ...

    async def scores(self, question: str, texts: Sequence[str]) -> np.ndarray:
        """Return how well each text answers, 0 to 1 (texts,); raises a ModelError."""
        ...


@dataclass
class Scale:
    """What a model's scores mean: probabilities, until one lies outside of 0 to 1; from then on logits."""

    logits: bool = False

    def __call__(self, raw: np.ndarray) -> np.ndarray:
        """Return raw scores as 0 to 1; one that is not a number is 0."""
        known = raw[~np.isnan(raw)]
        self.logits = self.logits or bool(np.any((known < 0) | (known > 1)))
        values = 1.0 / (1.0 + np.exp(-np.clip(raw, -_LOGIT, _LOGIT))) if self.logits else raw
        return np.asarray(np.nan_to_num(values, nan=0.0))


class OnnxReranker:
    """A cross-encoder from a folder with `model.onnx` (one logit a pair) and `tokenizer.json`.

    Works a small batch at a time in one thread of its own: whoever stops waiting stops the work, and memory stays flat.
    """

    def __init__(self, folder: Path) -> None:
        """Load the model and try it on a pair; raises ModelMisconfigured where the folder holds no such model."""
        self.model = folder.name
        self._scale = Scale()
        for name in (GRAPH, TOKENIZER):
            if not (folder / name).is_file():
                raise ModelMisconfigured(
                    f"reranker.model must be a folder with {GRAPH} and {TOKENIZER}: {folder}"
                )
        library = runtime()
        try:
            json.loads((folder / TOKENIZER).read_bytes())  # or the tokenizers raise what nobody can name
            self._tokenizer = load_tokenizer(folder / TOKENIZER, PAIR_TOKENS)
            options = session_options(default_threads())
            providers = ["CPUExecutionProvider"]
            self._session = library.InferenceSession(str(folder / GRAPH), options, providers=providers)
            tried = self._pass(self._pairs("a question", ["a text", "another text of more words"]))
        except _failures() as error:
            raise ModelMisconfigured(f"reranker.model: {folder} cannot be used: {error}") from error
        if tried.shape not in ((2,), (2, 1)):
            raise ModelMisconfigured(f"reranker.model: {folder} does not give one score for each pair")
        self._scale(tried)

    async def scores(self, question: str, texts: Sequence[str]) -> np.ndarray:
        """See `Reranker.scores`."""
        loop = asyncio.get_running_loop()
        raw = np.empty(len(texts))
        pairs = await loop.run_in_executor(_thread(), self._pairs, question, texts)
        for batch in batches([len(pair.ids) for pair in pairs]):
            part = [pairs[index] for index in batch]
            raw[batch] = (await loop.run_in_executor(_thread(), self._pass, part)).reshape(len(part))
        return self._scale(raw)

    def _pairs(self, question: str, texts: Sequence[str]) -> list[Any]:
        asked = readable(question)
        return list(self._tokenizer.encode_batch([(asked, readable(text)) for text in texts]))

    def _pass(self, pairs: Sequence[Any]) -> np.ndarray:
        """Return the model's raw score of each pair."""
        given = inputs([pair.ids for pair in pairs])
        given["token_type_ids"] = np.zeros_like(given["input_ids"])
        for row, pair in enumerate(pairs):
            given["token_type_ids"][row, : len(pair.ids)] = pair.type_ids
        names = {wanted.name for wanted in self._session.get_inputs()}
        return np.asarray(self._session.run(None, {name: given[name] for name in given.keys() & names})[0])


@functools.cache
def _thread() -> ThreadPoolExecutor:
    """Return the one thread of this process that reranks."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="rerank")


def _failures() -> tuple[type[Exception], ...]:
    """Return what comes out of onnxruntime on a broken model: its errors have no root of their own."""
    state = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    found = [
        error for error in vars(state).values() if isinstance(error, type) and issubclass(error, Exception)
    ]
    return (*found, RuntimeError, ValueError, OSError)


@dataclass
class LitellmReranker:
    """A cross-encoder behind an API; `model` in litellm's form: "cohere/rerank-v3.5", "infinity/…", "jina_ai/…"."""

    model: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    timeout_seconds: float = 5.0
    _scale: Scale = field(default_factory=Scale, repr=False)

    async def scores(self, question: str, texts: Sequence[str]) -> np.ndarray:
        """See `Reranker.scores`. One call: recall has an order without it and no time for a second."""
        asked = {
            "model": self.model,
            "query": question,
            "documents": [text if text.strip() else "." for text in texts],
            "return_documents": False,
            "api_base": self.base_url,
            "api_key": self.api_key,
            "timeout": self.timeout_seconds,
            "drop_params": True,
        }
        answer = await call("arerank", asked)
        return self._scale(_by_text(answer.results or (), len(texts)))


def _by_text(results: Sequence[Any], count: int) -> np.ndarray:
    """Return the score of each text, NaN where the answer has none; raises ModelMalformed where it makes no sense."""
    raw = np.full(count, np.nan)
    try:
        for result in results:
            raw[int(result["index"])] = float(result["relevance_score"])
    except (LookupError, TypeError, ValueError) as error:
        raise ModelMalformed("the reranker's answer cannot be read") from error
    if np.isnan(raw).all():
        raise ModelMalformed("the reranker answered without a score")
    return raw
