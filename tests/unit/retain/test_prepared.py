"""From a chunk and its facts to rows: addresses, order in time, what comes from the item, index terms."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

from memorybank.indexing import index_terms, text_hash
from memorybank.model import EntityInput, Fact, FactType
from memorybank.retain.staging import joined
from memorybank.retain.work import Extraction
from memorybank.retain.writing import prepared
from memorybank.storage.chunks import About, Pending
from memorybank.text import term_hash, terms

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
ABOUT = About("chat", AT, True, ("a",), {"k": "v"}, "shared", (("Ada", "PERSON"),))


def chunk(ordinal: int = 3, about: About = ABOUT) -> Pending:
    return Pending(uuid4(), 7, "doc", ordinal, 9, "text", about)


def test_a_unit_takes_its_place_and_its_item_from_the_chunk() -> None:
    done = prepared(
        chunk(), Extraction((Fact("one"), Fact("two", FactType.EXPERIENCE, tags=("b", "a")))), True
    )
    one, two = done.facts
    assert (one.document, one.position, two.position) == (7, 3 * 1024, 3 * 1024 + 1)
    assert (two.fact_type, two.tags, two.context, two.metadata) == (
        "experience",
        ("a", "b"),
        "chat",
        {"k": "v"},
    )
    assert (one.observation_scopes, one.mentioned_at_assumed) == ("shared", True)
    assert one.text_hash == text_hash("one") != two.text_hash


def test_facts_of_one_moment_keep_their_order() -> None:
    facts = [*prepared(chunk(0), Extraction((Fact("a"), Fact("b"))), True).facts]
    facts += prepared(chunk(1), Extraction((Fact("c"),)), True).facts
    said = [fact.mentioned_at for fact in facts if fact.mentioned_at]
    assert said == sorted(set(said))
    assert said[0] == AT
    assert said[2] == AT + timedelta(milliseconds=10)


def test_a_moment_moves_with_its_fact_and_a_range_stays() -> None:
    day = (datetime(2026, 2, 27, tzinfo=UTC), datetime(2026, 2, 27, 23, 59, 59, 999999, tzinfo=UTC))
    moment, ranged, open_ended = prepared(
        chunk(1),
        Extraction(
            (
                Fact("a", occurred_start=AT, occurred_end=AT),
                Fact("b", occurred_start=day[0], occurred_end=day[1]),
                Fact("c", occurred_start=day[0]),
            )
        ),
        True,
    ).facts
    assert moment.occurred_start == moment.occurred_end == AT + timedelta(milliseconds=10)
    assert (ranged.occurred_start, ranged.occurred_end) == day
    assert (open_ended.occurred_start, open_ended.occurred_end) == (day[0], None)


def test_a_fact_with_a_stamp_of_its_own_is_not_assumed() -> None:
    [fact] = prepared(chunk(0), Extraction((Fact("a", mentioned_at=AT - timedelta(days=3)),)), True).facts
    assert (fact.mentioned_at, fact.mentioned_at_assumed) == (AT - timedelta(days=3), False)


def test_no_date_stays_none() -> None:
    [fact] = prepared(chunk(about=About()), Extraction((Fact("a"),)), True).facts
    assert (fact.mentioned_at, fact.occurred_start, fact.occurred_end) == (None, None, None)
    last = datetime.max.replace(tzinfo=UTC)
    [end] = prepared(chunk(about=About(mentioned_at=last)), Extraction((Fact("a"),)), True).facts
    assert end.mentioned_at == last


def test_names_of_the_caller_are_kept_whatever_the_bank_allows() -> None:
    extraction = Extraction((Fact("a", entities=(EntityInput("Ben"),)),))
    assert prepared(chunk(), extraction, True).names == ((EntityInput("Ada", "PERSON"), EntityInput("Ben")),)
    assert prepared(chunk(), extraction, False).names == ((EntityInput("Ada", "PERSON"),),)


def test_index_terms_are_the_tokenizers_counted() -> None:
    text = "Door code ZX-48211-Q opens the door"
    counted = index_terms(text)
    assert sum(counted.values()) == len(terms(text))
    assert counted[term_hash("door")] == 2


def test_texts_of_a_document_are_joined_and_json_arrays_become_one() -> None:
    assert joined(["one"]) == "one"
    assert joined(["one", "two"]) == "one\n\ntwo"
    assert joined(['[{"a": 1.0}]', ' [ {"b":2} , {"c":3} ] ']) == '[{"a": 1.0},{"b":2},{"c":3}]'
    assert joined(['[{"a": 1}]', "two"]) == '[{"a": 1}]\n\ntwo'
