"""The scripted model behind HTTP, one for each module, as new for each test."""

from collections.abc import AsyncIterator, Iterator

import pytest

from memorybank.llm import litellm_client
from memorybank.testing.scripted_llm import ScriptedLLM


@pytest.fixture(scope="module")
def scripted() -> Iterator[ScriptedLLM]:
    with ScriptedLLM() as server:
        yield server


@pytest.fixture
async def endpoint(scripted: ScriptedLLM) -> AsyncIterator[ScriptedLLM]:
    scripted.reset()
    # Loaded here, so that no limit of time meets it.
    await litellm_client.import_library()
    yield scripted
    scripted.reset()
    await litellm_client.close()
