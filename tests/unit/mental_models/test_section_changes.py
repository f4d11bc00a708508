"""A change of a document: by named sections, with grounds, and what it forgets stays."""

from collections import Counter
from typing import Any
from uuid import UUID

import pytest

from memorybank.mental_models import delta
from memorybank.mental_models.schema import Reader
from memorybank.sections import Document, Section, Statement, rendered, standing

IDS = [UUID(int=number) for number in range(1, 9)]
#: Memories 1 to 4 are known, 5 to 8 are new.
NEW = IDS[4:]
PAGE: Document = (
    Section("Home", (Statement("Ada lives in Graz.", (IDS[0],)),)),
    Section(
        "Work", (Statement("Ada repairs clocks.", (IDS[1],)), Statement("Ada teaches.", (IDS[2], IDS[3])))
    ),
)


def said(text: str, *facts: Any) -> dict[str, Any]:
    return {"text": text, "facts": list(facts)}


def op(name: str, section: str, *statements: Any, facts: Any = ()) -> dict[str, Any]:
    return {"op": name, "section": section, "statements": list(statements), "facts": list(facts)}


def changed(*operations: Any) -> delta.Changed:
    read = Reader(IDS).operations({"operations": list(operations)})
    return delta.apply(PAGE, read, NEW)


def lines(document: Document) -> list[str]:
    return rendered(document).replace("\n\n", "\n").splitlines()


HOME, WORK = ["## Home", "- Ada lives in Graz."], ["## Work", "- Ada repairs clocks.", "- Ada teaches."]

CASES: list[tuple[list[Any], list[str], dict[str, int]]] = [
    ([], [*HOME, *WORK], {}),
    ([op("keep", "Home"), op("KEEP", "work")], [*HOME, *WORK], {}),
    ([op("append", "home", said("Ada has a cat.", 5))], [*HOME, "- Ada has a cat.", *WORK], {}),
    ([op("append", "Home", said("Ada lives in Graz.", 5))], [*HOME, *WORK], {}),
    ([op("append", "Pets", said("Ada has a cat.", 5))], [*HOME, *WORK], {"unknown_section": 1}),
    ([op("append", "Home", said("Ada has a cat.", 90))], [*HOME, *WORK], {"no_statement": 1}),
    ([op("add", "Pets", said("Ada has a cat.", 5))], [*HOME, *WORK, "## Pets", "- Ada has a cat."], {}),
    ([op("add", "Home", said("Ada has a cat.", 5))], [*HOME, "- Ada has a cat.", *WORK], {}),
    (
        [op("replace", "Home", said("Ada lives in Linz.", 1, 5))],
        ["## Home", "- Ada lives in Linz.", *WORK],
        {},
    ),
    # Nothing new is given as the ground.
    ([op("replace", "Home", said("Ada lives in Linz.", 1))], [*HOME, *WORK], {"no_new_memory": 1}),
    ([op("remove", "Home", facts=[1])], [*HOME, *WORK], {"no_new_memory": 1}),
    ([op("remove", "Home")], [*HOME, *WORK], {"no_new_memory": 1}),
    # What an operation does not account for stays.
    ([op("replace", "Work", said("Ada sings.", 5))], [*HOME, "## Work", "- Ada sings.", *WORK[1:]], {}),
    (
        [op("replace", "Work", said("Ada sold the shop.", 2, 5))],
        [*HOME, "## Work", "- Ada sold the shop.", "- Ada teaches."],
        {},
    ),
    ([op("remove", "Work", facts=[6])], [*HOME, *WORK], {}),
    ([op("remove", "Work", facts=[6, 2])], [*HOME, "## Work", "- Ada teaches."], {}),
    ([op("remove", "Work", facts=[6, 2, 4])], HOME, {}),
    ([op("remove", "Home", facts=[1, 5]), op("remove", "Work", facts=[2, 3, 5])], [], {}),
    # One section is rewritten once.
    (
        [op("remove", "Home", facts=[1, 5]), op("replace", "Home", said("Ada lives in Linz.", 1, 5))],
        WORK,
        {"section_changed_twice": 1},
    ),
    (["x", None, {}, {"op": "drop", "section": "Home"}, {"op": ["keep"]}], [*HOME, *WORK], {"unreadable": 5}),
]


@pytest.mark.parametrize(("operations", "then", "skipped"), CASES)
def test_operations(operations: list[Any], then: list[str], skipped: dict[str, int]) -> None:
    made = changed(*operations)
    assert lines(made.document) == then
    assert Counter(why for _, why in made.skipped) == skipped
    assert made.useful == (len(skipped) < 1 or bool(made.applied))


def test_a_document_stands_on_live_memories_alone() -> None:
    assert standing(PAGE, IDS) == PAGE
    assert lines(standing(PAGE, [IDS[1], IDS[2]])) == ["## Work", "- Ada repairs clocks."]
    assert standing(PAGE, [IDS[3]]) == ()
