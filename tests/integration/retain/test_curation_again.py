"""What people have made of facts stands when their text is read again, and what is said anew elsewhere is news."""

import asyncio
from typing import Any

import pytest
from curation_world import (
    BACK,
    GRAZ,
    LINZ,
    OUT,
    SHELF,
    WELS,
    fact,
    found_by,
    id_of,
    reader,
    said,
    standing,
    told,
)  # fmt: skip
from retain_world import AT, World, forget, item

from memorybank.audience import Viewer
from memorybank.operations import Status
from memorybank.storage import documents
from memorybank.testing.scripted_model import ScriptedModel


@pytest.fixture
async def kept(world: World) -> World:
    return await told(world)


async def test_a_correction_stands_when_its_document_is_read_again(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, text=LINZ, context="by phone", occurred_start=AT)
    before = await fact(kept, LINZ)
    for _ in range(2):
        await kept.reprocess("d")
        now = await fact(kept, LINZ)
        assert (now["id"], now["names"], now["occurred_start"]) == (graz, before["names"], AT)
        assert (now["context"], now["proof_count"]) == ("by phone", 1)
        assert await standing(kept) == {LINZ: "active", SHELF: "active"}
    assert await kept.entity_names() == ["Ana", "Ben", "Linz"]
    await kept.consistent()


async def test_what_was_invalidated_stays_so_when_its_document_is_read_again(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, status=OUT, reason="wrong")
    await kept.reprocess("d")
    now = await fact(kept, GRAZ)
    assert (now["id"], now["status"], now["status_reason"], now["names"]) == (
        graz, "invalidated", "wrong", ["Ana", "Graz"],
    )  # fmt: skip
    assert (
        await standing(kept) == {GRAZ: "invalidated", SHELF: "active"} and await found_by(kept, "graz") == []
    )
    await kept.edit(graz, status=BACK)
    assert await found_by(kept, "graz") == [GRAZ]
    await kept.consistent()


@pytest.mark.parametrize("out", [True, False])
async def test_it_stands_where_the_text_around_it_changed(kept: World, out: bool) -> None:
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, **({"status": OUT} if out else {"text": LINZ}))
    then = item(
        f"{GRAZ}\n{SHELF}\n{WELS}", document_id="d", context="letter", tags=("work",), metadata={"page": "2"}
    )
    await kept.keep(then)
    now = await fact(kept, GRAZ if out else LINZ)
    assert now["id"] == graz and len(await standing(kept)) == 3
    assert (now["tags"], now["metadata"]) == (["work"], {"page": "2"}), "it takes what its text has now"
    assert now["status"] == ("invalidated" if out else "active")
    await kept.keep(item(SHELF, document_id="d"))
    assert await standing(kept) == {SHELF: "active"}, "it goes where its text is not told any more"


async def test_an_unchanged_text_that_is_sent_again_keeps_it(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, text=LINZ, context="by phone")
    await kept.keep(item(f"{GRAZ}\n{SHELF}", document_id="d", context="letter", tags=("work",)))
    now = await fact(kept, LINZ)
    assert (now["id"], now["context"], now["tags"]) == (graz, "by phone", ["work"])
    assert (await fact(kept, SHELF))["context"] == "letter"


async def test_a_model_that_words_it_anew_cannot_take_it_away(kept: World) -> None:
    graz, shelf = await id_of(kept, GRAZ), await id_of(kept, SHELF)
    await kept.edit(graz, text=LINZ)
    await kept.edit(shelf, status=OUT)
    kept.model = reader(lambda line: f"It is said: {line}")
    await kept.reprocess("d")
    assert await standing(kept) == {
        LINZ: "active", SHELF: "invalidated", f"It is said: {GRAZ}": "active", f"It is said: {SHELF}": "active",
    }  # fmt: skip
    await kept.reprocess("d")
    assert len(await standing(kept)) == 4 and await id_of(kept, LINZ) == graz
    [row] = await kept.rows("SELECT count(*) AS n FROM memory_unit WHERE chunk NOT IN (SELECT id FROM chunk)")
    assert row["n"] == 0


