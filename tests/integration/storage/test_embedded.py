"""The embedded PostgreSQL with real processes: starts, sharing, deaths and what they leave behind."""

import fcntl
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from embedded_world import Child, answers, commit, frozen, gone, kept, postmaster, replaced, wait_for, zombie
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from memorybank.errors import DatabaseUnavailable
from memorybank.storage import embedded as module
from memorybank.storage.embedded import EmbeddedServer
from memorybank.storage.embedded_cluster import Cluster, free_port
from memorybank.storage.embedded_state import Process, find_process, read_state, write_state

Embedded = Callable[[Path], EmbeddedServer]
Children = Callable[..., Child]


def test_cold_start_gives_the_owner_a_database_with_vectors(tmp_path: Path, embedded: Embedded) -> None:
    broken_off = tmp_path / "home" / "postgres-new-broken-off"
    broken_off.mkdir(parents=True)
    (broken_off / "PG_VERSION").write_text("18\n")
    server = embedded(tmp_path / "home")
    conninfo = server.ensure()
    assert server.owner and server.conninfo() == conninfo and server.ensure() == conninfo
    with psycopg.connect(conninfo) as connection:
        row = connection.execute(
            "SELECT current_user, rolsuper, current_database(), current_setting('data_checksums'),"
            " current_setting('fsync'), inet_server_addr()::text, '[1,2]'::vector <-> '[1,3]'::vector,"
            " datlocprovider::text || datlocale FROM pg_roles, pg_database"
            " WHERE rolname = current_user AND datname = current_database()"
        ).fetchone()
    assert row == ("memorybank", False, "memorybank", "on", "on", "127.0.0.1/32", 1.0, "bC.UTF-8")
    assert (tmp_path / "home" / "postgres.json").stat().st_mode & 0o777 == 0o600
    assert not broken_off.exists()


def test_nobody_else_may_log_in(home: Path, embedded: Embedded) -> None:
    conninfo = embedded(home).ensure()
    assert not answers(make_conninfo(conninfo, user="postgres"))
    assert not answers(make_conninfo(conninfo, password="wrong"))


