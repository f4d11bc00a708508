"""Does recall find the turns that answer a question? Conversations go in over HTTP, every question is asked.

Mode `chunks`: each turn becomes exactly one fact without any model, so that what is measured is recall alone. Mode
`verbatim` is the same with the names that the engine finds, for the graph.
"""

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorybank.errors import Conflict
from memorybank_eval.client import Client, RecallOptions, turn_item, turns_of
from memorybank_eval.datasets import Conversation, Dataset, Question, Turn
from memorybank_eval.metrics import DEPTH, Estimate, judge, percentile, summarize

#: Documents of a pool that travel in one request.
POOL_REQUEST = 100
#: Name of the row over all questions.
ALL = "all"
#: Modes of retain that keep a turn as one fact.
MODES = ("chunks", "verbatim")


@dataclass(frozen=True)
class Asked:
    """One question as it was answered: the turns found, best first, and the seconds it took."""

    conversation: str
    question: Question
    ranking: tuple[str, ...]
    seconds: float


@dataclass(frozen=True)
class Retained:
    """What went in: turns and facts, and the seconds from the first request to the last operation's end."""

    turns: int
    facts: int
    seconds: float


@dataclass(frozen=True)
class Row:
    """The metrics of one category."""

    category: str
    questions: int
    metrics: Mapping[str, Estimate]


def bank_name(dataset: str, conversation: Conversation) -> str:
    """Return the bank that holds a conversation."""
    return f"eval-{dataset}-{conversation.id}"


async def retain_all(
    client: Client, dataset: str, conversations: Sequence[Conversation], reuse: bool, mode: str = "chunks"
) -> Retained:
    """Retain the conversations side by side, each in its bank; `reuse` takes banks that are filled as they are.

    Raises Conflict for a bank that holds something already, unless it may be reused.
    """
    began = time.perf_counter()
    counts = await asyncio.gather(
        *(
            _retain(client, bank_name(dataset, conversation), conversation, reuse, mode)
            for conversation in conversations
        )
    )
    turns = sum(len(conversation.turns) for conversation in conversations)
    return Retained(turns, sum(counts), time.perf_counter() - began)


async def _retain(client: Client, bank: str, conversation: Conversation, reuse: bool, mode: str) -> int:
    await client.configure(bank, {"retain_extraction_mode": mode})
    held = await client.count(bank)
    if held and not reuse:
        raise Conflict(f"bank {bank} holds {held} facts already: delete it, or say --reuse")
    if not held:
        operations = [await client.submit(bank, items) for items in requests_of(conversation)]
        await asyncio.gather(*(client.wait(bank, operation) for operation in operations))
    return await client.count(bank)


def requests_of(conversation: Conversation) -> list[list[dict[str, Any]]]:
    """Return the items of each request: one request a session, one item a turn, so that turns have neighbours.

    The turns of a pool are documents of their own and travel together.
    """
    if conversation.pooled:
        items = [{**_item(turn, conversation), "document_id": turn.id} for turn in conversation.turns]
        return [items[start : start + POOL_REQUEST] for start in range(0, len(items), POOL_REQUEST)]
    return [[_item(turn, conversation) for turn in session] for session in conversation.sessions()]


def _item(turn: Turn, conversation: Conversation) -> dict[str, Any]:
    return turn_item(turn.text, turn.id, turn.at, conversation.context)


async def ask_all(
    client: Client, dataset: str, conversations: Sequence[Conversation], options: RecallOptions
) -> list[Asked]:
    """Ask every question, one after the other, so that the times are those of a server at rest."""
    asked = []
    for conversation in conversations:
        bank = bank_name(dataset, conversation)
        for question in conversation.questions:
            began = time.perf_counter()
            how = RecallOptions(options.budget, options.max_tokens, question.asked_at)
            hits = await client.recall(bank, question.text, how)
            seconds = time.perf_counter() - began
            asked.append(Asked(conversation.id, question, tuple(turns_of(hits)), seconds))
    return asked


def tabulate(asked: Sequence[Asked], together: Mapping[str, frozenset[str]]) -> list[Row]:
    """Return a row per category, then one per group of categories, then one over all questions."""
    judged = [(one.question.category, judge(one.ranking, one.question.evidence)) for one in asked]
    categories = sorted({category for category, _ in judged})
    groups = {**{category: {category} for category in categories}, **together, ALL: set(categories)}
    rows = []
    for name, members in groups.items():
        values = [metrics for category, metrics in judged if category in members]
        if values:
            rows.append(Row(name, len(values), summarize(values)))
    return rows


def short_answers(asked: Sequence[Asked]) -> int:
    """Return how many answers held fewer turns than the deepest cut: their recall is judged on less."""
    return sum(len(one.ranking) < DEPTH for one in asked)


def result_of(
    asked: Sequence[Asked], retained: Retained, dataset: Dataset, options: RecallOptions
) -> dict[str, Any]:
    """Return everything measured, as JSON can hold it."""
    seconds = [one.seconds for one in asked]
    return {
        "turns": retained.turns,
        "facts": retained.facts,
        "retain_seconds": round(retained.seconds, 2),
        "questions": len(asked),
        "answers_with_fewer_turns_than_20": short_answers(asked),
        "recall": {"budget": options.budget, "max_tokens": options.max_tokens},
        "milliseconds_per_question": {
            "p50": round(percentile(seconds, 50) * 1000, 1),
            "p95": round(percentile(seconds, 95) * 1000, 1),
        },
        "categories": {
            row.category: {
                "questions": row.questions,
                "metrics": {name: value.rounded() for name, value in row.metrics.items()},
            }
            for row in tabulate(asked, dataset.together)
        },
    }


def each_of(asked: Sequence[Asked]) -> list[dict[str, Any]]:
    """Return the metrics of each question, without its text: for paired comparisons of two runs."""
    return [
        {
            "conversation": one.conversation,
            "number": number,
            "category": one.question.category,
            **judge(one.ranking, one.question.evidence),
        }
        for number, one in enumerate(asked)
    ]


async def measure(
    client: Client,
    name: str,
    dataset: Dataset,
    conversations: Sequence[Conversation],
    reuse: bool,
    mode: str = "chunks",
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Retain, ask, judge; returns the result and the metrics of each question."""
    options = RecallOptions(max_tokens=dataset.answer_tokens)
    retained = await retain_all(client, name, conversations, reuse, mode)
    asked = await ask_all(client, name, conversations, options)
    health = await client.health()
    result = {"engine": health.get("engine"), "mode": mode, **result_of(asked, retained, dataset, options)}
    return result, each_of(asked)
