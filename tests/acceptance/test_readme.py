"""README.md does what it says: its commands run, its Python runs, its links lead somewhere."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from bank_calls import Running, good

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
PROGRAMS = str(Path(sys.executable).parent)
ADDRESS = "http://127.0.0.1:8888"
#: Commands that run until they are told to stop: the server fixture is one of them.
FOR_EVER = ("up", "serve", "worker")


def snippets(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands() -> list[list[str]]:
    starts = r"^(?=\S)"
    lines = [line for snippet in snippets("sh") for line in re.split(starts, snippet, flags=re.MULTILINE)]
    return [shlex.split(line, comments=True) for line in lines if line.strip()]


def calls() -> list[list[str]]:
    return [words for words in commands() if words[0].endswith("/memorybank")]


@pytest.mark.parametrize("words", calls(), ids=shlex.join)
def test_commands_run(server: Running, words: list[str]) -> None:
    asked = [*words[1:], "--help"] if words[1] in FOR_EVER else words[1:]
    if "$ANA" in asked:
        asked[asked.index("$ANA")] = entity_named("Ana", server)
    if "$FACT" in asked:
        listed = httpx.get(f"{server.url}/v1/default/banks/team/memories/list?type=world", trust_env=False)
        asked[asked.index("$FACT")] = good(listed)["items"][0]["id"]
    done = subprocess.run(
        [words[0].replace(".venv/bin", PROGRAMS), *asked],
        env=server.home.environ | {"MEMORYBANK_URL": server.url},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.strip()


def entity_named(name: str, server: Running) -> str:
    """Return the id of an entity of the README's bank."""
    answer = httpx.get(f"{server.url}/v1/default/banks/team/entities", trust_env=False)
    return str({item["canonical_name"]: item["id"] for item in good(answer)["items"]}[name])


def test_the_bank_is_configured(server: Running) -> None:
    """Sent as curl would, which is not everywhere: `-X method address -H header -d body`."""
    [(_, _, method, address, _, header, _, body)] = [words for words in commands() if words[0] == "curl"]
    assert ADDRESS in address
    headers = dict([header.split(": ")])
    answer = httpx.request(
        method, address.replace(ADDRESS, server.url), content=body, headers=headers, trust_env=False
    )
    assert good(answer)["overrides"].keys() == {"retain_mission", "entity_labels"}


def test_every_other_command_is_known() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    named = {words[1] for words in commands() if words[0] == "make"}
    named |= set(re.findall(r"`make ([a-z]+)", README))
    assert {"demo", "test"} <= named <= targets
    rest = [words for words in commands() if words[0] != "make" and words not in calls()]
    assert all(words[0] in ("export", "curl") for words in rest), "a kind of command that nobody runs here"


def test_settings_that_are_named_are_settings(server: Running) -> None:
    names = dict(word.split("=", 1) for words in commands() if words[0] == "export" for word in words[1:])
    assert "MEMORYBANK_LLM__MODEL" in names
    script = "from memorybank.settings import load; print(load().llm.model, load().retain.llm.model)"
    done = subprocess.run(
        [sys.executable, "-c", script],
        env=server.home.environ | names,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split() == [names["MEMORYBANK_LLM__MODEL"], names["MEMORYBANK_RETAIN__LLM__MODEL"]]


@pytest.mark.parametrize("snippet", snippets("python"))
def test_python_runs(server: Running, snippet: str) -> None:
    assert ADDRESS in snippet
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", snippet.replace(ADDRESS, server.url)],
        env=server.home.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "release" in done.stdout


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#\s]+)", README)
    files = [link for link in links if "://" not in link]
    assert files and [link for link in files if not (ROOT / link).exists()] == []
