"""The harness for names: labelled text as it is read, and its scores against counts by hand."""

from pathlib import Path

import pytest

from memorybank_eval.entities import DATASETS, LABELLED, Mention, errors, read, scores, told

TEXT = "# bank: b\n## d\n[Ana|P|ana] met [Bo|C|bo].\n[Ana|P|ana2] left.\n"


def _mentions(*labels: str) -> list[Mention]:
    return [Mention("b", "d", f"fact {place}", "x", "CONCEPT", label) for place, label in enumerate(labels)]


def test_labelled_text(tmp_path: Path) -> None:
    path = tmp_path / "labelled.txt"
    path.write_text(TEXT)
    mentions = read(path)
    assert mentions[0] == Mention("b", "d", "Ana met Bo.", "Ana", "PERSON", "b/ana")
    assert [mention.label for mention in mentions] == ["b/ana", "b/bo", "b/ana2"]
    kinds = [
        [name.type for name in told(mentions, what)["Ana met Bo."].entities] for what in ("kinds", "nothing")
    ]
    assert kinds == [["PERSON", "CONCEPT"], ["CONCEPT", "CONCEPT"]]


@pytest.mark.parametrize("name", LABELLED)
def test_the_labelled_sets_are_whole(name: str) -> None:
    mentions = read(DATASETS / f"{name}.txt")
    assert len(mentions) >= (200 if name == "tuning" else 60)
    assert "[" not in "".join(mention.fact for mention in mentions)


def test_scores() -> None:
    """Two labels of two mentions each; one entity holds both of the first and one of the second."""
    mentions = _mentions("a", "a", "b", "b")
    found = dict(zip(mentions, (1, 1, 1, 2), strict=True))
    assert scores(mentions, found) == pytest.approx(
        {
            "b_cubed_precision": (2 / 3 + 2 / 3 + 1 / 3 + 1) / 4,
            "b_cubed_recall": (1 + 1 + 1 / 2 + 1 / 2) / 4,
            "pairwise_precision": 1 / 3,
            "pairwise_recall": 1 / 2,
        }
    )
    assert errors(mentions, found) == ["mixed: {'a': 2, 'b': 1}", "split: b: ['d:x', 'd:x']"]
