"""The answer without a model: quotes with ids and dates, or the plain word that nothing is known."""

from datetime import UTC, datetime
from uuid import uuid4

from memorybank.model import FactType, Hit, Scores
from memorybank.reflect import extractive
from memorybank.text import count_tokens

AT = datetime(2026, 3, 4, tzinfo=UTC)


def fact(text: str, final: float = 0.5) -> Hit:
    return Hit(uuid4(), text, FactType.WORLD, Scores(final), occurred_start=AT, mentioned_at=AT)


def test_facts_are_quoted_word_for_word_with_dates_and_ids() -> None:
    known = fact("Ana moved the release to Friday.")
    text, used = extractive.quoted([known, fact("Pods restart.", 0.05)], 4096)
    assert used == (known,)
    assert text.splitlines() == [
        extractive.OPENING,
        f"- Ana moved the release to Friday. (happened 2026-03-04; said 2026-03-04; memory {known.id})",
    ]


def test_what_is_not_near_is_no_answer() -> None:
    assert extractive.quoted([fact("Pods restart.", 0.05)], 4096) == (extractive.UNKNOWN, ())
    assert extractive.quoted([], 4096) == (extractive.UNKNOWN, ())


def test_few_facts_within_the_budget() -> None:
    facts = [fact(f"Fact number {number}.") for number in range(20)]
    assert len(extractive.quoted(facts, 4096)[1]) == extractive.QUOTED
    text, used = extractive.quoted(facts, 130)
    assert 0 < len(used) < extractive.QUOTED and count_tokens(text) <= 130
    text, used = extractive.quoted(facts, 10)
    assert len(used) == 1 and count_tokens(text) <= 10
