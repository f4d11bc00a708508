"""The house rules that no linter knows."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted(
    path for folder in ("pipeline", "workers", "eval", "tests") for path in (ROOT / folder).rglob("*.py")
)
SQL = sorted((ROOT / "pipeline").rglob("*.sql"))
SHIPPED = [path for path in SOURCES if ROOT / "tests" not in path.parents]
#: A file that no longer fits is redesigned, not scrolled.
MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 50
#: The one place that catches everything: whatever an operation raises ends as a row, not as a dead worker.
BLIND_EXCEPT = {"workers/memorybank_workers/middleware.py"}


def _name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", [*SOURCES, *SQL], ids=_name)
def test_file_is_a_room_not_a_pile(path: Path) -> None:
    assert path.stem not in ("utils", "util", "helpers", "helper", "common", "misc")
    assert len(path.read_text().splitlines()) <= MAX_FILE_LINES


@pytest.mark.parametrize("path", SHIPPED, ids=_name)
def test_functions_are_short_and_errors_are_named(path: Path) -> None:
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            length = (node.end_lineno or node.lineno) - node.lineno + 1
            assert length <= MAX_FUNCTION_LINES, f"{node.name} has {length} lines"
        if isinstance(node, ast.ExceptHandler) and _name(path) not in BLIND_EXCEPT:
            caught = ast.unparse(node.type) if node.type else "everything"
            assert caught not in ("Exception", "BaseException", "everything"), f"line {node.lineno}"


@pytest.mark.parametrize("path", SHIPPED, ids=_name)
def test_imports_stand_at_the_top(path: Path) -> None:
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            inner = [n for n in ast.walk(node) if isinstance(n, ast.Import | ast.ImportFrom)]
            assert not inner, f"{node.name} imports inside"


@pytest.mark.parametrize("path", SHIPPED, ids=_name)
def test_now_is_asked_of_the_clock(path: Path) -> None:
    if path.name in ("clock.py", "ids.py"):
        return
    assert not re.search(r"datetime\.(now|utcnow|today)\(", path.read_text())


def test_nothing_under_integration_or_acceptance_uses_an_inline_queue() -> None:
    for path in SOURCES:
        if {"integration", "acceptance"} & set(path.parts):
            assert "inline_queue" not in path.read_text(), _name(path)


def test_no_sql_stands_in_python_outside_storage() -> None:
    statement = re.compile(r"\"\s*(SELECT|INSERT INTO|UPDATE \w+ SET|DELETE FROM)\b")
    for path in SHIPPED:
        if "storage" not in path.parts:
            assert not statement.search(path.read_text()), _name(path)


def test_no_two_test_files_share_a_name() -> None:
    names = [path.name for path in SOURCES if ROOT / "tests" in path.parents and path.name != "conftest.py"]
    assert len(names) == len(set(names))
