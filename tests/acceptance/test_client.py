"""The published client of the contract, as it comes from the registry, against a running memorybank."""

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator
from typing import Any
from uuid import uuid4

import pytest
from bank_calls import Running
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException, NotFoundException

STANDUP = {
    "content": "Ana moved the release to Friday because the tests failed.",
    "timestamp": "2026-03-04T10:00:00Z",
    "context": "stand-up",
    "document_id": "standup/2026-03-04",
    "metadata": {"page": "7"},
    "tags": ["proj:x"],
    "entities": [{"text": "Ana", "type": "PERSON"}],
}
TRIP = {
    "content": "Bert flew to Lisbon.",
    "timestamp": "2026-05-01T08:00:00Z",
    "document_id": "trip",
    "tags": ["private"],
    "entities": [{"text": "Bert"}, {"text": "Lisbon"}],
}


@pytest.fixture
async def client(server: Running) -> AsyncIterator[Hindsight]:
    made = Hindsight(base_url=server.url, timeout=60)
    yield made
    await made.aclose()


@pytest.fixture
async def filled(client: Hindsight) -> str:
    """A bank with two documents."""
    bank_id = f"client-{uuid4()}"
    kept = await client.aretain_batch(bank_id, [STANDUP, TRIP], document_tags=["team:a"])
    assert (kept.success, kept.items_count, kept.var_async) == (True, 2, False)
    assert kept.usage is not None and kept.operation_id is None
    return bank_id


async def ended(client: Hindsight, bank_id: str, operation_id: str) -> Any:
    for _ in range(600):
        found = await client.operations.get_operation_status(bank_id, operation_id)
        if found.status not in ("pending", "processing"):
            return found
        await asyncio.sleep(0.05)
    raise AssertionError(f"operation {operation_id} did not end")


async def test_version_and_health(client: Hindsight) -> None:
    version = await client.aget_version()
    assert version.api_version == "0.1.0"
    assert version.features.worker and version.features.bank_config_api
    assert (await client.monitoring.get_liveness()).status == "alive"


async def test_create_and_change_a_bank(client: Hindsight) -> None:
    bank_id = f"client-{uuid4()}"
    made = await client.acreate_bank(
        bank_id, name="Team A", mission="Keep decisions", disposition_skepticism=5, retain_chunk_size=2000
    )
    assert (made.bank_id, made.name, made.mission, made.background) == (
        bank_id,
        "Team A",
        "Keep decisions",
        "Keep decisions",
    )
    assert (made.disposition.skepticism, made.disposition.literalism, made.disposition.empathy) == (5, 3, 3)
    await client.aset_mission(bank_id, "Keep everything")
    found = await client.banks.list_banks(q=bank_id)
    assert [bank.bank_id for bank in found.banks] == [bank_id] and found.total == 1
    assert (found.banks[0].name, found.banks[0].mission) == ("Team A", "Keep everything")
    with pytest.warns(DeprecationWarning):
        profile = await client.banks.get_bank_profile(bank_id)
    assert (profile.name, profile.mission) == ("Team A", "Keep everything")


async def test_retain_now_and_recall(client: Hindsight, filled: str) -> None:
    answer = await client.arecall(filled, "When is the release?")
    best = answer.results[0]
    assert best.text == STANDUP["content"]
    assert best.type == "world" and best.entities == ["Ana"] and best.context == "stand-up"
    assert best.document_id == "standup/2026-03-04" and best.chunk_id == f"{filled}_standup/2026-03-04_0"
    assert best.metadata == {"page": "7"} and best.tags == ["proj:x", "team:a"]
    assert best.mentioned_at == "2026-03-04T10:00:00+00:00"
    assert best.scores is not None and best.scores.final > 0
    assert (answer.entities, answer.chunks, answer.source_facts) == (None, None, None)


