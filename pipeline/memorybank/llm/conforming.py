"""Checks an answer against the JSON schema that a caller gave. Pure."""

from collections.abc import Callable, Mapping
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import Unresolvable

from memorybank.errors import ModelMalformed


def _ignored(*_: Any) -> None:
    """Say nothing against a value: a pattern can take longer to match than anybody waits."""


_Validator = validators.extend(
    Draft202012Validator, dict.fromkeys(("pattern", "patternProperties"), _ignored)
)


def conforming(schema: Mapping[str, Any]) -> Callable[[Any], Mapping[str, Any]]:
    """Return a reader that takes an object as the schema has it; it raises ModelMalformed, which quotes no content.

    What a schema refers to outside of itself is not fetched.
    """

    def read(value: Any) -> Mapping[str, Any]:
        if not isinstance(value, dict) or not value:
            raise ModelMalformed("the reply is no JSON object with fields")
        try:
            _Validator.check_schema(schema)
            _Validator(schema, registry=Registry()).validate(value)
        except ValidationError as error:
            place = "/".join(map(str, error.absolute_path)) or "the object"
            raise ModelMalformed(f"{place} does not fit the schema ({error.validator})") from error
        except (SchemaError, Unresolvable) as error:
            raise ModelMalformed("the schema asked for is no JSON schema that can be checked") from error
        return value

    return read