async def test_the_same_words_of_another_kind_are_the_same_reading(kept: World) -> None:
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, text=LINZ)
    kept.model = ScriptedModel(
        lambda content: {"facts": [said(line) | {"fact_type": "assistant"} for line in content.splitlines()]}
    )
    await kept.reprocess("d")
    assert set(await standing(kept)) == {LINZ, SHELF} and await id_of(kept, LINZ) == graz
    assert (await fact(kept, SHELF))["fact_type"] == "experience"


async def test_said_elsewhere_the_old_words_are_news(kept: World) -> None:
    await kept.edit(await id_of(kept, GRAZ), text=LINZ)
    await kept.keep(item(GRAZ, document_id="e", tags=("home",)))
    assert set(await standing(kept)) == {LINZ, SHELF, GRAZ}
    await kept.reprocess("d")
    assert set(await standing(kept)) == {LINZ, SHELF, GRAZ}
    assert (await fact(kept, GRAZ))["proof_count"] == 1, "another document says that, not this one"
    await kept.keep(item(LINZ, document_id="f", tags=("home",)))
    assert (await fact(kept, LINZ))["proof_count"] == 2, "who says the new words says this fact"


async def test_a_fact_of_two_documents_is_corrected_in_both(kept: World) -> None:
    await kept.keep(item(GRAZ, document_id="e", context="chat", tags=("home",)))
    graz = await id_of(kept, GRAZ)
    await kept.edit(graz, text=LINZ)
    assert (await kept.history("e"))[-1] == (await kept.history("d"))[-1] == ("fact_edited", 0, 0)
    for document in ("d", "e", "d"):
        await kept.reprocess(document)
        assert set(await standing(kept)) == {LINZ, SHELF}
    assert (await fact(kept, LINZ))["proof_count"] == 2
    await forget(kept, "d")
    now = await fact(kept, LINZ)
    assert (now["id"], now["context"], now["names"]) == (graz, "chat", ["Ana", "Linz"])
    await kept.consistent()


async def test_who_has_other_tags_has_the_correction_too(kept: World) -> None:
    await kept.keep(item(GRAZ, document_id="e", context="chat", tags=("home",)))
    await kept.edit(await id_of(kept, GRAZ), text=LINZ, context="by phone")
    async with kept.database.transaction() as connection:
        assert await documents.set_tags(connection, kept.bank.id, "d", ["work"], Viewer.operator(), AT)
    rows = await kept.rows(
        "SELECT tags, context, entity_names(id, audience_id) AS names FROM memory_unit WHERE text = %s", LINZ
    )
    assert sorted(row["tags"] for row in rows) == [["home"], ["work"]]
    assert {(row["context"], *row["names"]) for row in rows} == {("by phone", "Ana", "Linz")}
    await kept.reprocess("d")
    assert len(await kept.rows("SELECT 1 FROM memory_unit WHERE text = %s", LINZ)) == 2
    assert set(await standing(kept)) == {LINZ, SHELF}
    await kept.consistent()


async def test_a_correction_while_its_document_is_read_again(kept: World) -> None:
    """Between the new facts and the end of the old chunk there is no moment in which an edit is lost."""
    graz = await id_of(kept, GRAZ)
    submitted = await kept.retain.again(kept.bank, await kept.found("d"))
    answer, asked, let = kept.model.complete, asyncio.Event(), asyncio.Event()

    async def held(request: Any) -> Any:
        asked.set()
        await let.wait()
        return await answer(request)

    kept.model.complete = held
    round_ = asyncio.create_task(kept.work(submitted.children[0]))
    await asked.wait()
    await kept.edit(graz, text=LINZ)
    let.set()
    assert await round_ is Status.COMPLETED
    assert set(await standing(kept)) == {LINZ, SHELF} and await id_of(kept, LINZ) == graz
