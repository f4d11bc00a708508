"""The mode that asks a model: what is asked, split, repaired, kept and lost."""

import math
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import pytest

from memorybank.errors import ModelError, ModelMalformed, ModelRateLimited, ModelRefused, ModelTruncated
from memorybank.llm.client import AnswerFormat, ChatReply, ChatRequest
from memorybank.llm.ledger import MemoryLedger
from memorybank.llm.retry import OutOfRoom, Patience
from memorybank.model import EntityInput, Fact
from memorybank.retain.extraction import (
    SMALLEST_PIECE,
    Asking,
    ModelExtractor,
)
from memorybank.retain.extractors import extractor_for
from memorybank.retain.sentences import SentenceExtractor
from memorybank.retain.verbatim import ChunksExtractor, VerbatimExtractor
from memorybank.retain.work import ChunkWork, Extraction, Extractor
from memorybank.settings import defaults
from memorybank.testing.scripted_model import ScriptedModel, content_of, one_fact_a_line

ASKING = Asking(attempts=4, patience=Patience(longest=0.0))
LINES = "\n".join(
    f"Ada told Ben about item {n}, which stands on shelf {n * 7} of the long hall." for n in range(40)
)


def work(text: str, **fields: Any) -> ChunkWork:
    return ChunkWork(text, fields.pop("config", defaults().bank), **fields)


async def extract(model: ScriptedModel, text: str, **fields: Any) -> Extraction:
    return await only(ModelExtractor(model, ASKING), work(text, **fields))


async def only(extractor: Extractor, chunk: ChunkWork) -> Extraction:
    [found] = await extractor.extract([chunk])
    return found


async def test_the_request_carries_schema_mission_and_fenced_content() -> None:
    model = ScriptedModel()
    found = await extract(
        model,
        "Ada likes teal.",
        config=defaults().bank.model_copy(update={"retain_mission": "Keep colours"}),
        anchor=datetime(2026, 3, 1, tzinfo=UTC),
        number=2,
        total=3,
        context="stand-up",
        metadata={"source": "slack"},
        narrator="Team memory",
    )
    [request] = model.requests
    assert (request.stage, request.schema_name) == ("retain", "extracted_facts")
    for said in ("Keep colours", "Team memory", "2026-03-01 (Sunday)", "2 of 3", "stand-up\nsource: slack"):
        assert said in request.user
    assert content_of(request) == "Ada likes teal."
    assert [fact.text for fact in found.facts] == ["Ada likes teal."]


async def test_what_is_cut_is_asked_in_pieces_and_every_fact_is_kept() -> None:
    model = ScriptedModel(lambda text: ModelTruncated("cut") if len(text) > 1200 else one_fact_a_line(text))
    ledger = MemoryLedger()
    found = await extract(model, LINES, ledger=ledger)
    assert [fact.text for fact in found.facts] == LINES.split("\n")
    answered = [request for request in model.requests if len(content_of(request)) <= 1200]
    assert len(model.requests) <= 2 * len(answered)
    assert len(ledger.calls) == len(model.requests)


async def test_a_piece_at_the_floor_is_lost_and_counted_and_the_others_kept() -> None:
    model = ScriptedModel(lambda text: ModelTruncated("cut") if "item 7," in text else one_fact_a_line(text))
    found = await extract(model, LINES)
    assert found.dropped == {"model_truncated": 1}
    kept = [fact.text for fact in found.facts]
    assert all(line in kept for line in LINES.split("\n")[20:])
    assert min(len(content_of(request)) for request in model.requests) <= 2 * SMALLEST_PIECE


async def test_a_short_text_that_is_cut_is_asked_for_once_more_and_shorter() -> None:
    answers = iter([ModelTruncated("cut"), one_fact_a_line("Ada likes teal.")])
    model = ScriptedModel(lambda _: next(answers))
    found = await extract(model, "Ada likes teal.")
    assert [fact.text for fact in found.facts] == ["Ada likes teal."]
    assert [len(request.messages) for request in model.requests] == [0, 1]


async def test_a_short_text_that_is_always_cut_costs_two_calls() -> None:
    model = ScriptedModel(lambda _: ModelTruncated("cut"))
    assert isinstance((await extract(model, "Ada likes teal.")).error, ModelTruncated)
    assert len(model.requests) == 2


async def test_nothing_but_cuts_is_an_error() -> None:
    assert isinstance(
        (await extract(ScriptedModel(lambda _: ModelTruncated("cut")), LINES)).error, ModelTruncated
    )


