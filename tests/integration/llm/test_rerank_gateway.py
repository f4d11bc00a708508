"""litellm's rerank API against a real endpoint: scores by text, and each failure as one that recall can go on from."""

import asyncio
from collections.abc import AsyncIterator, Iterator

import pytest

from memorybank import errors
from memorybank.llm import litellm_client
from memorybank.llm.reranking import LitellmReranker
from memorybank.testing.scripted_llm import ScriptedLLM

#: Pydantic's remark on a type of litellm's.
pytestmark = pytest.mark.filterwarnings("ignore:Items .* on TypedDict class")
TEXTS = ["Tea is in the kitchen.", "The spare key is with the florist.", "", "A key."]


@pytest.fixture(scope="module")
def endpoint() -> Iterator[ScriptedLLM]:
    with ScriptedLLM() as server:
        yield server


@pytest.fixture
async def server(endpoint: ScriptedLLM) -> AsyncIterator[ScriptedLLM]:
    endpoint.reset()
    yield endpoint
    endpoint.reset()
    await litellm_client.close()


def reranker(server: ScriptedLLM, provider: str = "infinity", seconds: float = 10.0) -> LitellmReranker:
    return LitellmReranker(f"{provider}/scripted", server.base_url, "none", seconds)


@pytest.mark.parametrize("provider", ["infinity", "cohere", "jina_ai", "hosted_vllm"])
async def test_scores_come_in_the_order_of_the_texts(server: ScriptedLLM, provider: str) -> None:
    scores = await reranker(server, provider).scores("spare key?", TEXTS)
    assert scores == pytest.approx([0.0, 1.0, 0.0, 0.5])
    (request,) = server.requests
    assert (request["query"], len(request["documents"]), server.calls) == ("spare key?", 4, 1)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("rate_limited", errors.ModelRateLimited),
        ("server_error", errors.ModelUnavailable),
        ("unauthorized", errors.ModelMisconfigured),
    ],
)
async def test_a_failing_endpoint_is_asked_once(
    server: ScriptedLLM, kind: str, error: type[Exception]
) -> None:
    server.fail(kind, endpoint="rerank", times=None)
    with pytest.raises(error):
        await reranker(server).scores("spare key?", TEXTS)
    assert len(server.requests) == 1


async def test_a_hanging_endpoint_is_given_up(server: ScriptedLLM) -> None:
    server.hold()
    with pytest.raises(errors.ModelUnavailable):
        await asyncio.wait_for(reranker(server, seconds=0.2).scores("spare key?", TEXTS), 10)
    server.release()
