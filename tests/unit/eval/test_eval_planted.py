"""What is planted for consolidation: always the same, and no fact comes from nowhere."""

from collections import Counter

from memorybank_eval.planted import CHANGED, FACTS, RESTATED, plant


def test_each_planted_fact_is_about_one_that_stands_and_says_it_otherwise() -> None:
    old, new = plant()
    texts = {fact.text for fact in old}
    assert len(texts) == len(old) == FACTS
    assert Counter(one.same for one in new) == {True: RESTATED, False: CHANGED}
    assert len({one.about for one in new}) == len(new)
    assert {one.about for one in new} <= texts
    assert texts.isdisjoint(one.fact.text for one in new)
    assert all(entity.text in one.about for one in new for entity in one.fact.entities)


def test_two_plants_are_the_same() -> None:
    assert plant() == plant()