async def test_recall_with_all_that_can_come_beside(client: Hindsight, filled: str) -> None:
    answer = await client.arecall(
        filled,
        "When is the release?",
        types=["world", "experience", "observation"],
        budget="high",
        max_tokens=500,
        trace=True,
        query_timestamp="2026-03-05T10:00:00Z",
        include_entities=True,
        include_chunks=True,
        include_source_facts=True,
        tags=["proj:x"],
        tags_match="any_strict",
        min_scores={"final": 0.0},
    )
    assert [hit.text for hit in answer.results] == [STANDUP["content"]]
    assert answer.entities["Ana"].canonical_name == "Ana"
    chunk = answer.chunks[f"{filled}_standup/2026-03-04_0"]
    assert (chunk.text, chunk.chunk_index, chunk.truncated) == (STANDUP["content"], 0, False)
    assert answer.source_facts == {}
    assert answer.trace["query"]["budget"] == "high"


async def test_recall_in_a_window_and_by_tag_groups(client: Hindsight, filled: str) -> None:
    groups = [{"tags": ["team:a"]}, {"not": {"tags": ["proj:x"]}}]
    assert [hit.text for hit in (await client.arecall(filled, "who", tag_groups=groups)).results] == [
        TRIP["content"]
    ]
    window = {"start": "2026-05-01T00:00:00Z", "end": "2026-05-02T00:00:00Z"}
    answer = await client.arecall(filled, "what happened", temporal_window=window)
    assert answer.results[0].text == TRIP["content"]


async def test_reflect_quotes_the_facts_it_rests_on(client: Hindsight, filled: str) -> None:
    answer = await client.areflect(
        filled, "When is the release?", include_facts=True, include_tool_calls=True
    )
    assert "Friday" in answer.text
    assert STANDUP["content"] in [fact.text for fact in answer.based_on.memories]
    assert answer.trace.tool_calls
    plain = await client.areflect(filled, "When is the release?")
    assert plain.text and plain.based_on is None and plain.trace is None


async def test_retain_in_the_background(client: Hindsight) -> None:
    bank_id, key = f"client-{uuid4()}", str(uuid4())
    taken = await client.aretain_batch(bank_id, [STANDUP, TRIP], retain_async=True, operation_id=key)
    assert (taken.success, taken.items_count, taken.var_async) == (True, 2, True)
    assert (taken.operation_id, taken.operation_ids, taken.usage) == (key, None, None)
    again = await client.aretain_batch(bank_id, [STANDUP, TRIP], retain_async=True, operation_id=key)
    assert (again.operation_id, again.items_count) == (key, 2)
    done = await ended(client, bank_id, key)
    assert (done.status, done.operation_type) == ("completed", "batch_retain")
    assert done.result_metadata["unit_ids_count"] == 2 and done.result_metadata["is_parent"] is True
    assert [child.status for child in done.child_operations] == ["completed"]
    listed = await client.alist_memories(bank_id)
    assert sorted(item.text for item in listed.items) == sorted([STANDUP["content"], TRIP["content"]])


async def test_memories_are_listed_and_read(client: Hindsight, filled: str) -> None:
    listed = await client.alist_memories(filled, search_query="lisbon")
    assert listed.total == 1 and listed.items[0].text == TRIP["content"]
    found = await client.memory.get_memory(filled, listed.items[0].id)
    assert found["text"] == TRIP["content"] and "Lisbon" in found["entities"]
    tags = await client.memory.list_tags(filled, q="pr*")
    assert {item.tag: item.count for item in tags.items} == {"proj:x": 1, "private": 1}


async def test_entities_are_listed_and_read(client: Hindsight, filled: str) -> None:
    listed = await client.entities.list_entities(filled)
    named = {entity.canonical_name: entity for entity in listed.items}
    assert {"Ana", "Bert", "Lisbon"} <= named.keys() and listed.total == len(listed.items)
    detail = await client.entities.get_entity(filled, named["Ana"].id)
    assert (detail.canonical_name, detail.mention_count, detail.observations) == ("Ana", 1, [])


