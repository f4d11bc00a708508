"""When models are refreshed by themselves: after consolidation, by the clock, not too often, never twice at once."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from model_world import OPERATOR, World

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import NotFound
from memorybank.operations import Status
from memorybank.storage import banks, mental_models, mentions

FACTS = [f"Ada keeps item {n} in hall {n * 7}" for n in range(1, 4)]


async def refreshed(world: World) -> list[str]:
    """Sweep, do the refreshes that wait, and return of which models."""
    await world.sweep()
    waiting = await world.waiting()
    for operation in waiting:
        assert await world.work(operation) is Status.COMPLETED
    return sorted([(await world.operation(one)).result["mental_model_id"] for one in waiting])


async def test_after_consolidation_those_with_news_in_their_scope(world: World) -> None:
    await world.keep(*FACTS, tags=("a",))
    for id_, tags, more in (
        ("follows", (), {"refresh_after_consolidation": True}),
        ("tagged", ("a",), {"refresh_after_consolidation": True}),
        ("elsewhere", ("b",), {"refresh_after_consolidation": True}),
        ("grouped", (), {"refresh_after_consolidation": True, "tag_groups": [{"not": {"tags": ["a"]}}]}),
        ("observing", (), {"refresh_after_consolidation": True, "fact_types": ["observation"]}),
        ("asked", (), {}),
    ):
        await world.make(id_, tags=tags, **more)
    assert await refreshed(world) == [], "nothing was consolidated"
    await world.consolidate()
    assert await refreshed(world) == ["follows", "observing", "tagged"]
    for id_ in ("follows", "observing", "tagged", "elsewhere", "grouped"):
        assert not (await world.get(id_)).is_stale
    assert await refreshed(world) == []
    await world.consolidate()
    assert await refreshed(world) == [], "a run without news wants nothing"
    await world.keep("Ada keeps item 9 in hall 63", tags=("b",))
    await world.consolidate()
    assert await refreshed(world) == ["elsewhere", "follows", "grouped", "observing"]


async def test_not_before_the_last_round_of_a_run(world: World) -> None:
    await world.keep(*FACTS)
    await world.make(refresh_after_consolidation=True)
    async with world.database.connection() as connection:
        config = {"consolidation_max_memories_per_round": 1, "consolidation_llm_batch_size": 1}
        world.bank = await banks.set_config(connection, world.bank, config, clock.now())
    seen = []
    work = world.work

    async def watched(operation: Any, handlers: Any = None) -> Any:
        seen.append((await world.rows("SELECT wanted_at FROM mental_model"))[0]["wanted_at"])
        return await work(operation, handlers)

    world.work = watched  # type: ignore[method-assign]
    await world.consolidate()
    assert len(seen) > 1 and set(seen) == {None}
    assert await world.sweep() == 1


@pytest.mark.parametrize("whose", ["model", "bank", "server"])
async def test_not_sooner_than_it_may(world: World, whose: str) -> None:
    await world.keep(*FACTS)
    own = {"min_refresh_interval_seconds": 60} if whose == "model" else {}
    await world.make(refresh_after_consolidation=True, **own)
    if whose == "bank":
        async with world.database.connection() as connection:
            config = {"mental_model_min_refresh_interval_seconds": 60}
            world.bank = await banks.set_config(connection, world.bank, config, clock.now())
    interval = 60 if whose == "server" else 0

    async def sweep() -> int:
        async with world.database.transaction() as connection:
            return await mental_models.sweep(connection, interval, lambda cron, at: None)

    await world.consolidate()
    assert await sweep() == 1, "the first build waits for nothing"
    [operation] = await world.waiting()
    await world.work(operation)
    await world.keep("Ada keeps item 9 in hall 63")
    await world.consolidate()
    assert await sweep() == 0
    assert (await world.refresh()).status is Status.COMPLETED, "who asks need not wait"
    await world.keep("Ada keeps item 10 in hall 70")
    await world.consolidate()
    assert await sweep() == 0
    await world.run("UPDATE mental_model SET refreshed_at = now() - interval '61 seconds'")
    assert await sweep() == 1


async def test_by_the_clock(world: World) -> None:
    await world.keep(*FACTS)
    await world.make(refresh_cron="0 9 * * *")
    await world.change(trigger={"refresh_cron": "0 9 * * *"}, cron_due_at=clock.now() + timedelta(hours=1))
    assert await refreshed(world) == []
    await world.change(trigger={"refresh_cron": "0 9 * * *"}, cron_due_at=clock.now() - timedelta(days=3))
    assert await refreshed(world) == ["page"], "hours that were missed count once"
    [row] = await world.rows("SELECT cron_due_at FROM mental_model")
    due: datetime = row["cron_due_at"].astimezone(UTC)
    assert (due.hour, due.minute) == (9, 0) and timedelta() < due - clock.now() <= timedelta(days=1)
    assert await refreshed(world) == []
    await world.change(trigger={})
    assert (await world.rows("SELECT cron_due_at FROM mental_model")) == [{"cron_due_at": None}]


async def test_triggers_coalesce_and_refreshes_of_a_model_go_one_by_one(world: World) -> None:
    await world.keep(*FACTS)
    await world.make()
    first = await world.ask()
    assert await world.ask() == first
    complete, others = world.model.complete, []

    async def answered(request: Any) -> Any:
        others.append(await world.ask())
        assert await world.work(others[-1]) is None, "another refresh of the model runs"
        return await complete(request)

    world.model.complete = answered
    assert await world.work(first) is Status.COMPLETED
    assert others[0] != first, "who has begun may have passed what is new"
    assert await world.waiting() == others[:1]


async def test_a_model_never_looks_beyond_its_audience(world: World) -> None:
    [row] = await world.rows(
        "INSERT INTO audience (bank, kind, agent) VALUES (%s, 'agent', gen_random_uuid()) RETURNING id",
        world.bank.id,
    )
    await world.keep(*FACTS)
    await world.make(refresh_after_consolidation=True)
    await world.refresh()
    await world.keep("Ada keeps a secret in hall 99", audience=row["id"])
    assert not (await world.get()).is_stale
    await world.consolidate()
    await world.refresh()
    assert "secret" not in await world.says()
    assert all("secret" not in request.user for request in world.model.requests)
    with pytest.raises(NotFound):
        await world.get(viewer=Viewer(audiences=(row["id"],)))
    async with world.database.connection() as connection:
        model = await world.get()
        assert await mental_models.list_(
            connection, world.bank.id, Viewer(audiences=(row["id"],)), mental_models.ALL, mental_models.Page()
        ) == ([], 0)
        assert await mental_models.history(connection, Viewer(audiences=(row["id"],)), model.number) == []
        found = await mental_models.sources(connection, Viewer(audiences=(row["id"],)), [model])
        assert found == {model.number: []}


async def test_what_is_written_while_it_reads_is_news(world: World) -> None:
    await world.keep(*FACTS)
    await world.make()
    model = await world.get()
    async with world.database.transaction() as writer:
        await mentions.beside(writer, world.bank.id, world.audience, [])
        early = clock.now()
        await world.keep("Ada keeps item 9 in hall 63")
        async with world.database.connection() as connection:
            seen = await mental_models.seen(connection, model)
        assert seen is not None and seen <= early, "a fact of the writer may be older than the newest one"
    async with world.database.connection() as connection:
        [newest] = await world.rows("SELECT max(updated_at) AS at FROM memory_unit")
        assert await mental_models.seen(connection, model) == newest["at"]


async def test_a_model_that_is_deleted_meanwhile_is_no_failure(world: World) -> None:
    await world.keep(*FACTS)
    await world.make()
    operation = await world.ask()
    async with world.database.transaction() as connection:
        await mental_models.delete(
            connection, await mental_models.get(connection, world.bank.id, OPERATOR, "page")
        )
    assert await world.work(operation) is Status.COMPLETED
    assert "deleted" in str((await world.operation(operation)).error_message)


@pytest.mark.parametrize("change", ["cleared", "asked otherwise"])
async def test_what_is_changed_while_it_is_thought_over_is_not_overwritten(world: World, change: str) -> None:
    await world.keep(*FACTS)
    await world.make()
    await world.refresh()
    await world.keep("Ada keeps item 9 in hall 63")
    operation = await world.ask()
    complete, done = world.model.complete, []

    async def answered(request: Any) -> Any:
        if not done:
            done.append(True)
            if change == "cleared":
                async with world.database.transaction() as connection:
                    model = await mental_models.get(connection, world.bank.id, OPERATOR, "page")
                    await mental_models.clear(connection, model)
            else:
                await world.change(source_query="What does Ada keep?")
        return await complete(request)

    world.model.complete = answered
    assert await world.work(operation) is Status.PENDING
    assert await world.work(operation) is Status.COMPLETED
    model = await world.get()
    assert (model.built_query, model.is_stale) == (model.source_query, False)
    assert model.version == (3 if change == "cleared" else 2)
