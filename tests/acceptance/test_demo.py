"""`memorybank demo`, which is `make demo`: the main job on our sample, and on anything people have."""

import json
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import Client, Installation, eventually

#: A text that nobody tuned anything for.
LETTER = """Dear Wilhelmina,

The roof of the boathouse is finished. Otto Brandvold put up the last beam on 14 September 2025, and the carpenters from
Tveit & Sons want 48,300 kroner for it. We decided against the copper gutter because it would have cost as much again.

My sister Ragna moves to Haugesund in November; she has a post at the Arkivverket there. Could you send the oars?

Your old friend,
Solveig
"""


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    made = Installation(tmp_path_factory.mktemp("demo"))
    yield made
    made.end()


def shown(out: str, title: str) -> list[str]:
    """The lines below the rule with this title."""
    lines = iter(out.splitlines())
    for line in lines:
        if line.startswith("─") and title in line:
            break
    found = []
    for line in lines:
        if line.startswith("─"):
            break
        found.append(line)
    return found


def counts(out: str) -> dict[str, int]:
    line = next(line for line in out.splitlines() if "facts kept" in line)
    return {words: int(number) for number, words in re.findall(r"(\d+) ([a-z ]*[a-z])", line)}


def test_the_demonstration_shows_the_main_job(home: Installation) -> None:
    done = home.run("demo")
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    out = done.stdout
    assert re.search(r"memorybank · engine: extractive · http://127\.0\.0\.1:\d+", out)
    facts = shown(out, " facts")
    dated = [line for line in facts if re.match(r"\d{4}-\d\d-\d\d", line)]
    assert len(dated) >= 20
    assert facts[0].split() == ["date", "fact", "entities"]
    assert len(shown(out, " entities")) >= 1
    assert out.count("─ recall: ") == 3
    assert all(re.match(r" ?-?\d+\.\d\d +\d{4}-", line) for line in shown(out, "recall: ")[1:2])
    found = counts(out)
    assert found["chunks in"] == found["extracted"] >= 8
    assert found["facts kept"] >= len(dated)
    assert found["failed"] == 0
    assert "operation completed" in out and "operation completed with errors" not in out
    assert "The API listened at http://127.0.0.1:" in out
    # Where nobody looks through a terminal, the bar is one line and no sign is for a terminal.
    assert len(re.findall("^retaining ", out, re.MULTILINE)) == 1
    assert "\x1b" not in out and "\r" not in out
    assert home.processes() == []
    assert list(home.folder.iterdir()) == [home.home], "nothing is kept elsewhere: HOME is this folder too"


def test_a_second_demonstration_doubles_nothing(home: Installation) -> None:
    assert home.run("demo").returncode == 0
    up = home.up()
    bank = Client(up.url(), "demo-harbour")
    held = bank.facts()
    assert len(held) >= 20 and len(set(held)) == len(held)
    again = home.run("demo")  # beside a server that runs on the same home
    assert again.returncode == 0
    assert bank.facts() == held
    assert counts(again.stdout)["unchanged"] >= 8
    up.send(signal.SIGINT)
    assert up.wait() == 0
    assert home.processes() == []


def test_a_text_it_has_never_seen(home: Installation, tmp_path: Path) -> None:
    letter = tmp_path / "A letter & more (1).txt"
    letter.write_text(LETTER)
    done = home.run("demo", "--sample", str(letter))
    assert done.returncode == 0, done.stderr
    facts = "\n".join(shown(done.stdout, " facts"))
    for said in ("Otto Brandvold", "2025-09-14", "48,300 kroner", "Ragna"):
        assert said in facts
    assert "Could you send the oars" not in facts, "a question tells nothing"
    assert "Otto Brandvold" in "\n".join(shown(done.stdout, " entities"))
    assert done.stdout.count("─ recall: ") == 3
    assert "memorybank recall 'demo-A letter & more (1)'" in done.stdout


@pytest.mark.parametrize("form", ["json", "jsonl", "sessions"])
def test_turns_as_json(home: Installation, tmp_path: Path, form: str) -> None:
    turns = [
        {
            "speaker": "Nadia",
            "text": "I sold the blue van to Kowalski for 3,150 euros.",
            "timestamp": "2026-02-03T09:00:00Z",
        },
        {"speaker": "Piet", "text": "My new phone number ends in 7741.", "timestamp": "2026-02-03T09:01:00Z"},
    ]
    forms = {
        "json": json.dumps(turns),
        "jsonl": "\n".join(json.dumps(turn) for turn in turns),
        "sessions": json.dumps(
            {"sessions": [{"id": "s", "turns": turns}], "questions": ["Who bought the van?"]}
        ),
    }
    sample = tmp_path / f"van-{form}.json"
    sample.write_text(forms[form])
    done = home.run("demo", "--sample", str(sample), COLUMNS="200")
    assert done.returncode == 0, done.stderr
    facts = shown(done.stdout, " facts")
    assert any("Kowalski" in line and "3,150" in line and line.startswith("2026-02-03") for line in facts)
    assert any("7741" in line and "Piet" in line for line in facts)
    if form == "sessions":
        assert done.stdout.count("─ recall: ") == 1
        assert "Kowalski" in shown(done.stdout, "recall: Who bought the van?")[1]


def test_what_cannot_be_read_is_one_line(home: Installation, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_text(" \n")
    for sample, said in (
        (tmp_path / "none.txt", "No such file"),
        (empty, "is empty"),
        (tmp_path, "Is a directory"),
    ):
        done = home.run("demo", "--sample", str(sample))
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
        assert said in done.stderr and str(sample) in done.stderr
    assert home.processes() == []


def test_ctrl_c_ends_a_demonstration(home: Installation, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    long.write_text("\n\n".join(f"Kerstin counted {n} swans on pond {n * 7}." for n in range(6000)))
    demo = home.start("demo", "--sample", str(long))
    eventually(lambda: "engine: extractive" in demo.out, demo.err)
    demo.send(signal.SIGINT)
    assert demo.wait() == 130
    assert "Traceback" not in demo.err + demo.out
    assert home.processes() == []
