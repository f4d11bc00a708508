"""Recall in memory: the same units and postings as in a bank, and weights that make the evidence likely."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from memorybank.errors import InvalidInput
from memorybank.recall.signals import SIGNALS
from memorybank.settings import defaults
from memorybank.testing.embedder import HashingEmbedder
from memorybank_eval import ablation, fitting, offline
from memorybank_eval.ablation import BLEND, Row
from memorybank_eval.datasets import Conversation, Question, Turn
from memorybank_eval.metrics import Estimate
from memorybank_eval.offline import Case, Vectors

FIRST = datetime(2026, 1, 5, 9, tzinfo=UTC)


def hashed(path: Path | None = None) -> Vectors:
    """Vectors without a model."""
    return Vectors(path, HashingEmbedder)


def talk() -> Conversation:
    said = [
        ("Ann: Where did the cat sleep?", 1),
        ("Bo: In the piano.", 1),
        ("Ann: " + "Rain again. " * 400, 1),
        ("Bo: The cat is called Tin.", 2),
    ]
    turns = tuple(
        Turn(f"t{number}", text, FIRST + timedelta(days=7 * session, seconds=number), session)
        for number, (text, session) in enumerate(said)
    )
    questions = (
        Question("What did Bo call the cat?", "single", frozenset(["t3"]), FIRST + timedelta(days=40)),
        Question("Where did the cat sleep?", "single", frozenset(["t1"]), FIRST + timedelta(days=9)),
    )
    return Conversation("c", "", turns, questions)


def test_a_conversation_is_held_as_retain_cuts_it() -> None:
    held = offline.hold(talk(), hashed(), defaults())
    assert held.turns == ["t0", "t1", "t2", "t2", "t3"]
    assert held.addresses.documents.tolist() == [1, 1, 1, 1, 2]
    assert held.addresses.positions.tolist() == [0, 1024, 2048, 3072, 0]
    assert sorted(held.spoken.values()) == [2, 2]
    assert np.allclose(np.linalg.norm(held.vectors, axis=1), 1, atol=1e-3)
    assert all(held.lengths[unit] >= tf for units in held.postings.values() for unit, tf in units)


def test_cases_hold_every_signal_and_rank_turns_once() -> None:
    named, asked = offline.cases(talk(), hashed(), defaults())
    assert named.matrix.shape == (5, len(SIGNALS))
    assert "speaker" in set(named.signals) - set(asked.signals)
    assert named.gold.tolist() == [False] * 4 + [True]
    assert asked.signals["later"].tolist() == [0, 0, 0, 0, 1]
    assert asked.ranking(np.arange(5.0)) == ["t3", "t2", "t1", "t0"]


def test_vectors_are_remembered_in_a_file(tmp_path: Path) -> None:
    kept = hashed(tmp_path / "v.npz")
    first = kept.of(["a cat", "a dog", "a cat"])
    kept.save()
    again = hashed(tmp_path / "v.npz")
    assert np.array_equal(again.of(["a cat", "a dog", "a cat"]), first) and np.array_equal(first[0], first[2])
    assert again._model.calls == 0  # type: ignore[attr-defined]
    kept._model.model = "another"  # type: ignore[misc]
    kept.save()
    assert np.array_equal(hashed(tmp_path / "v.npz").of(["a cat"])[0], first[0])


def made_up(questions: int) -> list[Case]:
    """Questions of which the evidence has more of the first signal, less of the second, and noise in the others."""
    dice = np.random.default_rng(5)
    turns = [str(unit) for unit in range(12)]
    cases = []
    for _ in range(questions):
        values = dice.normal(size=(12, len(SIGNALS)))
        values[3, :2] += (2.0, -2.0)
        signals = dict(zip(SIGNALS, values.T, strict=True))
        plain = {"bm25": values[:, 0], "dense": -values[:, 0]}
        cases.append(Case(Question("?", "", frozenset("3")), turns, signals, plain))
    return cases


def test_the_fit_finds_what_tells_and_is_a_minimum() -> None:
    cases = made_up(120)
    weights = fitting.fit(cases)
    assert weights[0] > 1 > 0.6 > np.abs(weights[2:]).max() and weights[1] < -1
    at_minimum = fitting.objective(cases, weights)
    moved = [weights + 0.01 * step for step in (*np.eye(len(SIGNALS)), *-np.eye(len(SIGNALS)))]
    assert all(fitting.objective(cases, each) > at_minimum for each in moved)
    held_out, share = fitting.folds(cases, fitting.L2)
    assert held_out < np.log(12) and share > 0.9


def test_the_ablation_compares_every_way_question_by_question() -> None:
    cases = made_up(30)
    rows = {row.way: row for row in ablation.compare("made up", cases, cases)}
    assert {"plain BM25", "plain dense", BLEND, "without lexical", "without taking names out"} <= set(rows)
    assert rows[BLEND].more == Estimate(0, 0, 0)
    worse, blend = rows["plain dense"], rows[BLEND]
    assert worse.more.mean == pytest.approx(worse.metrics["frac@10"].mean - blend.metrics["frac@10"].mean)
    assert worse.more.mean < 0
    assert ablation.as_json(list(rows.values()))["made up"][BLEND]["more than the blend"] == [0, 0, 0]


def test_the_check_names_a_plain_arm_that_finds_more() -> None:
    value = Estimate(0.5, 0.4, 0.6)
    rows = [
        Row(way, "s", {"frac@10": value}, Estimate(more, 0, 0))
        for way, more in (("plain BM25", -0.1), ("plain dense", 0.02), ("without dense", 0.1))
    ]
    assert ablation.below(rows) == ["s: plain dense finds 50.0 % (frac@10), 2.0 points more than the blend"]


def test_a_set_that_nobody_knows_is_an_error() -> None:
    with pytest.raises(InvalidInput, match="NAME=PATH"):
        offline.paths(["other=x"])
    assert offline.paths(["locomo=a/b"]) == {"own": offline.OWN_PATH, "locomo": Path("a/b")}