async def test_a_refusal_and_a_rate_limit_are_not_asked_again() -> None:
    for error in (ModelRefused("no"), ModelRateLimited("later", retry_after=60)):
        model = ScriptedModel(lambda _, error=error: error)
        assert (await extract(model, "Ada likes teal.")).error is error
        assert len(model.requests) == 1


@pytest.mark.parametrize("text", ["Ada likes teal.", LINES], ids=["short", "long"])
async def test_unusable_answers_spend_one_budget_and_no_request_is_sent_twice(text: str) -> None:
    model = ScriptedModel(lambda _: "no json here")
    assert isinstance((await extract(model, text)).error, ModelMalformed)
    assert len(model.requests) == ASKING.attempts
    sent = [(content_of(request), request.answer_format, request.messages) for request in model.requests]
    assert all(one != other for at, one in enumerate(sent) for other in sent[:at])


def only_in(answer_format: AnswerFormat) -> ScriptedModel:
    """A model that answers usably in one format."""

    @dataclass
    class Picky(ScriptedModel):
        async def complete(self, request: ChatRequest) -> ChatReply:
            reply = await super().complete(request)
            return reply if request.answer_format is answer_format else replace(reply, content="Well.")

    return Picky()


async def test_a_malformed_chunk_is_repaired_then_divided_then_asked_for_in_plain_json() -> None:
    model = only_in(AnswerFormat.PROMPT)
    found = await extract(model, LINES)
    assert [fact.text for fact in found.facts] == LINES.split("\n") and not found.dropped
    ways = [
        (len(content_of(request)) == len(LINES), len(request.messages), request.answer_format)
        for request in model.requests
    ]
    strict, plain = AnswerFormat.JSON_SCHEMA, AnswerFormat.PROMPT
    assert ways == [
        (True, 0, strict),
        (True, 2, strict),
        (False, 0, strict),
        (False, 0, plain),
        (False, 0, plain),
    ]
    for calls in (10, 11):
        assert (await extract(model, LINES)).facts == found.facts
        assert len(model.requests) == calls


async def test_a_bad_piece_does_not_eat_the_attempts_of_the_others() -> None:
    model = ScriptedModel(lambda text: "no json" if "item 7," in text else one_fact_a_line(text))
    found = await extract(model, LINES)
    assert [fact.text for fact in found.facts] == LINES.split("\n")[-len(found.facts) :]
    assert len(found.facts) >= 15
    assert found.dropped == {"model_malformed": 1} and not found.error
    assert len(model.requests) <= ASKING.attempts + 2


async def test_what_was_cut_once_is_from_then_on_asked_for_in_pieces_that_fit() -> None:
    model = ScriptedModel(lambda text: ModelTruncated("cut") if len(text) > 1200 else one_fact_a_line(text))
    for _ in range(10):
        assert [fact.text for fact in (await extract(model, LINES)).facts] == LINES.split("\n")
    cut = [request for request in model.requests if len(content_of(request)) > 1200]
    assert len(cut) <= 5
    model.answer = one_fact_a_line
    for _ in range(40):
        await extract(model, LINES)
    assert len(content_of(model.requests[-1])) == len(LINES)


async def test_the_length_of_a_dense_text_is_no_reason_where_the_model_only_thought() -> None:
    model = ScriptedModel(lambda _: OutOfRoom("thought"))
    assert isinstance((await extract(model, LINES)).error, OutOfRoom)
    assert len(model.requests) <= ASKING.attempts and model.known.longest == math.inf


async def test_an_answer_without_one_readable_fact_is_a_loss() -> None:
    found = await extract(ScriptedModel(lambda _: {"facts": [1, 2]}), "x")
    assert isinstance(found.error, ModelMalformed) and found.dropped == {"malformed": 2}


async def test_a_mostly_unreadable_answer_is_asked_for_again() -> None:
    answers = iter([{"facts": [1, 2, {"what": "first"}]}, {"facts": [{"what": "first"}, {"what": "second"}]}])
    model = ScriptedModel(lambda _: next(answers))
    found = await extract(model, "x")
    assert ([fact.text for fact in found.facts], len(model.requests)) == (["first", "second"], 2)


async def test_the_better_of_two_bad_answers_is_kept() -> None:
    model = ScriptedModel(lambda _: {"facts": [1, 2, {"what": "kept"}]})
    found = await extract(model, "x")
    assert [fact.text for fact in found.facts] == ["kept"]
    assert (found.dropped, len(model.requests)) == ({"malformed": 2}, 2)


async def test_a_few_unreadable_facts_are_dropped_without_asking_again() -> None:
    answer = {"facts": [*({"what": f"fact {n}"} for n in range(9)), 7]}
    model = ScriptedModel(lambda _: answer)
    found = await extract(model, "x")
    assert (len(found.facts), found.dropped, len(model.requests)) == (9, {"malformed": 1}, 1)


