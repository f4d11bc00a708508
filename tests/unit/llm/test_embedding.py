"""Vectors: equal to the reference implementation, and never empty."""

import asyncio
import threading
from collections.abc import Sequence

import numpy as np
import psutil
import pytest

from memorybank.errors import ModelMalformed
from memorybank.llm.embedding import (
    BATCH_TEXTS,
    BATCH_TOKENS,
    INT8,
    OnnxMiniLM,
    batches,
    checked,
    default_threads,
    embed,
)
from memorybank.testing.embedder import HashingEmbedder

#: First eight dimensions, as sentence-transformers computes them from the same weights.
REFERENCE = {
    "Melanie ran a charity race for mental health.": (
        0.0584, 0.0215, -0.022, 0.0263, -0.0254, 0.1281, -0.0426, 0.0456,
    ),
    "上周我们把库存系统迁移到了东京机房": (0.0507, 0.0906, 0.0684, -0.0544, -0.0088, 0.0352, 0.1144, 0.0003),
    "": (-0.1188, 0.0483, -0.0025, -0.011, 0.052, 0.0103, 0.1154, 0.0007),
    "one two three " * 200: (0.0122, -0.0287, 0.0434, -0.0967, -0.0411, 0.0042, 0.0197, -0.0422),
}  # fmt: skip
#: MB by which memory may move over 200 calls: the noise of the allocator, not a batch of 100 long texts.
FLAT = 40


@pytest.fixture(scope="module")
def minilm() -> OnnxMiniLM:
    return OnnxMiniLM()


async def test_vectors_equal_the_reference_in_one_batch_and_alone(minilm: OnnxMiniLM) -> None:
    together = await embed(minilm, list(REFERENCE))
    alone = np.concatenate([minilm.encode([text]) for text in REFERENCE])
    assert together.shape == (4, 384) and together.dtype == np.float32
    assert np.allclose(together[:, :8], list(REFERENCE.values()), atol=6e-5)
    assert np.allclose(together, alone, atol=1e-5)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


def test_eight_bits_give_nearly_the_same_vectors_in_any_company_under_another_name(
    minilm: OnnxMiniLM,
) -> None:
    rounded = OnnxMiniLM(INT8)
    together = rounded.encode(list(REFERENCE))
    alone = np.concatenate([rounded.encode([text]) for text in REFERENCE])
    assert np.allclose(together, alone, atol=1e-5)
    assert (np.sum(together * minilm.encode(list(REFERENCE)), axis=1) > 0.97).all()
    assert not np.allclose(together, minilm.encode(list(REFERENCE)), atol=1e-3)
    assert rounded.model != minilm.model


def test_a_text_is_cut_at_256_tokens(minilm: OnnxMiniLM) -> None:
    long = "alpha beta gamma " * 100
    rows = minilm.encode([long, long + "omega " * 50_000])
    assert np.allclose(rows[0], rows[1], atol=1e-6)


def test_odd_bytes_have_vectors(minilm: OnnxMiniLM) -> None:
    assert np.isfinite(minilm.encode(["\ud83d", "a\0b", "\u200b", "🦆" * 1000])).all()


def test_no_text_is_no_row(minilm: OnnxMiniLM) -> None:
    assert minilm.encode([]).shape == (0, 384)


def test_memory_stays_flat_over_200_calls(minilm: OnnxMiniLM) -> None:
    process = psutil.Process()
    minilm.encode(["warm " * 60] * 8)
    before = process.memory_info().rss
    minilm.encode(["long " * 300] * 20)
    for number in range(200):
        minilm.encode([f"What did person {number} say about the harbour?"])
    grown = (process.memory_info().rss - before) / 2**20
    assert grown < FLAT


def test_batches_are_bounded_and_of_like_length() -> None:
    lengths = [5, 256, 7, 9, 256, 256] + [6] * 100
    made = batches(lengths)
    assert sorted(index for batch in made for index in batch) == list(range(len(lengths)))
    for batch in made:
        assert len(batch) <= BATCH_TEXTS
        assert len(batch) == 1 or len(batch) * max(lengths[index] for index in batch) <= BATCH_TOKENS
    assert batches([]) == []


def test_batches_cost_less_than_batches_that_are_filled_up() -> None:
    # Nine like texts share a pass; the long one would fill them with padding, the two short ones are not worth one.
    lengths = [40, 41, 9, 10, 42, 200, 40, 43, 41, 40, 44, 42]
    assert [sorted(lengths[index] for index in batch) for batch in batches(lengths)] == [
        [200],
        [40, 40, 40, 41, 41, 42, 42, 43, 44],
        [9, 10],
    ]


def test_a_core_is_left_to_the_event_loop() -> None:
    assert 1 <= default_threads() <= 4


async def test_equal_texts_are_encoded_once() -> None:
    embedder = HashingEmbedder()
    rows = await embed(embedder, ["a", "b", "a"])
    assert embedder.calls == 2
    assert (rows[0] == rows[2]).all() and not (rows[0] == rows[1]).all()


async def test_nothing_to_embed() -> None:
    assert (await embed(HashingEmbedder(), [])).shape == (0, 384)


async def test_order_survives_sorting_by_length() -> None:
    texts = [f"{'word ' * (number % 7)}{number}" for number in range(80)]
    rows = await embed(HashingEmbedder(), texts)
    assert (rows == HashingEmbedder().encode(texts)).all()


async def test_encoding_runs_beside_the_event_loop_and_lets_others_in() -> None:
    class Slow(HashingEmbedder):
        def __init__(self) -> None:
            super().__init__()
            self.started, self.go, self.order = threading.Event(), threading.Event(), []

        def encode(self, texts: Sequence[str]) -> np.ndarray:
            self.order.append(len(texts))
            self.started.set()
            assert self.go.wait(10)
            return super().encode(texts)

    slow = Slow()
    document = asyncio.create_task(embed(slow, [f"line {number}" for number in range(3 * BATCH_TEXTS)]))
    assert await asyncio.to_thread(slow.started.wait, 10)
    question = asyncio.create_task(embed(slow, ["short"]))
    await asyncio.sleep(0)
    slow.go.set()
    await asyncio.gather(document, question)
    assert slow.order.index(1) == 1


@pytest.mark.parametrize(
    "rows",
    [np.zeros((2, 3)), np.full((2, 3), np.nan), np.ones((1, 3)), np.ones((2, 4)), np.empty((2, 0))],
    ids=["zero", "not a number", "too few", "another width", "empty"],
)
def test_broken_vectors_are_an_error(rows: np.ndarray) -> None:
    with pytest.raises(ModelMalformed):
        checked(rows.astype(np.float32), 2, 3)
