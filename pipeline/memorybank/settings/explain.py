"""Turns a validation error into one sentence for the person who set the value.

Never quotes the value: it may be a secret.
"""

from collections.abc import Sequence

from pydantic_core import ErrorDetails


def dotted(loc: Sequence[str | int]) -> str:
    """Return a path as people write it: retain.llm.model."""
    return ".".join(str(part) for part in loc)


def explain(error: ErrorDetails) -> str:
    """Return "<field> must be ...", or the validator's own sentence."""
    message = error["msg"].removeprefix("Value error, ").replace("valid tuple", "valid list")
    if not error["loc"]:
        return message
    if message.startswith("Input should be"):
        return f"{dotted(error['loc'])} must be{message.removeprefix('Input should be')}"
    return f"{dotted(error['loc'])}: {message}"
