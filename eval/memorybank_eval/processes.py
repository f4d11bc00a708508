"""CPU time and memory of a server's processes, read from /proc (Linux)."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
#: Kernel ticks in a second: the unit of CPU times in /proc.
TICKS = os.sysconf("SC_CLK_TCK")
API, WORKER, POSTGRES = "api", "worker", "postgres"
ROLES = (API, WORKER, POSTGRES)
#: Fields of /proc/PID/stat after the command's closing bracket: parent, then own and reaped children's CPU ticks.
_PARENT, _CPU = 1, slice(11, 15)


@dataclass(frozen=True)
class Stat:
    """Parent, and CPU seconds of the process with those of its children that have ended and were waited for."""

    parent: int
    cpu_seconds: float


@dataclass(frozen=True)
class Memory:
    """Megabytes (10^6 bytes): resident, and resident with shared pages divided among their users."""

    rss_mb: float
    pss_mb: float


def parse_stat(text: str) -> Stat:
    """Read one /proc/PID/stat; the command in it may hold spaces and brackets."""
    fields = text.rpartition(")")[2].split()
    return Stat(int(fields[_PARENT]), sum(map(int, fields[_CPU])) / TICKS)


def parse_smaps_rollup(text: str) -> Memory:
    """Read one /proc/PID/smaps_rollup."""
    kilobytes = {
        name: int(rest.split()[0])
        for name, _, rest in (line.partition(":") for line in text.splitlines())
        if name in ("Rss", "Pss")
    }
    return Memory(kilobytes["Rss"] * 1024 / 1e6, kilobytes["Pss"] * 1024 / 1e6)


def role_of(command: str, inherited: str) -> str:
    """Return what a process is for, by its command line (NUL-separated); else what its parent is for."""
    program = command.split("\0")[0].split(":")[0]
    if Path(program).name == "postgres":
        return POSTGRES
    return WORKER if "memorybank_workers" in command else inherited


def tree(root: int) -> dict[int, str]:
    """Return the processes below and with `root`, each with its role; `root` itself is the API or a database."""
    stats = dict(_stats())
    roles = {root: role_of((PROC / str(root) / "cmdline").read_text(), API)}
    waiting = [root]
    while waiting:
        parent = waiting.pop()
        for pid in (pid for pid, stat in stats.items() if stat.parent == parent):
            with suppress(OSError):
                roles[pid] = role_of((PROC / str(pid) / "cmdline").read_text(), roles[parent])
                waiting.append(pid)
    return roles


def cpu_seconds(*roots: int) -> dict[str, float]:
    """Return the CPU seconds each role has used so far."""
    stats = dict(_stats())
    each = [_by_role(root, lambda pid: stats[pid].cpu_seconds if pid in stats else 0.0) for root in roots]
    return {role: sum(one[role] for one in each) for role in ROLES}


def threads(pid: int) -> dict[int, float]:
    """Return the CPU seconds of each thread of a process; the thread with the process's own number is the main one."""
    used = {}
    for task in (PROC / str(pid) / "task").iterdir():
        with suppress(OSError):
            used[int(task.name)] = int((task / "schedstat").read_text().split()[0]) / 1e9
    return used


def memory(root: int) -> dict[str, Memory]:
    """Return the memory of each role, its processes summed (RSS then counts what they share several times)."""
    read = {}
    for pid in tree(root):
        with suppress(OSError, KeyError):
            read[pid] = parse_smaps_rollup((PROC / str(pid) / "smaps_rollup").read_text())
    rss = _by_role(root, lambda pid: read[pid].rss_mb if pid in read else 0.0)
    pss = _by_role(root, lambda pid: read[pid].pss_mb if pid in read else 0.0)
    return {role: Memory(rss[role], pss[role]) for role in ROLES}


def _by_role(root: int, value: Callable[[int], float]) -> dict[str, float]:
    total = dict.fromkeys(ROLES, 0.0)
    for pid, role in tree(root).items():
        total[role] += value(pid)
    return total


def _stats() -> Iterator[tuple[int, Stat]]:
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            with suppress(OSError):
                yield int(entry.name), parse_stat((entry / "stat").read_text())


def machine_busy_seconds() -> float:
    """Return the CPU seconds that all processes of the machine have used since boot."""
    user, nice, system, _, _, *others = map(int, (PROC / "stat").read_text().splitlines()[0].split()[1:])
    return (user + nice + system + sum(others[:3])) / TICKS


@dataclass(frozen=True)
class Used:
    """What ran between start and stop: wall seconds, CPU seconds by role, and those of everything else around."""

    wall_seconds: float
    cpu_seconds: dict[str, float]
    other_cpu_seconds: float

    @property
    def cpu_total(self) -> float:
        """CPU seconds of API, workers and PostgreSQL together."""
        return sum(self.cpu_seconds.values())


class Meter:
    """Measures the servers with these root processes between its making and `stop()`."""

    def __init__(self, *roots: int) -> None:
        self._roots = roots
        self._cpu = cpu_seconds(*roots)
        self._own = time.process_time()
        self._busy = machine_busy_seconds()
        self._began = time.perf_counter()

    def stop(self) -> Used:
        """Return what was used since this meter was made; this process, which asks, is not among the others."""
        wall = time.perf_counter() - self._began
        now = cpu_seconds(*self._roots)
        spent = {role: now[role] - self._cpu[role] for role in ROLES}
        known = sum(spent.values()) + time.process_time() - self._own
        return Used(wall, spent, max(0.0, machine_busy_seconds() - self._busy - known))
