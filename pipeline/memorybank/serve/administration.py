"""The directory and its keys on the command line.

Whoever has the database is the operator: so these commands need no server and no key, and make the first one, or a new
one for who has lost theirs. Where MEMORYBANK_URL names a server elsewhere they ask that one, with MEMORYBANK_API_KEY.
"""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer
import yaml
from pydantic import BaseModel, ValidationError
from rich.table import Table
from rich.text import Text

from memorybank import paths
from memorybank.audience import PrincipalKind
from memorybank.errors import InvalidInput, MemoryBankError
from memorybank.serve import logs
from memorybank.serve.actions import directory as calls
from memorybank.serve.http.schemas.directory import CreateKeyRequest, DirectoryRequest
from memorybank.serve.remote import URL_VARIABLE, Remote
from memorybank.serve.render import CONSOLE
from memorybank.settings import load
from memorybank.storage.pool import Database
from memorybank.storage.server import opened

directory = typer.Typer(no_args_is_help=True, help="Who there is: organizations, people, agents and places.")
keys = typer.Typer(no_args_is_help=True, help="The keys by which they are known.")

AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]
Answer = dict[str, Any]
Local = Callable[[Database], Awaitable[BaseModel]]


@directory.command("apply")
def apply_directory(
    file: Annotated[Path, typer.Argument(help="YAML, or JSON by its suffix.", show_default=False)],
    as_json: AsJson = False,
) -> None:
    """Put a declaration into the directory and print the keys that were made for it, once."""
    body = _declared(file)
    sent = body.model_dump(mode="json", exclude_unset=True)
    answer = _asked("PUT", calls.DIRECTORY, lambda database: calls.put_directory(database, body), sent)
    if as_json:
        _print(answer)
        return
    for key in answer["keys"]:
        holder = f"{key['kind']} {key['id']}" if key["id"] else key["kind"]
        typer.echo(f"{key['key']}  {holder}")
    gone, private = answer["removed"], len(answer["made_private"])
    went = f", {answer['forgotten']} memories forgotten with them" * bool(answer["forgotten"])
    more = f"; {gone} removed{went}" * bool(gone) + f"; {private} place(s) are private from now on" * bool(
        private
    )
    typer.echo(f"applied; {len(answer['keys'])} key(s) made, which cannot be shown again{more}")


@directory.command("show")
def show_directory(as_json: AsJson = False) -> None:
    """Show who there is, with the UUIDs that stand for them."""
    answer = _asked("GET", calls.DIRECTORY, calls.get_directory)
    if as_json:
        _print(answer)
        return
    table = Table("", "id", "uuid", "name", "belongs to", box=None, header_style="bold")
    for kind, entries in answer.items():
        for one in entries:
            whose = [one.get("organization"), one.get("owner"), one.get("agent"), *one.get("members", ())]
            name = one.get("name") or one.get("title") or ""
            table.add_row(
                kind, Text(one["id"]), one["uuid"], Text(name), Text(", ".join(filter(None, whose)))
            )
    CONSOLE.print(table)


@keys.command("create")
def create_key(
    operator: Annotated[bool, typer.Option("--operator", help="For an operator.")] = False,
    person: Annotated[str | None, typer.Option(help="For a person of the directory.")] = None,
    agent: Annotated[str | None, typer.Option(help="For an agent of the directory.")] = None,
    bank: Annotated[
        list[str] | None, typer.Option(help="A bank that an operator's key opens; else all.")
    ] = None,
    name: Annotated[str, typer.Option(help="What it is for.")] = "",
    as_json: AsJson = False,
) -> None:
    """Make a key and print it, once. From the first one on, every request needs one."""
    asked = {PrincipalKind.PERSON: person, PrincipalKind.AGENT: agent}
    kinds = [PrincipalKind.OPERATOR] * operator + [kind for kind, who in asked.items() if who is not None]
    if len(kinds) != 1:
        raise InvalidInput("say one of --operator, --person ID and --agent ID")
    body = CreateKeyRequest(kind=kinds[0], id=asked.get(kinds[0]), banks=bank or None, name=name)
    answer = _asked(
        "POST", calls.KEYS, lambda database: calls.create_key(database, body), body.model_dump(mode="json")
    )
    if as_json:
        _print(answer)
    else:
        typer.echo(answer["key"])


@keys.command("list")
def list_keys(as_json: AsJson = False) -> None:
    """List every key there ever was; what it is nobody can see."""
    answer = _asked("GET", calls.KEYS, calls.list_keys)
    if as_json:
        _print(answer)
        return
    table = Table(
        "key", "begins", "name", "for", "banks", "made", "last used", "revoked", box=None, header_style="bold"
    )
    for key in answer["items"]:
        holder = " ".join(filter(None, (key["kind"], key["id"])))
        times = [(key[when] or "")[:19] for when in ("created_at", "last_used_at", "revoked_at")]
        banks = (
            "all"
            if key["kind"] == PrincipalKind.OPERATOR and key["banks"] is None
            else ", ".join(key["banks"] or ())
        )
        table.add_row(
            key["key_id"], Text(key["prefix"]), Text(key["name"]), Text(holder), Text(banks), *times
        )
    CONSOLE.print(table)


@keys.command("revoke")
def revoke_key(
    key: Annotated[UUID, typer.Argument(help="Its id, from `keys list`.", show_default=False)],
) -> None:
    """Revoke a key at once."""
    _asked("DELETE", f"{calls.KEYS}/{key}", lambda database: calls.revoke_key(database, str(key)))
    typer.echo("revoked")


def _asked(method: str, path: str, local: Local, body: Answer | None = None) -> Answer:
    """Ask the server elsewhere that is named, or else do it here, on this installation's database."""
    if os.environ.get(URL_VARIABLE):
        with Remote.here() as remote:
            return remote.request(method, path, body=body)
    settings = load()
    logs.configure(settings.log)

    async def run() -> BaseModel:
        async with opened(settings.database, paths.home()) as database:
            return await local(database)

    return asyncio.run(run()).model_dump(mode="json")


def _declared(file: Path) -> DirectoryRequest:
    """Return the declaration that a file holds; raises InvalidInput that says where it is wrong."""
    try:
        text = file.read_text(encoding="utf-8")
        found = json.loads(text) if file.suffix == ".json" else yaml.safe_load(text)
        return DirectoryRequest.model_validate(found)
    except OSError as error:
        raise MemoryBankError(f"{file}: {error.strerror}") from error
    except ValidationError as error:
        places = [f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors()]
        raise InvalidInput(f"{file}: {'; '.join(places)}") from None
    except (ValueError, RecursionError, yaml.YAMLError) as error:
        # Where, not what: the file may hold keys.
        where = f" near line {mark.line + 1}" if (mark := getattr(error, "problem_mark", None)) else ""
        raise InvalidInput(f"{file} is no {'JSON' if file.suffix == '.json' else 'YAML'}{where}") from None


def _print(answer: Answer) -> None:
    typer.echo(json.dumps(answer, ensure_ascii=False, indent=2))
