"""Small items of a request share calls: each fact still comes to its own document, date and tags."""

from datetime import timedelta
from typing import Any

import pytest
from retain_world import AT, World, item

from memorybank.errors import ModelMalformed, ModelRateLimited, ModelRefused, ModelTruncated
from memorybank.model import EntityInput
from memorybank.operations import Status
from memorybank.testing.scripted_model import ScriptedModel, contents_of, one_fact_a_line

ITEMS = [
    item(f"Ada moved crate {n} to hall {n * 7}.", document_id=f"d{n:03}", timestamp=AT + timedelta(days=n))
    for n in range(100)
]
#: So many calls 100 of them take: thirty to a call.
SHARED = 4


@pytest.fixture
def model(world: World) -> ScriptedModel:
    world.model = ScriptedModel()
    return world.model


async def stored(world: World) -> list[tuple[str, str, int]]:
    """Document, text and days after AT of each fact."""
    rows = await world.rows(
        "SELECT d.id, u.text, u.mentioned_at FROM memory_unit u JOIN document d ON d.number = u.document_number"
        " AND d.bank = u.bank ORDER BY d.id"
    )
    return [(row["id"], row["text"], (row["mentioned_at"] - AT).days) for row in rows]


def expected(*but: int) -> list[tuple[str, str, int]]:
    return [(f"d{n:03}", one.content, n) for n, one in enumerate(ITEMS) if n not in but]


async def test_a_hundred_lines_take_a_handful_of_calls_and_keep_their_dates(
    world: World, model: ScriptedModel
) -> None:
    kept = await world.keep(*ITEMS)
    assert await stored(world) == expected()
    assert len(model.requests) == kept.result["llm_calls"] == SHARED
    assert kept.result["chunks_out"] == 100 and kept.error_message is None


@pytest.mark.parametrize("error", [ModelRefused("no"), ModelTruncated("cut"), ModelMalformed("bad")])
async def test_a_bad_item_fails_alone(world: World, model: ScriptedModel, error: Exception) -> None:
    model.answer = lambda text: error if "crate 41 " in text else one_fact_a_line(text)
    kept = await world.keep(*ITEMS)
    assert await stored(world) == expected(41)
    assert kept.result["extraction_errors_sample"] == [f"document d041, chunk 0: {error.code}"]  # type: ignore[attr-defined]
    # Its group is halved until it is alone; each half without it is one call.
    assert len(model.requests) <= SHARED + 2 * 5 + world.settings.retain.attempts


async def test_when_every_answer_is_bad_no_chunk_costs_more_than_its_attempts(
    world: World, model: ScriptedModel
) -> None:
    model.answer = lambda _: "no json"
    kept = await world.keep(*ITEMS)
    assert kept.status is Status.FAILED
    assert len(model.requests) <= len(ITEMS) * world.settings.retain.attempts


async def test_a_rate_limit_loses_nothing(world: World, model: ScriptedModel) -> None:
    model.answer = lambda _: ModelRateLimited("later", retry_after=60)
    kept = await world.keep(*ITEMS)
    assert (kept.status, await stored(world)) == (Status.PENDING, [])
    model.answer = one_fact_a_line
    await world.rows("UPDATE operation SET due_at = now() RETURNING 1")
    assert await world.work(kept.parts[0].id) is Status.COMPLETED
    assert await stored(world) == expected()


async def test_an_error_that_nobody_foresaw_costs_its_item_only(world: World) -> None:
    class Broken(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            if "crate 41 " in request.user:
                raise IndexError("nobody foresaw this")
            return await super().complete(request)

    world.model = Broken()
    [child] = (await world.submit(*ITEMS, interactive=True)).children
    with pytest.raises(IndexError):
        await world.work(child)
    assert await stored(world) == expected(41)


async def test_facts_that_cannot_be_placed_are_asked_for_one_by_one(
    world: World, model: ScriptedModel
) -> None:
    class Unnumbered(ScriptedModel):
        async def complete(self, request: Any) -> Any:
            if len(contents_of(request)) > 1:
                self.answer = lambda _: '{"facts": [{"what": "Something was done."}]}'
            else:
                self.answer = one_fact_a_line
            return await super().complete(request)

    world.model = Unnumbered()
    kept = await world.keep(*ITEMS[:5])
    assert [row[0] for row in await stored(world)] == [one.document_id for one in ITEMS[:5]]
    assert kept.result["facts_kept"] == 5 and kept.error_message is None


@pytest.mark.parametrize(
    "other",
    [
        {"tags": ("secret",)},
        {"metadata": {"source": "mail"}},
        {"context": "stand-up"},
        {"observation_scopes": "per_tag"},
        {"entities": (EntityInput("Ben"),)},
        {"content": "x" * 1600},
    ],
    ids=lambda other: next(iter(other)),
)
async def test_items_that_differ_in_more_than_their_date_share_no_call(
    world: World, model: ScriptedModel, other: dict[str, Any]
) -> None:
    said = {"content": "Ben has the key.", **other}
    await world.keep(ITEMS[0], item(said.pop("content"), document_id="b", **said), ITEMS[1])
    assert sorted(len(contents_of(request)) for request in model.requests) == [1, 2]
