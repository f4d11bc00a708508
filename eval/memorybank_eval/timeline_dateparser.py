"""The test cases of dateparser's source distribution as cases of ours, read without running its code.

    pip download --no-deps --no-binary :all: dateparser        # BSD-3; it stays outside of this repository

A case is a `param(...)` in the decorator of one of the tests in `SUITES`. They were written for a parser of whole
strings that gives a moment; ours finds ranges in text. So a case is right when the one range found holds the expected
moment and is no longer than the finest unit that was named, and at most a day where a clock time was named.
"""

import ast
import io
import re
import tarfile
import tokenize
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memorybank.errors import InvalidInput
from memorybank.timeline import ranges
from memorybank_eval.timeline_case import Case, Range, whole_day

#: Why a case is not counted.
LANGUAGE = "another language, or none said"
SETTING = "a setting of dateparser's decides (preferred direction, own formats, strictness)"
CLOCK = "a time of day only"
DURATION = "a duration without a word of direction (dateparser reads it as ago; in a text it is no date)"
ARITHMETIC = "signs as arithmetic, or less than so long (now - 1 hour, moins de 21 heures)"
UNREADABLE = "no plain values in the source"
ELSEWHERE = "counted from something else that a text speaks of (2 days later, 4 days before)"
WHOLE = "expects what only a parser of whole strings, or of one given language, gives"

_NAMES = {
    "english": "en", "german": "de", "french": "fr", "spanish": "es", "italian": "it", "portuguese": "pt",
    "chinese": "zh", "japanese": "ja", "korean": "ko", "zh-hans": "zh", "zh-hant": "zh",
}  # fmt: skip
#: Longest range in days for the finest unit that is named.
_LONGEST = {"weeks": 7, "months": 31, "years": 366, "decades": 3660, "centuries": 36600}
_UNIT = re.compile(r"\b(week|month|year|decade|centur)")
_DAY_RANGE = re.compile(r"\d ?[-–] ?\d{1,2}\b")
_NUMBER = re.compile(r"(?<!\d)\d{1,2}(?!\d)")
_ELSEWHERE = re.compile(r"(?:[\w.,-]+ )+(?:later|before)|after .*")
_HEADING = re.compile(r"#\s*([A-Za-z-]+)(?: dates)?\s*$")
_DURATION = re.compile(r"(?:(?:,|and|et|und|e|y)? ?\d+(?:[.,]\d+)? ?[^\W\d_]+[ ,]*)+")
_POINTS = re.compile(r"\b(?:ago|fa|atras|atrás)\b|[前전後后뒤후]")
_ARITHMETIC = re.compile(r"(?:^|\s)[-+]\s?\d|\bmoins de\b")
_CLOCK = re.compile(r"(?:\d{1,2}:\d{2}\s?(?:[ap]\.?m\.?)?|(?:à )?midi|中午|[下上凌]\w\d+:\d+)", re.IGNORECASE)
#: Texts whose expected value rests on dateparser's own ways.
_OWN_WAYS = {
    "2 Tage 18:50": DURATION,
    "时间是下午3:30": CLOCK,
    "Dnes v 12:40": LANGUAGE,
    "3 days ago tomorrow 13 Feb 2020": WHOLE,
    # "Die" is read as an abbreviated Tuesday.
    "Die UdSSR blieb gemäß dem Neutralitätspakt vom 13. April 1941 gegenüber Japan vorerst neutral.": WHOLE,
    "DECEMBER 21 19.87 87": WHOLE,
    "Twenty five years after the Sept. 11, 2001, attacks": WHOLE,
    "Sep 15, 2026 10:50 AM Fifty years after Paris": WHOLE,
    "Sep 15, 2026 10:50 AM and fifty years after Paris": WHOLE,
    "09.09.2026 10711 Seventy-Five Seconds, Forty Years of History": WHOLE,
    # A year is given as a day of it.
    "Desde finales de 1939 hasta inicios de 1941 Alemania conquistó o sometió "
    "gran parte de la Europa continental.": WHOLE,
}


@dataclass(frozen=True)
class Suite:
    """One test function: where it stands, what "now" is in it, its language where no comment or field says it."""

    file: str
    function: str
    now: datetime
    language: str = ""


