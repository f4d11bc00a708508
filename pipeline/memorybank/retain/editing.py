"""What a person wants of a fact, and what becomes of it: corrected, invalidated, restored. Pure.

What is corrected stays as it was read too (`read_text`, `read_statement`): by that it is known when its text is read
again, so that it does not come back in its old wording. Where names are not given, they follow the words.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from memorybank.errors import BadRequest, Blocked, InvalidInput, WrongState
from memorybank.indexing import text_hash
from memorybank.llm.extractive import names
from memorybank.model import EntityInput, Fact, FactType, RetainItem, Source, UnitStatus
from memorybank.retain.facts import statement
from memorybank.retain.intake import MAX_CONTEXT_CHARS, given_entities
from memorybank.retain.screening import Screen, Violation
from memorybank.storage.curation import Stored
from memorybank.storage.history import Act
from memorybank.text import fold, name_key, normalize, visible

#: Characters of a fact at most: a chunk may be one. Of a reason.
MAX_TEXT_CHARS, MAX_REASON_CHARS = 8_000, 2_000


@dataclass(frozen=True)
class Edit:
    """What a fact shall say, by field: text, context, fact_type, occurred_start, occurred_end, mentioned_at.

    `entities`: what it shall name, if not None; `status`: what shall become of it, and for what `reason`; `among`: in
    which states it may be. `source`: who says it from then on, if not None.
    """

    fields: Mapping[str, Any]
    entities: tuple[EntityInput, ...] | None = None
    resolve_entities: bool = True
    status: UnitStatus | None = None
    reason: str | None = None
    among: tuple[UnitStatus, ...] = (UnitStatus.ACTIVE, UnitStatus.INVALIDATED)
    source: Source | None = None

    @property
    def corrects(self) -> bool:
        """Whether what the fact says or names is to be another."""
        return bool(self.fields) or self.entities is not None


@dataclass(frozen=True)
class Names:
    """The entities that a fact goes on to name, and the names that it gets."""

    kept: tuple[UUID, ...]
    added: tuple[EntityInput, ...]


@dataclass(frozen=True)
class Plan:
    """A fact as it shall be. `names` None: what it names stays; `afresh`: its words are searched for the first time."""

    fact: Stored
    acts: tuple[Act, ...]
    names: Names | None
    afresh: bool

    @property
    def searched(self) -> bool:
        """Whether it is to be found."""
        return self.fact.status == UnitStatus.ACTIVE


def clean(edit: Edit, screen: Screen) -> Edit:
    """Return an edit as it may be stored; raises InvalidInput, naming the field, and Blocked."""
    fields = dict(edit.fields)
    for name, longest in (("text", MAX_TEXT_CHARS), ("context", MAX_CONTEXT_CHARS)):
        if name in fields:
            fields[name] = _within(fields[name], name, longest)
    if "text" in fields and not visible(fields["text"]).strip():
        raise InvalidInput("text must not be blank", loc=("body", "text"), value=fields["text"])
    given = given_entities(edit.entities or (), ("body", "entities"))
    item = RetainItem(fields.get("text", ""), None, context=fields.get("context", ""), entities=given)
    screened, found = screen.item(item)
    if found and screen.blocks:
        raise Blocked([vars(Violation.of(0, found))])
    said = {"text": screened.content, "context": screened.context}
    return replace(
        edit,
        fields=fields | {name: value for name, value in said.items() if name in fields},
        entities=None if edit.entities is None else screened.entities,
        reason=screen.text(_within(edit.reason, "reason", MAX_REASON_CHARS)) if edit.reason else None,
    )


def _within(value: str, name: str, longest: int) -> str:
    cleaned = normalize(value)
    if len(cleaned) > longest:
        raise InvalidInput(f"at most {longest} characters", loc=("body", name))
    return cleaned


def planned(stored: Stored, edit: Edit, now: datetime, *, free_form: bool) -> Plan | None:
    """Return what becomes of a fact, None where nothing does; `free_form`: a text may name what is no label.

    Raises BadRequest for what may not be changed, and InvalidInput for what cannot be so.
    """
    _check(stored, edit)
    fact = _standing(stored, edit, now)
    said = _saying(stored, edit)
    named = _names(stored, edit, said.text, free_form)
    corrected = [name for name in edit.fields if getattr(said, name) != getattr(stored, name)]
    corrected += ["entities"] if named else []
    acts = [Act.FACT_EDITED] if corrected else []
    if fact.status != stored.status:
        acts.append(Act.FACT_RESTORED if fact.status == UnitStatus.ACTIVE else Act.FACT_INVALIDATED)
    if corrected:
        fact = _corrected(stored, said, corrected, now, fact)
    if fact == stored:
        return None
    afresh = (fact.text, fact.fact_type, fact.status) != (stored.text, stored.fact_type, stored.status)
    return Plan(fact, tuple(acts), named, afresh)


def _check(stored: Stored, edit: Edit) -> None:
    if stored.fact_type == FactType.OBSERVATION:
        raise BadRequest("an observation follows from facts: correct or invalidate those")
    if stored.status not in edit.among:
        raise WrongState(f"this memory is {stored.status}")
    if edit.corrects and UnitStatus.ACTIVE not in (stored.status, edit.status):
        raise WrongState(f'this memory is {stored.status}: restore it first (state "valid")')


def _standing(stored: Stored, edit: Edit, now: datetime) -> Stored:
    """Return the fact in the state that it shall have; a reason is that of the state."""
    if edit.status is None or (edit.status == stored.status and edit.reason in (None, stored.status_reason)):
        return stored
    at = stored.status_at if edit.status == stored.status else now
    return replace(stored, status=str(edit.status), status_reason=edit.reason, status_at=at)


def _saying(stored: Stored, edit: Edit) -> Stored:
    """Return the fact with what it shall say: a moment moves as a whole, and a place goes with its word."""
    said = replace(stored, **edit.fields)
    moment = stored.occurred_start if stored.occurred_start == stored.occurred_end else None
    if moment and "occurred_end" not in edit.fields:
        said = replace(said, occurred_end=said.occurred_start)
    start, end = said.occurred_start, said.occurred_end
    if start and end and end < start:
        raise InvalidInput("occurred_end is before occurred_start", loc=("body", "occurred_end"))
    if "mentioned_at" in edit.fields:
        said = replace(said, mentioned_at_assumed=False)
    if stored.place_name and _left_out(stored.place_name, stored.text, said.text):
        said = replace(said, place_name=None)
    return said


def _left_out(name: str, before: str, now: str) -> bool:
    return fold(name) in fold(before) and fold(name) not in fold(now)


def _names(stored: Stored, edit: Edit, text: str, free_form: bool) -> Names | None:
    """Return what a fact names when it says `text`; None where that stays. What it named already is the same thing."""
    known = {name_key(name): id_ for id_, name in stored.entities.items()}
    if edit.entities is not None:
        given = {name_key(one.text): one for one in edit.entities}
        kept = [id_ for key, id_ in known.items() if key in given]
        added = [one for key, one in given.items() if key not in known]
    else:
        kept = [id_ for id_, name in stored.entities.items() if not _left_out(name, stored.text, text)]
        said = {name_key(name) for name in names(stored.text)} if text != stored.text else set()
        new = names(text) if free_form and text != stored.text else []
        added = [EntityInput(name) for name in new if name_key(name) not in said | known.keys()]
    unchanged = not added and len(kept) == len(stored.entities)
    return None if unchanged else Names(tuple(kept), tuple(added))


def _corrected(stored: Stored, said: Stored, fields: list[str], now: datetime, fact: Stored) -> Stored:
    """Return the fact as corrected, in the state that `fact` has."""
    words = Fact(
        said.text,
        FactType(said.fact_type),
        said.occurred_start,
        said.occurred_end,
        place_name=said.place_name,
    )
    return replace(
        said,
        status=fact.status,
        status_reason=fact.status_reason,
        status_at=fact.status_at,
        statement=text_hash(statement(words)),
        read_statement=stored.read_statement or stored.statement,
        read_text=stored.read_text or stored.text,
        corrected=tuple(sorted({*stored.corrected, *fields})),
        edited_at=now,
    )
