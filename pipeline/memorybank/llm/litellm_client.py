"""The gateway to every provider: the only file that knows litellm.

litellm takes seconds and 190 MB to import, so that happens on the first call and nowhere else.
"""

import asyncio
import functools
import importlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from memorybank.errors import ModelFormatUnsupported, ModelMalformed, ModelUnavailable
from memorybank.llm.client import AnswerFormat, ChatReply, ChatRequest, ModelProfile, ToolCall
from memorybank.llm.provider_errors import typed
from memorybank.llm.structured import asked_for
from memorybank.model import TokenUsage
from memorybank.settings import LlmSettings, Stage

#: Seconds by which our time limit lies behind that of the provider's client, which can name the cause.
GRACE = 1.0


@functools.cache
def library() -> Any:
    """Return litellm, imported and quieted on the first call: it goes to no network and says nothing."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    # Embedding calls read `max_retries=0` as "unset": retries are ours, so that each is counted.
    litellm.DEFAULT_MAX_RETRIES = 0
    # aiohttp sessions outlive the event loop that made them; httpx clients do not mind.
    litellm.disable_aiohttp_transport = True
    return litellm


async def import_library() -> Any:
    """Return litellm; a first import does not stop the event loop."""
    return library() if library.cache_info().currsize else await asyncio.to_thread(library)


async def close() -> None:
    """Close the connections that litellm keeps, if it was ever used."""
    if library.cache_info().currsize:
        await library().close_litellm_async_clients()
        # Else a later call would be given a closed one.
        library().in_memory_llm_clients_cache.flush_cache()


@dataclass
class LitellmModel:
    """The configured models, one for each stage, behind one seam.

    Keep one for as long as the settings are the same: it holds the limits of concurrency and what was learned
    about the models.
    """

    stages: Mapping[Stage, LlmSettings]
    _profiles: dict[tuple[str, str], ModelProfile] = field(default_factory=dict, repr=False)
    _slots: dict[Stage, asyncio.Semaphore] = field(default_factory=dict, repr=False)

    def profile(self, stage: Stage) -> ModelProfile:
        """Return what is known about the stage's model; stages with the same model and address share it."""
        model = self.stages[stage]
        key = (model.model, model.base_url)
        return self._profiles.setdefault(key, ModelProfile(model.model))

    async def complete(self, request: ChatRequest) -> ChatReply:
        """Ask once; see `LanguageModel.complete`."""
        model = self.stages[request.stage]
        litellm = await import_library()
        request = self._expressible(litellm, request)
        slot = self._slots.setdefault(request.stage, asyncio.Semaphore(model.max_concurrent))
        async with slot:
            return reply(await call("acompletion", arguments(model, request), request), model.model)

    def _expressible(self, litellm: Any, request: ChatRequest) -> ChatRequest:
        """Ask in words where the provider has no `response_format`: litellm would drop it without a sound.

        Tools too. Raises ModelFormatUnsupported where it takes no tools.
        """
        profile = self.profile(request.stage)
        asks_json = request.schema is not None and request.answer_format < AnswerFormat.PROMPT
        if not asks_json and not request.tools:
            return request
        known = litellm.get_supported_openai_params(profile.model) or ()
        if request.tools and "tools" not in known:
            raise ModelFormatUnsupported("the provider takes no tools")
        if not asks_json or "response_format" in known:
            return request
        profile.answer_format = AnswerFormat.PROMPT
        return replace(request, answer_format=AnswerFormat.PROMPT)


async def call(function: str, asked: Mapping[str, Any], request: ChatRequest | None = None) -> Any:
    """Return what a function of litellm answers to `asked`, without what is None; raises a ModelError.

    `asked` names the `timeout`, to which it is held, whatever the provider's client does with it. Retries are ours, so
    that client makes none.
    """
    litellm = await import_library()
    given = {name: value for name, value in asked.items() if value is not None}
    try:
        async with asyncio.timeout(asked["timeout"] + GRACE):
            return await getattr(litellm, function)(**given, num_retries=0, max_retries=0)
    except TimeoutError as error:
        raise ModelUnavailable(f"the model did not answer within {asked['timeout']:g} s") from error
    except _raised(litellm) as error:
        raise typed(error, litellm.exceptions, request) from error


def _raised(litellm: Any) -> tuple[type[Exception], ...]:
    """Return what comes out of litellm: the providers' errors, its own, those of replies it cannot read."""
    own = litellm.exceptions
    return (
        own.openai.OpenAIError,
        own.BudgetExceededError,
        ValueError,
        LookupError,
        AttributeError,
        TypeError,
    )


def arguments(model: LlmSettings, request: ChatRequest) -> dict[str, Any]:
    """Return the arguments of one completion."""
    system, response_format = asked_for(request)
    return {
        "model": model.model,
        "messages": [
            {"role": "system", "content": system},
            {"role": "user", "content": request.user},
            *request.messages,
        ],
        "base_url": model.base_url or None,
        "api_key": model.api_key or None,
        "timeout": model.timeout_seconds,
        "temperature": model.temperature,
        "max_tokens": request.max_output_tokens,
        "response_format": response_format,
        "tools": list(request.tools) or None,
        "tool_choice": request.tool_choice,
        "extra_body": model.extra_body or None,
        # A model that knows no temperature is asked without. `_expressible` sees to the response_format.
        "drop_params": True,
    }


def reply(answer: Any, model: str) -> ChatReply:
    """Return litellm's answer in our terms. Raises ModelMalformed when it holds no message at all."""
    if not getattr(answer, "choices", None):
        raise ModelMalformed("the provider answered without a choice")
    choice = answer.choices[0]
    message = choice.message
    extra = getattr(message, "provider_specific_fields", None) or {}
    return ChatReply(
        content=message.content or "",
        reasoning=getattr(message, "reasoning_content", None) or "",
        finish_reason=choice.finish_reason or "",
        usage=usage(answer),
        model=model,
        refusal=getattr(message, "refusal", None) or extra.get("refusal") or "",
        tool_calls=tuple(
            ToolCall(call.id, call.function.name or "", call.function.arguments or "")
            for call in message.tool_calls or ()
        ),
    )


def usage(answer: Any) -> TokenUsage:
    """Return what an answer of litellm cost; zeros where the provider did not say."""
    said = getattr(answer, "usage", None)
    prompt, completion = (
        getattr(said, name, None) for name in ("prompt_tokens_details", "completion_tokens_details")
    )
    hidden = getattr(answer, "_hidden_params", None) or {}
    return TokenUsage(
        input_tokens=getattr(said, "prompt_tokens", None) or 0,
        output_tokens=getattr(said, "completion_tokens", None) or 0,
        cached_tokens=getattr(prompt, "cached_tokens", None) or 0,
        thoughts_tokens=getattr(completion, "reasoning_tokens", None) or 0,
        cost=float(hidden.get("response_cost") or 0.0),
    )
