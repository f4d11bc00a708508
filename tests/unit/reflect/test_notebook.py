"""What was shown: each thing once, under its number, within its tokens."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest

from memorybank.model import FactType, Hit, Scores
from memorybank.reflect.notebook import LEAST_CUT, Notebook, period
from memorybank.sections import Section, Statement, rendered
from memorybank.storage.mental_models import Model
from memorybank.text import count_tokens

SPRING, SUMMER = datetime(2026, 3, 4, 10, tzinfo=UTC), datetime(2026, 7, 1, tzinfo=UTC)


def fact(text: str, **more: Any) -> Hit:
    return Hit(uuid4(), text, more.pop("fact_type", FactType.WORLD), Scores(0.5), **more)


def model(id_: str, *statements: str, stale: bool = False) -> tuple[Model, tuple[Section, ...]]:
    document = (Section("S", tuple(Statement(text, (UUID(int=1),)) for text in statements)),)
    values: dict[str, Any] = dict.fromkeys(Model.__dataclass_fields__)
    values |= {
        "id": id_,
        "name": id_.title(),
        "document": document,
        "is_stale": stale,
        "refreshed_at": SPRING,
    }
    return Model(**values), document


def read(lines: Sequence[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines]


def test_facts_are_numbered_lines_with_kind_dates_and_source() -> None:
    told = [
        fact('She said "no".\nTwice.', occurred_start=SPRING, occurred_end=SUMMER, document_id="d"),
        fact("Bare.", document_id=str(uuid4())),
        fact("Noted.", mentioned_at=SPRING, context="stand-up  of\nthe team", document_id="d"),
        fact("Learned.", fact_type=FactType.OBSERVATION, context="x" * 99),
        fact("Done.", fact_type=FactType.EXPERIENCE),
    ]
    assert read(Notebook().add_facts(told).facts) == [
        {"id": 1, "text": 'She said "no".\nTwice.', "happened": "2026-03-04 to 2026-07-01", "source": "d"},
        {"id": 2, "text": "Bare."},
        {"id": 3, "text": "Noted.", "said": "2026-03-04", "source": "stand-up of the team"},
        {"id": 4, "text": "Learned.", "kind": "observation", "source": "x" * 60 + "…"},
        {"id": 5, "text": "Done.", "kind": "own act"},
    ]


@pytest.mark.parametrize(
    ("start", "end", "told"),
    [
        (SPRING, SPRING, "2026-03-04"),
        (SPRING, None, "2026-03-04"),
        (None, None, ""),
        (None, SPRING, "up to 2026-03-04"),
    ],
)
def test_periods(start: datetime | None, end: datetime | None, told: str) -> None:
    assert period(start, end) == told


def test_what_was_shown_is_named_by_its_number_and_costs_little() -> None:
    notebook, known, new = Notebook(), fact("The kiln is hot and dry today."), fact("The clay is wet.")
    before = notebook.cost(known)
    notebook.add_facts([known])
    page = notebook.add_facts([new, known, fact("the kiln is hot and dry today. ")])
    assert (page.again, len(page.facts)) == ((1,), 1)
    assert notebook.cost(known) < before / 3 and notebook.number(new.id) == 2
    assert abs(notebook.cost(fact("The clay is wet.")) - count_tokens(page.facts[0])) <= 3


def test_the_same_words_of_another_day_are_another_fact() -> None:
    page = Notebook().add_facts([fact("I ran.", mentioned_at=SPRING), fact("I ran.", mentioned_at=SUMMER)])
    assert len(page.facts) == 2


def test_mental_models_are_cut_at_a_statement_and_come_once() -> None:
    notebook = Notebook()
    whole = notebook.add_models([model("a", "One.", "Two.")], 1000)
    assert read(whole.models) == [
        {
            "id": 1,
            "model": "A",
            "freshness": "up_to_date",
            "as_of": "2026-03-04",
            "statements": ["One.", "Two."],
        }
    ]
    page = notebook.add_models(
        [
            model("a", "One."),
            model("b", *["A statement of some length."] * 40, stale=True),
            model("c", "x " * 500),
        ],
        150,
    )
    [cut] = read(page.models)
    assert page.again == (1,) and cut["freshness"] == "stale" and 0 < len(cut["statements"]) < 40
    note = notebook.note(2)
    assert note and note.model and note.model.text.count("length") == len(cut["statements"])
    assert rendered(model("b", "x")[1]) != note.model.text


def test_texts_fit_their_tokens_come_once_and_never_repeat_a_fact() -> None:
    notebook, known = Notebook(), fact("The kiln is hot.")
    notebook.add_facts([known])
    long = 'He said "so" and so. ' * 60
    given = [
        (known.id, "The kiln is hot.", None),
        (known.id, "Before.", "2026-01-01"),
        (known.id, long, None),
    ]
    page = notebook.add_chunks(given, 150)
    before, cut = read(page.chunks)
    assert before == {"of": 1, "said_before": "Before.", "said": "2026-01-01"}
    assert (
        cut["of"] == 1
        and cut["text"].endswith("…")
        and long.startswith(cut["text"][:-1])
        and len(cut["text"]) > 50
    )
    assert sum(map(count_tokens, page.chunks)) <= 150
    assert notebook.add_chunks(given, 150).chunks == ()
    assert Notebook().add_chunks([(uuid4(), long, None)], LEAST_CUT - 1).chunks == ()


def test_what_does_not_fit_into_a_prompt_is_the_least_fitting_of_each_search() -> None:
    notebook = Notebook()
    notebook.add_models([model("a", "One.")], 1000)
    notebook.add_facts([fact(f"First search, number {at}.") for at in range(10)])
    notebook.add_facts([fact(f"Second search, number {at}.") for at in range(10)])
    notebook.add_chunks([(uuid4(), "Around.", None)], 100)
    whole = notebook.within(10_000)
    assert (len(whole.models), len(whole.facts), len(whole.chunks)) == (1, 20, 1)
    part = notebook.within(140)
    assert len(part.models) == 1 and not part.chunks
    numbers = [int(line["text"].split("number ")[1][:-1]) for line in read(part.facts)]
    assert 2 <= len(numbers) < 20 and max(numbers) <= len(numbers) // 2
    assert [line["id"] for line in read(part.facts)] == sorted(line["id"] for line in read(part.facts))
