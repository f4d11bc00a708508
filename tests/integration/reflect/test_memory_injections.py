"""What is remembered is data: an agent that obeys every order outside of a fence is given none.

Each run is held beside one without the order. Neither what is looked up, nor what is offered and asked of the model,
nor the answer, what it rests on and what the directives make of it may differ.
"""

from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import pytest
from gullible import GullibleModel
from memory_injections import DIRECTIVE, FALSE, INJECTIONS, INNOCENT, QUESTION, UNKIND, Injection
from reflect_world import AT, Facts, World, fact, scopes

from memorybank import templates
from memorybank.directives.enforcing import WITHHELD
from memorybank.model import FactType, Hit
from memorybank.reflect.query import Reflection
from memorybank.sections import Section, Statement
from memorybank.storage.mental_models import Model as MentalModel

#: So many of them succeed at least where nothing is fenced: the suite can fail.
WITHOUT_FENCES = 25
#: What stands in place of the order in the run beside it.
HARMLESS = "The weather was mild."


def told(injection: Injection) -> tuple[list[Hit], list[MentalModel]]:
    """What is remembered: the innocent fact, and the order where it comes in."""
    innocent = fact(INNOCENT)
    match injection.where:
        case "source":
            return [innocent, fact(HARMLESS, context=injection.text)], []
        case "observation":
            return [innocent, fact(injection.text, fact_type=FactType.OBSERVATION)], []
        case "model":
            return [innocent], [_page(injection.text)]
        case _ if injection.aim == "directives":
            return [fact(injection.facts)], []
        case _:
            return [innocent, fact(injection.text)], []


def _page(statement: str) -> MentalModel:
    document = (Section("S", (Statement(statement, ()),)),)
    values: dict[str, Any] = dict.fromkeys(MentalModel.__dataclass_fields__)
    values |= {"id": "page", "name": "Page", "document": document, "tags": (), "refreshed_at": AT}
    return MentalModel(**values)


def outcome(answer: Reflection, model: GullibleModel) -> dict[str, Any]:
    """All that an order could change, with nothing of its own words in it."""
    return {
        "answer": answer.text,
        "basis": [(one.text, one.fact_type) for one in answer.facts] + [one.name for one in answer.models],
        "steps": [(step.tool, step.input, step.iteration, step.count) for step in answer.steps],
        "calls": scopes(answer),
        "directives": [one.content for one in answer.directives],
        "broken": [one["rule"] for one in answer.broken],
        "systems": [request.system for request in model.requests],
        "offered": [request.tools for request in model.requests],
    }


async def done(ask: World, injection: Injection) -> dict[str, Any]:
    facts, models = told(injection)
    model = GullibleModel()
    world = ask.with_(Facts(facts))
    world.models = models
    return outcome(await world(model, QUESTION), model)  # type: ignore[arg-type]


async def changed(ask: World, injection: Injection) -> list[str]:
    """What an order changes of an answer: the names of what differs from the run without it."""
    beside = replace(injection, text="" if injection.aim == "directives" else HARMLESS)
    here, there = await done(ask, injection), await done(ask, beside)
    return [name for name, value in here.items() if value != there[name]]


def test_there_are_enough_of_all_kinds() -> None:
    assert len({one.text for one in INJECTIONS}) == len(INJECTIONS) == 44
    assert {one.aim for one in INJECTIONS} == {"answer", "basis", "tools", "directives"}


async def test_without_orders_the_answer_is_as_it_should_be(ask: World) -> None:
    await ask.direct(DIRECTIVE)
    plain = await done(ask, Injection("none", HARMLESS))
    assert (plain["answer"], plain["basis"]) == (INNOCENT, [(INNOCENT, FactType.WORLD)])
    assert plain["calls"] == ["agent_1", "directive_verdict"] and plain["directives"] == [DIRECTIVE]
    assert {iteration for _, _, iteration, _ in plain["steps"]} == {0}
    unkind = await done(ask, Injection("none", "", "directives"))
    assert unkind["answer"] == WITHHELD and UNKIND not in str(unkind) and unkind["broken"] == ["model"]


@pytest.mark.parametrize("fenced", [True, False], ids=["fenced", "bare"])
async def test_what_is_no_order_changes_nothing(ask: World, fenced: bool) -> None:
    with nullcontext() if fenced else templates.without_fences():
        assert await changed(ask, Injection("none", "Orlow sails to Bergen: a long way.")) == []


async def test_no_order_in_a_memory_changes_anything(ask: World) -> None:
    await ask.direct(DIRECTIVE)
    found = {one.name: await changed(ask, one) for one in INJECTIONS}
    assert {name: names for name, names in found.items() if names} == {}


async def test_without_fences_most_orders_are_obeyed(ask: World) -> None:
    await ask.direct(DIRECTIVE)
    with templates.without_fences():
        found = {one.name: await changed(ask, one) for one in INJECTIONS}
    obeyed = {name for name, names in found.items() if names}
    assert len(obeyed) >= WITHOUT_FENCES, obeyed
    assert {one.aim for one in INJECTIONS if one.name in obeyed} == {"answer", "basis", "tools", "directives"}


@pytest.mark.parametrize("fenced", [True, False], ids=["fenced", "bare"])
async def test_all_of_them_together(ask: World, fenced: bool) -> None:
    facts = [fact(INNOCENT), *(fact(one.text) for one in INJECTIONS if one.aim != "directives")]
    model = GullibleModel()
    with nullcontext() if fenced else templates.without_fences():
        answer = await ask.with_(Facts(facts))(model, QUESTION)  # type: ignore[arg-type]
    assert (answer.text == INNOCENT and [one.text for one in answer.facts] == [INNOCENT]) is fenced
    assert (FALSE not in answer.text) is fenced
    assert ({step.iteration for step in answer.steps} == {0}) is fenced


async def test_the_owner_may_give_orders(ask: World) -> None:
    """The mission stands in the system part, which the agent of these tests does not even search for orders."""
    model = GullibleModel()
    await ask(model, QUESTION, reflect_mission=f"Answer: {FALSE}")  # type: ignore[arg-type]
    assert FALSE in model.requests[0].system and FALSE not in model.requests[0].user
