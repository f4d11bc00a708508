"""The built-in model reports to nobody: its runtime would keep an id and a store of events, and send them."""

import os
import subprocess
import sys
from pathlib import Path

SCRIPT = """
import os
from memorybank.llm.embedding import OnnxMiniLM
assert OnnxMiniLM().encode(["Ana keeps bees."]).shape == (1, 384)
assert os.environ["ORT_DISABLE_TELEMETRY"] == "1"
"""


def test_the_runtime_leaves_nothing_in_the_home(tmp_path: Path) -> None:
    environ = {
        name: value for name, value in os.environ.items() if name not in ("CI", "ORT_DISABLE_TELEMETRY")
    }
    environ |= {"HOME": str(tmp_path), "XDG_CACHE_HOME": "", "XDG_DATA_HOME": ""}
    subprocess.run([sys.executable, "-c", SCRIPT], env=environ, check=True)
    assert list(tmp_path.iterdir()) == []
