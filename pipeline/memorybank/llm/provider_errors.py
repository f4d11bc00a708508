"""What a provider's error means for us: by what can be done about it. Pure."""

import re
from typing import Any

from memorybank import errors
from memorybank.llm.client import AnswerFormat, ChatRequest
from memorybank.llm.retry import OverLong

#: Words by which endpoints refuse a response format or a schema: they agree on no error code.
_FORMAT = re.compile(
    r"response[_ ]?format|json[_ ]?schema|json[_ ]?object|structured[_ ]?output|guided|grammar"
    r"|additionalProperties|unsupported schema|invalid schema|schema",
    re.IGNORECASE,
)
_TOOLS = re.compile(r"\btools?\b|tool[_ ](?:choice|call|use)|function[_ -]?call", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context (?:length|window)|maximum.{0,20}tokens|too (?:long|many tokens)"
    r"|exceeds?.{0,30}(?:tokens|length)",
    re.IGNORECASE,
)
_POLICY = re.compile(r"content[_ ]?(?:policy|filter|management)|safety|moderation", re.IGNORECASE)
#: Characters of a provider's own words that go into a message.
_DETAIL = 200
#: A detail that repeats this many characters of the request quotes content, and is withheld.
_QUOTE = 24
_MILLISECONDS = 1000.0


def typed(error: Exception, known: Any, request: ChatRequest | None = None) -> errors.ModelError:
    """Return our error for one that litellm raised; `known` is the module `litellm.exceptions`.

    Messages name kind and status, the provider's words only where a person must act on them, never content.
    """
    status = getattr(error, "status_code", None)
    match error:
        case known.RateLimitError():
            return errors.ModelRateLimited(
                "the provider asks to wait (HTTP 429)", retry_after=retry_after(error)
            )
        case known.ContentPolicyViolationError() | known.GuardrailRaisedException():
            return errors.ModelRefused("the provider's policy refused the content")
        case known.ContextWindowExceededError():
            return OverLong("the input is longer than the model takes")
        case known.APIResponseValidationError():
            return errors.ModelMalformed("the provider's answer is not what its API promises")
        case known.BadRequestError() | known.UnprocessableEntityError():
            return _refused_request(error, request)
        case _ if isinstance(error, _to_mend(known)):
            return errors.ModelMisconfigured(
                _acting(f"the provider refused the call (HTTP {status})", error, request)
            )
        case known.openai.OpenAIError():
            return errors.ModelUnavailable(
                f"the provider did not answer: {type(error).__name__} (HTTP {status})"
            )
        case _:
            return errors.ModelMalformed(f"the provider's answer cannot be read: {type(error).__name__}")


def _to_mend(known: Any) -> tuple[type[Exception], ...]:
    """Return the errors that only a person can mend: key, name of the model, money."""
    return (
        known.AuthenticationError,
        known.PermissionDeniedError,
        known.NotFoundError,
        known.PaymentRequiredError,
        known.BudgetExceededError,
    )


def _refused_request(error: Exception, request: ChatRequest | None) -> errors.ModelError:
    """Tell the kinds of HTTP 400 apart by their words."""
    said = str(error)
    if request and request.schema and request.answer_format < AnswerFormat.PROMPT and _FORMAT.search(said):
        return errors.ModelFormatUnsupported(
            f"the endpoint does not take the answer format {request.answer_format.name.lower()}"
        )
    if request and request.tools and _TOOLS.search(said):
        return errors.ModelFormatUnsupported("the endpoint takes no tools")
    if _TOO_LONG.search(said):
        return OverLong("the input is longer than the model takes")
    if _POLICY.search(said):
        return errors.ModelRefused("the provider's policy refused the content")
    return errors.ModelMisconfigured(_acting("the provider refused the request (HTTP 400)", error, request))


def _acting(what: str, error: Exception, request: ChatRequest | None) -> str:
    """Return a message with the provider's own words, unless they quote the request."""
    detail = " ".join(str(error).split())[:_DETAIL]
    return what if request is not None and quotes(detail, request) else f"{what}: {detail}"


def quotes(detail: str, request: ChatRequest) -> bool:
    """Say whether the detail repeats a piece of what was asked."""
    asked = " ".join(
        " ".join([request.user, *(str(turn.get("content")) for turn in request.messages)]).split()
    )
    pieces = (detail[start : start + _QUOTE] for start in range(0, max(1, len(detail) - _QUOTE + 1)))
    return any(len(piece) == _QUOTE and piece in asked for piece in pieces)


def retry_after(error: Exception) -> float | None:
    """Return the seconds that the provider asks to wait, None where it does not say.

    Reads `retry-after-ms` and `retry-after` in seconds; a date there is rare and counts as unsaid.
    """
    response = getattr(error, "response", None)
    headers = dict(getattr(response, "headers", None) or {}) | dict(
        getattr(error, "litellm_response_headers", None) or {}
    )
    named = {str(name).lower(): value for name, value in headers.items()}
    for name, unit in (("retry-after-ms", _MILLISECONDS), ("retry-after", 1.0)):
        try:
            return max(0.0, float(named[name]) / unit)
        except (KeyError, ValueError):
            continue
    return None
