"""The question sets the harness measures on, read from a file into one shape: conversations with dated turns and
questions whose evidence is known by turn id.

Only `own` belongs to the project (eval/datasets/own); see eval/README.md for where the others come from and under which
licence.
"""

import gzip
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memorybank.errors import InvalidInput

#: One turn of a session after the other: the sets date sessions only, and recall needs an order.
TURN_STEP = timedelta(seconds=1)
#: A LoCoMo turn id. Some questions hold several in one string, or write `D:11:26` or `D30:05`.
_LOCOMO_ID = re.compile(r"D:?(\d+):(\d+)")
_LOCOMO_SESSION = re.compile(r"session_(\d+)")
LOCOMO_CATEGORIES = {
    1: "1 multi-hop",
    2: "2 temporal",
    3: "3 open-domain",
    4: "4 single-hop",
    5: "5 adversarial",
}
#: What BEAM's generator left at the end of a message: `->-> 1,1`, `->-> 2,N/A`, `->-> 5,14)`.
_BEAM_MARK = re.compile(r"\s*->->\s*[\d,N/A]+\)?\s*$")


@dataclass(frozen=True)
class Turn:
    """One turn: its id in the set, what is retained of it, when it was said, and its session's number."""

    id: str
    text: str
    at: datetime
    session: int


@dataclass(frozen=True)
class Question:
    """One question; `evidence` are the turns that answer it. `asked_at` where the set says so."""

    text: str
    category: str
    evidence: frozenset[str]
    asked_at: datetime | None = None


@dataclass(frozen=True)
class Conversation:
    """Turns in order and questions about them; `pooled`: the turns are strangers, each a document of its own."""

    id: str
    context: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    pooled: bool = False

    def sessions(self) -> list[list[Turn]]:
        """Return the turns of each session, both in order."""
        grouped: dict[int, list[Turn]] = {}
        for turn in self.turns:
            grouped.setdefault(turn.session, []).append(turn)
        return list(grouped.values())


@dataclass(frozen=True)
class Dataset:
    """How a set is read, how large an answer has to be so that 20 turns fit (cl100k tokens), and which categories
    are quoted together."""

    read: Callable[[Path], list[Conversation]]
    answer_tokens: int
    together: Mapping[str, frozenset[str]]


def locomo(path: Path) -> list[Conversation]:
    """Read LoCoMo's one-file form: a list of `{conversation, qa}`."""
    return [_locomo_conversation(str(number), entry) for number, entry in enumerate(_json(path))]


def longmemeval(path: Path) -> list[Conversation]:
    """Read a LongMemEval pool: `{pool: evidence turns of all questions, questions}`; one conversation."""
    raw = _json(path)
    turns = tuple(
        Turn(turn["id"], f"{turn['role']}: {turn['content']}", _longmemeval_date(turn["date"]), number)
        for number, turn in enumerate(raw["pool"])
    )
    known = {turn.id for turn in turns}
    questions = (
        Question(
            asked["question"],
            asked["question_type"],
            frozenset(asked["evidence"]) & known,
            _longmemeval_date(asked["question_date"]),
        )
        for asked in raw["questions"]
    )
    context = "A chat between a user and an assistant."
    return [Conversation("0", context, turns, _answerable(questions), pooled=True)]


def beam(path: Path) -> list[Conversation]:
    """Read BEAM chats: one file of `{chat, probing_questions}`, or a folder of them."""
    files = sorted(path.glob("*.json*")) if path.is_dir() else [path]
    return [_beam_conversation(file.name.split(".")[0], _json(file)) for file in files]


def own(path: Path) -> list[Conversation]:
    """Read the project's own conversations: one file of JSON Lines, or a folder of them."""
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    return [_own_conversation(_json_lines(file)) for file in files]


DATASETS: Mapping[str, Dataset] = {
    "locomo": Dataset(
        locomo, 4_096, {"categories 1-4": frozenset(LOCOMO_CATEGORIES[number] for number in (1, 2, 3, 4))}
    ),
    "longmemeval": Dataset(longmemeval, 65_536, {}),
    "beam": Dataset(beam, 131_072, {}),
    "own": Dataset(own, 4_096, {}),
}


def _json(path: Path) -> Any:
    try:
        data = path.read_bytes()
        return json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InvalidInput(f"{path} is not JSON: {error}") from error


def _json_lines(path: Path) -> list[Any]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError as error:
        raise InvalidInput(f"cannot read {path}: {error.strerror or error}") from error
    except ValueError as error:
        raise InvalidInput(f"{path} is not JSON Lines: {error}") from error


