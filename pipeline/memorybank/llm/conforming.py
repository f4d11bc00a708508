"""Checks an answer against the JSON schema that a caller gave. Pure."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import SchemaError, ValidationError
from referencing import Registry
from referencing.exceptions import CannotDetermineSpecification, Unresolvable
from referencing.jsonschema import DRAFT202012

from memorybank.errors import InvalidInput, ModelMalformed

#: Longest schema that a caller may give, in characters of JSON: it stands in the prompt as it is.
MAX_SCHEMA_CHARS = 32_000


def _ignored(*_: Any) -> None:
    """Say nothing against a value: a pattern can take longer to match than anybody waits."""


_Validator = validators.extend(
    Draft202012Validator, dict.fromkeys(("pattern", "patternProperties"), _ignored)
)


def check_schema(schema: Mapping[str, Any], place: tuple[str, ...]) -> None:
    """Raise InvalidInput, naming the place, for what is no JSON schema of an object with properties, or too long.

    Also for one that refers to what is not inside of it.
    """
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, Mapping) or not properties:
        raise InvalidInput("must be an object schema with properties", loc=place, value=schema)
    if len(json.dumps(schema, default=str)) > MAX_SCHEMA_CHARS:
        raise InvalidInput(f"it has more than {MAX_SCHEMA_CHARS} characters", loc=place)
    try:
        _Validator.check_schema(schema)
        resolver = Registry().resolver_with_root(DRAFT202012.create_resource(dict(schema)))
        for reference in _references(schema):
            resolver.lookup(reference)
    except SchemaError as error:
        where = "/".join(map(str, error.absolute_path)) or "its root"
        raise InvalidInput(
            f"it is no JSON schema: {where} is wrong ({error.validator})", loc=place
        ) from error
    except (Unresolvable, CannotDetermineSpecification, RecursionError) as error:
        raise InvalidInput("it refers to a schema that is not inside of it", loc=place) from error


def _references(value: Any) -> Iterator[str]:
    """Yield what a schema refers to."""
    if isinstance(value, Mapping):
        if isinstance(reference := value.get("$ref"), str):
            yield reference
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _references(inner)


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
        except (SchemaError, Unresolvable, RecursionError) as error:
            raise ModelMalformed("the schema asked for is no JSON schema that can be checked") from error
        return value

    return read
