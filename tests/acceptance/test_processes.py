"""`memorybank up` and its parts as processes: how they start, end, die, and share a home."""

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from processes import HEALTHY, QUICK, Client, Installation, eventually, is_worker

from memorybank.storage.embedded_state import read_state

Place = Callable[..., Installation]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """Make installations, each with a home of its own."""
    made: list[Installation] = []

    def make(**environ: str) -> Installation:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Installation(folder, **QUICK, **environ))
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_up_says_one_line_and_ctrl_c_leaves_nothing(place: Place) -> None:
    home = place()
    up = home.up()
    url = up.url()
    bank = Client(url, "kept")
    bank.retain("Ana keeps bees.")
    assert bank.ended(bank.submit("Ana keeps hens."))["status"] == "completed"
    up.worker()
    assert up.out.splitlines() == [HEALTHY.search(up.out)[0]], "one line, and only that"  # type: ignore[index]
    assert f"data: {home.home}" in up.out and "engine: extractive" in up.out
    assert up.err == "", "nobody asked for more"
    up.send(signal.SIGINT)
    assert up.wait() == 0
    assert home.processes() == []
    assert "Traceback" not in up.err
    # And again: SIGTERM is the same, and everything is still there.
    again = home.up()
    assert Client(again.url(), "kept").facts() == ["Ana keeps bees.", "Ana keeps hens."]
    again.send(signal.SIGTERM)
    assert again.wait() == 0
    assert home.processes() == []


def test_ctrl_c_while_it_starts_leaves_nothing(place: Place) -> None:
    home = place()
    for seconds in (0, 0.3, 0.9):
        up = home.up()
        eventually((home.home / "postgres.lock").exists, "it does not start")
        time.sleep(seconds)
        up.send(signal.SIGINT)
        assert up.wait() == 0
        # A pool that is just connecting may say that the database has gone; nothing else may be said.
        said = up.err if "error connecting" not in up.err else ""
        assert (home.processes(), said, "Traceback" in up.err) == ([], "", False)
        (home.home / "postgres.lock").unlink()
    assert home.up().url()


def test_kill_9_of_up_takes_worker_and_database_with_it(place: Place) -> None:
    home = place()
    up = home.up()
    Client(up.url(), "kept").retain("Ana keeps bees.")
    up.worker()
    up.kill()
    home.deserted(seconds=20)
    again = home.up()
    assert Client(again.url(), "kept").facts() == ["Ana keeps bees."]


def test_a_worker_that_dies_is_started_again(place: Place) -> None:
    up = place().up()
    bank = Client(up.url(), "work")
    first = up.worker()
    first.kill()
    eventually(lambda: up.worker().pid != first.pid, "no other worker comes")
    assert bank.ended(bank.submit("Ana keeps bees."))["status"] == "completed"
    assert "the worker process ended" in up.err


def test_work_in_the_queue_waits_for_a_worker(place: Place) -> None:
    home = place()
    api = home.serve()
    bank = Client(api.url(), "queue")
    operation = bank.submit("Ana keeps bees.")
    time.sleep(1)
    assert bank.operation(operation)["status"] == "pending"
    worker = home.worker().ready()
    assert bank.ended(operation)["status"] == "completed"
    # A signal to the command is a signal to the worker, and the API goes on without it.
    worker.send(signal.SIGINT)
    assert worker.wait() == 0
    assert [process for process in home.processes() if is_worker(process)] == []
    bank.retain("Ana keeps hens.")
    api.send(signal.SIGINT)
    assert api.wait() == 0
    assert home.processes() == []


def test_a_taken_port_is_one_line(place: Place) -> None:
    home = place()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = home.run("up", "--port", port)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr == f"cannot listen on 127.0.0.1:{port}: Address already in use; choose another --port\n"
    )
    assert not (home.home / "postgres").exists(), "nothing was started for it"


def test_an_address_beyond_loopback_is_refused(place: Place) -> None:
    home = place()
    done = home.run("up", "--host", "0.0.0.0", "--port", "0")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert "no keys yet" in done.stderr and "memorybank keys create --operator" in done.stderr
    assert home.processes() == []


def test_loopback_has_other_names(place: Place) -> None:
    home = place()
    for host, answers in (("localhost", "http://127.0.0.1:"), ("127.0.0.2", "http://127.0.0.2:")):
        serve = home.start("serve", "--host", host, "--port", "0")
        assert serve.url().startswith(answers)
        serve.send(signal.SIGTERM)
        assert serve.wait() == 0


def test_two_homes_at_once_are_two_installations(place: Place) -> None:
    one, other = place(), place()
    first, second = one.up(), other.up()
    Client(first.url(), "bank").retain("Ana keeps bees.")
    Client(second.url(), "bank").retain("Ben keeps hens.")
    assert Client(first.url(), "bank").facts() == ["Ana keeps bees."]
    assert Client(second.url(), "bank").facts() == ["Ben keeps hens."]
    first.send(signal.SIGINT)
    assert first.wait() == 0
    assert one.processes() == []
    assert Client(second.url(), "bank").facts() == ["Ben keeps hens."]


def test_two_ups_on_one_home_share_the_database_and_either_may_go_first(place: Place) -> None:
    home = place()
    first = home.up()
    Client(first.url(), "bank").retain("Ana keeps bees.")
    second = home.up()
    other = Client(second.url(), "bank")
    assert other.facts() == ["Ana keeps bees."]
    state = read_state(home.home / "postgres.json")
    assert state is not None and state.owner.pid == first.pid
    # The owner of the database goes, in order; the other one starts the database again.
    first.send(signal.SIGINT)
    assert first.wait() == 0
    eventually(lambda: healthy(second.url()), "the other one does not come back")
    other.retain("Ben keeps hens.")
    assert other.facts() == ["Ana keeps bees.", "Ben keeps hens."]
    assert other.ended(other.submit("Ida keeps cats."))["status"] == "completed"
    second.send(signal.SIGINT)
    assert second.wait() == 0
    assert home.processes() == []


def test_a_worker_without_its_parent_ends(place: Place) -> None:
    """Its parent may be gone before it looks for the first time."""
    home = place()
    api = home.serve()
    api.url()
    command = f"{sys.executable} -m memorybank_workers --with-parent $$ >/dev/null 2>&1 &"
    subprocess.run(["sh", "-c", command], env=home.environ, check=True)
    eventually(lambda: any(map(is_worker, home.processes())), "it does not start")
    eventually(lambda: not any(map(is_worker, home.processes())), "it does not end", 20)


def healthy(url: str) -> bool:
    try:
        return httpx.get(url + "/health", trust_env=False, timeout=5).status_code == 200
    except httpx.HTTPError:
        return False