async def test_documents_and_chunks(client: Hindsight, filled: str) -> None:
    listed = await client.documents.list_documents(filled)
    assert sorted(item.id for item in listed.items) == ["standup/2026-03-04", "trip"]
    document = await client.documents.get_document(filled, "trip")
    assert document.original_text == TRIP["content"] and document.memory_unit_count == 1
    chunks = await client.documents.list_document_chunks(filled, "trip")
    assert [chunk.chunk_text for chunk in chunks.items] == [TRIP["content"]]
    chunk = await client.documents.get_chunk(chunks.items[0].chunk_id)
    assert chunk.document_id == "trip"
    gone = await client.documents.delete_document(filled, "trip")
    assert gone.success and gone.memory_units_deleted == 1
    with pytest.raises(NotFoundException):
        await client.documents.get_document(filled, "trip")
    assert [item.text for item in (await client.alist_memories(filled)).items] == [STANDUP["content"]]


async def test_statistics(client: Hindsight, filled: str) -> None:
    stats = await client.banks.get_agent_stats(filled, refresh=True)
    assert (stats.total_nodes, stats.total_documents, stats.nodes_by_fact_type) == (2, 2, {"world": 2})
    assert (stats.pending_operations, stats.failed_operations) == (0, 0)


async def test_operations(client: Hindsight, filled: str) -> None:
    listed = await client.operations.list_operations(filled)
    assert {operation.task_type for operation in listed.operations} == {"retain", "batch_retain"}
    (parent,) = [one for one in listed.operations if one.task_type == "batch_retain"]
    for refused in (client.operations.cancel_operation, client.operations.retry_operation):
        with pytest.raises(ApiException) as refusal:
            await refused(filled, parent.id)
        assert refusal.value.status == 409
    gone = await client.operations.delete_operation(filled, parent.id)
    assert (gone.success, gone.message) == (True, f"Operation {parent.id} deleted")
    assert (await client.operations.get_operation_status(filled, parent.id)).status == "not_found"


async def test_configuration(client: Hindsight, filled: str) -> None:
    await client.aupdate_bank_config(filled, retain_mission="Keep decisions", disposition_skepticism=5)
    found = await client.aget_bank_config(filled)
    assert found["overrides"] == {"retain_mission": "Keep decisions", "disposition_skepticism": 5}
    assert found["config"]["retain_mission"] == "Keep decisions"
    assert found["config"]["retain_chunk_size"] == 3000
    assert (await client.areset_bank_config(filled))["overrides"] == {}


async def test_clearing_keeps_the_bank(client: Hindsight, filled: str) -> None:
    await client.aset_mission(filled, "Keep decisions")
    await client.memory.clear_bank_memories(filled)
    assert (await client.alist_memories(filled)).total == 0
    assert (await client.aget_bank_config(filled))["overrides"] == {"reflect_mission": "Keep decisions"}


async def test_deleting_a_bank_leaves_nothing_of_it_and_all_of_the_others(
    client: Hindsight, filled: str
) -> None:
    other = f"client-{uuid4()}"
    await client.aretain_batch(other, [STANDUP, TRIP])
    before = await client.banks.get_agent_stats(other)
    entities = (await client.entities.list_entities(filled)).total
    gone = await client.adelete_bank(filled)
    assert gone.success and gone.deleted_count == 2 + 2 + entities
    for call in (client.alist_memories, client.entities.list_entities, client.documents.list_documents):
        with pytest.raises(NotFoundException):
            await call(filled)
    assert (await client.arecall(filled, "release")).results == []
    # The same id again is a new bank.
    await client.acreate_bank(filled)
    assert (await client.alist_memories(filled)).total == 0
    assert (await client.operations.list_operations(filled)).total == 0
    assert await client.banks.get_agent_stats(other) == before
    assert len((await client.arecall(other, "release")).results) == 2


def test_a_script_under_warnings_as_errors_ends_without_a_word(server: Running) -> None:
    script = f"""
        import asyncio
        from hindsight_client import Hindsight

        asyncio.set_event_loop(loop := asyncio.new_event_loop())
        with Hindsight(base_url={server.url!r}) as client:
            bank = "script-{uuid4()}"
            client.create_bank(bank, name="Script")
            client.retain(bank, "Ana lives in Graz.", tags=["a"])
            client.retain_batch(bank, [{{"content": "Bert lives in Linz."}}], retain_async=True)
            assert client.recall(bank, "Where does Ana live?").results[0].text == "Ana lives in Graz."
            assert client.list_memories(bank).total >= 1
            client.delete_bank(bank)
        loop.close()
    """
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        env={"PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")
