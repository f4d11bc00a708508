"""litellm's rerank API against a real endpoint: scores by text, and each failure as one that recall can go on from."""

import asyncio

import pytest

from memorybank import errors
from memorybank.llm.reranking import LitellmReranker
from memorybank.testing.scripted_llm import ScriptedLLM

#: Pydantic's remark on a type of litellm's.
pytestmark = pytest.mark.filterwarnings("ignore:Items .* on TypedDict class")
TEXTS = ["Tea is in the kitchen.", "The spare key is with the florist.", "", "A key."]


def reranker(endpoint: ScriptedLLM, provider: str = "infinity", seconds: float = 10.0) -> LitellmReranker:
    return LitellmReranker(f"{provider}/scripted", endpoint.base_url, "none", seconds)


@pytest.mark.parametrize("provider", ["infinity", "cohere", "jina_ai", "hosted_vllm"])
async def test_scores_come_in_the_order_of_the_texts(endpoint: ScriptedLLM, provider: str) -> None:
    scores = await reranker(endpoint, provider).scores("spare key?", TEXTS)
    assert scores == pytest.approx([0.0, 1.0, 0.0, 0.5])
    (request,) = endpoint.requests
    assert (request["query"], len(request["documents"]), endpoint.calls) == ("spare key?", 4, 1)


@pytest.mark.parametrize(
    ("kind", "error"),
    [
        ("rate_limited", errors.ModelRateLimited),
        ("server_error", errors.ModelUnavailable),
        ("unauthorized", errors.ModelMisconfigured),
    ],
)
async def test_a_failing_endpoint_is_asked_once(
    endpoint: ScriptedLLM, kind: str, error: type[Exception]
) -> None:
    endpoint.fail(kind, endpoint="rerank", times=None)
    with pytest.raises(error):
        await reranker(endpoint).scores("spare key?", TEXTS)
    assert len(endpoint.requests) == 1


async def test_a_hanging_endpoint_is_given_up(endpoint: ScriptedLLM) -> None:
    endpoint.hold()
    with pytest.raises(errors.ModelUnavailable):
        await asyncio.wait_for(reranker(endpoint, seconds=0.2).scores("spare key?", TEXTS), 10)
    endpoint.release()
