"""Facts that people change while they are consolidated: nothing is learned of what they said before."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from consolidation_world import World

from memorybank.audience import Viewer
from memorybank.llm.client import ChatReply, ChatRequest
from memorybank.model import UnitStatus
from memorybank.operations import Status
from memorybank.retain.curating import Curate
from memorybank.retain.editing import Edit
from memorybank.settings import resolve_bank
from memorybank.testing.scripted_model import ScriptedModel

GRAZ, LINZ, SHELF = "Ana lives in Graz.", "Ana lives in Linz.", "Ben owns a shelf."
CORRECTED, OUT = Edit({"text": LINZ}), Edit({}, status=UnitStatus.INVALIDATED)


@dataclass
class Held(ScriptedModel):
    """A model that decides when it is let; `asked` tells that it was asked."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.set()
        await self.let.wait()
        return await super().complete(request)


async def edit(world: World, wanted: Edit) -> None:
    [row] = await world.rows(
        "SELECT id FROM memory_unit WHERE text IN (%s, %s) AND fact_type = 'world'", GRAZ, LINZ
    )
    curate = Curate(world.database, world.embedder, world.settings)
    config = resolve_bank(world.settings.bank, world.bank.config)
    await curate(world.bank, config, row["id"], wanted, Viewer.operator())


async def sources(world: World) -> set[str]:
    return {text for one in await world.observed() for text in one.sources}


@pytest.mark.parametrize(("wanted", "then"), [(CORRECTED, {LINZ, SHELF}), (OUT, {SHELF})])
async def test_a_change_while_the_model_thinks(world: World, wanted: Edit, then: set[str]) -> None:
    await world.keep(GRAZ, SHELF)
    world.model = Held()
    operation = await world.queue()
    round_ = asyncio.create_task(world.work(operation))
    await world.model.asked.wait()
    await edit(world, wanted)
    world.model.let.set()
    await round_
    assert GRAZ not in str(await world.observed())
    await world.consolidate()
    assert await sources(world) == then and GRAZ not in str(await world.observed())
    assert set((await world.facts()).values()) <= {"done", "pending"}


@pytest.mark.parametrize("wanted", [CORRECTED, OUT])
async def test_a_change_after_it(world: World, wanted: Edit) -> None:
    await world.keep(GRAZ, SHELF)
    await world.consolidate()
    before: Any = await sources(world)
    assert before == {GRAZ, SHELF}
    await edit(world, wanted)
    assert GRAZ not in str(await world.observed())
    await edit(world, Edit({"text": GRAZ}, status=UnitStatus.ACTIVE))
    await world.consolidate()
    assert await sources(world) == before


async def test_a_run_whose_facts_all_went_meanwhile_has_not_failed(world: World) -> None:
    """Also where the model said something else that could not be done."""
    await world.keep(GRAZ)
    wrong = {"action": "update", "observation": 99, "facts": [1], "text": GRAZ}
    world.model = Held(
        decide=lambda user: {"actions": [{"action": "create", "facts": [1], "text": GRAZ}, wrong]}
    )
    operation = await world.queue()
    round_ = asyncio.create_task(world.work(operation))
    await world.model.asked.wait()
    await edit(world, OUT)
    world.model.let.set()
    assert await round_ is Status.COMPLETED
    told = (await world.operation(operation)).error_message
    assert told == "1 actions of the model could not be taken (1 unknown_observation)"
