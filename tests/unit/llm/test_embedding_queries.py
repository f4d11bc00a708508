"""Vectors of questions: once for all who ask, together for those who ask at once."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import pytest

from memorybank.errors import ModelMalformed
from memorybank.llm.embedding import BATCH_TEXTS
from memorybank.llm.embedding_queries import QueryVectors
from memorybank.testing.embedder import HashingEmbedder


class Gated(HashingEmbedder):
    """Waits at each call until it may go on, and notes what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.go, self.started, self.batches = threading.Event(), threading.Event(), []

    def encode(self, texts: Sequence[str]) -> np.ndarray:
        self.batches.append(list(texts))
        self.started.set()
        assert self.go.wait(10)
        return super().encode(texts)


class Remote:
    """A model behind an API that fails as often as it is told to."""

    model, dimensions = "remote", 384

    def __init__(self, failures: int = 0) -> None:
        self.failures, self.asked = failures, []

    async def fetch(self, texts: Sequence[str]) -> np.ndarray:
        self.asked.append(list(texts))
        await asyncio.sleep(0)
        if self.failures:
            self.failures -= 1
            raise ModelMalformed("no vector")
        return HashingEmbedder().encode(texts)


async def test_a_question_asked_again_is_remembered_with_its_prefix_and_the_oldest_is_forgotten() -> None:
    embedder = HashingEmbedder()
    vectors = QueryVectors(embedder, "query: ", kept=2)
    first = await vectors.of("a")
    assert (first == embedder.encode(["query: a"])[0]).all()
    before = embedder.calls
    for text in ("a", "b", "a", "c", "a"):
        await vectors.of(text)
    assert embedder.calls == before + 2
    await vectors.of("b")
    assert embedder.calls == before + 3


async def test_nothing_is_remembered_where_that_is_switched_off() -> None:
    embedder = HashingEmbedder()
    vectors = QueryVectors(embedder, "", kept=0)
    await vectors.of("a")
    await vectors.of("a")
    assert embedder.calls == 2


async def test_those_who_ask_at_once_share_a_batch_and_the_same_question_is_encoded_once() -> None:
    embedder = Gated()
    vectors = QueryVectors(embedder, "", kept=0)
    first = asyncio.create_task(vectors.of("first"))
    assert await asyncio.to_thread(embedder.started.wait, 10)
    texts = [f"question {number % 7}" for number in range(8)] + ["first"]
    others = [asyncio.create_task(vectors.of(text)) for text in texts]
    await asyncio.sleep(0)
    embedder.go.set()
    found = await asyncio.gather(first, *others)
    assert [len(batch) for batch in embedder.batches] == [1, 7]
    expected = HashingEmbedder().encode(["first", *texts])
    assert all((one == other).all() for one, other in zip(found, expected, strict=True))


async def test_more_than_a_batch_waits_for_the_next_one() -> None:
    embedder = Gated()
    embedder.go.set()
    vectors = QueryVectors(embedder, "", kept=0)
    await asyncio.gather(*(vectors.of(f"q{number}") for number in range(2 * BATCH_TEXTS + 1)))
    assert [len(batch) for batch in embedder.batches] == [BATCH_TEXTS, BATCH_TEXTS, 1]


async def test_one_who_gives_up_takes_nothing_from_the_others() -> None:
    embedder = Gated()
    vectors = QueryVectors(embedder, "", kept=8)
    hasty, patient = (asyncio.create_task(vectors.of("same")) for _ in range(2))
    assert await asyncio.to_thread(embedder.started.wait, 10)
    hasty.cancel()
    embedder.go.set()
    assert (await patient == HashingEmbedder().encode(["same"])[0]).all()
    with pytest.raises(asyncio.CancelledError):
        await hasty
    assert embedder.calls == 1


async def test_an_error_reaches_all_who_wait_and_is_not_remembered() -> None:
    remote = Remote(failures=1)
    vectors = QueryVectors(remote, "", kept=8)
    ends = await asyncio.gather(*(vectors.of("same") for _ in range(3)), return_exceptions=True)
    assert [type(end) for end in ends] == [ModelMalformed] * 3
    assert (await vectors.of("same")).shape == (384,) and len(remote.asked) == 2


async def test_an_api_is_asked_by_each_at_once() -> None:
    remote = Remote()
    vectors = QueryVectors(remote, "", kept=8)
    await asyncio.gather(vectors.of("a"), vectors.of("b"), vectors.of("a"))
    assert sorted(remote.asked) == [["a"], ["b"]]
