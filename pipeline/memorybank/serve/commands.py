"""Commands made from the declared calls: path and required fields become arguments, the rest options.

A list of objects (the items of a retain) takes one object on the command line: its fields are the options. Files are
arguments, and what is said of one is said of each. A required text of `-` is read from standard input.
"""

import inspect
import json
import sys
import types
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from urllib.parse import quote

import typer
from fastapi import UploadFile
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from memorybank.serve.actions import CALLS
from memorybank.serve.calls import Call
from memorybank.serve.remote import Remote
from memorybank.serve.render import show

#: Option of every generated command: what a program wants instead of what a person reads.
JSON_OPTION = "as_json"
#: A text that stands for standard input.
STDIN = "-"
#: Said of each option with several values. Commas part nothing: names and tags may hold some.
REPEATED = "Repeat the option for more."


class Field:
    """One value of a command: where it goes in the request, and how it is asked for."""

    def __init__(
        self, place: tuple[str, ...], name: str, annotation: Any, default: Any, help_: str = ""
    ) -> None:
        self.place = place
        self.name = name
        self.asked_type = _plain(annotation)
        self.required = default is inspect.Parameter.empty
        self.default = None if self.required else default
        self.help = help_

    def sent(self, given: Any) -> Any:
        """Return a value as the request has it; None or an empty list was not given."""
        if isinstance(given, Enum):
            return given.value
        if given == STDIN and self.required and self.place[0] != "path":
            return sys.stdin.buffer.read().decode("utf-8", "replace")
        # Bytes of an argument that are no UTF-8 come as lone surrogates, which no request can carry.
        return _sendable(given) if isinstance(given, str) else given

    @property
    def parameter(self) -> inspect.Parameter:
        """The parameter as typer wants it."""
        annotation: Any
        if self.required:
            annotation = Annotated[self.asked_type, typer.Argument(help=self.help, show_default=False)]
            return inspect.Parameter(self.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation)
        default = self.default if isinstance(self.default, bool | int | float | str) else None
        optional = self.asked_type if default is not None else Union[self.asked_type, None]  # noqa: UP007
        name = self.name.strip("_").replace("_", "-")
        flag = f"--{name}/--no-{name}" if default is True else f"--{name}"
        help_ = f"{self.help} {REPEATED}".strip() if self.asked_type == list[str] else self.help
        annotation = Annotated[optional, typer.Option(flag, help=help_)]
        return inspect.Parameter(
            self.name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, default=default
        )


def add_commands(app: typer.Typer) -> None:
    """Add a command for every call that declares one."""
    for declared in CALLS:
        if declared.command:
            app.command(declared.command, help=declared.help)(_command(declared))


def _command(declared: Call) -> Callable[..., None]:
    fields = _fields(declared)

    def command(**given: Any) -> None:
        as_json = given.pop(JSON_OPTION)
        parts: dict[str, dict[str, Any]] = {"path": {}, "query": {}, "body": {}, "item": {}, "files": {}}
        for field in fields:
            value = field.sent(given[field.name])
            if value is not None and value != []:
                parts[field.place[0]][field.place[1]] = value
        path = declared.path.format(**{key: quote(value, safe="/") for key, value in parts["path"].items()})
        with Remote.here() as remote:
            answer = _sent(remote, declared, path, parts)
        show(declared.name, answer, as_json=as_json)

    flag = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
    last = inspect.Parameter(JSON_OPTION, inspect.Parameter.KEYWORD_ONLY, annotation=flag, default=False)
    command.__signature__ = inspect.Signature([*(f.parameter for f in fields), last])  # type: ignore[attr-defined]
    return command


def _sent(remote: Remote, declared: Call, path: str, parts: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Send what was given as the call has it, and return the answer."""
    model = declared.body_model
    if model is not None and declared.multipart:
        [(name, files)] = parts["files"].items()
        part, request = _json_part(model)
        said = json.dumps({_list_field(request): [parts["item"]] * len(files)})
        return remote.upload(path, [(name, Path(file)) for file in files], {part: said})
    if model is not None and parts["item"]:
        parts["body"][_list_field(model)] = [parts["item"]]
    return remote.request(declared.method, path, query=parts["query"], body=parts["body"] if model else None)


def _fields(declared: Call) -> list[Field]:
    fields = []
    for parameter in declared.parameters:
        if parameter.annotation is str:
            fields.append(Field(("path", parameter.name), parameter.name, str, parameter.default))
    if declared.query is not None:
        fields += _model_fields(declared.query, "query")
    if declared.body_model is not None:
        fields += _model_fields(declared.body_model, "files" if declared.multipart else "body")
    if declared.body_model is not None and declared.multipart:
        _, request = _json_part(declared.body_model)
        item = _item_model(request.model_fields[_list_field(request)])
        fields += _model_fields(item, "item") if item else []
    # What an item and the whole request may say is said of the request.
    named = {field.name: field for field in fields}
    return sorted(named.values(), key=lambda field: not field.required)


def _model_fields(model: type[BaseModel], place: str) -> list[Field]:
    fields: list[Field] = []
    for name, info in model.model_fields.items():
        item = _item_model(info) if info.is_required() else None
        if item is not None:
            fields += _model_fields(item, "item")
        elif _plain(info.annotation) is not None:
            default = inspect.Parameter.empty if info.is_required() else info.default
            help_ = info.description or ""
            fields.append(Field((place, info.alias or name), name, info.annotation, default, help_))
    return fields


def _json_part(form: type[BaseModel]) -> tuple[str, type[BaseModel]]:
    """Return the part of a form that is an object, written as JSON."""
    return next(
        (name, info.annotation)
        for name, info in form.model_fields.items()
        if isinstance(info.annotation, type) and issubclass(info.annotation, BaseModel)
    )


def _list_field(model: type[BaseModel]) -> str:
    return next(name for name, info in model.model_fields.items() if _item_model(info) is not None)


def _item_model(info: FieldInfo) -> type[BaseModel] | None:
    """Return the model of a list of objects."""
    for kind in (info.annotation, *get_args(info.annotation)):
        inner = get_args(kind)[0] if get_origin(kind) is list else None
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            return inner
    return None


def _plain(annotation: Any) -> Any:
    """Return the type to ask for on a command line, or None where a value has too much structure for one."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _plain(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        found = [plain for inner in get_args(annotation) if (plain := _plain(inner)) is not None]
        return str if str in found else next(iter(found), None)
    if origin is Literal:
        return Enum("Choice", {value: value for value in get_args(annotation)}, type=str)
    if origin is list:
        return list[str] if get_args(annotation) in ((str,), (UploadFile,)) else None
    return annotation if annotation in (str, int, float, bool) else None


def _sendable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
