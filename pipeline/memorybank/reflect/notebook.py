"""What was shown to the model: each fact and mental model once, under a number by which the answer cites it. Pure."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate
from typing import Any
from uuid import UUID

from memorybank.model import FactType, Hit
from memorybank.reflect.query import UsedModel
from memorybank.sections import Document, fitted, rendered
from memorybank.storage.mental_models import Model
from memorybank.text import count_tokens, cut_to_tokens
from memorybank.timeline.stamps import day, period

#: Longest name of a source, in characters: it stands beside every fact.
SOURCE_CHARS = 60
#: Tokens of a text beyond which it is cut rather than left out.
LEAST_CUT = 60
#: Ends what was cut off.
CUT = "…"
#: Kinds of facts as the model reads them; what is simply told has no word.
KINDS = {FactType.OBSERVATION: "observation", FactType.EXPERIENCE: "own act"}
#: An id made by a program says nothing to anybody.
_MADE_UP = re.compile(r"[0-9a-fA-F-]{20,}|[A-Za-z0-9_-]{40,}")


@dataclass(frozen=True)
class Note:
    """One line that was shown; `rank`: how far behind the best it stood in its search."""

    number: int
    line: str
    rank: int
    fact: Hit | None = None
    model: UsedModel | None = None

    @property
    def named(self) -> str:
        """What it is to a reader: day and source, and its id."""
        if self.model is not None:
            return f"{self.model.name} (mental model {self.model.id})"
        assert self.fact is not None
        known = (day(self.fact.mentioned_at), source(self.fact), f"memory {self.fact.id}")
        return ", ".join(filter(None, known))


@dataclass(frozen=True)
class Page:
    """What one search adds: new lines by fence, and the numbers of what was shown before."""

    facts: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    chunks: tuple[str, ...] = ()
    again: tuple[int, ...] = ()


@dataclass
class Notebook:
    """Everything shown in one reflect."""

    notes: list[Note] = field(default_factory=list)
    chunks: dict[str, str] = field(default_factory=dict)
    _numbers: dict[UUID | str, int] = field(default_factory=dict)

    def cost(self, fact: Hit) -> int:
        """Return the tokens that a fact takes in a result, as it is really sent."""
        known = self.number(fact.id)
        return count_tokens(f"[{known}] " if known else fact_line(len(self.notes) + 100, fact) + "\n")

    def number(self, id_: UUID | str) -> int | None:
        """Return the number of what was shown."""
        return self._numbers.get(id_)

    def note(self, number: int) -> Note | None:
        """Return what was shown under a number."""
        return self.notes[number - 1] if 1 <= number <= len(self.notes) else None

    def add_facts(self, facts: Iterable[Hit]) -> Page:
        """Take in facts, the best first."""
        lines, again = [], []
        for rank, fact in enumerate(facts):
            known = self.number(fact.id) or self.number(_same(fact))
            if known:
                self._numbers.setdefault(fact.id, known)
                again.append(known)
                continue
            note = Note(len(self.notes) + 1, fact_line(len(self.notes) + 1, fact), rank, fact=fact)
            self._write(note, fact.id, _same(fact))
            lines.append(note.line)
        return Page(facts=tuple(lines), again=tuple(dict.fromkeys(again)))

    def add_models(self, models: Iterable[tuple[Model, Document]], max_tokens: int) -> Page:
        """Take in mental models with what may be shown of each, the nearest first, as far as they fit."""
        lines, again, left = [], [], max_tokens
        for rank, (model, document) in enumerate(models):
            known = self.number(f"model {model.id}")
            if known:
                again.append(known)
                continue
            number = len(self.notes) + 1
            fitting = fitted(document, left, partial(model_line, number, model))
            if not fitting:
                continue
            line = model_line(number, model, fitting)
            left -= count_tokens(line)
            note = Note(number, line, rank, model=UsedModel(model.id, model.name, rendered(fitting)))
            self._write(note, f"model {model.id}")
            lines.append(line)
        return Page(models=tuple(lines), again=tuple(again))

    def add_chunks(self, texts: Iterable[tuple[UUID, str, str | None]], max_tokens: int) -> Page:
        """Take in texts behind facts, as far as they fit; the last one is cut. A fact's own words are not shown again.

        With a day a text is what an observation said before.
        """
        lines, left = [], max_tokens
        told = {note.fact.text.strip() for note in self.notes if note.fact}
        for fact, text, said in texts:
            if text in self.chunks or text.strip() in told:
                continue
            line = _chunk_line(self.number(fact), text, said)
            cost = count_tokens(line)
            if cost > left:
                if left < LEAST_CUT:
                    break
                # JSON takes more tokens than the text in it.
                line = _chunk_line(self.number(fact), cut_to_tokens(text, left * left // cost) + CUT, said)
            self.chunks[text] = line
            lines.append(line)
            left -= cost
        return Page(chunks=tuple(lines))

    def within(self, max_tokens: int) -> Page:
        """Return all that was shown in so many tokens: of each search the best first, texts around facts last."""
        ranked = sorted(self.notes, key=lambda note: (note.model is None, note.rank, note.number))
        lines = [*(note.line for note in ranked), *self.chunks.values()]
        ends = accumulate(count_tokens(line) + 1 for line in lines)
        fitting = sum(1 for end in ends if end <= max_tokens)
        chosen = sorted(ranked[:fitting], key=lambda note: note.number)
        return Page(
            tuple(note.line for note in chosen if note.fact),
            tuple(note.line for note in chosen if note.model),
            tuple(lines[len(ranked) : fitting]),
        )

    def _write(self, note: Note, *names: UUID | str) -> None:
        self.notes.append(note)
        for name in names:
            self._numbers.setdefault(name, note.number)


def _same(fact: Hit) -> str:
    """Return what facts share that say the same of the same time: an observation of one fact, say."""
    return f"{fact.text.strip().casefold()}\n{day(fact.mentioned_at)}"


def fact_line(number: int, fact: Hit) -> str:
    """Return a fact as one JSON object, with dates and source where known."""
    line = {
        "id": number,
        "text": fact.text,
        "kind": KINDS.get(fact.fact_type),
        "said": day(fact.mentioned_at),
        "happened": period(fact.occurred_start, fact.occurred_end),
        "source": source(fact),
    }
    return _json({name: value for name, value in line.items() if value})


def model_line(number: int, model: Model, document: Document) -> str:
    """Return a mental model as one JSON object, with how fresh it is."""
    statements = [one.text for section in document for one in section.statements]
    freshness = "stale" if model.is_stale else "up_to_date"
    as_of = day(model.refreshed_at)
    return _json(
        {"id": number, "model": model.name, "freshness": freshness, "as_of": as_of, "statements": statements}
    )


def _chunk_line(number: int | None, text: str, said: str | None) -> str:
    line = {"of": number} if number else {}
    return _json(line | ({"text": text} if said is None else {"said_before": text, "said": said}))


def source(fact: Hit) -> str:
    """Return where a fact comes from, as far as that says something."""
    named = fact.context or ("" if _MADE_UP.fullmatch(fact.document_id or "") else fact.document_id or "")
    named = " ".join(named.split())
    return named if len(named) <= SOURCE_CHARS else named[:SOURCE_CHARS].rstrip() + CUT


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def joined(pages: Sequence[Page]) -> Page:
    """Return pages as one."""
    return Page(
        tuple(line for page in pages for line in page.facts),
        tuple(line for page in pages for line in page.models),
        tuple(line for page in pages for line in page.chunks),
        tuple(dict.fromkeys(number for page in pages for number in page.again)),
    )
