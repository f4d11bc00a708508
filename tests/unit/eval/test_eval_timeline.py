"""The labelled times are read as they were labelled, and dateparser's cases are read without its code."""

import io
import tarfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memorybank.errors import InvalidInput
from memorybank_eval import timeline, timeline_dateparser
from memorybank_eval.timeline_case import Case, whole_day

#: Least score in percent, a wrong date counted double: English, the other languages.
GOAL = {"en": 95.0}
OTHERS = 85.0


def test_the_labelled_times_reach_the_goal() -> None:
    cases = [case for part in timeline.PARTS for case in timeline.read(part)]
    scores = {code: score.result() for code, score in timeline.measure(cases).items()}
    assert set(scores) == set(timeline.LANGUAGES)
    assert {code for code, score in scores.items() if score["score"] < GOAL.get(code, OTHERS)} == set()


def test_enough_is_labelled_and_kept_aside() -> None:
    labelled, kept = (timeline.read(part) for part in timeline.PARTS)
    counts = {code: sum(case.language == code for case in labelled) for code in timeline.LANGUAGES}
    assert counts["en"] >= 100 and min(counts.values()) >= 30
    assert len(kept) >= 80 and {case.language for case in kept} == set(timeline.LANGUAGES)


def test_a_wrong_date_costs_two() -> None:
    score = timeline.Score()
    case = Case("en", "on 7 May 2023", None, (whole_day(datetime(2023, 5, 7)),))
    for found in (case.expected, case.expected, (), (whole_day(datetime(2023, 5, 8)),)):
        score.add(case, found, 1.0)
    assert (score.right, score.missed, score.wrong, score.result()["score"]) == (2, 1, 1, 25.0)


@pytest.mark.parametrize(
    ("first", "days", "right"), [("2014-08-28", 6, True), ("2014-08-20", 20, False), ("2014-09-01", 0, False)]
)
def test_a_range_holds_the_moment_and_is_no_longer_than_the_unit(first: str, days: int, right: bool) -> None:
    moment = datetime(2014, 8, 30, 10, tzinfo=UTC)
    case = Case("en", "a week ago", moment, ((moment, moment),), timedelta(days=7))
    start = datetime.fromisoformat(first).replace(tzinfo=UTC)
    assert case.is_right([(start, start + timedelta(days=days, hours=23))]) is right


def sdist(folder: Path, tests: Mapping[str, str]) -> Path:
    path = folder / "dateparser-0.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, source in tests.items():
            member = tarfile.TarInfo(f"dateparser-0/tests/{name}")
            member.size = len(source.encode())
            archive.addfile(member, io.BytesIO(source.encode()))
    return path


FRESH = """
class Tests:
    @parameterized.expand(
        [
            # English dates
            param("2 days ago", ago={"days": 2}, period="day"),
            param("1 year 2 months", ago={"years": 1, "months": 2}, period="month"),
            # Turkish dates
            param("Dün", ago={"days": 1}, period="day"),
            # fr
            param("il y a une semaine", ago={"weeks": 1}, period="week"),
        ]
    )
    def NAME(self):
        pass
"""
SEARCH = """
class Tests:
    @parameterized.expand(
        [
            param("de", "am 13. April 1941", [("13. April 1941", datetime.datetime(1941, 4, 13, 0, 0))]),
            param("en", "10 May", [], settings={"PREFER_DATES_FROM": "past"}),
        ]
    )
    def test_search_and_parse(self):
        raise RuntimeError

    @parameterized.expand([param(text="on 5 June 2019", languages=["en"], expected=[("", datetime(2019, 6, 5))])])
    def test_date_search_function(self):
        raise RuntimeError
"""


def test_the_cases_of_dateparser_are_read_without_its_code(tmp_path: Path) -> None:
    names: dict[str, list[str]] = {}
    for suite in timeline_dateparser.SUITES:
        names.setdefault(suite.file, []).append(suite.function)
    tests = {
        file: "".join(
            FRESH.replace("NAME", name) if name == "test_relative_past_dates" else f"@x\ndef {name}(): ...\n"
            for name in functions
        )
        for file, functions in names.items()
    }
    found = timeline_dateparser.read(sdist(tmp_path, tests | {"test_search.py": SEARCH}), timeline.LANGUAGES)
    assert [(case.language, case.text) for case in found.cases.values()] == [
        ("en", "2 days ago"),
        ("fr", "il y a une semaine"),
        ("de", "am 13. April 1941"),
        ("en", "on 5 June 2019"),
    ]
    assert [case.text for case in found.aside.values()] == ["1 year 2 months", "10 May"]
    assert found.left == {
        timeline_dateparser.DURATION: 1,
        timeline_dateparser.LANGUAGE: 1,
        timeline_dateparser.SETTING: 1,
    }
    assert {score.right for score in timeline.measure(found.cases.values()).values()} == {2, 1}


def test_another_archive_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput):
        timeline_dateparser.read(sdist(tmp_path, {"test_other.py": ""}), timeline.LANGUAGES)
