"""Does the timeline read the times that a reader reads? Labelled sentences, and dateparser's own test cases.

Score = right - wrong, in percent of the cases: a wrong date costs two, no date where there is one costs one.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memorybank.timeline import find_times
from memorybank_eval import machine, report, timeline_dateparser
from memorybank_eval.timeline_case import Case, Range, whole_day

DATASETS = Path(__file__).resolve().parents[1] / "datasets" / "timeline"
#: Looked at while the rules were tuned, and not looked at.
PARTS = ("labelled", "kept")
LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "zh", "ja", "ko")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
#: Every text is read so many times; the quickest counts, the others waited for something.
ROUNDS = 5

#: What finds the times of a text: (text, its date, its language) -> ranges.
Finder = Callable[[str, datetime | None, str], Sequence[Range]]


@dataclass
class Score:
    """How the cases of a language went."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    micros: list[float] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)

    def add(self, case: Case, found: Sequence[Range], micros: float) -> None:
        """Count one case."""
        self.micros.append(micros)
        if case.is_right(found):
            self.right += 1
            return
        self.failed.append(f"{case.language}: {case.text} {_shown(case.expected)} but {_shown(found)}")
        if found:
            self.wrong += 1
        else:
            self.missed += 1

    def result(self) -> dict[str, Any]:
        """Return the figures for JSON."""
        cases = self.right + self.wrong + self.missed
        return {
            "cases": cases,
            "right": self.right,
            "wrong": self.wrong,
            "missed": self.missed,
            "right_percent": round(100 * self.right / cases, 1),
            "score": round(100 * (self.right - self.wrong) / cases, 1),
            "micros": round(statistics.mean(self.micros)),
            "micros_worst": round(max(self.micros)),
        }


def _shown(ranges: Iterable[Range]) -> str:
    return ", ".join(f"{start.isoformat()}..{end.isoformat()}" for start, end in ranges) or "none"


def ours(text: str, anchor: datetime | None, _language: str) -> list[Range]:
    """Find times with the timeline, which is not told the language."""
    return [(span.start, span.end) for span in find_times(text, anchor)]


def read(part: str) -> list[Case]:
    """Return the labelled cases of a part, in the form that the datasets' README describes."""
    return [
        case
        for language in LANGUAGES
        for case in _read(language, (DATASETS / part / f"{language}.txt").read_text(encoding="utf-8"))
    ]


def _read(language: str, text: str) -> Iterator[Case]:
    anchor: datetime | None = None
    for line in text.splitlines():
        if line.startswith("@"):
            anchor = _anchor(line[1:].split())
        elif line and not line.startswith("#"):
            sentence, *fields = (part.strip() for part in line.split("|"))
            yield Case(language, sentence, anchor, (_range(fields),) if fields else ())


def _anchor(words: Sequence[str]) -> datetime | None:
    if words == ["none"]:
        return None
    stamp, weekday = datetime.fromisoformat(words[0]), words[1]
    if WEEKDAYS[stamp.weekday()] != weekday:
        raise ValueError(f"{words[0]} is no {weekday}")
    return stamp


def _range(fields: Sequence[str]) -> Range:
    first, last = fields[0], fields[-1]
    start, end = (datetime.fromisoformat(each).replace(tzinfo=UTC) for each in (first, last))
    return start, end if "T" in last else whole_day(end.date())[1]


def measure(cases: Iterable[Case], finder: Finder = ours) -> dict[str, Score]:
    """Return the score of each language."""
    scores: dict[str, Score] = defaultdict(Score)
    for case in cases:
        taken = []
        for _ in range(ROUNDS):
            begun = time.perf_counter()
            found = finder(case.text, case.anchor, case.language)
            taken.append(time.perf_counter() - begun)
        scores[case.language].add(case, found, min(taken) * 1e6)
    return scores


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `timeline` to the commands of the harness."""
    dates = commands.add_parser("timeline", help="are the times that texts name read as a reader reads them?")
    dates.add_argument(
        "--dateparser", type=Path, help="also score the tests in this source archive of dateparser"
    )
    dates.add_argument(
        "--failed", action="store_true", help="show what is not right (never of the part kept aside)"
    )
    dates.add_argument("--out", type=Path, help="write the result as JSON")
    dates.set_defaults(run=_run)


def _run(given: argparse.Namespace) -> None:
    sets = {part: measure(read(part)) for part in PARTS}
    left: dict[str, int] = {}
    if given.dateparser:
        theirs = timeline_dateparser.read(given.dateparser, LANGUAGES)
        left = dict(theirs.left)
        sets["dateparser"] = measure(theirs.cases.values())
        sets["set aside"] = measure(theirs.aside.values())
        sets["dateparser, all"] = measure([*theirs.cases.values(), *theirs.aside.values()])
    print(shown(sets))
    for reason, count in left.items():
        print(f"left out of dateparser's, {count}: {reason}")
    if given.failed:
        lines = (
            line for name in sets if name != "kept" for score in sets[name].values() for line in score.failed
        )
        print("\n".join(lines))
    if given.out:
        report.write_json(
            given.out, {"kind": "timeline", **machine.describe(), **results(sets), "left_out": left}
        )


def results(sets: Mapping[str, Mapping[str, Score]]) -> dict[str, Any]:
    """Return all figures for JSON: set -> language -> figures."""
    return {
        "formula": "score = 100 * (right - wrong) / cases",
        "sets": {name: {code: score.result() for code, score in by.items()} for name, by in sets.items()},
    }


def shown(sets: Mapping[str, Mapping[str, Score]]) -> str:
    """Return the figures as people read them."""
    head = ("set, language", "cases", "right", "wrong", "missed", "right %", "score", "µs", "worst µs")
    rows = [
        [f"{name} {code}", *(str(figure) for figure in score.result().values())]
        for name, by in sets.items()
        for code, score in by.items()
    ]
    return report.table(head, rows)
