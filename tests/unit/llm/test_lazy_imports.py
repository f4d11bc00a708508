"""The heavy libraries wait until they are needed."""

import pkgutil
import subprocess
import sys

import memorybank.llm

HEAVY = ("litellm", "openai", "onnxruntime", "tokenizers")


def test_importing_the_room_imports_no_heavy_library() -> None:
    modules = [found.name for found in pkgutil.walk_packages(memorybank.llm.__path__, "memorybank.llm.")]
    assert "memorybank.llm.litellm_client" in modules and "memorybank.llm.embedding" in modules
    code = (
        f"import importlib, sys\nfor name in {modules}: importlib.import_module(name)\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
