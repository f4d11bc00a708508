"""The checks at the engine's entry, and how a question is read."""

from datetime import UTC, datetime

import pytest

from memorybank.errors import BadRequest, InvalidInput
from memorybank.recall.query import RecallQuery, Window
from memorybank.recall.question import Question, read
from memorybank.tags import TagAll, TagLeaf
from memorybank.text import count_tokens, term_hash
from memorybank.text.traits import speaker_number

LIMIT = 500
NOON = datetime(2026, 7, 17, 12)


def check(query: str = "Who?", **more: object) -> RecallQuery:
    return RecallQuery(query, **more).check(LIMIT)  # type: ignore[arg-type]


@pytest.mark.parametrize("query", ["", "  ", "?!…", "\x00", "🙂🙂", "\ud83d"])
def test_a_query_without_a_word_is_refused(query: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        check(query)
    assert (refused.value.status, refused.value.loc) == (422, ("body", "query"))


@pytest.mark.parametrize("query", ["buzz " * LIMIT + "buzz buzz", "x" * 1_000_000, "我" * 5000])
def test_a_query_over_its_limit_is_a_bad_request(query: str) -> None:
    with pytest.raises(BadRequest) as refused:
        check(query)
    assert (refused.value.status, refused.value.loc) == (400, ("body", "query"))


def test_callers_inside_are_cut_not_refused() -> None:
    cut = RecallQuery("buzz " * 60_000).shortened(LIMIT)
    assert count_tokens(cut.check(LIMIT).query) <= LIMIT


def test_bytes_that_postgres_refuses_are_taken_out() -> None:
    assert check("Total\x00 sum\ud83d").query == "Total sum"


@pytest.mark.parametrize(
    ("asked", "searched"),
    [
        (None, None),
        ((), None),
        (("world", "experience", "observation"), None),
        (("world", "opinion"), ("world",)),
        (("opinion",), ()),
        (("observation", "world"), ("observation", "world")),
    ],
)
def test_types(asked: tuple[str, ...] | None, searched: tuple[str, ...] | None) -> None:
    assert check(types=asked).types == searched


def test_unknown_types_are_named() -> None:
    with pytest.raises(InvalidInput) as refused:
        check(types=("world", "rumour", "gossip"))
    message = "Invalid fact type(s): rumour, gossip. Must be one of: experience, observation, world"
    assert (refused.value.status, refused.value.message) == (422, message)


def test_tags_and_groups_exclude_each_other() -> None:
    with pytest.raises(InvalidInput):
        check(tags=("a",), tag_groups=TagAll((TagLeaf(("b",)),)))
    with pytest.raises(InvalidInput):
        check(tags=("a",), tags_match="most")


@pytest.mark.parametrize(
    ("tags", "match", "filters"),
    [
        (None, "any", False),
        ((), "all_strict", False),
        ((), "exact", True),
        (None, "exact", True),
        (("a",), "any", True),
    ],
)
def test_empty_tags_filter_only_where_they_must_be_exact(
    tags: tuple[str, ...] | None, match: str, filters: bool
) -> None:
    assert (check(tags=tags, tags_match=match).tag_filter is not None) is filters


def test_times_without_a_zone_are_utc_and_a_window_runs_forwards() -> None:
    later = datetime(2026, 7, 18, tzinfo=UTC)
    checked = check(query_timestamp=NOON, temporal_window=Window(NOON, later))
    assert checked.query_timestamp == NOON.replace(tzinfo=UTC)
    assert checked.temporal_window == Window(NOON.replace(tzinfo=UTC), later)
    with pytest.raises(InvalidInput) as refused:
        check(temporal_window=Window(later, NOON))
    assert refused.value.loc == ("body", "temporal_window")


def asked(text: str) -> Question:
    """Read a question as one who asks it at noon."""
    return read(RecallQuery(text), NOON.replace(tzinfo=UTC))


def test_a_question_is_read_into_terms_names_and_a_window() -> None:
    asked = read(check("What did Jude Okafor decide in March?"), NOON.replace(tzinfo=UTC))
    assert {term_hash("okafor"), term_hash("jude")} <= set(asked.terms)
    assert "jude okafor" in asked.names
    assert asked.window and (asked.window.start.month, asked.window.start.year) == (3, 2026)


def test_an_explicit_window_wins_over_the_words() -> None:
    window = Window(datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 2, 1, tzinfo=UTC))
    asked = read(check("What happened in March?", temporal_window=window), NOON.replace(tzinfo=UTC))
    assert asked.window and (asked.window.start, asked.window.end) == (window.start, window.end)


@pytest.mark.parametrize("query", ["what did we decide", "may I go with me", "Where did Lena speak?"])
def test_small_words_are_no_window(query: str) -> None:
    assert read(check(query), NOON.replace(tzinfo=UTC)).window is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Where is Robert Chen's bike?", "robert chen"),
        ("who is “Blue Whale Books”?", "blue whale books"),
        ("林晓雨在哪里？", "林晓雨"),
        ("Where is the C++ guild", "c++ guild"),
    ],
)
def test_names_are_looked_for_in_every_run_of_words(text: str, name: str) -> None:
    assert name in asked(text).names


def test_names_are_few_and_never_a_stop_word() -> None:
    found = asked("what will we do about the long way home " * 10).names
    assert len(found) <= 300 and "the" not in found and "we" not in found


@pytest.mark.parametrize(
    ("text", "speakers", "left"),
    [
        ("What did Ann's sister tell Bo?", ("Ann", "Bo"), "What did sister tell ?"),
        ("When did Jean-Luc Picard land, and why?", ("Jean-Luc Picard",), "When did land, and why?"),
        ("what did ann see", ("Ann",), "what did see"),
        ("What did Ann see?", ("Anna", "See"), "What did Ann see?"),
        ("What is the answer to this?", ("Answer",), "What is the answer to this?"),
        ("小夜子はどこで働いていますか", ("小夜子",), "はどこで働いていますか"),
        ("Ann?", ("Ann",), "Ann?"),
    ],
)
def test_names_of_speakers_are_taken_out(text: str, speakers: tuple[str, ...], left: str) -> None:
    read_ = asked(text)
    numbers = [speaker_number(name) for name in speakers]
    assert read_.without([number for number in numbers if number in read_.called]) == left
