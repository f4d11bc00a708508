"""What is known about the embedded server: the state file, postmaster.pid, and /proc on a process."""

import json
import os
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path

#: Fields of /proc/<pid>/stat after the command's closing parenthesis: state, and start time in clock ticks
#: since boot.
_STATE, _STARTED = 0, 19
#: Lines of postmaster.pid (PostgreSQL 10 and newer): the process and its status.
_PID_LINE, _STATUS_LINE = 0, 7


@dataclass(frozen=True)
class Process:
    """One process; `started` (clock ticks since boot) tells it from a later one with the same id."""

    pid: int
    started: int

    def lives(self) -> bool:
        """Whether this very process runs; a zombie does not."""
        return find_process(self.pid) == self


@dataclass(frozen=True)
class ServerState:
    """The state file: which server runs, who owns it, and how to log in."""

    server: Process
    owner: Process
    port: int
    password: str


@dataclass(frozen=True)
class Postmaster:
    """postmaster.pid, as PostgreSQL writes it; `status` is starting, ready, stopping or standby."""

    pid: int
    status: str


def find_process(pid: int) -> Process | None:
    """Return the process with this id, or None where there is none or only a zombie."""
    try:
        # The command may hold spaces and parentheses; the fields follow its last one.
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[_STATE] in "ZX" else Process(pid, int(fields[_STARTED]))


def serves(pid: int, data: Path) -> bool:
    """Whether a live process with this id is a postmaster over `data`; in doubt (no -D to be seen) it is."""
    if find_process(pid) is None:
        return False
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")
    except OSError:
        return False
    if Path(arguments[0]).name not in ("postgres", "postmaster"):
        return False
    folders = [after for option, after in pairwise(arguments) if option == "-D"]
    return not folders or any(os.path.realpath(folder) == os.path.realpath(data) for folder in folders)


def read_postmaster(data: Path) -> Postmaster | None:
    """Return what postmaster.pid says, or None where it is missing or half written."""
    try:
        lines = (data / "postmaster.pid").read_text(errors="replace").splitlines()
        return Postmaster(
            int(lines[_PID_LINE]), lines[_STATUS_LINE].strip() if len(lines) > _STATUS_LINE else ""
        )
    except (OSError, ValueError, IndexError):
        return None


def read_state(path: Path) -> ServerState | None:
    """Return the state file, or None where it is missing or damaged (the next start sets a new password)."""
    try:
        found = json.loads(path.read_text())
        processes = {name: Process(**found[name]) for name in ("server", "owner")}
        return ServerState(**found | processes)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_state(path: Path, state: ServerState) -> None:
    """Replace the state file in one step, readable by its owner only."""
    fresh = path.with_name(f"{path.name}.{os.getpid()}")
    fresh.unlink(missing_ok=True)
    with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        json.dump(asdict(state), file)
        share_with_owner(file.fileno(), path.parent)
    fresh.replace(path)


def share_with_owner(file: int, home: Path) -> None:
    """Give a file that root made to the owner of the home, who may run memorybank next."""
    if os.geteuid() == 0:
        owner = home.stat()
        os.fchown(file, owner.st_uid, owner.st_gid)
