"""Entity labels: the controlled vocabulary that a bank may set in `entity_labels`.

On the wire a list of groups, or {"attributes": [groups]}.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

LabelType = Literal["value", "multi-values", "text", "multi-text", "map"]


def _as_value(raw: Any) -> Any:
    """Take a bare string for a value without description."""
    return {"value": raw} if isinstance(raw, str) else raw


class LabelValue(BaseModel):
    """One allowed value of an enum group."""

    model_config = ConfigDict(frozen=True)

    value: str = Field(min_length=1)
    description: str = ""


Values = tuple[Annotated[LabelValue, BeforeValidator(_as_value)], ...]


class MapField(BaseModel):
    """One named field of a `map` group; maps nest."""

    model_config = ConfigDict(frozen=True)

    description: str = ""
    type: LabelType = "text"
    values: Values = ()
    fields: dict[str, "MapField"] = {}


class LabelGroup(BaseModel):
    """One dimension of classification; each label found becomes the entity `key:value`."""

    model_config = ConfigDict(frozen=True)

    key: str = Field(min_length=1)
    description: str = ""
    type: LabelType = "value"
    values: Values = ()
    optional: bool = True
    tag: bool = False
    fields: dict[str, MapField] = {}


def _modern(group: Any) -> Any:
    """Map the legacy switches `free_values` and `multi_value` to a `type`, where none is given."""
    if not isinstance(group, Mapping) or "type" in group:
        return group
    free, many = group.get("free_values") is True, group.get("multi_value") is True
    kinds = {(True, True): "multi-text", (True, False): "text", (False, True): "multi-values"}
    return {**group, "type": kinds.get((free, many), "value")}


def normalised(raw: Any) -> Any:
    """Return the plain list of groups of any accepted form; a repeated key raises ValueError."""
    groups = raw["attributes"] if isinstance(raw, Mapping) and "attributes" in raw else raw
    if not isinstance(groups, list | tuple):
        return groups
    modern = [_modern(group) for group in groups]
    keys = [str(group["key"]).casefold() for group in modern if isinstance(group, Mapping) and "key" in group]
    repeated = sorted({key for key in keys if keys.count(key) > 1})
    if repeated:
        raise ValueError(f"the same key twice: {repeated}")
    return modern


Labels = Annotated[tuple[LabelGroup, ...], BeforeValidator(normalised)]
