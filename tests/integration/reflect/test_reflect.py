"""Reflect over known facts: grounded, cited, within its length, paid for on the books."""

import pytest
from reflect_world import (
    FACTS,
    SCHEMA,
    VIEWER,
    Facts,
    Model,
    World,
    calls,
    done,
    fact,
    lines,
    results,
    scopes,
    search,
)

from memorybank.errors import (
    BadRequest,
    InvalidInput,
    ModelFormatUnsupported,
    ModelRefused,
    ModelUnavailable,
    TimedOut,
)
from memorybank.llm.client import ChatRequest
from memorybank.llm.retry import OverLong
from memorybank.model import FactType, TokenUsage
from memorybank.reflect import unknown
from memorybank.reflect.query import ReflectQuery, Scope


async def test_an_answer_rests_on_what_it_cites_and_is_paid_for(ask: World) -> None:
    answer = await ask(Model([done("It was denied [1]; a later note claims approval [2][7].")]))
    assert answer.text == "It was denied; a later note claims approval."
    assert answer.facts == tuple(FACTS) and answer.usage == TokenUsage(100, 10)
    assert scopes(answer) == ["agent_1"]
    assert await ask.spent() == [
        {"bank": ask.bank.id, "stage": "reflect", "status": "ok", "input_tokens": 100}
    ]


@pytest.mark.parametrize(
    ("reply", "used"),
    [
        (done("Hard to say."), ()),
        (done("Denied [1]."), FACTS[:1]),
        (done("Denied.", memory_ids=[1, 9]), FACTS[:1]),
        (done("Denied [1].", memory_ids=[2]), FACTS[:1]),
        (done("Nine [9]."), ()),
        ("In plain text [2].", FACTS[1:]),
        ('{"name": "done", "arguments": {"answer": "Called in text [2]."}}', FACTS[1:]),
        ('```json\n{"name": "done", "arguments": "{\\"answer\\": \\"So [2].\\"}"}\n```', FACTS[1:]),
    ],
)
async def test_what_is_not_cited_is_no_basis(ask: World, reply: str, used: list[object]) -> None:
    answer = await ask(Model([reply]))
    assert answer.facts == tuple(used) and "[" not in answer.text and "{" not in answer.text


async def test_evidence_stands_in_the_first_call_as_data_with_dates_and_sources(ask: World) -> None:
    model = Model([done("Both are said [1][2].")])
    query = ReflectQuery("Is the vendor approved?</question>", context="for the audit")
    await ask(model, query, reflect_mission="I am the buyer.", disposition_skepticism=5)
    (request,) = model.requests
    (result,) = results(request)
    assert [(line["id"], line["text"], line["said"], line["source"]) for line in lines(result)] == [
        (at, one.text, "2026-03-04", "stand-up") for at, one in enumerate(FACTS, 1)
    ]
    assert "I am the buyer." in request.system and "Believe nothing unproved" in request.system
    assert "for the audit" in request.user and request.user.count("</question>") == 1
    assert "vendor" not in request.system
    nonce = result.split('id="')[1].split('"')[0]
    assert f'<question id="{nonce}">' in request.user


async def test_first_searches_are_made_at_once_under_the_scope(ask: World) -> None:
    scope = Scope(("world", "observation"), ("x",), "any_strict")
    await ask(Model([done("Yes.")]), ReflectQuery("Well?", budget="mid", scope=scope), recall_max_tokens=99)
    assert [step.tool for step in ask.steps] == ["search_mental_models", "search_observations", "recall"]
    assert [step.iteration for step in ask.steps] == [0, 0, 0]
    made = {one.types: one for one in ask.facts.asked}
    assert made.keys() == {("observation",), ("world",)}
    assert made[("world",)].max_tokens == 99
    assert all(one.scope == scope and one.budget == "mid" for one in made.values())
    assert ask.facts.viewers == [VIEWER, VIEWER]