def test_a_database_made_by_the_owner_has_the_extension(home: Path, embedded: Embedded) -> None:
    conninfo = embedded(home).ensure()
    for template in ("template0", "template1"):
        with psycopg.connect(conninfo, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE from_{template} TEMPLATE {template}")
        with psycopg.connect(make_conninfo(conninfo, dbname=f"from_{template}")) as connection:
            assert connection.execute("SELECT '[1]'::vector::text").fetchone() == ("[1]",)


def test_warm_start_keeps_port_password_and_rows(home: Path, embedded: Embedded) -> None:
    first = embedded(home)
    conninfo = first.ensure()
    commit(conninfo, 2)
    first.stop()
    assert embedded(home).ensure() == conninfo
    assert kept(conninfo) == [1, 2]


def test_stop_really_stops(tmp_path: Path, embedded: Embedded) -> None:
    server = embedded(tmp_path)
    conninfo = server.ensure()
    process = postmaster(tmp_path)
    with psycopg.connect(conninfo):
        server.stop()
    assert not process.lives() and not server.owner and not answers(conninfo)
    assert not (tmp_path / "postgres" / "postmaster.pid").exists()
    server.stop()
    assert server.ensure() == conninfo


def test_stop_is_for_the_owner_only(home: Path, embedded: Embedded) -> None:
    conninfo = embedded(home).ensure()
    guest = embedded(home)
    assert guest.ensure() == conninfo and not guest.owner
    guest.stop()
    assert answers(conninfo)


@pytest.mark.parametrize("sign", [None, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_when_the_owner_ends(home: Path, child: Children, sign: int | None) -> None:
    owner = child(home)
    assert owner.ask("ensure")["owner"]
    process = postmaster(home)
    owner.end(sign)
    assert gone(process)


def test_second_process_shares_the_server(home: Path, embedded: Embedded, child: Children) -> None:
    conninfo = embedded(home).ensure()
    assert child(home).ask("ensure") == {"conninfo": conninfo, "owner": False}


def test_of_processes_that_start_together_one_owns(tmp_path: Path, child: Children) -> None:
    children = [child(tmp_path) for _ in range(3)]
    for one in children:
        one.say("ensure")
    answered = [one.hear() for one in children]
    assert len({answer["conninfo"] for answer in answered}) == 1
    assert sorted(answer["owner"] for answer in answered) == [False, False, True]


def test_another_home_is_another_server(tmp_path: Path, embedded: Embedded) -> None:
    one, other = embedded(tmp_path / "one").ensure(), embedded(tmp_path / "other").ensure()
    assert conninfo_to_dict(one)["port"] != conninfo_to_dict(other)["port"]
    commit(one, 1)
    commit(other, 2)
    assert (kept(one), kept(other)) == ([1], [2])


def test_a_port_taken_meanwhile_is_left_alone(home: Path, embedded: Embedded) -> None:
    server = embedded(home)
    before = server.ensure()
    server.stop()
    with socket.socket() as taker:
        taker.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        taker.bind(("127.0.0.1", int(conninfo_to_dict(before)["port"])))
        taker.listen()
        after = server.ensure()
    assert after != before and server.conninfo() == after and answers(after)


def test_killed_postmaster_comes_back_by_itself(home: Path, embedded: Embedded) -> None:
    server = embedded(home)
    conninfo = server.ensure()
    for number in (2, 3):
        commit(conninfo, number)
        process = postmaster(home)
        os.kill(process.pid, signal.SIGKILL)
        assert replaced(home, process) and server.owner
    assert kept(server.conninfo()) == [1, 2, 3]


def test_killed_postmaster_comes_back_for_a_guest(home: Path, embedded: Embedded, child: Children) -> None:
    assert child(home).ask("ensure")["owner"]
    guest = embedded(home)
    commit(guest.ensure(), 2)
    process = postmaster(home)
    os.kill(process.pid, signal.SIGKILL)
    assert gone(process)
    assert kept(guest.ensure()) == [1, 2]


def test_killed_owner_is_followed_by_the_next_process(
    home: Path, embedded: Embedded, child: Children
) -> None:
    owner, server = child(home), embedded(home)
    owner.ask("ensure")
    with psycopg.connect(server.ensure()) as connection:
        commit(server.conninfo(), 2)
        owner.end(signal.SIGKILL)
        # A connection is open and the state file looks well; yet the server is about to end.
        conninfo = server.ensure()
        assert server.owner and kept(conninfo) == [1, 2]
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")


def test_zombie_postmaster_is_no_hindrance(home: Path, embedded: Embedded, child: Children) -> None:
    owner = child(home)
    commit(owner.ask("ensure")["conninfo"], 2)
    process = postmaster(home)
    # A stopped parent waits for nobody, so the killed server stays a zombie and kill(pid, 0) finds it.
    assert frozen(owner.process)
    os.kill(process.pid, signal.SIGKILL)
    assert zombie(process)
    server = embedded(home)
    assert kept(server.ensure()) == [1, 2] and server.owner
    heir = postmaster(home)
    owner.process.send_signal(signal.SIGCONT)
    assert owner.ask("ensure") == {"conninfo": server.conninfo(), "owner": False}
    assert postmaster(home) == heir


def left_pid(home: Path, pid: int) -> None:
    """Leave the files of a crash, in which the server's id now belongs to another process."""
    (home / "postgres" / "postmaster.pid").write_text(
        f"{pid}\n{home}/postgres\n1\n1\n\n127.0.0.1\n0 0\nready\n"
    )
    state = read_state(home / "postgres.json")
    me = find_process(os.getpid())
    assert state is not None and me is not None
    write_state(home / "postgres.json", module.ServerState(Process(pid, 1), me, state.port, state.password))


def test_stale_files_with_the_id_of_some_process(home: Path, embedded: Embedded) -> None:
    conninfo = EmbeddedServer(home).conninfo()
    left_pid(home, os.getpid())
    assert embedded(home).ensure() == conninfo and kept(conninfo) == [1]


def test_stale_files_with_the_id_of_another_server(home: Path, tmp_path: Path, embedded: Embedded) -> None:
    other = embedded(tmp_path / "other").ensure()
    left_pid(home, postmaster(tmp_path / "other").pid)
    assert kept(embedded(home).ensure()) == [1]
    assert answers(other)


@pytest.mark.parametrize("content", ["", "{}", "not json", '{"server": {"pid": 1}}'])
def test_damaged_state_file_means_a_new_password(home: Path, embedded: Embedded, content: str) -> None:
    before = EmbeddedServer(home).conninfo()
    (home / "postgres.json").write_text(content)
    (home / "postgres" / "postmaster.pid").write_text("")
    after = embedded(home).ensure()
    assert kept(after) == [1]
    assert conninfo_to_dict(after)["password"] != conninfo_to_dict(before)["password"]


def test_state_file_of_another_home_is_made_true(home: Path, embedded: Embedded) -> None:
    state = read_state(home / "postgres.json")
    assert state is not None
    write_state(home / "postgres.json", module.ServerState(state.server, state.owner, free_port(), "foreign"))
    assert kept(embedded(home).ensure()) == [1]


def test_left_lock_file_is_no_lock(tmp_path: Path, embedded: Embedded) -> None:
    (tmp_path / "postgres.lock").write_text("4711\n")
    assert answers(embedded(tmp_path).ensure())


def test_a_lock_held_out_of_sight_is_respected(
    home: Path, embedded: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by a server in another container on the same volume, of which /proc says nothing."""
    monkeypatch.setattr(module, "TAKE_OVER_SECONDS", 0.2)
    with (home / "postgres.lock").open("r+") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        with pytest.raises(DatabaseUnavailable, match="in use"):
            embedded(home).ensure()
    assert answers(embedded(home).ensure())


def test_a_server_that_is_not_ours_is_respected(
    home: Path, embedded: Embedded, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Started by hand over our data: it does not hold our lock, and must not get a rival."""
    monkeypatch.setattr(module, "TAKE_OVER_SECONDS", 0.5)
    pid_file = home / "postgres" / "postmaster.pid"
    with open(os.devnull) as no_lock:
        foreign = Cluster(home).start(no_lock.fileno(), free_port())
    try:
        assert wait_for(lambda: pid_file.exists() and "ready" in pid_file.read_text())
        with pytest.raises(DatabaseUnavailable, match="not ours"):
            embedded(home).ensure()
        assert foreign.poll() is None
    finally:
        foreign.send_signal(signal.SIGINT)
        foreign.wait(20)


def test_a_server_that_cannot_start_says_why(home: Path, embedded: Embedded) -> None:
    (home / "postgres" / "global" / "pg_control").rename(home / "pg_control")
    server = embedded(home)
    with pytest.raises(DatabaseUnavailable, match="pg_control"):
        server.ensure()
    assert not server.owner
    (home / "pg_control").rename(home / "postgres" / "global" / "pg_control")
    assert answers(server.ensure())


@pytest.mark.parametrize("home", ["/proc/memorybank", "/dev/null/memorybank", "/dev/null"])
def test_unusable_home_is_a_clear_error(home: str) -> None:
    with pytest.raises(DatabaseUnavailable, match="MEMORYBANK_HOME"):
        EmbeddedServer(Path(home)).ensure()


def test_data_of_another_user_is_a_clear_error(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 123456)
    with pytest.raises(DatabaseUnavailable, match="belongs to uid"):
        Cluster(home).account()


def test_before_the_first_start_there_is_no_conninfo(tmp_path: Path) -> None:
    with pytest.raises(DatabaseUnavailable, match="no embedded database"):
        EmbeddedServer(tmp_path).conninfo()