def test_causes_stay_right_when_pieces_are_joined() -> None:
    first = Extraction((Fact("a"), Fact("b", causes=(0,))), dropped={"x": 1})
    joined = first.followed_by(Extraction((Fact("c"), Fact("d", causes=(0,))), dropped={"x": 2}))
    assert [fact.causes for fact in joined.facts] == [(), (0,), (), (2,)]
    assert joined.dropped == {"x": 3}


async def test_mode_chunks_is_the_chunk_itself() -> None:
    found = await only(ChunksExtractor(), work("[2026-02-02 10:00] Ada: signed."))
    [fact] = found.facts
    assert (fact.text, fact.entities) == ("[2026-02-02 10:00] Ada: signed.", ())
    assert fact.mentioned_at == datetime(2026, 2, 2, 10, tzinfo=UTC)


async def test_mode_verbatim_adds_the_names_and_dates_of_all_facts() -> None:
    text = "We shipped on 2026-02-27 and met Ben on 2026-03-02 in Kiel."
    answer = {
        "facts": [
            {"what": "Shipped", "fact_kind": "event", "occurred_start": "2026-02-27", "entities": ["Ada"]},
            {
                "what": "Met",
                "fact_kind": "event",
                "occurred_start": "2026-03-02",
                "where": "Kiel",
                "entities": ["Ben", "Ada"],
            },
        ]
    }
    inner = ModelExtractor(ScriptedModel(lambda _: answer), ASKING)
    found = await only(VerbatimExtractor(inner), work(text))
    [fact] = found.facts
    assert (fact.text, fact.place_name, fact.causes) == (text, "Kiel", ())
    assert fact.entities == (EntityInput("Ada"), EntityInput("Ben"))
    assert fact.occurred_start == datetime(2026, 2, 27, tzinfo=UTC)
    assert fact.occurred_end is not None
    assert fact.occurred_end.date().isoformat() == "2026-03-02"


@pytest.mark.parametrize("error", [ModelRefused("no"), ModelTruncated("cut"), ModelMalformed("?")])
async def test_mode_verbatim_keeps_the_text_of_a_chunk_that_the_model_could_not_do(error: ModelError) -> None:
    extractor = VerbatimExtractor(ModelExtractor(ScriptedModel(lambda _: error), ASKING))
    found = await only(extractor, work("[2026-02-02 10:00] Ada: signed."))
    [fact] = found.facts
    assert (fact.text, fact.entities, found.error) == ("[2026-02-02 10:00] Ada: signed.", (), None)
    assert fact.mentioned_at == datetime(2026, 2, 2, 10, tzinfo=UTC)
    assert found.dropped == {error.code: 1}


async def test_mode_verbatim_waits_for_a_model_that_has_no_time() -> None:
    busy = ModelRateLimited("later", retry_after=60)
    found = await only(VerbatimExtractor(ModelExtractor(ScriptedModel(lambda _: busy), ASKING)), work("Ada."))
    assert (found.facts, found.error) == ((), busy)


async def test_without_a_model_what_is_due_has_an_end_alone() -> None:
    [fact] = (await only(SentenceExtractor(), work("We must ship v2 by 15 January 2026."))).facts
    assert fact.occurred_start is None
    assert fact.occurred_end is not None and fact.occurred_end.date().isoformat() == "2026-01-15"


async def test_without_a_model_sentences_are_facts() -> None:
    chunk = work("Ada: I moved to Porto yesterday. Thanks!", anchor=datetime(2026, 3, 1, tzinfo=UTC))
    found = await only(SentenceExtractor(), chunk)
    [fact] = found.facts
    assert "Porto" in fact.text
    assert fact.text.startswith("Ada: ")
    assert EntityInput("Ada", "PERSON") in fact.entities
    assert fact.occurred_start == datetime(2026, 2, 28, tzinfo=UTC)


@pytest.mark.parametrize("mode", ["concise", "verbose", "custom", "verbatim", "chunks"])
def test_each_mode_has_its_extractor(mode: Any) -> None:
    config, model = defaults().bank.model_copy(update={"retain_extraction_mode": mode}), ScriptedModel()
    kinds = {"chunks": ChunksExtractor, "verbatim": VerbatimExtractor}
    assert isinstance(extractor_for(config, model, ASKING), kinds.get(mode, ModelExtractor))
    assert isinstance(extractor_for(config, None, ASKING), kinds.get(mode, SentenceExtractor))
