"""How a question asks: for which kind of answer, and in a chat with an assistant for whose words. Pure."""

import re
from collections.abc import Mapping
from typing import Any, Literal

from memorybank.paths import table
from memorybank.text.traits import Trait, speaker_number

Role = Literal["user", "assistant"]

#: Who speaks in a chat with an assistant, as turns are written.
USERS = tuple(map(speaker_number, ("user", "human")))
ASSISTANTS = tuple(map(speaker_number, ("assistant", "ai", "model", "bot")))


def answer(question: str) -> Trait:
    """Return what kind of answer a question asks for; no trait where it shows none."""
    return next((trait for trait, asks in _ANSWERS.items() if asks.search(question)), Trait(0))


def role(question: str) -> Role | None:
    """Return whose words a question asks for, should this be about a chat with an assistant.

    "What did you recommend?" is the assistant's, whoever else is mentioned; else the first person is the user.
    """
    return next((role for role, asks in _ROLES.items() if asks.search(question)), None)


def _pattern(row: Mapping[str, Any]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{'|'.join(row['words'])})(?!\w)|{row['unspaced']}", re.IGNORECASE)


_TABLE = table("recall/asking.toml")
_ANSWERS = {Trait[name.upper()]: _pattern(row) for name, row in _TABLE["answer"].items()}
_ROLES: dict[Role, re.Pattern[str]] = {
    "assistant": _pattern(_TABLE["role"]["assistant"]),
    "user": _pattern(_TABLE["role"]["user"]),
}