def _answerable(questions: Iterable[Question]) -> tuple[Question, ...]:
    """Return the questions that have evidence: without it nothing can be found, so nothing can be measured."""
    return tuple(question for question in questions if question.evidence)


# --- LoCoMo ---


def _locomo_conversation(conversation_id: str, entry: Mapping[str, Any]) -> Conversation:
    conversation = entry["conversation"]
    turns = tuple(_locomo_turns(conversation))
    known = {turn.id for turn in turns}
    questions = (
        Question(
            asked["question"],
            LOCOMO_CATEGORIES[asked["category"]],
            frozenset(locomo_evidence(asked.get("evidence") or ())) & known,
        )
        for asked in entry["qa"]
    )
    context = f"A conversation between {conversation['speaker_a']} and {conversation['speaker_b']}."
    return Conversation(conversation_id, context, turns, _answerable(questions))


def _locomo_turns(conversation: Mapping[str, Any]) -> Iterator[Turn]:
    matches = filter(None, map(_LOCOMO_SESSION.fullmatch, conversation))
    for number in sorted(int(match[1]) for match in matches):
        began = datetime.strptime(
            conversation[f"session_{number}_date_time"].strip(), "%I:%M %p on %d %B, %Y"
        )
        for place, turn in enumerate(conversation[f"session_{number}"]):
            at = began.replace(tzinfo=UTC) + place * TURN_STEP
            yield Turn(turn["dia_id"], _locomo_text(turn), at, number)


def _locomo_text(turn: Mapping[str, Any]) -> str:
    """Return speaker, text and image caption. Never `query`: the search behind the image, which tells answers."""
    caption = turn.get("blip_caption")
    said = f"{turn['speaker']}: {turn['text'].strip()}"
    return f"{said} [shares {caption.strip()}]" if caption else said


def locomo_evidence(references: Iterable[str]) -> list[str]:
    """Return the turn ids that references name, in their plain form; what is no id is left out."""
    return [
        f"D{int(session)}:{int(turn)}"
        for reference in references
        for session, turn in _LOCOMO_ID.findall(reference)
    ]


# --- LongMemEval ---


def _longmemeval_date(text: str) -> datetime:
    """Return the date of `2023/05/25 (Thu) 00:05`."""
    day, _, clock_time = text.split()
    return datetime.strptime(f"{day} {clock_time}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)


# --- BEAM ---


def _beam_conversation(conversation_id: str, raw: Mapping[str, Any]) -> Conversation:
    turns = tuple(_beam_turns(raw["chat"]))
    known = {turn.id for turn in turns}
    questions = (
        Question(asked["question"], kind, frozenset(beam_evidence(asked.get("source_chat_ids"))) & known)
        for kind, group in raw["probing_questions"].items()
        for asked in group
    )
    return Conversation(
        conversation_id, "A chat between a user and an assistant.", turns, _answerable(questions)
    )


def _beam_turns(batches: Iterable[Mapping[str, Any]]) -> Iterator[Turn]:
    for number, batch in enumerate(batches):
        messages = [message for turn in batch["turns"] for message in turn]
        anchor = next(message["time_anchor"] for message in messages if message.get("time_anchor"))
        began = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
        for place, message in enumerate(messages):
            text = _BEAM_MARK.sub("", message["content"])
            yield Turn(str(message["id"]), f"{message['role']}: {text}", began + place * TURN_STEP, number)


def beam_evidence(ids: Any) -> list[str]:
    """Return the message ids in a number, or in nested lists and objects of numbers; None holds none."""
    if ids is None:
        return []
    if isinstance(ids, Mapping):
        return beam_evidence(list(ids.values()))
    if isinstance(ids, list):
        return [found for part in ids for found in beam_evidence(part)]
    return [str(ids)]


# --- Own ---


def _own_conversation(lines: Iterable[Mapping[str, Any]]) -> Conversation:
    """Read a file: a head, then each session's line and its turns, then the questions."""
    head, *entries = lines
    asked_at = datetime.fromisoformat(head["asked_at"])
    questions = (
        Question(entry["text"], entry["category"], frozenset(entry["evidence"]), asked_at)
        for entry in entries
        if "question" in entry
    )
    turns = tuple(_own_turns(entries))
    return Conversation(head["conversation"], head["context"], turns, _answerable(questions))


def _own_turns(entries: Iterable[Mapping[str, Any]]) -> Iterator[Turn]:
    number, at = 0, datetime.min.replace(tzinfo=UTC)
    for entry in entries:
        if "session" in entry:
            number, at = number + 1, datetime.fromisoformat(entry["at"])
        elif "turn" in entry:
            yield Turn(entry["turn"], f"{entry['speaker']}: {entry['text']}", at, number)
            at += TURN_STEP
