"""What every table of settings has in common."""

from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict


class Section(BaseModel):
    """One table: what is not declared in it is refused, and so are infinite numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


def _lowered(raw: Any) -> Any:
    return raw.lower() if isinstance(raw, str) else raw


#: For choices: capitals do not matter.
Lowered = BeforeValidator(_lowered)
