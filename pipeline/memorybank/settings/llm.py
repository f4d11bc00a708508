"""Which language model to call and how: `[llm]` for all stages, `[<stage>.llm]` for one."""

from typing import Any, Literal

from pydantic import Field

from memorybank.settings.section import Section

Stage = Literal["retain", "reflect", "consolidation"]

STAGES: tuple[Stage, ...] = ("retain", "reflect", "consolidation")


class LlmSettings(Section):
    """The model of a stage, resolved; `model` in litellm's form, provider/name, empty = extractive engine."""

    rising = ("backoff_seconds", "backoff_cap_seconds")

    model: str
    base_url: str
    api_key: str = Field(repr=False)
    timeout_seconds: float = Field(gt=0)
    temperature: float | None = Field(None, ge=0, le=2)
    max_concurrent: int = Field(ge=1)
    max_output_tokens: int | None = Field(None, ge=1)
    backoff_seconds: float = Field(gt=0)
    backoff_cap_seconds: float = Field(gt=0)
    extra_body: dict[str, Any]

    @property
    def extractive(self) -> bool:
        """Whether no model is set, so that the built-in extractive engine does the work."""
        return not self.model


class StageLlm(Section):
    """What one stage sets otherwise than `[llm]`; unset = as there."""

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = Field(None, repr=False)
    timeout_seconds: float | None = Field(None, gt=0)
    temperature: float | None = Field(None, ge=0, le=2)
    max_concurrent: int | None = Field(None, ge=1)
    max_output_tokens: int | None = Field(None, ge=1)
    backoff_seconds: float | None = Field(None, gt=0)
    backoff_cap_seconds: float | None = Field(None, gt=0)
    extra_body: dict[str, Any] | None = None


def provider(model: str) -> str:
    """Return the provider part of a model name, "" where it has none."""
    head, slash, _ = model.partition("/")
    return head if slash else ""


def over(general: LlmSettings, own: StageLlm) -> LlmSettings:
    """Lay a stage's own settings over the general ones.

    A stage with a model of another provider takes neither address, key nor extra body from `[llm]`: a key
    must not be sent to somebody else.
    """
    if own.model and provider(own.model) != provider(general.model):
        general = general.model_copy(update={"base_url": "", "api_key": "", "extra_body": {}})
    return general.model_copy(update=own.model_dump(exclude_none=True))
