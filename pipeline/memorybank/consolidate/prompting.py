"""What a model is asked to decide: one request about a batch of facts and the observations near them. Pure.

The system part is the same for all banks, so that providers keep it; mission and data stand behind it, in the user
part.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from memorybank import templates, text
from memorybank.consolidate import schema
from memorybank.consolidate.decision import Board
from memorybank.llm import fields
from memorybank.llm.client import ChatRequest
from memorybank.settings import BankConfig
from memorybank.storage.observations import Pending, Shown, Source
from memorybank.text.guards import SHOWN_CHARS, cut, same_key

#: Longest source fact that is shown, in characters: enough to know it by.
SOURCE_CHARS = 240


def system() -> str:
    """Return the instructions, as they are sent for every bank."""
    return templates.load("consolidation", "decide").system


def request(board: Board, config: BankConfig, max_output_tokens: int | None = None) -> ChatRequest:
    """Return the call that asks what becomes of the facts of a board."""
    prompt = templates.load("consolidation", "decide").render(
        mission=(config.observations_mission or "").strip(),
        language=" ".join((config.llm_output_language or "").split()),
        room="" if board.room is None else str(max(0, board.room)),
        new_facts=fields.rows(map(_fact, board.facts)),
        observations=fields.rows(_observations(board.shown, config)),
    )
    return ChatRequest(
        stage="consolidation",
        system=prompt.system,
        user=prompt.user,
        schema_name=schema.NAME,
        schema=schema.SCHEMA,
        max_output_tokens=max_output_tokens,
    )


def _fact(fact: Pending) -> dict[str, Any]:
    return {"text": cut(fact.text, SHOWN_CHARS)} | _dates(fact)


def _dates(dated: Pending | Source | Shown) -> dict[str, str]:
    """Return when something was said, and when it happened where that is another day."""
    said, period = _moment(dated.mentioned_at), _period(dated.occurred_start, dated.occurred_end)
    return {"said": said, "happened": "" if period == said[:10] else period}


def _observations(shown: Sequence[Shown], config: BankConfig) -> Iterator[dict[str, Any]]:
    left = config.consolidation_source_facts_max_tokens
    for one in shown:
        sources = _sources(one, config.consolidation_source_facts_max_tokens_per_observation, left)
        if left >= 0:
            left = max(0, left - sum(map(text.count_tokens, sources)))
        proofs = one.proof_count if one.proof_count > 1 else 0
        yield {"text": one.text, "said": _moment(one.mentioned_at), "proofs": proofs, "sources": sources}


def _sources(one: Shown, *limits: int) -> list[str]:
    """Return the newest facts of an observation, within the limits (-1: none), but those that say just the same."""
    said, spent = [], 0
    own = same_key(one.text)
    for source in one.sources:
        if same_key(source.text) == own:
            continue
        line = " ".join(filter(None, (*_dates(source).values(), cut(source.text, SOURCE_CHARS))))
        spent += text.count_tokens(line)
        if any(0 <= limit < spent for limit in limits):
            break
        said.append(line)
    return said


def _moment(at: datetime | None) -> str:
    """Return a day, with the time of day where one is known: what is said on one day has an order too."""
    if at is None:
        return ""
    return at.date().isoformat() if not (at.hour or at.minute) else f"{at:%Y-%m-%d %H:%M}"


def _period(start: datetime | None, end: datetime | None) -> str:
    """Return the days of a period; open where an edge is not known."""
    days = [at.date().isoformat() if at else "" for at in (start, end)]
    return days[0] if days[0] == days[1] else "/".join(days)
