"""Reading a chunk as turns: a transcript, JSON turns, or prose (turns without a speaker)."""

from dataclasses import dataclass
from datetime import datetime

#: Roles as transcripts and JSON name them. An agent's own acts are experiences; a system prompt is no memory.
AGENT_ROLES = frozenset(("assistant", "agent", "ai", "bot", "model", "chatbot", "copilot"))
USER_ROLES = frozenset(("user", "human", "customer", "client"))
SYSTEM_ROLES = frozenset(("system", "developer"))
#: Labels of a list of questions and answers: they part its turns and name nobody.
EXCHANGE_WORDS = frozenset(("question", "answer", "frage", "antwort"))
ROLES = AGENT_ROLES | USER_ROLES | SYSTEM_ROLES | frozenset(("tool", "function", "unknown"))


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker said in one go. `speaker` is the label as written; `said` is the stamp of the line itself."""

    text: str
    speaker: str | None = None
    role: str | None = None
    said: datetime | None = None

    @property
    def by_agent(self) -> bool:
        """Whether an agent speaks."""
        return self.role in AGENT_ROLES

    @property
    def named(self) -> bool:
        """Whether the label is somebody's name."""
        return self.speaker is not None and self.speaker.strip().lower() not in ROLES | EXCHANGE_WORDS


def role_of(label: str | None) -> str | None:
    """The role that a label tells: "assistant", "Import Agent" and "HelpBot" are agents."""
    if label is None:
        return None
    low = label.strip().lower()
    if low in ROLES:
        return low
    last = low.split()[-1] if low.split() else ""
    return (
        "agent" if last in AGENT_ROLES or (last.endswith("bot") and label.strip().endswith("Bot")) else None
    )