_FRESH = datetime(2014, 9, 1, 10, 30, tzinfo=UTC)
_BASE = datetime(2012, 11, 13, tzinfo=UTC)
_FRENCH = datetime(2026, 10, 7, 9, 30, tzinfo=UTC)
_SEARCH = datetime(2000, 1, 1, tzinfo=UTC)
SUITES = (
    Suite("test_freshness_date_parser.py", "test_relative_past_dates_with_time_as_period", _FRESH),
    Suite("test_freshness_date_parser.py", "test_relative_past_dates", _FRESH),
    Suite("test_freshness_date_parser.py", "test_normalized_relative_dates", _FRESH),
    Suite("test_freshness_date_parser.py", "test_relative_future_dates", _FRESH),
    Suite("test_freshness_date_parser.py", "test_freshness_date_with_time", _FRESH, "en"),
    Suite(
        "test_freshness_date_parser.py",
        "test_freshness_date_with_relative_base",
        datetime(2010, 6, 4, 13, 15, tzinfo=UTC),
        "en",
    ),
    Suite("test_freshness_date_parser.py", "test_dates_not_supported_by_date_time", _FRESH, "en"),
    Suite("test_date_parser.py", "test_dates_parsing", _BASE),
    Suite("test_date_parser.py", "test_dates_parsing_with_normalization", _BASE),
    Suite("test_date_parser.py", "test_iso_datestamp_format_should_always_parse", _BASE),
    Suite("test_date_parser.py", "test_iso_datestamp_format_should_parse_with_locale_date_order", _BASE),
    Suite("test_date_parser.py", "test_french_midi_is_noon", _FRENCH, "fr"),
    Suite(
        "test_date_parser.py", "test_french_dates_that_were_parsed_before_midi_are_unchanged", _FRENCH, "fr"
    ),
    Suite("test_date_parser.py", "test_french_next_weekday", _FRENCH, "fr"),
    Suite(
        "test_date_parser.py",
        "test_weekday_with_modifier_variants",
        datetime(2026, 9, 23, 12, tzinfo=UTC),
        "en",
    ),
    Suite("test_date_parser.py", "test_word_numbers_advanced", datetime(2025, 6, 15, 12, tzinfo=UTC), "en"),
    Suite("test_search.py", "test_search_and_parse", _SEARCH),
    Suite("test_search.py", "test_date_search_function", _SEARCH),
)
#: Settings that only say what "now" is, or how strict or loose the parsing is where ours has one way.
_HARMLESS = {"RELATIVE_BASE", "NORMALIZE", "STRICT_PARSING"}


class Left(Exception):
    """A case that cannot be read, or is of another language, with the reason."""


@dataclass
class Read:
    """The cases that count, those of the nine languages that were set aside, and how many by reason."""

    cases: dict[tuple[str, str, datetime | None], Case] = field(default_factory=dict)
    aside: dict[tuple[str, str, datetime | None], Case] = field(default_factory=dict)
    left: Counter[str] = field(default_factory=Counter)


def read(sdist: Path, languages: Collection[str]) -> Read:
    """Return the cases of the languages, once each; those that are set aside can be scored as well.

    Raises:
        InvalidInput: the archive is no source distribution of dateparser, or lacks one of the tests.
    """
    found = Read()
    for suite, source in _sources(sdist):
        for language, call in _params(suite, source):
            try:
                case, settings = _case(suite, language, call)
                if case.language not in languages:
                    raise Left(LANGUAGE)
            except Left as error:
                found.left[str(error)] += 1
                continue
            key, reason = (case.language, case.text, case.anchor), _set_aside(case.text, settings)
            if key in found.cases or key in found.aside:
                continue
            found.left.update([reason] if reason else [])
            (found.aside if reason else found.cases)[key] = case
    return found


def _sources(sdist: Path) -> Iterator[tuple[Suite, str]]:
    with tarfile.open(sdist) as archive:
        members = {Path(name).name: name for name in archive.getnames() if "/tests/" in name}
        for suite in SUITES:
            held = archive.extractfile(members[suite.file]) if suite.file in members else None
            if held is None:
                raise InvalidInput(f"{sdist}: no tests/{suite.file} in it")
            yield suite, held.read().decode()


def _params(suite: Suite, source: str) -> Iterator[tuple[str, ast.Call]]:
    """Each `param(...)` of a test with the language that the last comment above it names."""
    headings = [
        (token.start[0], _NAMES.get(name[1].lower(), name[1].lower()))
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT and (name := _HEADING.match(token.string))
    ]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef) and node.name == suite.function:
            calls = [call for decorator in node.decorator_list for call in ast.walk(decorator)]
            first = min(decorator.lineno for decorator in node.decorator_list)
            for call in calls:
                if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "param":
                    above = [name for line, name in headings if first <= line < call.lineno]
                    yield suite.language or (above[-1] if above else ""), call
            return
    raise InvalidInput(f"no test {suite.function} in {suite.file}")


