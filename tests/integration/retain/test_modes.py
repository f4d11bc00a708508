"""What the modes store."""

from datetime import timedelta
from typing import Any

import pytest
from retain_world import AT, World, item, lines

from memorybank.model import EntityInput
from memorybank.operations import Status
from memorybank.testing.scripted_model import ScriptedModel

#: The modes that ask a model.
ASKING = ("concise", "verbose", "custom", "verbatim")


def saying(*facts: dict[str, Any]) -> ScriptedModel:
    return ScriptedModel(lambda _: {"facts": list(facts)})


@pytest.mark.parametrize("mode", ASKING)
async def test_the_mission_is_in_every_mode_with_a_model(world: World, mode: str) -> None:
    world.model = ScriptedModel()
    await world.configure(
        retain_extraction_mode=mode,
        retain_mission="Keep the aviary",
        retain_custom_instructions="Prices only",
    )
    kept = await world.keep(item("Ada sold the parrot for 40 EUR."))
    [request] = world.model.requests
    assert "Mission: Keep the aviary" in request.user
    assert ("Prices only" in request.user) == (mode == "custom")
    assert (kept.status, await world.texts()) == (Status.COMPLETED, ["Ada sold the parrot for 40 EUR."])


async def test_mode_chunks_asks_nobody_and_gives_no_labels(world: World) -> None:
    world.model = ScriptedModel()
    await world.configure(
        retain_extraction_mode="chunks",
        retain_mission="m",
        entity_labels=[{"key": "mood", "type": "text", "optional": False, "tag": True}],
    )
    await world.keep(item("Ada smiled.", entities=(EntityInput("Ada"),), tags=("t",)))
    assert world.model.requests == []
    assert await world.entity_names() == ["Ada"]
    assert [row["tags"] for row in await world.rows("SELECT tags FROM memory_unit")] == [["t"]]


async def test_custom_instructions_select_and_without_them_it_is_concise(world: World) -> None:
    world.model = ScriptedModel()
    await world.keep(item("one"))
    await world.configure(retain_extraction_mode="custom")
    await world.keep(item("two"))
    await world.configure(retain_extraction_mode="custom", retain_custom_instructions="Prices only")
    await world.keep(item("three"))
    concise, bare, custom = (request.system for request in world.model.requests)
    assert concise == bare != custom


@pytest.mark.parametrize("mode", ASKING)
async def test_the_output_language_is_asked_for_where_it_is_set(world: World, mode: str) -> None:
    world.model = ScriptedModel()
    config = {"retain_extraction_mode": mode, "retain_custom_instructions": "All"}
    await world.configure(**config)
    await world.keep(item("one"))
    await world.configure(**config, llm_output_language="Portuguese")
    await world.keep(item("two"))
    unset, asked = (request.user for request in world.model.requests)
    assert "Language of every" not in unset
    assert ": Portuguese\n" in asked


async def test_a_text_keeps_its_language_and_its_names(world: World) -> None:
    world.model = saying(
        {
            "what": "我和林晓雨在“蓝鲸书店”见面",
            "where": "蓝鲸书店",
            "entities": ["林晓雨 (person)", "蓝鲸书店 (place)"],
        }
    )
    await world.keep(item("我和林晓雨在“蓝鲸书店”见面。"))
    assert await world.texts() == ["我和林晓雨在“蓝鲸书店”见面"]
    assert sorted(await world.entity_names()) == sorted(["林晓雨", "蓝鲸书店"])
    assert [row["place_name"] for row in await world.rows("SELECT place_name FROM memory_unit")] == [
        "蓝鲸书店"
    ]


async def test_a_rule_in_one_line_is_asked_for_and_kept(world: World) -> None:
    rule = "House rule for the pottery studio: kiln A runs at cone 6, never higher. This is final."
    world.model = ScriptedModel()
    await world.keep(item(rule))
    [request] = world.model.requests
    assert "One line that states a rule is a fact." in request.system
    assert await world.texts() == [rule]


async def test_the_users_acts_are_facts_and_the_agents_are_experience(world: World) -> None:
    world.model = saying(
        {
            "what": "The user adopted a greyhound",
            "when": "last week",
            "fact_kind": "event",
            "fact_type": "world",
        },
        {"what": "The assistant fixed the encoding", "fact_kind": "event", "fact_type": "assistant"},
    )
    await world.keep(
        item(
            "[user] I adopted a greyhound last week.\n[assistant] I ran the import script and fixed the encoding."
        )
    )
    rows = await world.rows(
        "SELECT fact_type, occurred_start::date::text AS day FROM memory_unit ORDER BY position"
    )
    assert [(row["fact_type"], row["day"]) for row in rows] == [("world", "2026-02-16"), ("experience", None)]


@pytest.mark.parametrize("mode", ASKING)
async def test_an_example_of_the_prompt_is_never_kept(world: World, mode: str) -> None:
    world.model = saying(
        {
            "what": "Tavrith moved to Port Zundelmoor",
            "fact_kind": "event",
            "occurred_start": "2031-03-07",
            "entities": ["Tavrith (person)"],
        },
        {"what": "Ada smiled", "entities": ["Ada (person)"]},
    )
    await world.configure(retain_extraction_mode=mode, retain_custom_instructions="All")
    kept = await world.keep(item("Ada smiled."))
    assert await world.entity_names() == ["Ada"]
    assert [row["text"] for row in await world.rows("SELECT text, occurred_start FROM memory_unit")] in (
        ["Ada smiled"],
        ["Ada smiled."],
    )
    assert await world.count("memory_unit WHERE occurred_start IS NOT NULL") == 0
    assert mode == "verbatim" or kept.result["dropped_by_reason"] == {"prompt_example": 1}


