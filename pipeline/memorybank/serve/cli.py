"""The command line: run memorybank, and every declared call that has a command."""

import asyncio
import io
import os
import signal
import sys
from collections.abc import Coroutine
from contextlib import AbstractAsyncContextManager
from functools import cache
from pathlib import Path
from typing import Annotated, Any

import typer

import memorybank
from memorybank import paths
from memorybank.errors import MemoryBankError, ModelMisconfigured
from memorybank.llm import weights
from memorybank.serve import administration, demonstration, logs, running, workforce
from memorybank.serve.commands import add_commands
from memorybank.serve.remote import Remote
from memorybank.serve.render import show_status
from memorybank.serve.running import Api
from memorybank.settings import Settings, load
from memorybank.storage.migrate import migrate as apply_migrations
from memorybank.storage.server import Server

#: Exit code of a program that Ctrl-C ended before it was done.
INTERRUPTED = 130

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
models = typer.Typer(no_args_is_help=True, help="The models this installation has.")
app.add_typer(models, name="models")
app.add_typer(administration.directory, name="directory")
app.add_typer(administration.keys, name="keys")

Host = Annotated[
    str | None, typer.Option(help="Address to listen on; beyond loopback is refused without keys.")
]
Port = Annotated[int | None, typer.Option(min=0, max=65535, help="Port of the HTTP API; 0 takes a free one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the answer as JSON.")]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(memorybank.__version__)
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Long-term memory for AI agents."""


@app.command()
def up(host: Host = None, port: Port = None) -> None:
    """Run database, HTTP API and workers until Ctrl-C."""
    _run_until_told(running.up(_settings(host, port)))


@app.command()
def serve(host: Host = None, port: Port = None) -> None:
    """Run the HTTP API alone; workers run elsewhere (`memorybank worker`)."""
    _run_until_told(running.serve(_settings(host, port)))


@app.command()
def worker() -> None:
    """Run workers alone, until Ctrl-C."""
    # In our place, not beside us: a signal to this process then means the workers.
    os.execv(workforce.PROGRAM[0], workforce.PROGRAM)


@app.command()
def migrate() -> None:
    """Bring the database to the newest schema."""
    settings = _settings()

    async def run() -> None:
        server = Server(settings.database, paths.home())
        try:
            applied = await apply_migrations(await server.conninfo())
        finally:
            await server.stop()
        typer.echo(f"applied {len(applied)} migration(s)" if applied else "the schema is up to date")

    if not _run(run()):
        raise typer.Exit(INTERRUPTED)


@models.command("install")
def install_models() -> None:
    """Install the weights of the default embedding model."""
    try:
        typer.echo(f"weights are installed already, at {weights.find()}")
    except ModelMisconfigured:
        typer.echo(f"weights are at {weights.install()}")


@app.command()
def status(as_json: AsJson = False) -> None:
    """Show whether a server answers, its engine, and what it holds."""
    with Remote.here() as remote:
        show_status(remote, as_json)


@app.command()
def demo(
    sample: Annotated[
        Path | None, typer.Option(help="A text, or JSON of turns; else our own sample.")
    ] = None,
) -> None:
    """Retain a conversation, show what is remembered of it, ask three questions."""
    if not _run(demonstration.run(_settings(None, 0), sample)):
        raise typer.Exit(INTERRUPTED)


def _settings(host: str | None = None, port: int | None = None) -> Settings:
    settings = load()
    given = {key: value for key, value in {"host": host, "port": port}.items() if value is not None}
    logs.configure(settings.log)
    return settings.model_copy(update={"server": settings.server.model_copy(update=given)})


def _run_until_told(group: AbstractAsyncContextManager[Api]) -> None:
    """Run a group until SIGINT or SIGTERM; to be told to stop is no failure."""

    async def run() -> None:
        async with group as api:
            await asyncio.to_thread(_announce, api.url)
            await asyncio.shield(api.ended)

    _run(run())


def _announce(url: str) -> None:
    """Say in one line that the server answers."""
    with Remote(url) as remote:
        health = remote.request("GET", "/health")
    typer.echo(
        f"memorybank is {health['status']} at {url} (engine: {health['engine']}, data: {paths.home()})"
    )


def _run(action: Coroutine[Any, Any, None]) -> bool:
    """Run to the end, or until SIGINT or SIGTERM: both cancel it; False where that happened."""

    async def main() -> None:
        task = asyncio.current_task()
        assert task is not None
        for number in (signal.SIGINT, signal.SIGTERM):
            # Said explicitly: what a script starts in the background would ignore SIGINT.
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
        await action

    try:
        asyncio.run(main())
    except asyncio.CancelledError:
        return False
    return True


@cache
def _command_line() -> typer.Typer:
    add_commands(app)
    return app


def main() -> None:
    """Run the command line; an error of ours is one line that says what to do, and status 1."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot write a character gets a question mark, not a traceback.
            stream.reconfigure(errors="replace")
    try:
        _command_line()()
    except MemoryBankError as error:
        # Which entry of a file it is about; one option of a command is named in the message.
        where = [str(part) for part in getattr(error, "loc", ()) if part != "body"]
        said = f"{'.'.join(where)}: {error.message}" if len(where) > 1 else error.message
        typer.secho(said, fg="red", err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