def _case(suite: Suite, language: str, call: ast.Call) -> tuple[Case, Mapping[str, Any]]:
    try:
        given = [_value(argument) for argument in call.args]
        named = {word.arg: _value(word.value) for word in call.keywords if word.arg}
    except ValueError:
        raise Left(UNREADABLE) from None
    if suite.function == "test_search_and_parse":
        language = given.pop(0)
    spoken = named.get("languages") or []
    language = _NAMES.get(str(spoken[0]).lower(), str(spoken[0])) if len(spoken) == 1 else language
    text = str(given.pop(0)) if given else str(named.get("date_string", named.get("text", "")))
    language = language or ("en" if text.isascii() else "")
    settings = named.get("settings") or {}
    now = settings.get("RELATIVE_BASE", suite.now).replace(tzinfo=UTC)
    moments, within = _expected(text, given, named, now)
    return Case(language, text, now, moments, within), settings


def _set_aside(text: str, settings: Mapping[str, Any]) -> str:
    """The reason why a case does not count; empty where it does."""
    if text in _OWN_WAYS:
        return _OWN_WAYS[text]
    if set(settings) - _HARMLESS:
        return SETTING
    if _CLOCK.fullmatch(text):
        return CLOCK
    if _ARITHMETIC.search(text):
        return ARITHMETIC
    if _ELSEWHERE.fullmatch(text):
        return ELSEWHERE
    return DURATION if _DURATION.fullmatch(text) and not _POINTS.search(text) else ""


def _expected(
    text: str, given: Sequence[Any], named: Mapping[str, Any], now: datetime
) -> tuple[tuple[Range, ...], timedelta]:
    """The moments or days that the test expects, and how long a range around one may be."""
    for offset, sign in (("ago", -1), ("in_future", 1)):
        if offset in named:
            moment = _moved(now, named[offset], sign)
            return ((moment, moment),), _longest(named[offset])
    value = named["expected"] if "expected" in named else given[0] if given else []
    if isinstance(value, timedelta):
        return ((now + value, now + value),), timedelta(days=1)
    values = [each[1] for each in value or []] if isinstance(value, list | None) else [value]
    return tuple(whole_day(each) for each in values), _longest_of_text(text)


def _longest_of_text(text: str) -> timedelta:
    """How long a range may be for what a text names: a day where it names a day, else its unit."""
    unit = _UNIT.search(text.lower())
    if unit and ":" not in text:
        return timedelta(days=next(days for name, days in _LONGEST.items() if name.startswith(unit[1])))
    if _DAY_RANGE.search(text) or not _NUMBER.search(text):
        return timedelta(days=366 if re.search(r"\d{4}", text) and not _NUMBER.search(text) else 31)
    return timedelta(days=1)


def _moved(now: datetime, offset: Mapping[str, float], sign: int) -> datetime:
    moved = now
    for unit, count in offset.items():
        if unit in ("years", "months"):
            months = sign * int(count) * (12 if unit == "years" else 1)
            moved = datetime.combine(ranges.shift(moved.date(), "month", months), moved.timetz())
        else:
            moved += sign * timedelta(**{unit: count})
    return moved


def _longest(offset: Mapping[str, float]) -> timedelta:
    units = ("seconds", "minutes", "hours", "days", "weeks", "months", "years")
    finest = next(unit for unit in units if unit in offset)
    if finest == "years" and not offset["years"] % 10:
        finest = "decades" if offset["years"] % 100 else "centuries"
    return timedelta(days=_LONGEST.get(finest, 1))


def _value(node: ast.expr) -> Any:
    """The value of plain source: literals, datetimes, lists, sums. ValueError for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(each) for each in node.elts]
    if isinstance(node, ast.Dict):
        return {_value(key): _value(value) for key, value in zip(node.keys, node.values, strict=True) if key}
    if isinstance(node, ast.JoinedStr):
        return "".join(str(_value(each)) for each in node.values)
    if isinstance(node, ast.FormattedValue):
        return _value(node.value)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _value(node.left), _value(node.right)
        return left + right if isinstance(node.op, ast.Add) else left * right
    if isinstance(node, ast.Call):
        return _made(node)
    raise ValueError(ast.dump(node))


def _made(node: ast.Call) -> Any:
    kinds = {"datetime": datetime, "date": datetime, "timedelta": timedelta, "time": None}
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name not in kinds:
        raise ValueError(name)
    kind = kinds[name]
    words = {word.arg: _value(word.value) for word in node.keywords if word.arg and word.arg != "tzinfo"}
    return kind and kind(*[_value(argument) for argument in node.args], **words)
