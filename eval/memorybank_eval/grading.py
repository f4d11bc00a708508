"""From a reader's grades to figures: what was kept of what had to be, and what of the rest is wrong.

A grade says for each expected statement which fact holds it, or none, and for each fact what it is
(of consolidation the facts are observations):

ok             an expected statement, or another true one that may last
may            listed as fine to keep or to drop
filler         true, but nobody needs it
invented       the text does not say it
must_not       listed as what must not be kept; counts as invented
wrong_date     true but for its date
wrong_speaker  true but for who said, holds or did it
"""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from memorybank.errors import InvalidInput
from memorybank_eval import report
from memorybank_eval.metrics import estimate_share

FINE, INVENTED, WRONG = ("ok", "may", "filler"), ("invented", "must_not"), ("wrong_date", "wrong_speaker")
VERDICTS = (*FINE, *INVENTED, *WRONG)
#: What an empty file of grades holds in the place of a verdict.
OPEN = "?"
#: The figures that count, and the share that each should reach: at least for what is kept, at most for what is wrong.
GOALS = {"kept": 0.95, "invented": 0.02, "wrong_date_or_speaker": 0.02}
#: So many words of a statement are looked for in a recording's facts: names and numbers first.
WORDS = 3
#: Shorter words of letters tell nothing ("it", "the", "was").
SHORTEST = 4
_WORD = re.compile(r"[A-Za-zÀ-ÿ0-9][\w.,:-]*\w|[\u4e00-\u9fff]{2,}|[\u30a0-\u30ff]{2,}")

Json = dict[str, Any]


@dataclass(frozen=True)
class Statement:
    """What must be kept: in words, whose it is, between which days its date must lie, its fact type ("" is any)."""

    id: str
    says: str
    owner: str = ""
    first: date | None = None
    last: date | None = None
    type: str = ""

    @property
    def days(self) -> str:
        """The first and the last day, "" where there is no date."""
        return f"{self.first}..{self.last}" if self.first else ""


@dataclass(frozen=True)
class Expected:
    """What must, may and must not become of a sample."""

    sample: str
    content: str
    lasting: tuple[Statement, ...]
    may: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


@dataclass(frozen=True)
class Graded:
    """Expectations, the facts that were extracted, and their grades, both by the sample's id."""

    expected: Sequence[Expected]
    facts: Mapping[str, list[Json]]
    grades: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Raise InvalidInput where something is not graded, or graded as what does not exist."""
        for one in self.expected:
            faults = list(self._faults(one))
            if faults:
                raise InvalidInput(f"grades of {one.sample}: {'; '.join(faults)}")

    def _faults(self, one: Expected) -> list[str]:
        if one.sample not in self.facts or one.sample not in self.grades:
            return ["not extracted or not graded"]
        places = [str(place) for place in range(len(self.facts[one.sample]))]
        grade = self.grades[one.sample]
        wanted = {statement.id for statement in one.lasting}
        return [
            *(f"statement {name}?" for name in wanted ^ set(grade["statements"])),
            *(
                f"no fact {at}"
                for at in grade["statements"].values()
                if at is not None and str(at) not in places
            ),
            *(f"fact {place}?" for place in set(places) ^ set(grade["facts"])),
            *(f"fact {at}: {verdict}?" for at, verdict in grade["facts"].items() if verdict not in VERDICTS),
        ]

    def _verdicts(self, one: Expected) -> Counter[str]:
        return Counter(self.grades[one.sample]["facts"].values())

    def place_of(self, one: Expected, statement: str) -> int | None:
        """Return the place of the fact that keeps a statement; None where none does, or a wrong one."""
        grade = self.grades[one.sample]
        at = grade["statements"][statement]
        return int(at) if at is not None and grade["facts"][str(at)] in FINE else None

    @cached_property
    def _kept(self) -> list[tuple[Expected, Statement, Json]]:
        return [
            (one, statement, self.facts[one.sample][place])
            for one in self.expected
            for statement in one.lasting
            if (place := self.place_of(one, statement.id)) is not None
        ]

    def figures(self) -> Json:
        """Return shares with their 95 % intervals over samples, counts, and what went wrong, by id."""
        each = [self._row(one) for one in self.expected]
        estimates = {
            name: estimate_share([(row[name], row[of]) for row in each])
            for name, of in (("kept", "lasting"), ("invented", "facts"), ("wrong_date_or_speaker", "facts"))
        }
        kept = {(one.sample, statement.id) for one, statement, _ in self._kept}
        return {
            "samples": len(each),
            "lasting": sum(row["lasting"] for row in each),
            "facts": sum(row["facts"] for row in each),
            **{name: one.rounded() for name, one in estimates.items()},
            "verdicts": dict(sum(map(self._verdicts, self.expected), Counter[str]())),
            "dates": self._dates(),
            "types": self._types(),
            "missed": [
                f"{one.sample}/{statement.id}"
                for one in self.expected
                for statement in one.lasting
                if (one.sample, statement.id) not in kept
            ],
            "each": each,
        }

    def _row(self, one: Expected) -> Json:
        verdicts = self._verdicts(one)
        return {
            "id": one.sample,
            "lasting": len(one.lasting),
            "kept": sum(self.place_of(one, said.id) is not None for said in one.lasting),
            "facts": len(self.facts[one.sample]),
            "invented": sum(verdicts[verdict] for verdict in INVENTED),
            "wrong_date_or_speaker": sum(verdicts[verdict] for verdict in WRONG),
        }

    def _dates(self) -> Json:
        """Return how the stored dates of kept statements compare with the expected ones; `off` is for a second look.

        One fact may hold several statements, and its date is then another one's.
        """
        found: dict[str, list[str]] = {"right": [], "none": [], "off": []}
        for one, statement, fact in self._kept:
            if statement.first and statement.last:
                stored = _days(fact)
                is_right = stored is not None and stored[0] <= statement.last and stored[1] >= statement.first
                state = "right" if is_right else "off" if stored else "none"
                found[state].append(f"{one.sample}/{statement.id}")
        return {"right": len(found["right"]), "none": len(found["none"]), "off": found["off"]}

    def _types(self) -> Json:
        typed = [row for row in self._kept if row[1].type]
        off = [f"{one.sample}/{said.id}" for one, said, fact in typed if fact["fact_type"] != said.type]
        return {"right": len(typed) - len(off), "off": off}

    def checks(self) -> Json:
        """Return what a recording's facts must hold: for each kept statement words, first day and type of its fact."""
        found: dict[str, Json] = {one.sample: {} for one in self.expected}
        for one, statement, fact in self._kept:
            start = fact["occurred_start"]
            found[one.sample][statement.id] = {
                "words": telling_words(statement.says, fact["text"]),
                "date": start[:10] if start else None,
                "type": fact["fact_type"],
            }
        return found


