"""Starting and stopping, with small programs in place of `memorybank`."""

import os
import sys
from pathlib import Path

import pytest

from memorybank.errors import MemoryBankError
from memorybank_eval.server import running

CONSOLIDATES = "MEMORYBANK_BANK__ENABLE_AUTO_CONSOLIDATION"
GOOD = """
import os, signal, sys
from pathlib import Path
home = Path(os.environ["MEMORYBANK_HOME"])
def stop(*_):
    (home / "stopped").write_text("SIGINT")
    sys.exit(0)
signal.signal(signal.SIGINT, stop)
print("a line of its own", flush=True)
print(f"memorybank is healthy at http://127.0.0.1:7 ({sys.argv[1:]}, {os.environ['GIVEN']})", flush=True)
while True:
    signal.pause()
"""


def _program(folder: Path, source: str) -> Path:
    program = folder / "memorybank"
    program.write_text(f"#!{sys.executable}\n{source}")
    program.chmod(0o755)
    return program


def test_it_waits_for_the_ready_line_and_stops_by_interrupt(tmp_path: Path) -> None:
    program = _program(tmp_path, GOOD)
    with running(tmp_path, {"GIVEN": "setting"}, program) as server:
        assert server.url == "http://127.0.0.1:7"
        assert 0 < server.start_seconds < 30
        assert "['up', '--port', '0'], setting" in (tmp_path / "server.out").read_text()
        os.kill(server.pid, 0)
    assert (tmp_path / "stopped").read_text() == "SIGINT"
    with pytest.raises(ProcessLookupError):
        os.kill(server.pid, 0)


@pytest.mark.parametrize(("given", "consolidates"), [({}, "false"), ({CONSOLIDATES: "true"}, "true")])
def test_a_server_consolidates_only_where_it_is_told_to(
    given: dict[str, str], consolidates: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(CONSOLIDATES, raising=False)
    program = _program(tmp_path, GOOD.replace("GIVEN", CONSOLIDATES))
    with running(tmp_path, given, program):
        assert f"{consolidates})" in (tmp_path / "server.out").read_text()


def test_a_temporary_home_is_gone_afterwards(tmp_path: Path) -> None:
    with running(None, {"GIVEN": "x"}, _program(tmp_path, GOOD)) as server:
        assert server.home.is_dir()
    assert not server.home.exists()


def test_a_server_that_ends_early_is_an_error_with_its_last_lines(tmp_path: Path) -> None:
    program = _program(tmp_path, "print('no database'); raise SystemExit(1)")
    with pytest.raises(MemoryBankError, match="no database"), running(tmp_path, {}, program):
        pass
