"""One declaration per call, from which its HTTP route and its command are made: nothing is written twice.

A call is an async function `(memory, viewer, …) -> response` under `@call`. Its name is the operation id of the
contract, its docstring the help. A `str` parameter is part of the path, `Annotated[Model, Query()]` holds the query
parameters, a model is the body, `Annotated[Model, Form()]` a body in parts: files, and objects as JSON. Whom a call is
for is its Rule; what it shows them is the Viewer's: no call can read without one. A call that
streams is an async generator of events.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any, get_args, get_origin

from fastapi.params import Form, Query
from pydantic import BaseModel

#: Path of everything that belongs to one bank; the segment `default` is fixed by the contract.
BANK = "/v1/default/banks/{bank_id}"
#: Parameters that the way in provides, not the caller.
PROVIDED = ("memory", "database", "viewer", "principal")

Action = Callable[..., Any]


@dataclass(frozen=True)
class Event:
    """One event of a call that streams; a `ping` says only that it lives."""

    name: str
    data: dict[str, Any]


class Rule(StrEnum):
    """Whom a call is for. Others learn no more of a bank than that there is none, as of one that is not there."""

    #: Whoever has to do with the bank; the viewer narrows what they see, or change.
    SEES = "sees"
    #: Its operators, the agents that remember in it, and the owners of one.
    USES = "uses"
    #: Its operators, and who owns all agents that remember in it.
    OWNS = "owns"
    #: Operators of the whole installation.
    OPERATES = "operates"
    #: A person, or an operator who acts for one; so for agents; and for both.
    PERSON = "person"
    AGENT = "agent"
    THEIRS = "theirs"


@dataclass(frozen=True)
class Options:
    """More of a call: its name on the command line, where it has one; the status of a good answer; whom it is for,
    where its parameters do not say so; whether it only reads, though it is no GET; whether it streams; and whether the
    plan of the caller's organization must include it.
    """

    command: str | None = None
    status: int = 200
    rule: Rule | None = None
    reads: bool = False
    streams: bool = False
    planned: bool = False


@dataclass(frozen=True)
class Call:
    """A declared call."""

    method: str
    path: str
    action: Action
    group: str
    options: Options

    @property
    def command(self) -> str | None:
        """Its name on the command line."""
        return self.options.command

    @property
    def status(self) -> int:
        """The status of a good answer."""
        return self.options.status

    @property
    def streams(self) -> bool:
        """Whether it answers with events, one after the other."""
        return self.options.streams

    @cached_property
    def takes_viewer(self) -> bool:
        """Whether what it reads or changes is a viewer's."""
        return "viewer" in inspect.signature(self.action).parameters

    @property
    def changes(self) -> bool:
        """Whether it changes what it meets."""
        return self.method != "GET" and not self.options.reads

    @cached_property
    def rule(self) -> Rule:
        """Whom it is for. Where it says nothing: who sees rows, sees or changes theirs; the rest is the bank itself."""
        if self.options.rule is not None:
            return self.options.rule
        if self.takes_viewer:
            return Rule.SEES
        return Rule.USES if self.method == "GET" else Rule.OWNS

    @property
    def name(self) -> str:
        """The operation id of the contract."""
        return self.action.__name__

    @property
    def help(self) -> str:
        """What the call does."""
        return inspect.getdoc(self.action) or ""

    @property
    def parameters(self) -> list[inspect.Parameter]:
        """What the caller gives: path, query and body."""
        return [p for name, p in inspect.signature(self.action).parameters.items() if name not in PROVIDED]

    @property
    def body(self) -> inspect.Parameter | None:
        """The parameter that is the request body, if there is one."""
        return next((p for p in self.parameters if _is_model(p.annotation) or _is(p, Form)), None)

    @property
    def body_model(self) -> type[BaseModel] | None:
        """The type of the request body, if there is one."""
        return None if self.body is None else _model(self.body)

    @property
    def multipart(self) -> bool:
        """Whether the body comes in parts, with files."""
        return any(_is(parameter, Form) for parameter in self.parameters)

    @property
    def query(self) -> type[BaseModel] | None:
        """The type that holds all query parameters, if there are any."""
        return next((_model(parameter) for parameter in self.parameters if _is(parameter, Query)), None)

    @property
    def response(self) -> type[BaseModel]:
        """The type of the answer."""
        annotation: type[BaseModel] = inspect.signature(self.action).return_annotation
        return annotation


class Registry:
    """The declared calls, in the order in which their routes are matched."""

    def __init__(self) -> None:
        self._calls: dict[str, Call] = {}

    def call(self, method: str, path: str, **options: Any) -> Callable[[Action], Action]:
        """Declare a call, with its Options; its group is the module it stands in."""

        def declare(action: Action) -> Action:
            group = action.__module__.rpartition(".")[2]
            declared = Call(method, path, action, group, Options(**options))
            if declared.name in self._calls:
                raise ValueError(f"call {declared.name} is declared twice")
            self._calls[declared.name] = declared
            return action

        return declare

    def __iter__(self) -> Iterator[Call]:
        return iter(self._calls.values())


def _is(parameter: inspect.Parameter, marker: type) -> bool:
    """Return whether a parameter is annotated as `Query()` or `Form()`."""
    annotation = parameter.annotation
    return get_origin(annotation) is Annotated and isinstance(get_args(annotation)[1], marker)


def _model(parameter: inspect.Parameter) -> type[BaseModel]:
    annotation = parameter.annotation
    model: type[BaseModel] = get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation
    return model


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


CALLS = Registry()
call = CALLS.call
