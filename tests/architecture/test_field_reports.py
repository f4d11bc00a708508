"""The table of field reports names tests that are there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"`(\S+\.py)::(\w+)`", (ROOT / "docs" / "field-reports.md").read_text("utf-8"))


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_what_is_named_is_there(file: str, test: str) -> None:
    assert re.search(rf"^(async )?def {test}\(", (ROOT / "tests" / file).read_text("utf-8"), re.MULTILINE)


def test_every_row_names_one() -> None:
    rows = [
        line for line in (ROOT / "docs" / "field-reports.md").read_text("utf-8").splitlines() if "|" in line
    ]
    assert len(rows) > 30 and all("::" in row for row in rows[2:])
