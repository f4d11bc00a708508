"""The answer where no model is set: the nearest facts word for word, and the statement that nobody reasoned. Pure."""

from collections.abc import Sequence

from memorybank.model import FactType, Hit
from memorybank.text import count_tokens, cut_to_tokens
from memorybank.timeline.stamps import days_told

#: What is quoted: whatever is remembered.
TYPES = tuple(FactType)
#: Facts quoted at most: more is a list, not an answer.
QUOTED = 5
#: Relevance below which a fact is no answer: the best of a bank that holds nothing fitting has about 0.1.
LEAST_RELEVANCE = 0.15

UNKNOWN = "I do not know: nothing that is stored comes near this question."
OPENING = (
    "No language model is set, so nothing here is reasoned. These stored facts come nearest to the question:"
)


def quoted(facts: Sequence[Hit], max_tokens: int) -> tuple[str, tuple[Hit, ...]]:
    """Return the answer and the facts that it quotes, the nearest first, each with its dates and its id."""
    near = [fact for fact in facts if fact.scores.final >= LEAST_RELEVANCE][:QUOTED]
    if not near:
        return cut_to_tokens(UNKNOWN, max_tokens), ()
    lines = [OPENING]
    used: list[Hit] = []
    for fact in near:
        dates = days_told(fact.occurred_start, fact.occurred_end, fact.mentioned_at)
        line = f"- {fact.text} ({'; '.join([*dates, f'memory {fact.id}'])})"
        if used and count_tokens("\n".join([*lines, line])) > max_tokens:
            break
        lines.append(line)
        used.append(fact)
    return cut_to_tokens("\n".join(lines), max_tokens), tuple(used)