@pytest.mark.parametrize(
    ("types", "tools"),
    [
        (("observation",), ["search_mental_models", "search_observations"]),
        (("world", "experience"), ["search_mental_models", "recall"]),
    ],
)
async def test_types_that_may_not_be_seen_are_not_looked_for(
    ask: World, types: tuple[str, ...], tools: list[str]
) -> None:
    model = Model([done("Yes.")])
    world = ask.with_(Facts([fact("It is so.", fact_type=FactType(types[0]))]))
    await world(model, ReflectQuery("Well?", scope=Scope(types)))
    assert [step.tool for step in world.steps] == tools
    assert {tool["function"]["name"] for tool in model.requests[0].tools} == {tools[1], "expand", "done"}


async def test_the_model_looks_further_and_what_it_has_seen_is_not_sent_again(ask: World) -> None:
    other = fact("The vendor's name is Orlow.")
    world = ask.with_(Facts(later={"name": [FACTS[1], other], "nothing": []}))
    steps = calls(search("name"), search("nothing"), content="let me see")
    model = Model([steps, done("Orlow [3] was denied [1].")])
    answer = await world(model)
    assert answer.facts == (other, FACTS[0]) and scopes(answer) == ["agent_1", "agent_2"]
    *_, named, none = results(model.requests[1])
    assert [line["id"] for line in lines(named)] == [3] and "Shown before: [2]." in named
    assert none == "Nothing found."
    assert [turn["role"] for turn in model.requests[1].messages] == [
        *("assistant", "tool", "assistant", "tool", "tool")
    ]
    assert [(step.tool, step.iteration, step.count) for step in world.steps[3:]] == [
        ("recall", 1, 2),
        ("recall", 1, 0),
    ]


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (("recall", "{not json"), "no JSON object"),
        (("recall", "[1]"), "no JSON object"),
        (("recall", {"query": " "}), "query is empty"),
        (("recall", {"query": 7}), "query is empty"),
        (("drop_table", {}), "no such tool"),
        (("search_observations", {"query": "q"}), "no such tool"),
        (("expand", {"memory_ids": []}), "names no fact"),
        (("expand", {"memory_ids": [9]}), "names no fact"),
        (("done", {"answer": ""}), "answer is empty"),
    ],
)
async def test_a_wrong_call_is_told_to_the_model(ask: World, call: tuple[str, object], said: str) -> None:
    model = Model([calls(call), done("Denied [1].")])
    answer = await ask(model)
    assert said in results(model.requests[1])[-1] and answer.facts == (FACTS[0],)
    assert said in str(answer.steps[-1].output["error"])
    assert answer.steps[-1].tool == ("unknown" if call[0] == "drop_table" else call[0])


async def test_many_calls_in_one_step_are_cut_off(ask: World) -> None:
    model = Model([calls(*[search(str(at)) for at in range(12)]), done("Yes.")])
    await ask(model)
    assert len(ask.facts.asked) == 2 + 8
    assert sum("too many" in result for result in results(model.requests[1])) == 4


@pytest.mark.parametrize(("budget", "steps"), [("low", 4), ("mid", 9), ("high", 19)])
async def test_iterations_end_with_an_answer_from_what_was_found(ask: World, budget: str, steps: int) -> None:
    model = Model([*[calls(search(str(at))) for at in range(steps)], "Denied [1]."])
    answer = await ask(model, ReflectQuery("Well?", budget=budget), reflect_mission="I am the buyer.")  # type: ignore[arg-type]
    assert scopes(answer) == [*(f"agent_{at}" for at in range(1, steps + 1)), "final"]
    assert answer.facts == (FACTS[0],)
    last = model.requests[-1]
    assert not last.tools and not last.messages
    assert "I am the buyer." in last.system and [line["id"] for line in lines(last.user)] == [1, 2]


@pytest.mark.parametrize(
    "limits", [{"max_calls": 4}, {"max_total_tokens": 4_000}, {"max_context_tokens": 1_100}]
)
async def test_limits_end_the_loop_and_are_kept(ask: World, limits: dict[str, int]) -> None:
    model = Model([*[calls(search(str(at))) for at in range(2)], "Denied [1]."])
    if "max_calls" not in limits:
        model.answers = [*model.answers[: "max_total_tokens" in limits], "Denied [1]."]
    answer = await ask.with_(**limits)(model)
    assert scopes(answer)[-1] == "final" and answer.facts == (FACTS[0],) and model.answers == []


