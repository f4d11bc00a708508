"""Every command, as a person and as a program uses it."""

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from bank_calls import Running
from processes import MEMORYBANK, Installation

import memorybank
from memorybank.serve import cli

#: CPU seconds that `--help` may take: 1 on a quiet machine; a library of models would add 3.
HELP_SECONDS = 3.0
COMMANDS = (
    *("up", "serve", "worker", "migrate", "models", "demo"),
    *("retain", "retain-files", "preview", "recall", "reflect", "banks", "operations", "status"),
    *("entities", "merge", "unmerge", "edit"),
)


@dataclass(frozen=True)
class Done:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Done]


@pytest.fixture
def memorybank_(
    server: Running, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run a command in this process: the same code, without the second that its imports take."""
    monkeypatch.setenv("MEMORYBANK_URL", server.url)

    def run(*arguments: str) -> Done:
        monkeypatch.setattr(sys, "argv", ["memorybank", *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        captured = capsys.readouterr()
        assert "Traceback" not in captured.err
        return Done(int(ended.value.code or 0), captured.out, captured.err)

    return run


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Installation]:
    """An installation where nothing runs."""
    made = Installation(tmp_path)
    yield made
    made.end()


def a_bank() -> str:
    return f"cli-{uuid4()}"


# --- before any server ---


def test_help_is_quick_and_loads_no_model(alone: Installation) -> None:
    def cpu_seconds() -> float:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = alone.run("--help")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0
        assert [name for name in COMMANDS if f" {name} " not in done.stdout] == []
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    # The quickest of some: the first may have to compile, and a busy machine makes all of them slower.
    assert min(cpu_seconds() for _ in range(3)) < HELP_SECONDS
    heavy = "{'litellm', 'onnxruntime', 'tokenizers'}"
    script = f"import sys, memorybank.serve.cli; print({heavy} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert loaded.stdout == "set()\n"
    assert not alone.home.exists()


def test_options_with_several_values_say_how_they_are_given(memorybank_: Command) -> None:
    told = " ".join(memorybank_("merge", "--help").out.split())
    assert re.search(r"--names \S+ Repeat the option for more\.", told)


def test_version(memorybank_: Command) -> None:
    assert memorybank_("--version") == Done(0, f"{memorybank.__version__}\n", "")


def test_no_server_is_one_line_that_says_what_to_do(alone: Installation) -> None:
    for arguments in (("status",), ("banks", "--json"), ("recall", "team", "anything")):
        done = alone.run(*arguments, MEMORYBANK_PORT="1")
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == (
            "no server answers at http://127.0.0.1:1: start one with `memorybank up`, or name one by MEMORYBANK_URL\n"
        )


def test_something_else_that_answers_is_told(
    memorybank_: Command, monkeypatch: pytest.MonkeyPatch, server: Running
) -> None:
    monkeypatch.setenv("MEMORYBANK_URL", f"{server.url}/metrics?")
    done = memorybank_("banks")
    assert (done.code, done.out) == (1, "")
    assert "is not memorybank" in done.err
    monkeypatch.setenv("MEMORYBANK_URL", "nonsense")
    assert memorybank_("banks").code == 1


def test_a_wrong_setting_is_one_line(alone: Installation) -> None:
    done = alone.run("up", MEMORYBANK_WORKER__CONCURRENCY="many")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "worker.concurrency" in done.stderr and "MEMORYBANK_WORKER__CONCURRENCY" in done.stderr
    assert not alone.home.exists()


def test_a_database_that_is_not_there_is_one_line(alone: Installation) -> None:
    for command in ("up", "migrate", "worker"):
        done = alone.run(
            command, MEMORYBANK_DATABASE__URL="postgresql://127.0.0.1:1/none", MEMORYBANK_PORT="0"
        )
        assert (done.returncode, done.stdout) == (1, "")
        assert "cannot connect to PostgreSQL" in done.stderr
        assert "Traceback" not in done.stderr
        assert done.stderr.strip().count("\n") <= 1, done.stderr


def test_migrate_brings_a_new_home_up_to_date(alone: Installation) -> None:
    first, second = alone.run("migrate"), alone.run("migrate")
    assert (first.returncode, second.returncode) == (0, 0)
    assert first.stdout.startswith("applied ")
    assert second.stdout == "the schema is up to date\n"
    assert first.stderr + second.stderr == ""
    assert alone.processes() == []


def test_weights_that_are_there_are_not_installed_again(alone: Installation) -> None:
    done = alone.run("models", "install", PIP_NO_INDEX="1", PIP_FIND_LINKS="/nowhere")
    assert done.returncode == 0
    assert done.stdout.startswith("weights are installed already, at ")
    assert Path(done.stdout.split(" at ")[1].strip()).is_dir()


# --- with a server ---


def test_status(memorybank_: Command, server: Running) -> None:
    done = memorybank_("status")
    assert done.code == 0
    assert f"memorybank {memorybank.__version__} is healthy at {server.url}" in done.out
    assert "engine: extractive" in done.out
    found = memorybank_("status", "--json").json
    assert (found["url"], found["status"], found["engine"]) == (server.url, "healthy", "extractive")
    assert found["banks"] >= 0


def test_the_main_job_by_hand(memorybank_: Command) -> None:
    bank = a_bank()
    said = memorybank_(
        *(
            "retain",
            bank,
            "Ana moved the release to 6 March 2026 because the tests failed.",
            "--document-id",
            "d/1",
        ),
        *("--timestamp", "2026-03-02T10:00:00Z", "--tags", "plan", "--tags", "team"),
    )
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("kept 1 item(s)")
    found = memorybank_("recall", bank, "When is the release?")
    assert "Ana moved the release to 6 March" in found.out and "2026-03-06" in found.out
    answer = memorybank_("recall", bank, "When is the release?", "--json", "--tags", "plan").json
    assert answer["results"][0]["tags"] == ["plan", "team"]
    assert answer["results"][0]["document_id"] == "d/1"
    assert memorybank_("recall", bank, "release", "--tags", "other", "--tags-match", "any_strict").out == (
        "nothing is remembered about that\n"
    )
    reflected = memorybank_("reflect", bank, "When is the release?")
    assert reflected.code == 0 and "6 March" in reflected.out
    assert "6 March" in memorybank_("reflect", bank, "When is the release?", "--json").json["text"]
    listed = memorybank_("banks", "--q", bank)
    assert bank in listed.out and listed.code == 0
    assert [one["bank_id"] for one in memorybank_("banks", "--q", bank, "--json").json["banks"]] == [bank]


def test_work_in_the_background(memorybank_: Command, server: Running) -> None:
    bank = a_bank()
    queued = memorybank_("retain", bank, "Ben feeds the cat.", "--async", "--operation-id", str(uuid4()))
    assert queued.code == 0
    assert "queued 1 item(s) as operation " in queued.out
    operation = queued.out.split()[-1]
    for _ in range(200):
        listed = memorybank_("operations", bank, "--json").json["operations"]
        if {one["status"] for one in listed} == {"completed"}:
            break
    shown = memorybank_("operations", bank, "--exclude-parents")
    assert operation not in shown.out and "completed" in shown.out
    assert operation in memorybank_("operations", bank).out


def test_texts_of_every_kind_come_through(memorybank_: Command) -> None:
    bank = f"Büro {uuid4()} %2F?#&"
    text = """Ana said: "don't" & <b>run</b> $HOME `rm` \\ 50% [red]no[/red] 我喜欢茶 🚲"""
    assert memorybank_("retain", bank, text, "--context", "a [bold]note[/]").code == 0
    found = memorybank_("recall", bank, text).out
    assert '"don\'t" & <b>run</b> $HOME `rm` \\ 50% [red]no[/red]' in found
    assert [one["bank_id"] for one in memorybank_("banks", "--q", bank, "--json").json["banks"]] == [bank]
    assert bank in memorybank_("banks", "--q", bank).out


def test_standard_input_and_bytes_that_are_no_text(server: Running, alone: Installation) -> None:
    bank = a_bank()
    environ = alone.environ | {"MEMORYBANK_URL": server.url}
    piped = subprocess.run(
        [MEMORYBANK, "retain", bank, "-"],
        env=environ,
        input="Ida plays the cello.\nIda sold \xff her car.\n".encode("latin-1"),
        capture_output=True,
        check=False,
    )
    assert (piped.returncode, piped.stderr) == (0, b"")
    broken = subprocess.run(
        [os.fsencode(MEMORYBANK), b"retain", os.fsencode(bank), b"Ida lost \xfe her keys."],
        env=environ,
        capture_output=True,
        check=False,
    )
    assert (broken.returncode, broken.stderr) == (0, b"")
    # A terminal of old gets question marks, not a traceback.
    asked = subprocess.run(
        [MEMORYBANK, "recall", bank, "What did Ida lose?"],
        env=environ | {"PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (asked.returncode, asked.stderr) == (0, "")
    assert "Ida lost ? her keys." in asked.stdout
    assert "Ida plays the cello." in asked.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("retain", "BANK", "  "), "422: body.items.0.content"),
        (("retain", "BANK", "Ana came.", "--timestamp", "yesterday"), "422: body.items.0.timestamp"),
        (("recall", "BANK", ""), "query"),
        (("operations", "BANK"), "404: "),
        (("operations", "BANK", "--offset", "-1"), "offset"),
        (("banks", "--limit", "-1"), "limit"),
    ],
)
def test_what_the_server_refuses_is_told_in_its_words(
    memorybank_: Command, arguments: tuple[str, ...], said: str
) -> None:
    bank = a_bank()
    done = memorybank_(*(bank if part == "BANK" else part for part in arguments))
    assert (done.code, done.out) == (1, "")
    assert said in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("retain", "team"),
        ("recall",),
        ("fly",),
        ("recall", "team", "x", "--budget", "huge"),
        ("up", "--port", "70000"),
    ],
)
def test_a_wrong_command_line_is_status_2(memorybank_: Command, arguments: tuple[str, ...]) -> None:
    done = memorybank_(*arguments)
    assert (done.code, done.out) == (2, "")
    assert "Usage:" in done.err


def test_a_fact_is_corrected_and_taken_out_of_recall(memorybank_: Command, server: Running) -> None:
    bank = a_bank()
    memorybank_("retain", bank, "Ida plays the cello.")
    [hit] = memorybank_("recall", bank, "What does Ida play?", "--json").json["results"]
    edited = memorybank_(
        "edit", bank, hit["id"], "--text", "Ida plays the harp.", "--entities", "Ida", "--json"
    ).json
    assert (edited["text"], edited["entities"], edited["state"]) == ("Ida plays the harp.", ["Ida"], "valid")
    assert "harp" in memorybank_("recall", bank, "What does Ida play?").out
    gone = memorybank_(
        "edit", bank, hit["id"], "--state", "invalidated", "--reason", "she stopped", "--json"
    ).json
    assert (gone["state"], gone["invalidation_reason"]) == ("invalidated", "she stopped")
    assert (
        memorybank_("recall", bank, "What does Ida play?").out.strip() == "nothing is remembered about that"
    )
    assert "restore it first" in memorybank_("edit", bank, hit["id"], "--text", "x").err
    assert memorybank_("edit", bank, hit["id"]).code == 1


def test_entities_are_merged_and_parted(memorybank_: Command) -> None:
    bank = f"cli-{uuid4()}"
    memorybank_("retain", bank, "Cara Voss called Milo Voss.")
    ids = {
        item["canonical_name"]: item["id"] for item in memorybank_("entities", bank, "--json").json["items"]
    }
    merged = memorybank_("merge", bank, ids["Cara Voss"], "--into", ids["Milo Voss"], "--json").json
    assert merged["aliases"] == [{"name": "Cara Voss", "entity_id": ids["Cara Voss"]}]
    assert memorybank_("unmerge", bank, ids["Cara Voss"], "--json").json == {"success": True}
    assert memorybank_("unmerge", bank, ids["Cara Voss"]).code == 1
