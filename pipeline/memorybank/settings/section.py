"""What every table of settings has in common."""

from itertools import pairwise
from typing import Any, ClassVar, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator


class Section(BaseModel):
    """One table: what is not declared in it is refused, and so are infinite numbers.

    `rising` names fields of which none may be larger than the next, `climbing` those that must be smaller.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    rising: ClassVar[tuple[str, ...]] = ()
    climbing: ClassVar[tuple[str, ...]] = ()

    @model_validator(mode="after")
    def _order(self) -> Self:
        for low, high in pairwise(self.rising):
            if getattr(self, low) > getattr(self, high):
                raise ValueError(f"{low} must be at most {high}")
        for low, high in pairwise(self.climbing):
            if getattr(self, low) >= getattr(self, high):
                raise ValueError(f"{low} must be below {high}")
        return self


def _lowered(raw: Any) -> Any:
    return raw.lower() if isinstance(raw, str) else raw


#: For choices: capitals do not matter.
Lowered = BeforeValidator(_lowered)
