"""What the modes store."""

from datetime import timedelta

from retain_world import AT, World, item, lines

from memorybank.model import EntityInput
from memorybank.operations import Status
from memorybank.testing.scripted_model import ScriptedModel


async def test_mode_chunks_keeps_each_item_as_a_fact_of_one_shared_document(world: World) -> None:
    await world.configure(retain_extraction_mode="chunks")
    turns = [f"Ada: turn number {n}" for n in range(12)]
    kept = await world.keep(*(item(turn, context="session 1", tags=("s1",)) for turn in turns))
    assert (kept.status, kept.result["unit_ids_count"], kept.result["llm_calls"]) == (Status.COMPLETED, 12, 0)
    assert await world.texts() == turns
    assert (await world.count("document"), await world.count("entity")) == (1, 0)
    rows = await world.rows("SELECT mentioned_at, position, context, tags FROM memory_unit ORDER BY position")
    assert [row["mentioned_at"] - AT for row in rows] == [timedelta(milliseconds=10 * n) for n in range(12)]
    assert [row["position"] for row in rows] == [1024 * n for n in range(12)]
    assert rows[3]["context"] == "session 1"
    assert rows[3]["tags"] == ["s1"]
    await world.consistent()


async def test_a_model_draws_facts_names_places_and_causes(world: World) -> None:
    world.model = ScriptedModel(
        lambda _: {
            "facts": [
                {"what": "It rained", "entities": []},
                {
                    "what": "The match in Kiel was cancelled",
                    "where": "Kiel",
                    "fact_kind": "event",
                    "occurred_start": "2026-02-27",
                    "entities": ["Kiel"],
                    "causal_relations": [{"target_index": 0, "relation_type": "caused_by"}],
                },
                {"what": "The assistant called Ada", "fact_type": "assistant", "entities": ["Ada"]},
            ]
        }
    )
    kept = await world.keep(item("On 2026-02-27 it rained, so the match in Kiel was cancelled."))
    assert kept.result["facts_kept"] == 3
    assert (kept.result["llm_calls"], kept.result["usage"]["total_tokens"]) == (1, 15)
    rows = await world.rows(
        "SELECT text, fact_type, place_name, occurred_start::date::text AS day FROM memory_unit ORDER BY position"
    )
    assert [row["fact_type"] for row in rows] == ["world", "world", "experience"]
    assert (rows[1]["place_name"], rows[1]["day"]) == ("Kiel", "2026-02-27")
    links = await world.rows(
        "SELECT s.text AS effect, t.text AS cause FROM unit_link l JOIN memory_unit s ON s.id = l.source"
        " JOIN memory_unit t ON t.id = l.target WHERE l.kind = 'caused_by'"
    )
    assert links == [{"effect": "The match in Kiel was cancelled", "cause": "It rained"}]
    assert await world.entity_names() == ["Ada", "Kiel"]
    assert await world.count("llm_call WHERE operation IS NOT NULL AND bank IS NOT NULL") == 1


async def test_without_a_model_statements_are_facts(world: World) -> None:
    await world.keep(
        item("Ada: Hi! I moved to Porto last Friday.\nBen: Thanks!\nBen: My bike is a Brompton.")
    )
    texts = await world.texts()
    assert len(texts) == 2
    assert "Porto" in texts[0]
    assert "Brompton" in texts[1]
    [row] = await world.rows(
        "SELECT occurred_start::date::text AS day FROM memory_unit WHERE text LIKE '%%Porto%%'"
    )
    assert row["day"] == "2026-02-27"


async def test_mode_verbatim_keeps_the_chunk_with_names_and_dates_of_the_model(world: World) -> None:
    await world.configure(retain_extraction_mode="verbatim")
    world.model = ScriptedModel(
        lambda _: {"facts": [{"what": "x", "entities": ["Ada"]}, {"what": "y", "entities": ["Ben"]}]}
    )
    await world.keep(item("Ada met Ben."))
    assert await world.texts() == ["Ada met Ben."]
    assert await world.entity_names() == ["Ada", "Ben"]


async def test_the_callers_names_are_on_every_fact_and_free_names_only_where_allowed(world: World) -> None:
    await world.configure(entities_allow_free_form=False)
    world.model = ScriptedModel(
        lambda _: {"facts": [{"what": "a", "entities": ["Ben"]}, {"what": "b", "entities": []}]}
    )
    await world.keep(item("x", entities=(EntityInput("Atlas", "PROJECT"),)))
    rows = await world.rows(
        "SELECT e.name, e.kind, count(*) FROM entity e JOIN unit_entity ue ON ue.entity = e.id GROUP BY 1, 2"
    )
    assert rows == [{"name": "Atlas", "kind": "PROJECT", "count": 2}]


async def test_a_strategy_overrides_the_bank(world: World) -> None:
    world.model = ScriptedModel()
    await world.configure(retain_strategies={"raw": {"retain_extraction_mode": "chunks"}})
    kept = await world.keep(item(lines("one", "two"), strategy="raw"))
    assert (await world.texts(), kept.result["llm_calls"]) == (["one\ntwo"], 0)
    await world.keep(item(lines("three", "four"), strategy="unknown"))
    assert (await world.texts())[1:] == ["three", "four"]


async def test_no_stored_text_holds_the_bank_id(world: World) -> None:
    world.model = ScriptedModel()
    await world.keep(item("I prefer dark roast."))
    assert world.bank.bank_id not in world.model.requests[0].system + world.model.requests[0].user
    assert not any(world.bank.bank_id in text for text in await world.texts())


async def test_unset_has_no_date_and_an_assumed_date_says_so(world: World) -> None:
    await world.keep(
        item("The lease ends one year from now.", timestamp=None),
        item("We shipped the beta last Friday.", timestamp_assumed=True),
    )
    rows = await world.rows(
        "SELECT occurred_start, mentioned_at, mentioned_at_assumed FROM memory_unit ORDER BY position"
    )
    assert (rows[0]["occurred_start"], rows[0]["mentioned_at"]) == (None, None)
    assert (rows[1]["occurred_start"].date().isoformat(), rows[1]["mentioned_at_assumed"]) == (
        "2026-02-27",
        True,
    )


async def test_each_line_of_a_transcript_keeps_its_date(world: World) -> None:
    world.model = ScriptedModel()
    await world.keep(
        item(
            "[2026-02-02 10:00] Ada: the lease was signed.\n[2026-02-05 16:00] Ben: the order was cancelled."
        )
    )
    rows = await world.rows("SELECT mentioned_at::date::text AS day FROM memory_unit ORDER BY position")
    assert [row["day"] for row in rows] == ["2026-02-02", "2026-02-05"]


async def test_scopes_are_kept(world: World) -> None:
    await world.configure(retain_extraction_mode="chunks")
    await world.keep(item("a", observation_scopes="per_tag"), item("b", observation_scopes=(("x", "y"), ())))
    rows = await world.rows("SELECT observation_scopes AS scopes FROM memory_unit ORDER BY position")
    assert [row["scopes"] for row in rows] == ["per_tag", [["x", "y"], []]]


async def test_what_was_recalled_into_a_turn_is_not_kept_again(world: World) -> None:
    await world.configure(retain_extraction_mode="chunks")
    said = "User: <memories>Ada's bike is a Brompton.</memories> What colour is it?"
    for _ in range(3):
        await world.keep(item(said), item("<memories>nothing else</memories>"))
    assert not any("Brompton" in text or "nothing else" in text for text in await world.texts())
    assert await world.count("memory_unit") == 3
