"""Banks of any size for measuring: facts made from real turns, with vectors near those of the turns.

A fact is a turn with a note of its own, so texts are distinct; its vector is the turn's with seeded noise, normalised.
A document is a run of turns that follow each other. Page `n` of a bank is the same in every run, whoever makes it.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np

from memorybank.indexing import form_of
from memorybank.text.traits import Form, split_speaker
from memorybank_eval.datasets import DATASETS, TURN_STEP, Conversation, Turn
from memorybank_eval.offline import OWN, OWN_PATH, Vectors
from memorybank_eval.workload import START, WORDS, further, made_up

#: Turns that facts are made from: those of our own set and the made-up dialogue, and mixtures of them.
TURNS = 4_000
#: Facts of a document, and documents of a page: what is made, and written in one transaction.
DOCUMENT_FACTS, PAGE_DOCUMENTS = 20, 50
PAGE_FACTS = DOCUMENT_FACTS * PAGE_DOCUMENTS
#: Length of the noise beside a vector of length 1: a fact's cosine to its turn is 0.9, to another of that turn 0.8.
NOISE = 0.5
#: Time between two documents: a bank of 5,000 facts holds eight months.
DOCUMENT_STEP = timedelta(days=1)
SEED = 11


@dataclass(frozen=True)
class Source:
    """The turns that facts are made from: vectors (n, d), and the form that each has with a note."""

    turns: Sequence[Turn]
    vectors: np.ndarray
    forms: Sequence[Form]


@dataclass(frozen=True)
class Fact:
    """One fact: `turn` is the number of the turn it was made from, `names` the people it names."""

    turn: int
    text: str
    said_at: datetime
    names: tuple[str, ...]
    form: Form


@dataclass(frozen=True)
class Page:
    """Documents to be written together, and the vectors of all their facts in order (facts, d)."""

    number: int
    documents: Sequence[Sequence[Fact]]
    vectors: np.ndarray


def source(vectors: Vectors) -> Source:
    """Return the turns with their vectors: half a minute, unless `vectors` knows them from a file."""
    turns = [turn for conversation in conversations() for turn in conversation.turns]
    turns += further(turns, TURNS - len(turns))
    forms = [form_of(_noted(turn.text, "Ava", "Oslo", SEED), turn.at) for turn in turns]
    return Source(turns, vectors.of([turn.text for turn in turns]), forms)


def source_kept(path: Path | None) -> Source:
    """Return the turns; their vectors come from this file, or are kept in it."""
    vectors = Vectors(path)
    made = source(vectors)
    vectors.save()
    return made


def conversations() -> list[Conversation]:
    """Return where turns and questions come from."""
    return [*DATASETS[OWN].read(OWN_PATH), made_up()]


def pages(facts: int) -> range:
    """Return the numbers of the pages of a bank."""
    return range(-(-facts // PAGE_FACTS))


def page(made_from: Source, bank: int, number: int, facts: int) -> Page:
    """Return page `number` of a bank that holds `facts` in all."""
    count = min(PAGE_FACTS, facts - number * PAGE_FACTS)
    dice = random.Random(f"{SEED}-{bank}-{number}")
    documents: list[list[Fact]] = []
    for first in range(0, count, DOCUMENT_FACTS):
        begun = START + (number * PAGE_DOCUMENTS + len(documents)) * DOCUMENT_STEP
        run = dice.randrange(len(made_from.turns))
        facts_here = range(first, min(count, first + DOCUMENT_FACTS))
        documents.append(
            [
                _fact(made_from, (run + at) % len(made_from.turns), begun + at * TURN_STEP, dice)
                for at in range(len(facts_here))
            ]
        )
    turns = [fact.turn for document in documents for fact in document]
    return Page(number, documents, _near(made_from.vectors[turns], [SEED, bank, number]))


def _fact(made_from: Source, turn: int, said_at: datetime, dice: random.Random) -> Fact:
    text = made_from.turns[turn].text
    friend, place = dice.choice(WORDS["people"]), dice.choice(WORDS["places"])
    speaker, _ = split_speaker(text)
    names = tuple(dict.fromkeys(name for name in (speaker, friend) if name))
    noted = _noted(text, friend, place, dice.randrange(10**9))
    return Fact(turn, noted, said_at, names, made_from.forms[turn])


def _noted(text: str, friend: str, place: str, note: int) -> str:
    return f"{text} ({friend} in {place}, note {note})"


def _near(vectors: np.ndarray, seed: Sequence[int]) -> np.ndarray:
    """Return vectors of length 1 near these."""
    noise = np.random.default_rng(seed).standard_normal(vectors.shape, np.float32)
    near = vectors + NOISE / np.sqrt(vectors.shape[1]) * noise
    unit: np.ndarray = near / np.linalg.norm(near, axis=1, keepdims=True)
    return unit


def questions() -> Mapping[str, None]:
    """Return the questions about the turns, each once."""
    return dict.fromkeys(question.text for one in conversations() for question in one.questions)
