"""What /proc says, read from texts of known content and from this process itself."""

import os
import subprocess
import sys
import time

import pytest

from memorybank_eval import processes
from memorybank_eval.processes import API, POSTGRES, WORKER


def test_stat_of_a_command_with_brackets() -> None:
    text = "42 (postgres: io) wo) S 7 42 42 0 -1 4194560 100 0 0 0 150 50 25 25 20 0 1 0 999 0 0"
    stat = processes.parse_stat(text)
    assert stat.parent == 7
    assert stat.cpu_seconds == pytest.approx(250 / processes.TICKS)


def test_memory_is_in_megabytes() -> None:
    text = "5581 [rollup]\nRss:   2000 kB\nPss:   1000 kB\nPss_Dirty:   1 kB\n"
    assert processes.parse_smaps_rollup(text) == processes.Memory(2.048, 1.024)


@pytest.mark.parametrize(
    ("command", "inherited", "role"),
    [
        ("/usr/lib/postgres\0-D\0/data", API, POSTGRES),
        ("postgres: checkpointer \0", API, POSTGRES),
        ("/venv/bin/python\0-m\0memorybank_workers\0", API, WORKER),
        ("/venv/bin/python\0-c\0x", WORKER, WORKER),
        ("", POSTGRES, POSTGRES),
    ],
)
def test_roles_are_told_by_the_command_line(command: str, inherited: str, role: str) -> None:
    assert processes.role_of(command, inherited) == role


def test_a_meter_counts_children_and_their_kind() -> None:
    busy = "import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\nprint(1, flush=True)"
    command = [sys.executable, "-c", f"{busy}\ninput()", "memorybank_workers"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdin and child.stdout
        meter = processes.Meter(os.getpid())
        child.stdout.readline()
        used = meter.stop()
        roles = processes.tree(os.getpid())
        memory = processes.memory(os.getpid())
        child.stdin.close()
    assert roles[os.getpid()] == API
    assert roles[child.pid] == WORKER
    assert used.cpu_seconds[WORKER] >= 0.1
    # A server that other tests started may idle below this process.
    assert used.cpu_seconds[POSTGRES] < 0.05
    assert used.cpu_total >= used.cpu_seconds[WORKER]
    assert memory[WORKER].rss_mb >= memory[WORKER].pss_mb > 1


def test_the_machine_is_never_less_busy_than_before() -> None:
    before = processes.machine_busy_seconds()
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    assert processes.machine_busy_seconds() >= before