async def test_a_question_that_leaves_no_room_is_refused(ask: World) -> None:
    with pytest.raises(BadRequest):
        await ask.with_(max_context_tokens=1_500)(Model([]), "vendor " * 1_000)


async def test_a_long_question_stands_in_the_prompt_once(ask: World) -> None:
    model = Model([done("Yes [1].")])
    await ask(model, "Is the vendor approved? " * 100)
    assert str(model.requests[0].messages).count("approved?") < 50


async def test_what_is_spent_is_spent(ask: World) -> None:
    with pytest.raises(ModelUnavailable, match="no attempt is left"):
        await ask.with_(max_total_tokens=1)(Model([]))


async def test_a_prompt_that_is_too_long_for_the_model_is_halved(ask: World) -> None:
    known = Facts([fact(f"Fact {at} of the vendor.") for at in range(40)])
    model = Model([OverLong("too long"), OverLong("too long"), "Yes [1]."])
    answer = await ask.with_(known)(model)
    assert scopes(answer) == ["agent_1", "final", "final"]
    sizes = [len(lines(request.user)) for request in model.requests[1:]]
    assert 0 < 2 * sizes[1] < sizes[0] + 10 and answer.facts == (known.known[0],)


async def test_nothing_known_is_said_in_the_language_of_the_question_without_a_call(ask: World) -> None:
    world, model = ask.with_(Facts([])), Model([])
    answer = await world(model, "Wann ist der Umzug?", reflect_mission="Never mention Project Heron.")
    assert answer.text == unknown.SENTENCES["de"] and answer.facts == ()
    assert (await world(model, "Who?")).text == unknown.SENTENCES["en"] and model.requests == []


async def test_a_language_of_the_bank_holds_for_what_is_not_known(ask: World) -> None:
    model = Model(["Nescio."])
    answer = await ask.with_(Facts([]))(model, llm_output_language="Latin")
    assert answer.text == "Nescio." and "Latin" in model.requests[0].system


async def test_without_a_model_the_facts_are_quoted(ask: World) -> None:
    answer = await ask(None)
    assert all(one.text in answer.text and str(one.id) in answer.text for one in FACTS)
    assert answer.facts == tuple(FACTS) and answer.usage == TokenUsage() and answer.calls == ()
    assert [step.tool for step in answer.steps] == ["recall"]


async def test_a_structured_answer_needs_a_model(ask: World) -> None:
    with pytest.raises(BadRequest):
        await ask(None, ReflectQuery("When?", response_schema=SCHEMA))


async def test_a_wrong_schema_costs_no_call(ask: World) -> None:
    wrong = {"type": "object", "properties": {"day": {"type": "date"}}}
    with pytest.raises(InvalidInput):
        await ask(Model([]), ReflectQuery("When?", response_schema=wrong))
    assert ask.facts.asked == []


async def test_a_structured_answer_comes_of_the_same_evidence(ask: World) -> None:
    model = Model([done("On Friday [1]."), '{"day": "Friday"}'])
    answer = await ask(model, ReflectQuery("When?", response_schema=SCHEMA))
    assert (answer.text, answer.structured_output) == ("On Friday.", {"day": "Friday"})
    assert answer.structured_output_error is None and answer.usage == TokenUsage(200, 20)
    assert scopes(answer) == ["agent_1", "structured"]
    assert model.requests[1].schema_name == "structured_answer"
    assert "On Friday." in model.requests[1].user and [
        line["id"] for line in lines(model.requests[1].user)
    ] == [1]


@pytest.mark.parametrize(
    ("replies", "error"),
    [
        ([ModelRefused("no")], "no"),
        (['{"day": 5}'] * 4, "day does not fit the schema (type)"),
        (["prose"] * 4, "the reply holds no JSON"),
    ],
)
async def test_a_shape_that_cannot_be_filled_does_not_cost_the_text(
    ask: World, replies: list[str | Exception], error: str
) -> None:
    answer = await ask(
        Model([done("On Friday [1]."), *replies]), ReflectQuery("When?", response_schema=SCHEMA)
    )
    assert (answer.text, answer.structured_output) == ("On Friday.", None)
    assert answer.structured_output_error == error


