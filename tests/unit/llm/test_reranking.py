"""The cross-encoder that runs here: scores in 0 to 1 whatever it gives, in small batches, refused when broken."""

from pathlib import Path

import numpy as np
import psutil
import pytest
import tiny_cross_encoder as tiny

from memorybank.errors import ModelMisconfigured
from memorybank.llm.embedding import BATCH_TEXTS
from memorybank.llm.reranking import OnnxReranker, Scale

WORDS = ["key", "florist", "tea", "spare"]
#: MB by which memory may move over 200 calls: the noise of the allocator, not a batch of 300 texts.
FLAT = 40


def logistic(value: float) -> float:
    return 1 / (1 + float(np.exp(-value)))


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([0.0, 0.25, 1.0], [0.0, 0.25, 1.0]),
        ([0.5, np.nan], [0.5, 0.0]),
        ([0.5, -3.0, np.nan], [logistic(0.5), logistic(-3.0), 0.0]),
        ([1e9, -1e9, np.inf, -np.inf], [1.0, 0.0, 1.0, 0.0]),
        ([np.nan], [0.0]),
        ([], []),
    ],
)
def test_raw_scores_become_probabilities(raw: list[float], expected: list[float]) -> None:
    assert Scale()(np.array(raw)) == pytest.approx(expected)


def test_a_model_that_once_gave_a_logit_always_gives_logits() -> None:
    scale = Scale()
    assert scale(np.array([0.5])) == pytest.approx([0.5])
    scale(np.array([-3.0]))
    assert scale(np.array([0.5])) == pytest.approx([logistic(0.5)])


@pytest.mark.parametrize("columns", [True, False])
async def test_scores_come_in_the_order_of_the_texts(tmp_path: Path, columns: bool) -> None:
    model = OnnxReranker(tiny.write(tmp_path / "tiny", WORDS, columns=columns))
    assert model.model == "tiny"
    texts = ["tea", "the spare key", "", "key key spare", "no\ud83d word " * 5000]
    scores = await model.scores("spare key", texts)
    assert scores == pytest.approx([logistic(count - 1) for count in (0, 2, 0, 3, 0)])
    alone = [float((await model.scores("spare key", [text]))[0]) for text in texts[:2]]
    assert alone == pytest.approx(scores[:2])
    assert (await model.scores("spare key", [])).shape == (0,)


async def test_memory_stays_flat_and_batches_small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = OnnxReranker(tiny.write(tmp_path, WORDS))
    sizes: list[int] = []
    forward = model._pass
    monkeypatch.setattr(model, "_pass", lambda pairs: sizes.append(len(pairs)) or forward(pairs))
    texts = [f"spare key {'word ' * (number % 200)}" for number in range(300)]
    await model.scores("spare key", texts)
    assert sum(sizes) == 300 and max(sizes) <= BATCH_TEXTS
    before = psutil.Process().memory_info().rss
    for _ in range(10):
        await model.scores("spare key", texts)
    assert (psutil.Process().memory_info().rss - before) / 2**20 < FLAT


@pytest.mark.parametrize("broken", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"no model"])
def test_a_folder_without_a_whole_model_is_refused(
    tmp_path: Path, broken: str, content: bytes | None
) -> None:
    folder = tiny.write(tmp_path, WORDS)
    (folder / broken).unlink()
    if content is not None:
        (folder / broken).write_bytes(content)
    with pytest.raises(ModelMisconfigured, match=r"reranker\.model"):
        OnnxReranker(folder)


def test_the_embedding_model_is_no_cross_encoder(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path, WORDS, width=3)
    with pytest.raises(ModelMisconfigured, match="one score"):
        OnnxReranker(folder)
