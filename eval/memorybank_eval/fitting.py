"""The weights of recall, fitted: a softmax over the units of a bank, the evidence as likely as it can be.

Minimised is the mean over questions of -log p(evidence), p = softmax(signals · weights), plus L2 / 2 · |weights|²: a
convex function, so Newton's method finds its one minimum (Boyd and Vandenberghe, "Convex Optimization", 2004, ch. 9).
Where several units are evidence, their mean counts. Fitted on data that may be used for it: LongMemEval's pool and the
project's own set, each question alike; the other sets are only looked at.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from memorybank.recall.signals import SIGNALS
from memorybank.settings import defaults
from memorybank_eval import ablation, offline, report
from memorybank_eval.metrics import estimate, found_share
from memorybank_eval.offline import Array, Case, Vectors

#: The sets that weights are fitted on.
FITTED = ("longmemeval", "own")
#: How strongly weights are held to 0: of those tried, frac@10 of questions left out was best.
L2 = 4e-3
#: Newton steps at most, the longest one, and the one below which the minimum is reached.
STEPS, LONGEST, SHORTEST = 50, 2.0, 1e-6
#: Parts of the questions, each judged once by weights that were fitted on the others.
FOLDS = 5


def fit(cases: Sequence[Case], l2: float = L2) -> Array:
    """Return one weight for each signal, in their order."""
    weights = np.zeros(len(SIGNALS))
    for _ in range(STEPS):
        gradient, curvature = l2 * weights, l2 * np.eye(len(weights))
        for case in cases:
            first, second = _derivatives(case, weights)
            gradient, curvature = gradient + first / len(cases), curvature + second / len(cases)
        step = np.linalg.solve(curvature, gradient)
        size = float(np.abs(step).max())
        weights = weights - step * min(1.0, LONGEST / max(size, SHORTEST))
        if size < SHORTEST:
            break
    return weights


def _derivatives(case: Case, weights: Array) -> tuple[Array, Array]:
    """Return gradient and curvature of -log p(evidence) of one question."""
    scores = case.matrix @ weights
    likely = np.exp(scores - scores.max())
    likely /= likely.sum()
    mean = likely @ case.matrix
    spread = (case.matrix * likely[:, None]).T @ case.matrix - np.outer(mean, mean)
    return mean - case.matrix[case.gold].mean(axis=0), spread


def objective(cases: Sequence[Case], weights: Array, l2: float = L2) -> float:
    """Return what `fit` makes as small as it can be."""
    return float(np.mean([loss(case, weights) for case in cases])) + l2 / 2 * float(weights @ weights)


def loss(case: Case, weights: Array) -> float:
    """Return -log p(evidence) of one question."""
    scores = case.matrix @ weights
    scores = scores - scores.max()
    return float(np.log(np.exp(scores).sum()) - scores[case.gold].mean())


def folds(cases: Sequence[Case], l2: float) -> tuple[float, float]:
    """Return mean loss and frac@10 of questions that were not fitted on."""
    losses, shares = [], []
    for part in range(FOLDS):
        weights = fit([case for at, case in enumerate(cases) if at % FOLDS != part], l2)
        for case in cases[part::FOLDS]:
            losses.append(loss(case, weights))
            shares.append(found_share(case.ranking(case.matrix @ weights), case.wanted.evidence, 10))
    return float(np.mean(losses)), float(np.mean(shares))


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare `fit`."""
    parser = commands.add_parser("fit", help="which weights should recall's signals have?")
    offline.add_sets(parser)
    parser.add_argument("--l2", type=float, default=L2, help="how strongly weights are held to 0")
    parser.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    vectors = Vectors(given.vectors)
    cases = {name: offline.cases_of(each, vectors) for name, each in offline.sets(given).items()}
    vectors.save()
    fitted = [case for name in FITTED for case in cases.get(name, ())]
    for l2 in (given.l2 / 4, given.l2 / 2, given.l2, 2 * given.l2, 4 * given.l2):
        held_out, share = folds(fitted, l2)
        print(f"L2 {l2:.4f}: loss {held_out:.4f}, frac@10 {100 * share:.1f} on questions left out")
    weights = fit(fitted, given.l2)
    today = defaults().recall.weights
    print("\n[recall.weights]")
    for name, weight in zip(SIGNALS, weights, strict=True):
        print(f"{name} = {weight:.2f}  # today {today.get(name)}")
    print(report.table(("set", "questions", *ablation.METRICS), list(_judged(cases, weights))))


def _judged(cases: Mapping[str, Sequence[Case]], weights: Array) -> Iterator[tuple[str, ...]]:
    for name, of_set in cases.items():
        metrics = ablation.judged(of_set, lambda case: case.matrix @ weights)
        means = (report.interval(estimate(values.tolist())) for values in metrics.values())
        yield name, str(len(of_set)), *means
