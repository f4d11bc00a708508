"""The traits of a bank in words: one sentence for the level of each, from prompts/reflect/disposition. Pure."""

from memorybank import templates
from memorybank.settings import BankConfig

LEVELS = range(1, 6)


def in_words(config: BankConfig) -> str:
    """Return what the bank's traits mean for an answer; an unset trait counts as 3."""
    chosen = {
        f"{trait}_{level}": "- " if level == value else ""
        for trait, value in config.disposition._asdict().items()
        for level in LEVELS
    }
    said = templates.load("reflect", "disposition").render(**chosen)
    return f"{said.system}\n{said.user}"