async def test_a_looping_field_costs_itself_only(world: World) -> None:
    world.model = saying({"what": "Ines prefers aisle seats", "why": "same reason as before. " * 900})
    await world.keep(item("Ines prefers aisle seats."))
    assert await world.texts() == ["Ines prefers aisle seats | same reason as before."]


#: Label groups by type and key, what a model answers, and the values that are stored.
GROUPS: dict[str, tuple[dict[str, Any], Any, list[str]]] = {
    "value": ({"values": ["Glad", "Sad"]}, "GLAD", ["Glad"]),
    "multi-values": ({"values": ["Sport", "Food"]}, ["food", "chess", "n/a"], ["Food"]),
    "text": ({}, "3 m wide", ["3 m wide"]),
    "multi-text": ({}, ["red", "none", "blue"], ["red", "blue"]),
    "map": (
        {
            "fields": {
                "city": {},
                "geo": {"type": "map", "fields": {"side": {"type": "value", "values": ["North"]}}},
            }
        },
        {"city": "Kiel", "geo": {"side": "north"}},
        ["city:Kiel", "geo:side:North"],
    ),
}


@pytest.mark.parametrize("optional", [True, False])
@pytest.mark.parametrize("tag", [True, False])
async def test_labels_of_every_type(world: World, optional: bool, tag: bool) -> None:
    groups = [
        {"key": kind, "type": kind, "optional": optional, "tag": tag} | more
        for kind, (more, _, _) in GROUPS.items()
    ]
    answer = {kind.upper(): said for kind, (_, said, _) in GROUPS.items()}
    stored = sorted(f"{kind}:{value}" for kind, (_, _, values) in GROUPS.items() for value in values)
    world.model = saying({"what": "Ada smiled", "entities": ["Ada"], "labels": answer | {"other": "x"}})
    await world.configure(entity_labels=groups)
    await world.keep(item("Ada smiled.", tags=("t",)))
    [request] = world.model.requests
    of_fact = request.schema["properties"]["facts"]["items"]
    required = [] if optional else ["value", "text", "map"]
    assert ("labels" in of_fact["required"]) is not optional
    assert of_fact["properties"]["labels"].get("required", []) == required
    told = [line for line in request.user.split("\n") if line.startswith("- ")]
    assert [line.split(" ")[1] for line in told] == list(GROUPS)
    assert [line.split(" ")[1] for line in told if line.endswith("required)")] == required
    rows = await world.rows("SELECT name FROM entity WHERE is_label")
    assert sorted(row["name"] for row in rows) == stored
    [unit] = await world.rows("SELECT tags FROM memory_unit")
    assert sorted(unit["tags"]) == sorted(["t", *(stored if tag else [])])


@pytest.mark.parametrize("mode", ["concise", "verbatim"])
@pytest.mark.parametrize("free", [True, False])
async def test_without_free_names_labels_and_the_callers_names_stay(
    world: World, mode: str, free: bool
) -> None:
    world.model = saying({"what": "Ada smiled", "entities": ["Ben"], "labels": {"mood": "glad"}})
    await world.configure(
        retain_extraction_mode=mode,
        retain_custom_instructions="All",
        entities_allow_free_form=free,
        entity_labels=[{"key": "mood", "values": ["glad"], "tag": True}],
    )
    await world.keep(item("Ada smiled.", entities=(EntityInput("Atlas"),)))
    assert sorted(await world.entity_names()) == sorted(["Atlas", "mood:glad", *(["Ben"] if free else [])])
    assert [row["tags"] for row in await world.rows("SELECT tags FROM memory_unit")] == [["mood:glad"]]


async def test_a_fact_has_as_many_tags_as_one_may_be_given(world: World) -> None:
    groups = [{"key": f"k{n}", "type": "text", "tag": True} for n in range(300)]
    world.model = saying({"what": "Ada smiled", "labels": {group["key"]: "x" for group in groups}})
    await world.configure(entity_labels=groups)
    kept = await world.keep(item("Ada smiled.", tags=("mine", "k0:x")))
    [tags] = [row["tags"] for row in await world.rows("SELECT tags FROM memory_unit")]
    assert (len(tags), "mine" in tags, await world.count("unit_entity")) == (256, True, 300)
    assert (kept.result["dropped_by_reason"], kept.result["facts_dropped"]) == ({"too_many_tags": 45}, 0)


async def test_what_the_vocabulary_does_not_list_is_dropped_in_silence(world: World) -> None:
    values = ["angry", "none", "N/A", None, "", []]
    world.model = saying(
        *({"what": f"Fact {n}", "labels": {"mood": value}} for n, value in enumerate(values))
    )
    await world.configure(entity_labels=[{"key": "mood", "values": ["glad"], "optional": False, "tag": True}])
    kept = await world.keep(item("Ada smiled."))
    assert len(await world.texts()) == len(values)
    assert (await world.entity_names(), kept.result["dropped_by_reason"]) == ([], {})


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
        "SELECT n.name, n.kind, count(*) FROM entity_name n JOIN unit_entity ue USING (entity) GROUP BY 1, 2"
    )
    assert rows == [{"name": "Atlas", "kind": "product", "count": 2}]


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
    [row] = await world.rows("SELECT proof_count FROM memory_unit")
    assert row["proof_count"] == 3
