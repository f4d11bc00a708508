"""Workspace facts: what people and agents keep, see, correct, pin and forget, each in their own circle."""

from typing import Annotated
from uuid import UUID

from fastapi import Query

from memorybank.audience import AudienceKind, Principal
from memorybank.curate.facts import Fact, Wanted
from memorybank.curate.scopes import CIRCLES, NewFact, Told
from memorybank.errors import InvalidInput, NotFound
from memorybank.memory import MemoryBank
from memorybank.serve.actions.translate import check_level
from memorybank.serve.calls import BANK, Rule, call
from memorybank.serve.cursors import cursor, position
from memorybank.serve.http.schemas.facts import (
    AtPlace,
    CreateFactRequest,
    FactLimits,
    FactListResponse,
    FactResponse,
    FactSource,
    FactsQuery,
    GivenSource,
    KeptBy,
    Nothing,
    RecalledFactsResponse,
    RecallFactsRequest,
    UpdateFactRequest,
)
from memorybank.serve.http.schemas.wire import stamp
from memorybank.storage.stated import MAX_FACTS, Page
from memorybank.text import normalize

FACTS = BANK + "/facts"
#: What people call the circles that a fact may have.
_SCOPES = {circle: scope.value for scope, circle in CIRCLES.items()}


@call("GET", FACTS, rule=Rule.SEES)
async def list_facts(
    memory: MemoryBank, principal: Principal, bank_id: str, asked: Annotated[FactsQuery, Query()]
) -> FactListResponse:
    """List what the caller may see of all that can be recalled, the newest first."""
    wanted = Wanted(asked.kind, asked.scope, asked.place, asked.pinned, asked.q)
    after = None if asked.cursor is None else position(asked.cursor)
    found = await memory.facts.list_(await memory.shelf(bank_id), principal, wanted, Page(asked.limit, after))
    return FactListResponse(
        items=[_fact(fact) for fact in found.facts],
        next_cursor=cursor(found.facts[-1].memory) if found.more else None,
        limits=FactLimits(facts=found.count, max=MAX_FACTS),
    )


@call("POST", FACTS, status=201, rule=Rule.SEES)
async def create_fact(
    memory: MemoryBank, principal: Principal, bank_id: str, body: CreateFactRequest
) -> FactResponse:
    """Keep a fact for one person, a conversation or the workspace; never wider than where it was said."""
    check_level(body.data_level, ("body", "data_level"))
    told = None if body.source is None else _told(body.source)
    scope, place = (None, None) if body.for_ is None else (body.for_.scope, body.for_.place)
    new = NewFact(body.text, scope, place, told, body.agent)
    return _fact(await memory.facts.add(await memory.shelf(bank_id, made=True), principal, new))


@call("POST", FACTS + "/recall", rule=Rule.SEES, reads=True)
async def recall_facts(
    memory: MemoryBank, principal: Principal, bank_id: str, body: RecallFactsRequest
) -> RecalledFactsResponse:
    """Return the facts that apply where an agent is, at most 40: pinned ones, then the best for the query, else the
    newest.
    """
    shelf = await memory.shelf(bank_id)
    found = await memory.facts.recall(shelf, principal, body.place, body.person, body.query)
    return RecalledFactsResponse(facts=[_fact(fact) for fact in found])


@call("GET", FACTS + "/{fact_id}", rule=Rule.SEES)
async def get_fact(
    memory: MemoryBank, principal: Principal, bank_id: str, fact_id: str, at: Annotated[AtPlace, Query()]
) -> FactResponse:
    """Return one fact."""
    shelf = await memory.shelf(bank_id)
    return _fact(await memory.facts.get(shelf, principal, _id(fact_id), at.place))


@call("PATCH", FACTS + "/{fact_id}", rule=Rule.SEES)
async def update_fact(
    memory: MemoryBank,
    principal: Principal,
    bank_id: str,
    fact_id: str,
    at: Annotated[AtPlace, Query()],
    body: UpdateFactRequest,
) -> FactResponse:
    """Correct a fact in place, which its corrector says from then on; pin it, or take the pin away."""
    if body.text is None and body.pinned is None:
        raise InvalidInput("say what is to be changed: text or pinned", loc=("body",))
    changed = await memory.facts.change(
        await memory.shelf(bank_id),
        principal,
        _id(fact_id),
        text=body.text,
        pinned=body.pinned,
        place=at.place,
    )
    return _fact(changed)


@call("DELETE", FACTS + "/{fact_id}", status=204, rule=Rule.SEES)
async def delete_fact(
    memory: MemoryBank, principal: Principal, bank_id: str, fact_id: str, at: Annotated[AtPlace, Query()]
) -> Nothing:
    """Forget a fact with all that was learned from it. It may be learned again."""
    await memory.facts.forget(await memory.shelf(bank_id), principal, _id(fact_id), at.place)
    return Nothing()


def _id(given: str) -> UUID:
    """Return the id of a fact; what is no id is an unknown one."""
    try:
        return UUID(given)
    except ValueError as error:
        raise NotFound(f"Memory {given} not found") from error


def _told(source: GivenSource) -> Told:
    ref = source.message_id if source.kind == "message" else source.session_id
    return Told(source.kind, source.place, source.person, ref and normalize(ref), source.at)


def _fact(fact: Fact) -> FactResponse:
    memory = fact.memory
    source = None
    if memory.source is not None:
        place, ref = (memory.source.place, memory.source.ref) if fact.shows_source else (None, None)
        at = stamp(memory.source.at) or ""
        source = FactSource(kind=memory.source.kind, place=place, ref=ref, person=memory.source.person, at=at)
    elif memory.document_id is not None:
        at = stamp(memory.mentioned_at or memory.created_at) or ""
        source = FactSource(kind="session", place=None, ref=memory.document_id, person=None, at=at)
    return FactResponse(
        id=memory.id,
        kind=memory.memory_kind,
        text=memory.text,
        scope=_SCOPES.get(memory.audience.kind, memory.audience.kind.value),
        place=memory.audience.place,
        person=memory.audience.person if memory.audience.kind is AudienceKind.DM else None,
        pinned=memory.pinned_at is not None,
        kept_by=KeptBy(
            kind="person" if memory.kept_by_kind == "person" else "agent",
            id=memory.kept_by,
            name=fact.kept_by_name,
        ),
        source=source,
        corrected=memory.corrected,
        created_at=stamp(memory.created_at) or "",
        updated_at=stamp(memory.updated_at) or "",
        can_change=fact.can_change,
    )