def _days(fact: Json) -> tuple[date, date] | None:
    first, last = (
        fact["occurred_start"] or fact["occurred_end"],
        fact["occurred_end"] or fact["occurred_start"],
    )
    return (date.fromisoformat(first[:10]), date.fromisoformat(last[:10])) if first else None


def telling_words(says: str, fact: str) -> list[str]:
    """Return words that a statement and the fact that holds it share: numbers first, then names, then the longest."""
    shared = [word for word in dict.fromkeys(_WORD.findall(says)) if word.casefold() in fact.casefold()]
    telling = [word for word in shared if len(word) >= SHORTEST or not word.isascii() or not word.isalpha()]
    return sorted(telling, key=lambda word: (word.isalpha(), word[0].islower(), -len(word)))[:WORDS]


def load(path: Path) -> Any:
    """Return what a TOML or JSON file holds; raises InvalidInput where it is none."""
    try:
        written = path.read_text(encoding="utf-8")
        return tomllib.loads(written) if path.suffix == ".toml" else json.loads(written)
    except (OSError, ValueError) as error:
        raise InvalidInput(f"cannot read {path}: {error}") from error


def blank(expected: Sequence[Expected], facts: Mapping[str, list[Json]]) -> Json:
    """Return grades to be filled in."""
    return {
        one.sample: {
            "statements": {statement.id: None for statement in one.lasting},
            "facts": {str(place): OPEN for place in range(len(facts[one.sample]))},
        }
        for one in expected
    }


def sheet(
    expected: Sequence[Expected],
    facts: Mapping[str, list[Json]],
    notes: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> str:
    """Return what a grader looks at: text, statements, facts and notes of each sample."""
    lines = []
    for one in expected:
        lines += [f"# {one.sample}", "", one.content, "", "## must be kept"]
        lines += [
            " | ".join(filter(None, (f"- {said.id}: {said.says}", said.owner, said.days, said.type)))
            for said in one.lasting
        ]
        lines += ["## may be kept", *(f"- {said}" for said in one.may)]
        lines += ["## must not be kept", *(f"- {said}" for said in one.must_not), "## facts"]
        lines += [f"{place}. {_shown(fact)}" for place, fact in enumerate(facts[one.sample])]
        lines += ["## notes", *notes.get(one.sample, ()), ""]
    return "\n".join(lines)


def _shown(fact: Json) -> str:
    days = "..".join(map(str, _days(fact) or ())) or "no date"
    more = [*fact["entities"], *fact["labels"]]
    place = f"at {fact['place']}" if fact["place"] else ""
    cites = f"cites {', '.join(fact['sources'])}" if "sources" in fact else ""
    parts = (fact["text"], days, fact["fact_type"], place, ", ".join(more), fact.get("was"), cites)
    return " || ".join(filter(None, parts))


def table(results: Mapping[str, Json]) -> str:
    """Return results as a Markdown table, shares in percent with their intervals."""
    rows = [
        [name, str(one["lasting"]), str(one["facts"]), *(report.interval(one[figure]) for figure in GOALS)]
        for name, one in results.items()
    ]
    head = [f"{name} ({'≥' if name == 'kept' else '≤'} {100 * goal:g} %)" for name, goal in GOALS.items()]
    return report.table(["set", "statements", "facts", *head], rows)
