"""What the engine finds."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from memorybank.timeline import TimeSpan

FactKind = Literal["world", "experience"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One self-contained fact, worded as in its source, behind its speaker ("Mara: I moved to Porto.").

    `entities` are the names in it and its speaker; `occurred` is the window that the first time in it names, as
    `phrase_window` has it; `mentioned` is when it was said, if its own line tells.
    """

    text: str
    speaker: str | None
    entities: tuple[str, ...]
    occurred: TimeSpan | None
    fact_type: FactKind
    mentioned: datetime | None = None
