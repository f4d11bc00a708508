"""What the benchmark retains and asks: a conversation, and any number of further turns like it. Pure but for files.

Without a file it is made up here, so that the benchmark needs no data; with a LoCoMo file it is the first
conversation of it.
"""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memorybank_eval.datasets import TURN_STEP, Conversation, Question, Turn, locomo
from memorybank_eval.machine import CHECKOUT

#: Shape of the made-up conversation: that of a LoCoMo one, so that figures stay comparable.
SESSIONS, TURNS_PER_SESSION = 20, 21
#: Fixed, so that every run does the same work.
SEED = 7
START = datetime(2024, 1, 8, 18, 0, tzinfo=UTC)
#: Time between two sessions, and between two groups of further turns.
SESSION_STEP = timedelta(days=9)
FURTHER_STEP = timedelta(days=1)

#: Names, places, things and sentences with gaps for them; written for this benchmark.
WORDS: Mapping[str, list[str]] = json.loads(
    (CHECKOUT / "eval" / "datasets" / "made_up" / "dialogue.json").read_text()
)
#: Questions of the made-up conversation.
QUESTIONS = 150


def conversation(path: Path | None) -> Conversation:
    """Return the first conversation of a LoCoMo file, or a made-up one."""
    return locomo(path)[0] if path else made_up()


def made_up() -> Conversation:
    """Return a dialogue of two people, the same each time. Its questions have no evidence: they are for timing."""
    dice = random.Random(SEED)
    turns = tuple(
        Turn(
            f"D{session + 1}:{place + 1}",
            f"{WORDS['speakers'][place % 2]}: {_filled(dice.choice(WORDS['said']), dice)}",
            START + session * SESSION_STEP + place * TURN_STEP,
            session,
        )
        for session in range(SESSIONS)
        for place in range(TURNS_PER_SESSION)
    )
    questions = tuple(
        Question(_filled(dice.choice(WORDS["asked"]), dice), "timing", frozenset()) for _ in range(QUESTIONS)
    )
    return Conversation("0", "A conversation between Maya and Tom.", turns, questions)


def further(turns: Sequence[Turn], count: int) -> Iterator[Turn]:
    """Yield `count` distinct turns: half of one turn with half of another, said by somebody else.

    Made from the words of `turns`, so that the words of their questions become as frequent as the bank grows: the hard
    case for a keyword index, and the usual one. Each ends in a number of its own.
    """
    dice = random.Random(SEED)
    words = [turn.text.partition(": ")[2].split() for turn in turns]
    for number in range(count):
        first, second = dice.choice(words), dice.choice(words)
        middle = [*first[: (len(first) + 1) // 2], *second[len(second) // 2 :]]
        speaker, friend = dice.sample(WORDS["people"], 2)
        session = number // TURNS_PER_SESSION
        yield Turn(
            f"F{number}",
            f"{speaker}: {' '.join(middle)} ({friend} in {dice.choice(WORDS['places'])}, note {10_000 + number})",
            START + session * FURTHER_STEP + (number % TURNS_PER_SESSION) * TURN_STEP,
            session,
        )


def distinct(questions: Sequence[str], count: int, mark: str) -> list[str]:
    """Return `count` questions, repeated as needed, each with a mark of its own, so that no cache can answer."""
    return [f"{questions[number % len(questions)]} ({mark}{number})" for number in range(count)]


def transcript(session: Sequence[Turn]) -> str:
    """Return a session as one text, a line a turn."""
    return "\n".join(" ".join(turn.text.split()) for turn in session)


def _filled(template: str, dice: random.Random) -> str:
    return template.format(
        thing=dice.choice(WORDS["things"]),
        friend=dice.choice(WORDS["people"]),
        place=dice.choice(WORDS["places"]),
        day=dice.choice(WORDS["days"]),
        number=dice.randrange(2, 400),
    )
