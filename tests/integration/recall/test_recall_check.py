"""The standing check on part of our own set, with the real model: the blend is nowhere below a plain arm."""

from memorybank_eval import ablation, offline
from memorybank_eval.ablation import BLEND, JUDGED
from memorybank_eval.datasets import own
from memorybank_eval.offline import Vectors

#: Two friends in lower case, a chat with an assistant, two friends in German.
PART = ("c04", "c07", "c12")


def test_the_defaults_find_more_than_plain_bm25_and_plain_dense() -> None:
    conversations = [each for name in PART for each in own(offline.OWN_PATH / f"{name}.jsonl")]
    cases = offline.cases_of(conversations, Vectors())
    rows = ablation.compare("own", cases, cases)
    assert ablation.below(rows) == []
    assert next(row for row in rows if row.way == BLEND).metrics[JUDGED].mean > 0.8
