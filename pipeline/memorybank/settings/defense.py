"""Memory defense: the policy by which a bank screens what comes in (wire/hindsight §6.6)."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class DefenseRule(BaseModel):
    """What to do with an item in which the detector `on` finds something; the first matching rule wins."""

    model_config = ConfigDict(frozen=True, strict=True)

    on: str = Field(min_length=1)
    action: Literal["allow", "redact", "block"]


class MemoryDefense(BaseModel):
    """The whole policy; off unless `enabled`."""

    model_config = ConfigDict(frozen=True, strict=True)

    enabled: bool = False
    rules: list[DefenseRule] = []
