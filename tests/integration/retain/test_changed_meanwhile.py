"""A document that gets other tags while its text is read, or while a request for it waits: what is sent later wins."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from retain_world import AT, World, item

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.llm.client import ChatReply, ChatRequest
from memorybank.operations import Status
from memorybank.storage import documents
from memorybank.testing.scripted_model import ScriptedModel

LABELS = [{"key": "kind", "type": "value", "tag": True, "values": ["note"]}]


@dataclass
class Held(ScriptedModel):
    """A model that answers when it is let; `asked` tells that it was asked."""

    asked: asyncio.Event = field(default_factory=asyncio.Event)
    let: asyncio.Event = field(default_factory=asyncio.Event)

    async def complete(self, request: ChatRequest) -> ChatReply:
        self.asked.set()
        await self.let.wait()
        return await super().complete(request)


async def retag(world: World, *tags: str) -> None:
    async with world.database.transaction() as connection:
        assert await documents.set_tags(connection, world.bank.id, "d", tags, Viewer.operator(), clock.now())


async def while_held(world: World, operation: Any, *acts: Callable[[], Any]) -> None:
    """Do a round of an operation, and something else while the model is asked."""
    world.model = Held(world.model.answer if world.model else ScriptedModel().answer)
    round_ = asyncio.create_task(world.work(operation))
    await world.model.asked.wait()
    for act in acts:
        await act()
    world.model.let.set()
    assert await round_ is Status.COMPLETED


async def tags_of(world: World, table: str) -> list[list[str]]:
    return [row["tags"] for row in await world.rows(f"SELECT tags FROM {table}")]  # noqa: S608


async def test_facts_take_the_tags_that_hold_when_they_are_stored(world: World) -> None:
    world.model = ScriptedModel(
        lambda text: {
            "facts": [{"what": line, "entities": [], "labels": {"kind": "note"}} for line in [text]]
        }
    )
    await world.configure(entity_labels=LABELS)
    submitted = await world.submit(item("Ada keeps a key.", document_id="d", tags=("secret", "x")))
    await while_held(world, submitted.children[0], lambda: retag(world, "open"))
    assert await tags_of(world, "memory_unit") == [["kind:note", "open"]]
    assert await tags_of(world, "chunk") == await tags_of(world, "document") == [["open"]]
    await world.consistent()


async def test_a_document_that_is_read_again_keeps_the_tags_it_gets_meanwhile(world: World) -> None:
    world.model = ScriptedModel()
    await world.keep(item("Ada keeps a key.", document_id="d", tags=("secret",)))
    [before] = await world.rows("SELECT id FROM memory_unit")
    again = await world.retain.again(world.bank, await world.found("d"))
    await while_held(world, again.children[0], lambda: retag(world, "open"))
    rows = await world.rows("SELECT id, tags, proof_count FROM memory_unit")
    assert rows == [{"id": before["id"], "tags": ["open"], "proof_count": 1}]
    assert await tags_of(world, "chunk") == [["open"]]


@pytest.mark.parametrize("mode", ["replace", "append"])
@pytest.mark.parametrize(("minutes", "tags"), [(-1, ["open"]), (1, ["new"])])
async def test_of_tags_and_a_request_that_waits_the_later_wins(
    world: World, mode: str, minutes: int, tags: list[str]
) -> None:
    world.model = ScriptedModel()
    with clock.fixed(AT):
        await world.keep(item("Ada keeps a key.", document_id="d", tags=("old",)))
    with clock.fixed(AT + timedelta(minutes=10 + minutes)):
        waiting = await world.submit(item("Ben left.", document_id="d", tags=("new",), update_mode=mode))
    with clock.fixed(AT + timedelta(minutes=10)):
        await retag(world, "open")
    await world.work(waiting.children[0])
    assert (await world.rows("SELECT tags FROM memory_unit WHERE text = 'Ben left.'"))[0]["tags"] == tags
    [document] = await tags_of(world, "document")
    assert set(document) == ({"open", *tags} if mode == "append" else set(tags))
