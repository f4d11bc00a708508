"""What the log tells of an error that nobody expected: where, never of whom."""

import json
import logging
import sys

import pytest

from memorybank.serve import logs
from memorybank.settings import LogSettings


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_traceback_quotes_no_variables(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    try:
        logs.configure(LogSettings(level="info", format=form))  # type: ignore[arg-type]
        secret = "Quetzal lives in Graz."
        try:
            raise OverflowError(f"{len(secret)} is too much")
        except OverflowError:
            logging.getLogger("here").error("it broke", exc_info=sys.exc_info())
    finally:
        logging.captureWarnings(False)
        root.handlers[:], level = before
        root.setLevel(level)
    said = capsys.readouterr().err
    assert "OverflowError" in said and "22 is too much" in said and "Quetzal" not in said
    assert form == "text" or json.loads(said.splitlines()[-1])["event"] == "it broke"
