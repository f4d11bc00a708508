"""Facts that people correct, invalidate and restore, also at once: what follows from it."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from curation_world import (
    BACK,
    GRAZ,
    LATER,
    LINZ,
    OUT,
    SHELF,
    WELS,
    fact,
    found_by,
    id_of,
    observe,
    standing,
    told,
)
from retain_world import AT, World, forget, item

from memorybank import clock
from memorybank.audience import Viewer
from memorybank.errors import BadRequest, Blocked, InvalidInput, ModelUnavailable, NotFound
from memorybank.storage import clearing, mentions
from memorybank.storage.found import TYPE_BITS


@pytest.fixture
async def kept(world: World) -> World:
    return await told(world)


async def test_a_corrected_fact_is_found_by_its_new_words_alone(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    await observe(kept, GRAZ)
    with clock.fixed(LATER):
        await kept.edit(graz, text=LINZ)
    now = await fact(kept, LINZ)
    assert (now["id"], now["names"], now["edited_at"]) == (graz, ["Ana", "Linz"], LATER)
    assert (await found_by(kept, "linz"), await found_by(kept, "graz")) == ([LINZ], [])
    assert await kept.entity_names() == ["Ana", "Ben", "Linz"], "what only the old words named is gone"
    assert now["consolidated_at"] is None and await kept.count("observation_source") == 0
    assert await kept.texts() == [LINZ, SHELF], "what stood on it is gone"
    assert await kept.history("d") == [("retain", 2, 0), ("fact_edited", 0, 0)]
    [event] = await kept.rows("SELECT fact FROM document_event WHERE kind = 'fact_edited'")
    assert event["fact"] == graz
    await kept.consistent()


@pytest.mark.parametrize(
    "fields",
    [
        {"text": LINZ},
        {"context": "chat"},
        {"occurred_start": AT},
        {"occurred_end": AT},
        {"mentioned_at": AT + timedelta(days=9)},
        {"fact_type": "experience"},
    ],
)
async def test_every_field_can_be_corrected(kept: World, fields: dict[str, Any]) -> None:
    graz = await id_of(kept, GRAZ)
    await kept.rows("UPDATE memory_unit SET consolidation_failed_at = now() RETURNING 1")
    before = await fact(kept, GRAZ)
    await kept.edit(graz, **fields)
    now = await fact(kept, fields.get("text", GRAZ))
    assert {name: now[name] for name in fields} == fields
    assert (
        now["edited_at"] and now["consolidation_failed_at"] is None and now["revision"] > before["revision"]
    )
    [row] = await kept.rows(
        "SELECT e.traits & %s <> 0 AS own FROM embedding e JOIN memory_unit u ON u.document_number = e.document"
        " AND u.position = e.position WHERE u.id = %s",
        TYPE_BITS["experience"],
        graz,
    )
    assert row["own"] == (now["fact_type"] == "experience"), "recall filters types by these bits"
    await kept.consistent()


async def test_what_changes_nothing_leaves_no_trace(kept: World) -> None:
    graz, before = await id_of(kept, GRAZ), await fact(kept, GRAZ)
    await kept.edit(graz, text=GRAZ, context="mail", names=["ana", "GRAZ"], status=BACK)
    assert await fact(kept, GRAZ) == before and await kept.history("d") == [("retain", 2, 0)]


@pytest.mark.parametrize(
    ("names", "exact", "named"),
    [
        (["Ana Berger"], False, ["Ana Berger"]),
        (["Ben", "Graz"], False, ["Ben", "Graz"]),
        (["ben"], True, ["Ben"]),
        (["Béni", "Ben"], True, ["Ben", "Béni"]),
        ([], False, []),
    ],
)
async def test_names_are_those_given(kept: World, names: list[str], exact: bool, named: list[str]) -> None:
    await observe(kept, GRAZ)
    await kept.edit(await id_of(kept, GRAZ), names=names, exact=exact)
    assert (await fact(kept, GRAZ))["names"] == named
    assert set(await kept.entity_names()) == {"Ben", *named}
    assert await kept.texts() == [GRAZ, SHELF], "what was observed named other things"
    assert (await fact(kept, GRAZ))["consolidated_at"] is None


async def test_a_name_is_resolved_as_retain_does(kept: World) -> None:
    await kept.keep(item("Dr. Ana lives here.", document_id="e"))
    shelf = await id_of(kept, SHELF)
    await kept.edit(shelf, names=["Ms. Ben"])
    assert (await fact(kept, SHELF))["names"] == ["Ben"]
    await kept.edit(shelf, names=["Mr. Ben"], exact=True)
    assert (await fact(kept, SHELF))["names"] == ["Mr. Ben"]


async def test_links_follow_the_words(kept: World) -> None:
    await kept.keep(item("Ana lives in Linz today.", document_id="e"))
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, text="Seven swans sleep.")
    assert await kept.rows("SELECT 1 FROM unit_link WHERE %s IN (source, target)", graz) == []
    await kept.edit(graz, text=LINZ)
    [link] = await kept.rows("SELECT source, kind, weight FROM unit_link WHERE %s IN (source, target)", graz)
    assert (link["source"], link["kind"]) == (graz, "semantic") and link["weight"] > 0.7


async def test_an_invalidated_fact_is_out_of_search_and_comes_back_whole(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    before = await fact(kept, GRAZ)
    search = "SELECT * FROM posting ORDER BY document, position, term"
    rows, vectors = await kept.rows(search), await kept.rows("SELECT * FROM embedding ORDER BY position")
    await observe(kept, GRAZ)
    with clock.fixed(LATER):
        await kept.edit(graz, status=OUT, reason="moved long ago")
    gone = await fact(kept, GRAZ)
    assert (gone["status"], gone["status_reason"], gone["status_at"]) == (
        "invalidated",
        "moved long ago",
        LATER,
    )
    assert await found_by(kept, "graz") == [] and await kept.count("embedding") == 1
    assert await kept.texts() == [GRAZ, SHELF], "what stood on it is gone"
    await kept.edit(graz, status=OUT)
    assert (await fact(kept, GRAZ))["status_reason"] == "moved long ago"
    await kept.edit(graz, status=OUT, reason="she never did")
    again = await fact(kept, GRAZ)
    assert (again["status_reason"], again["status_at"]) == ("she never did", LATER)
    with pytest.raises(BadRequest, match="restore it first"):
        await kept.edit(graz, text=LINZ)
    with clock.fixed(LATER + timedelta(days=1)):
        await kept.edit(graz, status=BACK)
    back = await fact(kept, GRAZ)
    assert (back["status"], back["status_reason"], back["names"]) == ("active", None, before["names"])
    assert await kept.rows(search) == rows
    assert await kept.rows("SELECT * FROM embedding ORDER BY position") == vectors
    assert [kind for kind, *_ in await kept.history("d")] == ["retain", "fact_invalidated", "fact_restored"]
    await kept.consistent()


async def test_both_at_once(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, text=LINZ, status=OUT, reason="a draft")
    assert await standing(kept) == {LINZ: "invalidated", SHELF: "active"}
    assert await found_by(kept, "linz") == []
    await kept.edit(graz, text=WELS, status=BACK)
    assert await found_by(kept, "wels") == [WELS]
    assert [kind for kind, *_ in await kept.history("d")] == [
        "retain", "fact_edited", "fact_invalidated", "fact_edited", "fact_restored",
    ]  # fmt: skip
    await kept.consistent()


@pytest.mark.parametrize(
    ("wanted", "error"),
    [
        ({"text": " \u200b "}, InvalidInput),
        ({"text": "x" * 8_001}, InvalidInput),
        ({"context": "x" * 8_001}, InvalidInput),
        ({"names": ["x"] * 3 + [" "]}, InvalidInput),
        ({"occurred_start": AT, "occurred_end": AT - timedelta(1)}, InvalidInput),
    ],
)
async def test_what_cannot_be_is_refused(kept: World, wanted: dict[str, Any], error: type[Exception]) -> None:
    before = await kept.rows("SELECT * FROM memory_unit ORDER BY id")
    with pytest.raises(error):
        await kept.edit(await id_of(kept, GRAZ), **wanted)
    assert await kept.rows("SELECT * FROM memory_unit ORDER BY id") == before


async def test_who_may_be_edited(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    observation = await observe(kept, GRAZ)
    for wanted in ({"text": LINZ}, {"status": OUT}, {"names": ["Ben"]}):
        with pytest.raises(BadRequest, match="observation"):
            await kept.edit(observation, **wanted)
    with pytest.raises(NotFound):
        await kept.edit(uuid4(), text=LINZ)
    with pytest.raises(NotFound):
        await kept.edit(graz, text=LINZ, viewer=Viewer((kept.audience + 1,)))
    await kept.edit(graz, text=LINZ, viewer=Viewer((kept.audience,)))
    await kept.rows("UPDATE memory_unit SET status = 'archived' WHERE id = %s RETURNING 1", graz)
    for wanted in ({"text": WELS}, {"status": BACK}):
        with pytest.raises(BadRequest, match="archived"):
            await kept.edit(graz, **wanted)


async def test_secrets_are_masked_in_what_people_write(kept: World) -> None:
    key = "AKIAIOSFODNN7EXAMPLE"
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, text=f"Ana's key is {key}", context=key, status=OUT, reason=key, names=[key])
    [row] = await kept.rows(
        "SELECT u::text AS said, entity_names(id, audience_id)::text AS named FROM memory_unit u WHERE id = %s",
        graz,
    )
    assert key not in row["said"] + row["named"] and row["said"].count("REDACTED") == 3
    rule = {"on": "sensitive_data", "action": "block"}
    await kept.configure(memory_defense={"enabled": True, "rules": [rule]})
    with pytest.raises(Blocked):
        await kept.edit(graz, text=f"The key is {key}", status=BACK)


async def test_nothing_changes_where_the_embedder_is_away(
    kept: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: Any) -> Any:
        raise ModelUnavailable("away")

    before = await kept.rows("SELECT * FROM memory_unit ORDER BY id")
    with monkeypatch.context() as patch:
        patch.setattr("memorybank.llm.passages.embed", away)
        with pytest.raises(ModelUnavailable):
            await kept.edit(await id_of(kept, GRAZ), text=LINZ)
    assert await kept.rows("SELECT * FROM memory_unit ORDER BY id") == before


async def test_edits_at_once_are_all_kept(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    await asyncio.gather(
        kept.edit(graz, text=LINZ),
        kept.edit(graz, context="chat"),
        kept.edit(graz, occurred_start=AT),
        kept.edit(graz, names=["Ana", "Ben"]),
        *(kept.edit(graz, mentioned_at=AT + timedelta(days=day)) for day in range(1, 9)),
    )
    now = await fact(kept, LINZ)
    assert (now["context"], now["occurred_start"]) == ("chat", AT) and now["mentioned_at"] > AT
    assert set(now["names"]) >= {"Ana", "Ben"} and await found_by(kept, "linz") == [LINZ]
    assert [kind for kind, *_ in await kept.history("d")].count("fact_edited") == 12
    await kept.consistent()


async def test_edits_and_states_and_deletions_at_once(kept: World) -> None:
    graz = await id_of(kept, GRAZ)

    async def tried(act: Any) -> None:
        with suppress(BadRequest, NotFound):
            await act

    await asyncio.gather(
        *(tried(kept.edit(graz, text=text, status=state)) for text in (LINZ, WELS) for state in (OUT, BACK)),
        kept.reprocess("d"),
        tried(kept.edit(await id_of(kept, SHELF), names=["Ana"])),
    )
    assert len(await standing(kept)) == 2 and SHELF in await standing(kept)
    await asyncio.gather(*(tried(kept.edit(graz, text=text)) for text in (LINZ, WELS)), forget(kept, "d"))
    assert await kept.count("memory_unit") == await kept.count("posting") == await kept.count("entity") == 0


@pytest.mark.parametrize("whole", [True, False])
async def test_what_only_an_observation_names_goes_with_it(kept: World, whole: bool) -> None:
    graz = await id_of(kept, GRAZ)
    await observe(kept, GRAZ)
    await kept.rows(
        "DELETE FROM unit_entity USING entity e WHERE unit = %s AND e.id = entity AND e.name = 'Graz' RETURNING 1",
        graz,
    )
    async with kept.database.transaction() as connection:
        if whole:
            deleted = await clearing.clear(connection, kept.bank.id, Viewer.operator(), AT)
        else:
            deleted = await clearing.clear(connection, kept.bank.id, Viewer.operator(), AT, graz)
    assert deleted == 1 and await kept.entity_names() == ["Ana", "Ben"]


async def test_an_edit_waits_for_who_writes(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    async with kept.database.transaction() as connection:
        await mentions.beside(connection, kept.bank.id, kept.audience, [])
        edit = asyncio.create_task(kept.edit(graz, text=LINZ))
        await asyncio.wait([edit], timeout=0.2)
        assert not edit.done() and await id_of(kept, GRAZ) == graz
    await edit
    assert await id_of(kept, LINZ) == graz
