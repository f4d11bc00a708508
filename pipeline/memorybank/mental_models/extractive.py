"""The document where no language model is set: the nearest memories word for word, with dates, and saying so. Pure."""

from collections.abc import Sequence

from memorybank.sections import Document, Section, Statement, rendered
from memorybank.storage.mental_models import Shown
from memorybank.text import count_tokens
from memorybank.timeline.stamps import days_told

#: Memories quoted at most: more is a list, not an answer.
QUOTED = 20
#: What the only section is called: nobody shall take it for more than it is.
SECTION = (
    "Stored statements nearest to the question, word for word (no language model is set: nothing is reasoned)"
)


def quoted(shown: Sequence[Shown], max_tokens: int) -> Document:
    """Return the first memories that fit, each with the days when it was said and happened."""
    said: list[Statement] = []
    for one in shown[:QUOTED]:
        dates = "; ".join(days_told(one.occurred_start, one.occurred_end, one.mentioned_at))
        longer = [*said, Statement(f"{one.text} ({dates})" if dates else one.text, (one.id,))]
        if count_tokens(rendered((Section(SECTION, tuple(longer)),))) <= max_tokens:
            said = longer
    return (Section(SECTION, tuple(said)),) if said else ()
