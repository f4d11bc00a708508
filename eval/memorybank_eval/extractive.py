"""How well the extractive engine does on labelled turns: names, what is kept, what is dropped, dates, speed.

    python -m memorybank_eval.extractive [--errors] [FILE ...]

Names are compared by `name_key` and counted over all turns (micro average). `names` reads every sentence of a
turn; `stored` looks at the entities of what the engine keeps, against the labelled names of the statements. A
sentence is kept when a finding holds its words.
"""

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from memorybank.llm.extractive import Finding, extract, names
from memorybank.llm.extractive.tongues import language_of_text
from memorybank.text import name_key, sentences

DATASETS = Path(__file__).resolve().parents[1] / "datasets" / "extractive"
#: The labelled files; what each is for stands in their README.
LABELLED = ("turns.jsonl", "turns-heldout.jsonl", "turns-second.jsonl")
#: Turns are read again until that much time has gone, for a steady figure.
SPEED_SECONDS = 2.0

Turn = dict[str, Any]


@dataclass
class Counts:
    """What was counted over some turns."""

    turns: int = 0
    names_right: int = 0
    names_found: int = 0
    names_labelled: int = 0
    stored_right: int = 0
    stored_found: int = 0
    stored_labelled: int = 0
    statements: int = 0
    kept: int = 0
    others: int = 0
    dropped: int = 0
    dated: int = 0
    dates_right: int = 0
    errors: list[str] = field(default_factory=list)

    def add(self, other: "Counts") -> None:
        """Adds the counts of other turns."""
        for name, value in vars(other).items():
            setattr(self, name, getattr(self, name) + value)

    @property
    def shares(self) -> dict[str, float]:
        """All figures as shares; 1 where there is nothing to get wrong."""
        return {
            "names precision": _share(self.names_right, self.names_found),
            "names recall": _share(self.names_right, self.names_labelled),
            "stored precision": _share(self.stored_right, self.stored_found),
            "stored recall": _share(self.stored_right, self.stored_labelled),
            "statements kept": _share(self.kept, self.statements),
            "others dropped": _share(self.dropped, self.others),
            "dates right": _share(self.dates_right, self.dated),
        }


def load(path: Path) -> list[Turn]:
    """The labelled turns of a file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def measure(turns: Iterable[Turn]) -> dict[str, Counts]:
    """Counts by language, and of all under "all"."""
    found: dict[str, Counts] = {}
    total = Counts()
    for turn in turns:
        counts = measure_turn(turn)
        found.setdefault(turn["language"], Counts()).add(counts)
        total.add(counts)
    return {**found, "all": total}


def measure_turn(turn: Turn) -> Counts:
    """The counts of one turn."""
    findings = extract(f"{turn['speaker']}: {turn['text']}", datetime.fromisoformat(turn["anchor"]))
    counts = Counts(turns=1)
    _count_names(turn, counts)
    _count_stored(turn, findings, counts)
    _count_sentences(turn, findings, counts)
    return counts


def _count_names(turn: Turn, counts: Counts) -> None:
    guessed = language_of_text(turn["text"])
    found = {name_key(name) for sentence in sentences(turn["text"]) for name in names(sentence, guessed)}
    labelled = {name_key(name) for name in turn["names"]}
    counts.names_right += len(found & labelled)
    counts.names_found += len(found)
    counts.names_labelled += len(labelled)
    _note(counts, turn, "names", labelled, found)


def _count_stored(turn: Turn, findings: Sequence[Finding], counts: Counts) -> None:
    statements = " ".join(part["text"] for part in turn["sentences"] if part["kind"] == "statement")
    labelled = {name_key(name) for name in turn["names"] if name in statements}
    found = {name_key(name) for finding in findings for name in finding.entities}
    found -= {name_key(turn["speaker"])} - labelled
    counts.stored_right += len(found & labelled)
    counts.stored_found += len(found)
    counts.stored_labelled += len(labelled)
    _note(counts, turn, "stored", labelled, found)


def _count_sentences(turn: Turn, findings: Sequence[Finding], counts: Counts) -> None:
    for part in turn["sentences"]:
        holding = [finding for finding in findings if part["text"] in finding.text]
        if part["kind"] == "statement":
            counts.statements += 1
            counts.kept += bool(holding)
            _count_date(turn, part, holding, counts)
        else:
            counts.others += 1
            counts.dropped += not holding
        if (part["kind"] == "statement") != bool(holding):
            counts.errors.append(
                f"{turn['id']} {part['kind']} {'kept' if holding else 'lost'}: {part['text']}"
            )


def _count_date(turn: Turn, part: dict[str, Any], holding: Sequence[Finding], counts: Counts) -> None:
    for dates in part.get("dates", ()):
        spans = [finding.occurred for finding in holding if finding.occurred is not None]
        found = ["..".join(str(end.date()) if end else "" for end in span.bounds) for span in spans]
        counts.dated += 1
        counts.dates_right += dates in found
        if dates not in found:
            counts.errors.append(f"{turn['id']} date {dates}, found {found}")


def _note(counts: Counts, turn: Turn, what: str, labelled: set[str], found: set[str]) -> None:
    if labelled != found:
        missed, wrong = sorted(labelled - found), sorted(found - labelled)
        counts.errors.append(f"{turn['id']} {what} missed {missed}, wrong {wrong}: {turn['text']}")


def turns_per_second(turns: Sequence[Turn]) -> float:
    """Turns that one CPU-second extracts, one turn a call."""
    texts = [(f"{turn['speaker']}: {turn['text']}", datetime.fromisoformat(turn["anchor"])) for turn in turns]
    start, done = time.process_time(), 0
    while time.process_time() - start < SPEED_SECONDS:
        for text, anchor in texts:
            extract(text, anchor)
        done += len(texts)
    return done / (time.process_time() - start)


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def _print_table(title: str, measured: dict[str, Counts]) -> None:
    columns = list(Counts().shares)
    print(f"\n{title}")
    print(f"{'':6}{'turns':>7}" + "".join(f"{column:>18}" for column in columns))
    for code, counts in measured.items():
        print(f"{code:6}{counts.turns:>7}" + "".join(f"{counts.shares[column]:>18.3f}" for column in columns))


def main(arguments: Sequence[str] | None = None) -> int:
    """Prints the table of each labelled file and the speed."""
    parser = argparse.ArgumentParser(prog="memorybank_eval.extractive", description=__doc__)
    parser.add_argument("--errors", action="store_true", help="print what went wrong as well")
    parser.add_argument("files", nargs="*", type=Path, help="labelled turns, one JSON object a line")
    chosen = parser.parse_args(arguments)
    files = chosen.files or [DATASETS / name for name in LABELLED]
    for path in files:
        measured = measure(load(path))
        _print_table(path.name, measured)
        if chosen.errors:
            print(*measured["all"].errors, sep="\n")
    print(f"\n{turns_per_second(load(files[0])):.0f} turns per CPU-second")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