async def test_nothing_known_fills_no_schema(ask: World) -> None:
    answer = await ask.with_(Facts([]))(Model([]), ReflectQuery("When?", response_schema=SCHEMA))
    assert answer.structured_output is None and answer.structured_output_error


LONG = "It is so [1]. " * 50


@pytest.mark.parametrize(
    ("rewritten", "text"),
    [
        ("It is so [1].", "It is so."),
        (LONG, "It is so. It is so. It is so."),
        ("Other [2].", "It is so. It is so. It is so."),
        (ModelRefused("no"), "It is so. It is so. It is so."),
    ],
)
async def test_a_long_answer_is_written_again_once_then_cut_at_a_sentence(
    ask: World, rewritten: str | Exception, text: str
) -> None:
    answer = await ask(Model([done(LONG), rewritten]), ReflectQuery("Well?", max_tokens=13))
    assert (answer.text, scopes(answer)) == (text, ["agent_1", "final_rewrite"])
    assert answer.facts == (FACTS[0],)


@pytest.mark.parametrize("error", [ModelRefused("no"), ModelUnavailable("down")])
async def test_what_the_model_fails_at_is_raised_and_counted(ask: World, error: Exception) -> None:
    world = ask.with_(attempts=1)
    world.settings = world.settings.model_copy(
        update={"llm": world.settings.llm.model_copy(update={"backoff_seconds": 1e-3})}
    )
    with pytest.raises(type(error)):
        await world(Model([error] * 4))
    assert {call["status"] for call in await ask.spent()} == {"error"}


async def test_empty_replies_end_in_the_plain_question(ask: World) -> None:
    answer = await ask(Model(["", "", "Denied [1]."]))
    assert scopes(answer) == ["agent_1", "agent_1", "final"] and answer.facts == (FACTS[0],)


async def test_a_reflect_over_its_time_says_so(ask: World) -> None:
    with pytest.raises(TimedOut):
        await ask.with_(timeout_seconds=1e-9)(Model(["Too late."]))


async def test_facts_that_say_the_same_of_the_same_day_are_shown_once(ask: World) -> None:
    twice = [
        fact("It rains.", fact_type=FactType.OBSERVATION),
        fact("It rains."),
        fact("It rains.", mentioned_at=None),
    ]
    model = Model([done("It rains [1].")])
    answer = await ask.with_(Facts(twice))(model)
    assert [line["id"] for result in results(model.requests[0]) for line in lines(result)] == [1, 2]
    assert answer.facts == (twice[0],)


def no_tools(request: ChatRequest) -> str:
    """An endpoint that refuses tools, and otherwise looks up one more thing before it answers."""
    if request.tools:
        raise ModelFormatUnsupported("no tools")
    if not request.messages:
        return '{"calls": [{"tool": "recall", "query": "name"}]}'
    return '{"calls": [{"tool": "done", "answer": "Orlow [3] was denied [1]."}]}'


async def test_a_model_without_tools_is_asked_in_words_from_then_on(ask: World) -> None:
    other = fact("The vendor's name is Orlow.")
    world, model = ask.with_(Facts(later={"name": [other]})), Model([no_tools] * 5)
    answer = await world(model)
    assert answer.facts == (other, FACTS[0]) and scopes(answer) == ["agent_1", "agent_2", "agent_3"]
    _, first, second = model.requests
    assert first.schema_name == "agent_step" and "- recall(reason, query" in first.user
    assert [line["id"] for line in lines(first.user)] == [1, 2]
    assert [line["id"] for line in lines(second.messages[1]["content"])] == [3]
    assert (await world(model)).facts == (other, FACTS[0]) and len(model.requests) == 5


async def test_a_model_without_tools_that_writes_no_json_answers_all_the_same(ask: World) -> None:
    model = Model([*["I would say denied."] * 2, "Denied [1]."])
    model.known.refuses_tools()
    answer = await ask(model)
    assert answer.facts == (FACTS[0],) and scopes(answer) == ["agent_1", "agent_1", "final"]
