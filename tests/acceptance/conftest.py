"""One running memorybank for all acceptance tests, and one more whose model is scripted."""

from collections.abc import Callable, Iterator
from uuid import uuid4

import httpx
import pytest
from bank_calls import Bank, Running, running

from memorybank.testing.scripted_llm import ScriptedLLM


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Database, API and worker, as `memorybank up` starts them; without a model."""
    yield from running(tmp_path_factory.mktemp("server"))


@pytest.fixture(scope="session")
def http(server: Running) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=60, trust_env=False) as client:
        yield client


@pytest.fixture
def new_bank(http: httpx.Client) -> Callable[[], Bank]:
    """Make bank ids that nobody has used."""
    return lambda: Bank(http, f"bank-{uuid4()}")


@pytest.fixture
def bank(new_bank: Callable[[], Bank]) -> Bank:
    return new_bank()


@pytest.fixture(scope="session")
def model() -> Iterator[ScriptedLLM]:
    """The model server that `modelled` asks."""
    with ScriptedLLM() as running:
        yield running


@pytest.fixture(scope="session")
def modelled(tmp_path_factory: pytest.TempPathFactory, model: ScriptedLLM) -> Iterator[Running]:
    """A second memorybank, with a model."""
    environment = {
        "MEMORYBANK_LLM__MODEL": "openai/scripted",
        "MEMORYBANK_LLM__BASE_URL": model.base_url,
        "MEMORYBANK_LLM__API_KEY": "none",
        "MEMORYBANK_LLM__BACKOFF_SECONDS": "0.01",
    }
    yield from running(tmp_path_factory.mktemp("modelled"), **environment)


@pytest.fixture
def modelled_bank(modelled: Running, model: ScriptedLLM) -> Iterator[Bank]:
    """A fresh bank of the server with a model; the model has forgotten what it was told before."""
    model.reset()
    with httpx.Client(base_url=modelled.url, timeout=60, trust_env=False) as client:
        yield Bank(client, f"bank-{uuid4()}")
