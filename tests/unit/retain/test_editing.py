"""What becomes of a fact that people change."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest

from memorybank.errors import BadRequest, InvalidInput
from memorybank.model import EntityInput, UnitStatus
from memorybank.retain.editing import Edit, Names, Plan, planned
from memorybank.storage.curation import Stored
from memorybank.storage.history import Act

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
NOW = AT + timedelta(days=30)
ANA, GRAZ, CHEN, MOOD = (uuid4() for _ in range(4))
FACT = Stored(
    id=uuid4(),
    audience_id=1,
    document_number=1,
    position=0,
    fact_type="world",
    text="Ana lives in Graz.",
    context="mail",
    place_name="Graz",
    occurred_start=AT,
    occurred_end=AT,
    mentioned_at=AT,
    mentioned_at_assumed=True,
    statement=b"as read",
    status="active",
    status_reason=None,
    status_at=None,
    corrected=(),
    read_text=None,
    read_statement=None,
    edited_at=None,
    revision=3,
    entities={ANA: "Ana", GRAZ: "Graz", CHEN: "Robert Chen", MOOD: "mood:calm"},
)
GONE = replace(FACT, status="invalidated", status_reason="old", status_at=AT)


def plan(stored: Stored = FACT, *, free_form: bool = True, **edit: Any) -> Plan:
    made = planned(stored, wanted(**edit), NOW, free_form=free_form)
    assert made is not None
    return made


def wanted(
    names: list[str] | None = None, status: str | None = None, reason: str | None = None, **fields: Any
) -> Edit:
    given = None if names is None else tuple(map(EntityInput, names))
    return Edit(fields, given, status=UnitStatus(status) if status else None, reason=reason)


def test_what_was_read_is_kept_the_first_time_only() -> None:
    once = plan(text="Ana lives in Linz.").fact
    assert (once.read_text, once.read_statement) == (FACT.text, b"as read")
    assert once.statement not in (None, FACT.statement) and once.edited_at == NOW
    twice = plan(once, text="Ana lives in Wels.", context="chat").fact
    assert (twice.read_text, twice.read_statement) == (FACT.text, b"as read")
    assert twice.corrected == ("context", "entities", "text")


@pytest.mark.parametrize(
    ("stored", "edit"),
    [
        (FACT, {"text": FACT.text, "context": "mail"}),
        (FACT, {"names": ["ana", "GRAZ", "Robert  Chen", "mood:calm"]}),
        (FACT, {"status": "active"}),
        (GONE, {"status": "invalidated"}),
        (GONE, {"status": "invalidated", "reason": "old"}),
    ],
)
def test_nothing(stored: Stored, edit: dict[str, Any]) -> None:
    assert planned(stored, wanted(**edit), NOW, free_form=True) is None


@pytest.mark.parametrize(
    ("stored", "edit", "acts", "afresh", "searched"),
    [
        (FACT, {"text": "x"}, [Act.FACT_EDITED], True, True),
        (FACT, {"context": "x"}, [Act.FACT_EDITED], False, True),
        (FACT, {"names": []}, [Act.FACT_EDITED], False, True),
        (FACT, {"fact_type": "experience"}, [Act.FACT_EDITED], True, True),
        (FACT, {"status": "invalidated"}, [Act.FACT_INVALIDATED], True, False),
        (FACT, {"text": "x", "status": "invalidated"}, [Act.FACT_EDITED, Act.FACT_INVALIDATED], True, False),
        (GONE, {"status": "active"}, [Act.FACT_RESTORED], True, True),
        (GONE, {"text": "x", "status": "active"}, [Act.FACT_EDITED, Act.FACT_RESTORED], True, True),
        (GONE, {"status": "invalidated", "reason": "new"}, [], False, False),
    ],
)
def test_acts(stored: Stored, edit: dict[str, Any], acts: list[Act], afresh: bool, searched: bool) -> None:
    made = plan(stored, **edit)
    assert (list(made.acts), made.afresh, made.searched) == (acts, afresh, searched)


@pytest.mark.parametrize(
    ("stored", "edit", "status"),
    [
        (FACT, {"status": "invalidated", "reason": "why"}, ("invalidated", "why", NOW)),
        (FACT, {"status": "invalidated"}, ("invalidated", None, NOW)),
        (GONE, {"status": "invalidated", "reason": "new"}, ("invalidated", "new", AT)),
        (GONE, {"status": "active"}, ("active", None, NOW)),
        (FACT, {"text": "x", "reason": "a reason without a state"}, ("active", None, None)),
    ],
)
def test_states(stored: Stored, edit: dict[str, Any], status: tuple[Any, ...]) -> None:
    fact = plan(stored, **edit).fact
    assert (fact.status, fact.status_reason, fact.status_at) == status


@pytest.mark.parametrize(
    ("edit", "kept", "added"),
    [
        ({"text": "Ana lives in Linz."}, {ANA, CHEN, MOOD}, ["Linz"]),
        ({"text": "Ana Berger lives in Graz."}, {ANA, GRAZ, CHEN, MOOD}, ["Ana Berger"]),
        ({"text": "Nobody lives there."}, {CHEN, MOOD}, []),
        ({"names": ["Graz", "Linz", "linz"]}, {GRAZ}, ["linz"]),
        ({"names": ["mood:calm", "Ana"]}, {ANA, MOOD}, []),
        ({"names": []}, set(), []),
        ({"text": "Ana lives in Linz.", "names": ["Ana"]}, {ANA}, []),
    ],
)
def test_names_follow_the_words_or_are_those_given(
    edit: dict[str, Any], kept: set[UUID], added: list[str]
) -> None:
    names = plan(**edit).names
    assert isinstance(names, Names)
    assert (set(names.kept), [one.text for one in names.added]) == (kept, added)


def test_a_bank_of_labels_gets_no_names_from_a_text() -> None:
    names = plan(free_form=False, text="Ana lives in Linz.").names
    assert names == Names((ANA, CHEN, MOOD), ())
    assert plan(text="Ana is living in Graz.").names is None


@pytest.mark.parametrize(
    ("edit", "period"),
    [
        ({"occurred_start": NOW}, (NOW, NOW)),
        ({"occurred_start": None}, (None, None)),
        ({"occurred_end": NOW}, (AT, NOW)),
        ({"occurred_end": None}, (AT, None)),
        ({"occurred_start": AT - timedelta(1), "occurred_end": NOW}, (AT - timedelta(1), NOW)),
    ],
)
def test_a_moment_moves_as_a_whole(edit: dict[str, Any], period: tuple[Any, Any]) -> None:
    fact = plan(**edit).fact
    assert (fact.occurred_start, fact.occurred_end) == period


def test_what_begins_without_an_end_goes_on() -> None:
    undated = replace(FACT, occurred_start=None, occurred_end=None)
    fact = plan(undated, occurred_start=NOW).fact
    assert (fact.occurred_start, fact.occurred_end) == (NOW, None)


def test_a_place_goes_with_its_word_and_a_date_that_is_given_is_no_guess() -> None:
    assert plan(text="Ana lives in Linz.").fact.place_name is None
    assert plan(text="Ana works in Graz.").fact.place_name == "Graz"
    assert plan(context="x").fact.mentioned_at_assumed
    assert not plan(mentioned_at=NOW).fact.mentioned_at_assumed


@pytest.mark.parametrize(
    ("stored", "edit", "error", "match"),
    [
        (replace(FACT, fact_type="observation"), {"text": "x"}, BadRequest, "observation"),
        (replace(FACT, fact_type="observation"), {"status": "invalidated"}, BadRequest, "observation"),
        (replace(FACT, status="superseded"), {"status": "active"}, BadRequest, "superseded"),
        (GONE, {"text": "x"}, BadRequest, "restore it first"),
        (GONE, {"names": []}, BadRequest, "restore it first"),
        (GONE, {"context": "x", "status": "invalidated"}, BadRequest, "restore it first"),
        (FACT, {"occurred_end": AT - timedelta(1)}, InvalidInput, "before"),
    ],
)
def test_what_may_not_be_changed(
    stored: Stored, edit: dict[str, Any], error: type[Exception], match: str
) -> None:
    with pytest.raises(error, match=match):
        planned(stored, wanted(**edit), NOW, free_form=True)
