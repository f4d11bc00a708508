"""Field reports on recall, each by its code in the collection: what is kept, what is asked, what must come first."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple
from unicodedata import normalize

import pytest
from bank_calls import Bank

TALK = ("The weather was fine again.", "Somebody left the window open.", "Tea is in the kitchen.")


class Case(NamedTuple):
    """Texts that are kept, a text or a text with its day; a question; what must be the first hit."""

    code: str
    kept: tuple[str | tuple[str, str], ...]
    query: str
    first: str
    more: Mapping[str, Any] = MappingProxyType({})


def _id(code: str, text: str, query: str, *others: str) -> Case:
    """Something that is found by its sign alone, among texts that hold nearly the same."""
    return Case(code, (*others, *TALK, text), query, text)


DECIDED = (("We decided to rent the hall.", "2026-03-12"), ("We decided to sell the van.", "2026-07-15"))
BUILT = "The aqueduct was begun in 312 BC; the observatory plan runs to the year 12000."
FAIR, FONT = "Lena spoke at the 2026 Basel archive fair.", "On 20 Aug 2026 Lena chose a serif font."
RAN = (("Rosa ran the marathon.", "2026-07-24T02:00:00Z"), ("Rosa ran the relay.", "2026-07-25T02:00:00Z"))
DAY = {"start": "2026-07-25T00:00:00Z", "end": "2026-07-25T23:59:59Z"}
LONG_WORD = "".join(f"{number:x}Q" for number in range(700, 730))

CASES = [
    Case("B4", RAN, "What did Rosa run?", RAN[1][0], {"temporal_window": DAY}),
    Case("B6", DECIDED, "what did we decide in March", DECIDED[0][0], {"query_timestamp": "2026-07-17"}),
    Case("B6-may", DECIDED, "may I ask what we do in July", DECIDED[1][0], {"query_timestamp": "2026-07-17"}),
    Case("B8", (BUILT, *TALK), "When was the aqueduct begun?", BUILT),
    Case("B8-asked", (BUILT, *TALK), "What was begun in 312 BC?", BUILT),
    Case(
        "B8-ahead", (BUILT, *TALK), "What runs to the year 12000?", BUILT, {"query_timestamp": "9999-12-31"}
    ),
    Case("B10", (FAIR, FONT), "Where did Lena speak?", FAIR, {"query_timestamp": "2026-08-25"}),
    _id("E1", "Locker 41 holds skis.", "Locker 41", "Locker 42 holds tents.", "Locker 14 holds oars."),
    _id("E1-joined", "KL644 leaves at noon.", "KL 644", "KL645 leaves at noon.", "KL646 leaves at noon."),
    _id("E1-year", "The Q3 budget of 2025 is spent.", "Q3 budget 2025", "The Q3 budget of 2026 is spent."),
    _id(
        "F1-zh",
        "上周我们把库存系统迁移到了东京机房。",
        "库存系统",
        "我们明天开会。",
        "明日は京都で会議がある。",
    ),
    _id("F1-ja", "鈴は青い自転車を修理に出した。", "自転車", "我们明天开会。", "明日は京都で会議がある。"),
    _id("F1-ko", "우리 팀은 화요일마다 회고를 한다.", "회고", "회의는 내일이다.", "我们明天开会。"),
    _id("F1-mixed", "我们用 pgvector 做检索。", "pgvector", "我们明天开会。", "明日は京都で会議がある。"),
    _id("F4-nul", "Total\u0000: 40 EUR.".replace("\u0000", ""), "Tot\u0000al \ud83dEUR"),
    _id("F7", "The İstanbul ofisi is open.", "istanbul ofisi"),
    _id("F7-capital", "The istanbul office is open.", "İSTANBUL"),
    _id("F7-form", "The Cafe\u0301 Zoe\u0308 is open.", "Caf\u00e9 Zo\u00eb"),
    _id("F7-sharp", "The Straße is closed.", "STRASSE"),
    _id("F7-wide", "Door code ＺＸ-48211-Q.", "ZX-48211-Q"),
    _id("G4", "The buzz of bees.", "buzz " * 400),
    _id("G6", f"The key is {LONG_WORD}.", LONG_WORD, f"The key is {LONG_WORD[::-1]}."),
    _id("K3", "The spare key is with the florist.", "Who has the spare key?"),
    _id("K7", "Door code marker ZX-48211-Q.", "ZX-48211-Q", "Door code marker ZX-48212-Q."),
    _id("K7-version", "We run release 2.3.1.", "2.3.1", "We run release 2.3.2.", "We run release 2.31."),
    _id("K7-mail", "Write to ana@example.org.", "ana@example.org", "Write to bo@example.org."),
    _id("K7-address", "The printer is 192.168.0.7.", "192.168.0.7", "The printer is 192.168.0.8."),
    _id("K7-language", "Bo writes C++.", "C++", "Bo writes C.", "Bo writes C#."),
    _id("K7-number", "The meter shows 48211.", "48,211", "The meter shows 48212."),
    _id("stop words", "To be or not to be.", "to be or not to be", "What is it?"),
]


@pytest.fixture
def verbatim(bank: Bank) -> Bank:
    """A bank that keeps texts as they are."""
    bank.call("PATCH", "/config", {"updates": {"retain_extraction_mode": "chunks"}})
    return bank


def _items(kept: tuple[str | tuple[str, str], ...]) -> list[dict[str, str]]:
    """Each text a document of its own: those of one document lend each other context."""
    told = [(text,) if isinstance(text, str) else text for text in kept]
    fields = ("content", "timestamp")
    return [dict(zip(fields, one, strict=False)) | {"document_id": f"d{at}"} for at, one in enumerate(told)]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.code)
def test_first_hit(bank: Bank, case: Case) -> None:
    bank.retain(*_items(case.kept))
    hit = bank.recall(case.query, **case.more)["results"][0]
    # The day of what is relative or a year stands behind the words.
    assert re.sub(r" \([\d–-]+\)", "", hit["text"]) == normalize("NFC", case.first)


@pytest.mark.parametrize("query", ["what is it", "the", "_", "1", "it's", "и", "का", "x" * 400, "?!a"])
def test_little_to_search_for_still_finds_by_meaning(bank: Bank, query: str) -> None:
    """Stop words alone, one sign, one word that nothing holds."""
    bank.retain(*TALK)
    assert {hit["text"] for hit in bank.recall(query)["results"]} == set(TALK)


def test_k4_nothing_that_fits_scores_low(bank: Bank) -> None:
    engineering = ("The API gateway returns 429 under load.", "Deploys run through the canary ring.")
    bank.retain(*engineering, "Pods restart at night.")
    good = bank.recall("When does the API gateway return 429?")["results"][0]
    bad = bank.recall("best pizza dough")["results"][0]
    assert good["scores"]["final"] > 0.6 and bad["scores"]["final"] < 0.2
    floor = {"final": 0.3}
    answer = bank.recall("best pizza dough", min_scores=floor, include={"chunks": {}, "entities": {}})
    assert (answer["results"], answer["entities"], answer["chunks"]) == ([], {}, {})


def test_c4_kept_twice_is_found_once(verbatim: Bank) -> None:
    key = "The spare key is with the florist."
    verbatim.retain(*({"content": key, "document_id": f"key-{at}"} for at in range(3)))
    assert [hit["text"] for hit in verbatim.recall("spare key")["results"]] == [key]


def test_e4_two_of_one_name_are_told_apart(verbatim: Bank) -> None:
    """The bot and the planet: in one hit, and beside the hits, neither takes the place of the other."""
    kinds = [{"text": "Mercury", "type": kind} for kind in ("product", "place")]
    texts = ("Mercury is our finance bot.", "Mercury is visible before dawn.", "Mercury is not Mercury.")
    named = (kinds[:1], kinds[1:], kinds)
    verbatim.retain(*({"content": one, "entities": of} for one, of in zip(texts, named, strict=True)))
    answer = verbatim.recall("Mercury")
    assert {hit["text"] for hit in answer["results"]} == set(texts)
    assert all(hit["entities"] == ["Mercury"] for hit in answer["results"])
    listed = {item["id"] for item in verbatim.get("/entities")["items"]}
    told = answer["entities"]
    assert {entity["entity_id"] for entity in told.values()} == listed and len(listed) == 2
    assert {entity["canonical_name"] for entity in told.values()} == {"Mercury"} and "Mercury" in told


def test_k5_what_only_its_meaning_finds_stands_before_a_crowd_that_shares_a_name(verbatim: Bank) -> None:
    """No arm fills the answer alone: all that mention the name are near in the graph and hold its word."""
    target = "The physician prescribed antibiotics."
    names = {"entities": [{"text": "Ana"}]}
    crowd = [names | {"content": f"Ana wrote note {at}.", "document_id": f"n{at}"} for at in range(120)]
    verbatim.retain(*crowd, {"content": target, "document_id": "target"})
    answer = verbatim.recall("Which medicine did the doctor give to Ana?", budget="low")
    assert target in [hit["text"] for hit in answer["results"][:3]]


def test_m4_an_empty_bank_finds_nothing_in_any_way(bank: Bank) -> None:
    bank.call("PUT", "", {})
    include = {"entities": {}, "chunks": {}, "source_facts": {}}
    for more in ({}, {"types": ["world"]}, {"tags": ["a"]}, {"temporal_window": DAY}, {"budget": "high"}):
        answer = bank.recall("What did we decide in March?", include=include, **more)
        assert answer["source_facts_truncated"] is False
        assert [len(answer[part]) for part in ("results", *include)] == [0, 0, 0, 0]


def test_m5_n1_what_is_deleted_is_gone_here_and_stays_elsewhere(new_bank: Callable[[], Bank]) -> None:
    banks = [new_bank(), new_bank()]
    for bank in banks:
        bank.retain(*({"content": f"Rosa keeps {what}.", "document_id": what} for what in ("bees", "goats")))
    first, second = banks
    first.call("DELETE", "/documents/bees")
    asked: dict[str, Any] = {"include": {"entities": {}, "chunks": {}}, "trace": True}
    assert "bees" not in str({**first.recall("What does Rosa keep?", **asked), "trace": None})
    assert [hit["text"] for hit in first.recall("What does Rosa keep?")["results"]] == ["Rosa keeps goats."]
    assert len(second.recall("What does Rosa keep?")["results"]) == 2
    first.call("DELETE")
    assert first.recall("What does Rosa keep?")["results"] == []
    assert len(second.recall("What does Rosa keep?")["results"]) == 2


def test_l5_metadata_tags_and_place_come_with_the_hit(verbatim: Bank) -> None:
    said = {"metadata": {"page": "7"}, "tags": ["t"], "document_id": "d/1", "context": "stand-up"}
    verbatim.retain({"content": "Rosa keeps bees.", "timestamp": "2026-03-04T10:00:00+02:00", **said})
    hit = verbatim.recall("bees")["results"][0]
    assert {name: hit[name] for name in said} == said
    assert (hit["mentioned_at"], hit["type"]) == ("2026-03-04T08:00:00+00:00", "world")
    assert verbatim.get(f"/memories/{hit['id']}")["text"] == hit["text"] == "Rosa keeps bees."


@pytest.mark.parametrize(
    ("start", "end", "right"),
    [
        ("2026-03-01", "2026-03-31", True),
        ("2026-03-12T00:00:00Z", "2026-03-12T00:00:00Z", True),
        ("2026-01-01T10:00:00+02:00", "2026-01-01T08:00:00", True),
        ("0001-01-01", "2026-03-31", True),
        ("2026-01-01T10:00:00+02:00", "2026-01-01T07:59:59", False),
        ("2026-03-31", "2026-03-01", False),
    ],
)
def test_windows_of_time(bank: Bank, start: str, end: str, right: bool) -> None:
    bank.retain(*_items(DECIDED))
    body = {"query": "what did we decide", "temporal_window": {"start": start, "end": end}}
    answer = bank.call("POST", "/memories/recall", body)
    assert answer.status_code == (200 if right else 422)
    if right:
        # A window ranks, it never filters.
        assert len(answer.json()["results"]) == len(DECIDED)
        if start != "2026-01-01T10:00:00+02:00":
            assert answer.json()["results"][0]["text"] == DECIDED[0][0]
