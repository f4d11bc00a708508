"""Citations: facts as numbered lines for the model, and the numbers in its answer back to facts. Pure."""

import json
import re
from collections.abc import Sequence
from datetime import datetime

from memorybank.model import Hit
from memorybank.text import count_tokens, cut_to_tokens

#: One or more numbers in square brackets, and the space before them.
_CITED = re.compile(r"[ \t]*\[(\d{1,4}(?:\s*[,;]\s*\d{1,4})*)\](?!\()")
_NUMBER = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n")


def numbered(facts: Sequence[Hit]) -> str:
    """Return the facts as one JSON object a line, numbered from 1, with dates and source where known."""
    return "\n".join(
        json.dumps(_line(number, fact), ensure_ascii=False) for number, fact in enumerate(facts, 1)
    )


def _line(number: int, fact: Hit) -> dict[str, object]:
    line: dict[str, object] = {"id": number, "text": fact.text}
    for key, value in (
        ("occurred", period(fact.occurred_start, fact.occurred_end)),
        ("mentioned", day(fact.mentioned_at)),
        ("source", fact.document_id or fact.context),
    ):
        if value:
            line[key] = value
    return line


def day(at: datetime | None) -> str:
    """Return the calendar day, empty for none."""
    return at.date().isoformat() if at else ""


def period(start: datetime | None, end: datetime | None) -> str:
    """Return one day, the first and the last day, or the last one alone; empty for none."""
    first, last = day(start), day(end)
    if not last or last == first:
        return first
    return f"{first} to {last}" if first else f"up to {last}"


def cited(answer: str, facts: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the facts that an answer cites, in the order of first mention; numbers of no fact are dropped."""
    numbers = [int(number) for group in _CITED.findall(answer) for number in _NUMBER.findall(group)]
    return tuple(facts[number - 1] for number in dict.fromkeys(numbers) if 1 <= number <= len(facts))


def plain(answer: str) -> str:
    """Return the answer without its citations: the numbers mean nothing to who did not see the list."""
    return _CITED.sub("", answer).strip()


def shortened(answer: str, max_tokens: int) -> str:
    """Return the answer within its tokens, cut at the end of a sentence where one is near enough."""
    if count_tokens(answer) <= max_tokens:
        return answer
    cut = cut_to_tokens(answer, max_tokens)
    ends = [match.end() for match in _SENTENCE_END.finditer(cut)]
    return cut[: ends[-1]].rstrip() if ends and ends[-1] > len(cut) // 2 else cut
