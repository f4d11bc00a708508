"""On what and with what a figure was measured."""

import os
import platform
import subprocess
from pathlib import Path
from typing import Any

import memorybank
from memorybank import clock

#: The checkout this harness runs from.
CHECKOUT = Path(__file__).resolve().parents[2]
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "URL")


def describe() -> dict[str, Any]:
    """Return date, version, commit and machine, and the memorybank variables that are set (names of secrets only)."""
    return {
        "date": clock.now().isoformat(timespec="seconds"),
        "version": memorybank.__version__,
        "commit": commit(),
        "machine": {
            "cpus": len(os.sched_getaffinity(0)),
            "cpu": _cpu_name(),
            "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1),
            "load_1_minute": round(os.getloadavg()[0], 2),
            "system": platform.system(),
            "python": platform.python_version(),
        },
        "environment": {
            name: "(set)" if any(part in name for part in _SECRET) else value
            for name, value in sorted(os.environ.items())
            if name.startswith(("MEMORYBANK_", "HINDSIGHT_API_")) and name != "MEMORYBANK_HOME"
        },
    }


def commit() -> str | None:
    """Return the checkout's short commit, with `+` where it has changes, or None outside git."""
    try:
        done = subprocess.run(
            ["git", "-C", str(CHECKOUT), "describe", "--always", "--dirty=+"],
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def _cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()
