"""The facts that banks are filled with: the same each time, distinct, near the turns they are made from."""

from datetime import UTC, datetime

import numpy as np
import pytest

from memorybank.text.traits import Form, Trait
from memorybank_eval import crowd
from memorybank_eval.crowd import Source
from memorybank_eval.datasets import Turn

AT = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def source() -> Source:
    turns = [Turn(str(number), f"Ana: what {number} is", AT, 0) for number in range(50)]
    vectors = np.eye(50, 64, dtype=np.float32)
    return Source(turns, vectors, [Form(7, Trait(0))] * 50)


def test_a_page_is_the_same_in_every_run_and_no_other_page(source: Source) -> None:
    one, again = (crowd.page(source, 3, 1, 5000) for _ in range(2))
    assert one.documents == again.documents and np.array_equal(one.vectors, again.vectors)
    assert crowd.page(source, 3, 2, 5000).documents != one.documents
    assert crowd.page(source, 4, 1, 5000).documents != one.documents


def test_pages_hold_all_facts_of_a_bank_and_each_text_once(source: Source) -> None:
    made = [crowd.page(source, 0, number, 2510) for number in crowd.pages(2510)]
    facts = [fact for page in made for document in page.documents for fact in document]
    assert len(facts) == 2510 == sum(len(page.vectors) for page in made)
    assert len({fact.text for fact in facts}) == 2510
    assert {len(document) for page in made for document in page.documents} == {20, 10}


def test_a_vector_is_near_its_turn_and_names_are_those_of_the_text(source: Source) -> None:
    page = crowd.page(source, 0, 0, 1000)
    facts = [fact for document in page.documents for fact in document]
    near = (page.vectors * source.vectors[[fact.turn for fact in facts]]).sum(1)
    assert np.linalg.norm(page.vectors, axis=1) == pytest.approx(1)
    assert near.min() > 0.8 and near.max() < 0.96 and 0.88 < near.mean() < 0.91
    assert all("Ana" in fact.names and all(name in fact.text for name in fact.names) for fact in facts)


def test_questions_are_about_the_turns() -> None:
    assert len(crowd.questions()) > 300
