"""What speaks for a unit, and that each signal is silent where question and bank have nothing for it."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from memorybank.indexing import form_of, index_terms
from memorybank.recall import question, ranking, signals
from memorybank.recall.arms import temporal
from memorybank.recall.arms.lexical import Bm25
from memorybank.recall.query import RecallQuery
from memorybank.recall.signals import Scene
from memorybank.storage.found import Addresses, Dated, Distances, Gathered, Statistics, TermPostings

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
TALK = [
    "Ann: Where did you see the comet?",
    "Bo: Over the lake in Kiel, because it was dark.",
    "Ann: I was asleep.",
    "Bo: Three of us stood there last Friday.",
    "Warning: ice.",
]
CHAT = ["user: I keep bees.", "assistant: Try clover.", "user: Thanks."]


def scene(query: str, texts: list[str], cosine: list[float] | None = None, mean_length: float = 5.0) -> Scene:
    """The scene of a question in a bank with one document."""
    asked = question.read(RecallQuery(query), NOON)
    count = len(texts)
    forms = [form_of(text, NOON) for text in texts]
    terms = [index_terms(text) for text in texts]
    postings = []
    for term in asked.terms:
        held = np.array([at for at, own in enumerate(terms) if term in own], np.int64)
        where = Addresses(np.ones(len(held), np.int64), held)
        postings.append(TermPostings(len(held), where, np.ones(len(held)), np.full(len(held), mean_length)))
    everywhere = Addresses(np.ones(count, np.int64), np.arange(count))
    unknown = np.full(count, np.nan)
    gathered = Gathered(
        Statistics(count, round(count * mean_length)),
        tuple(postings),
        Distances(
            everywhere,
            1.0 - np.array(cosine or [0.0] * count),
            np.array([form.speaker for form in forms]),
            np.array([int(form.traits) for form in forms]),
        ),
        (),
        Dated(everywhere, unknown, unknown, np.full(count, NOON.timestamp())),
        Addresses(np.ones(2, np.int64), np.array([1, 99])),
        None,
    )
    return ranking.scene(gathered, asked, Bm25(0.9, 0.4))


def test_every_signal_is_one_number_for_each_unit() -> None:
    found = signals.read(scene("When did Ann say today where I was?", TALK))
    assert {len(values) for values in found.values()} == {len(TALK)}
    assert {
        "lexical",
        "neighbours",
        "session",
        "dense",
        "dense_neighbours",
        "asks",
        "answers",
        "kind",
    } <= set(found)


@pytest.mark.parametrize(
    ("query", "theirs"),
    [
        ("What did Ann see?", [1, 0, 1, 0, 0]),
        ("what did BO see?", [0, 1, 0, 1, 0]),
        ("What was seen?", None),
        ("Did Ann or Bo see it?", None),
        ("What did Annette see?", None),
        ("Which Warning?", None),
    ],
)
def test_the_one_speaker_whom_the_question_names(query: str, theirs: list[int] | None) -> None:
    found = signals.speaker(scene(query, TALK))
    assert (found if found is None else found.tolist()) == theirs


@pytest.mark.parametrize(
    ("query", "of_user", "of_assistant"),
    [
        ("What do I keep?", [1, 0, 1], None),
        ("What did you recommend to me?", None, [0, 1, 0]),
        ("Which plant is good?", None, None),
    ],
)
def test_whose_words_are_asked_for(
    query: str, of_user: list[int] | None, of_assistant: list[int] | None
) -> None:
    found = [signals.user(scene(query, CHAT)), signals.assistant(scene(query, CHAT))]
    assert [None if one is None else one.tolist() for one in found] == [of_user, of_assistant]


def test_roles_say_nothing_where_nobody_chats_with_an_assistant() -> None:
    assert signals.user(scene("What do I keep?", TALK)) is None
    assert signals.user(scene("What do I keep?", ["user: I keep bees.", "user: Thanks."])) is None


def test_a_turn_that_only_asks_and_the_one_that_answers_it() -> None:
    seen = scene("Where was the comet?", [*TALK, "Ann: Really?"], [0.5, 0.1, 0.0, 0.0, 0.0, 0.9])
    assert signals.asks(seen).tolist() == [1, 0, 0, 0, 0, 0]
    assert np.allclose(signals.answers(seen), [0, 0.5, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("query", "may_hold"),
    [
        ("When was it?", [0, 0, 0, 1, 0]),
        ("How many stood there?", [0, 0, 0, 1, 0]),
        ("Where was it?", [0, 1, 0, 0, 0]),
        ("Who slept?", [0, 1, 0, 1, 0]),
        ("Why did they see it?", [0, 1, 0, 0, 0]),
        ("Did they see it?", None),
    ],
)
def test_the_kind_of_answer(query: str, may_hold: list[int] | None) -> None:
    found = signals.kind(scene(query, TALK))
    assert (found if found is None else found.tolist()) == may_hold


def test_time_counts_only_where_it_is_asked_for() -> None:
    assert signals.time(scene("What happened today?", TALK)) is not None
    assert signals.time(scene("What happened?", TALK)) is None


def test_what_was_said_after_the_question_is_no_answer() -> None:
    seen = scene("What happened?", TALK)
    found = signals.later(seen)
    assert found is not None and found.tolist() == [0, 1, 0, 0, 0]
    assert signals.later(replace(seen, later=None)) is None
    assert temporal.end_of_asking(NOON, NOON + timedelta(days=3)) == NOON + timedelta(days=1)
    assert (
        temporal.end_of_asking(NOON, NOON + timedelta(hours=3)) is None is temporal.end_of_asking(None, NOON)
    )


def test_in_long_messages_neighbours_and_questions_count_little() -> None:
    talk, letters = (
        scene("Where was the comet?", TALK, [0.5, 0.1, 0.0, 0.0, 0.0], length) for length in (20.0, 200.0)
    )
    for signal in (signals.session, signals.dense_neighbours, signals.asks, signals.answers, signals.kind):
        assert np.allclose(0.1 * np.asarray(signal(talk)), np.asarray(signal(letters)))
    assert np.allclose(signals.dense(talk), signals.dense(letters))
