"""Every metric against a case worked out by hand."""

import math

import pytest

from memorybank_eval import metrics

#: Three evidence turns; two are found, at ranks 2 and 4 of six.
RANKING = ["x", "b", "y", "a", "z", "w"]
EVIDENCE = frozenset({"a", "b", "c"})


@pytest.mark.parametrize(("cut", "any_", "all_", "share"), [(1, 0, 0, 0), (2, 1, 0, 1 / 3), (6, 1, 0, 2 / 3)])
def test_recall_at_a_cut(cut: int, any_: float, all_: float, share: float) -> None:
    assert metrics.found_any(RANKING, EVIDENCE, cut) == any_
    assert metrics.found_all(RANKING, EVIDENCE, cut) == all_
    assert metrics.found_share(RANKING, EVIDENCE, cut) == pytest.approx(share)


def test_all_needs_every_turn_and_a_ranking_may_be_shorter_than_the_cut() -> None:
    assert metrics.found_all(["a", "c", "b"], EVIDENCE, 3) == 1
    assert metrics.found_all(["a", "c", "b"], EVIDENCE, 2) == 0
    assert metrics.found_all(["a", "b"], EVIDENCE, 10) == 0
    assert metrics.found_share([], EVIDENCE, 10) == 0


def test_ndcg_divides_by_the_best_order() -> None:
    gain = 1 / math.log2(3) + 1 / math.log2(5)
    ideal = 1 + 1 / math.log2(3) + 1 / 2
    assert metrics.ndcg(RANKING, EVIDENCE, 10) == pytest.approx(gain / ideal)
    assert gain / ideal == pytest.approx(0.498189, abs=1e-6)


def test_ndcg_is_one_when_evidence_fills_the_cut_and_zero_without() -> None:
    assert metrics.ndcg(["a", "b"], EVIDENCE, 2) == pytest.approx(1)
    assert metrics.ndcg(["c", "a", "b", "x"], EVIDENCE, 10) == pytest.approx(1)
    assert metrics.ndcg(["x", "a"], EVIDENCE, 1) == 0


def test_reciprocal_rank_looks_for_the_first_hit_down_to_its_cut() -> None:
    assert metrics.reciprocal_rank(RANKING, EVIDENCE) == 1 / 2
    assert metrics.reciprocal_rank(["c"], EVIDENCE) == 1
    assert metrics.reciprocal_rank(["x"] * 19 + ["a"], EVIDENCE) == 1 / 20
    assert metrics.reciprocal_rank(["x"] * 20 + ["a"], EVIDENCE) == 0


def test_judge_names_every_metric_once() -> None:
    values = metrics.judge(["x", "x2", "x3", "x4", "x5", "a", "b", "c"], EVIDENCE)
    assert values == {
        "any@5": 0, "any@10": 1, "any@20": 1,
        "all@5": 0, "all@10": 1, "all@20": 1,
        "frac@5": 0, "frac@10": 1, "frac@20": 1,
        "ndcg@10": pytest.approx((1 / math.log2(7) + 1 / 3 + 1 / math.log2(9)) / (1.5 + 1 / math.log2(3))),
        "mrr": pytest.approx(1 / 6),
    }  # fmt: skip


def test_interval_of_a_constant_is_a_point() -> None:
    assert metrics.estimate([0.5] * 7) == metrics.Estimate(0.5, 0.5, 0.5)


def test_interval_is_that_of_the_binomial_and_the_same_each_time() -> None:
    # 100 questions, half of them found: the mean's standard error is .05, so 95 % is about .5 ± .098.
    value = metrics.estimate([0.0, 1.0] * 50)
    assert value.mean == 0.5
    assert value.low == pytest.approx(0.402, abs=0.015)
    assert value.high == pytest.approx(0.598, abs=0.015)
    assert value == metrics.estimate([0.0, 1.0] * 50)
    assert value != metrics.estimate([0.0, 1.0] * 50, resamples=50, seed=1)


def test_summary_keeps_metrics_apart() -> None:
    summary = metrics.summarize([{"mrr": 1.0, "any@5": 0.0}, {"mrr": 0.0, "any@5": 0.0}])
    assert summary["mrr"].mean == 0.5
    assert summary["any@5"] == metrics.Estimate(0, 0, 0)


def test_percentile_interpolates() -> None:
    assert metrics.percentile([4.0, 1.0, 3.0, 2.0], 50) == 2.5
    assert metrics.percentile([0.0, 10.0], 95) == pytest.approx(9.5)
    assert metrics.percentile([7.0], 95) == 7
