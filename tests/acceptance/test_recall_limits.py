"""Recall at its limits over HTTP: too slow as a whole, and a reranker that cannot be used."""

from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from processes import Installation


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Installation]:
    made = Installation(tmp_path)
    yield made
    made.end()


def test_a_recall_over_its_limit_is_504_and_the_server_goes_on(home: Installation) -> None:
    limits = {
        "MEMORYBANK_RECALL__TIMEOUT_SECONDS": "0.001",
        "MEMORYBANK_RECALL__ARM_TIMEOUT_SECONDS": "0.0005",
    }
    url = home.up(**limits).url()
    for _ in range(3):
        answer = httpx.post(
            f"{url}/v1/default/banks/b/memories/recall", json={"query": "key"}, trust_env=False
        )
        assert (answer.status_code, answer.json()["detail"]) == (
            504,
            "the recall took more than 0.001 seconds",
        )
    assert httpx.get(f"{url}/health", trust_env=False).status_code == 200


def test_a_reranker_that_is_no_model_is_said_at_once(home: Installation, tmp_path: Path) -> None:
    provider = {"MEMORYBANK_RERANKER__PROVIDER": "local"}
    unnamed = home.run("up", **provider)
    assert unnamed.returncode and "reranker.model must be set" in unnamed.stderr
    missing = home.run("up", "--port", "0", MEMORYBANK_RERANKER__MODEL=str(tmp_path), **provider)
    assert missing.returncode and "model.onnx" in missing.stderr and "Traceback" not in missing.stderr
