"""The command line: run memorybank, and every declared call that has a command."""

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import typer

import memorybank
from memorybank import paths
from memorybank.errors import MemoryBankError
from memorybank.llm import weights
from memorybank.serve import demonstration, logs, running
from memorybank.serve.commands import add_commands
from memorybank.serve.remote import Remote
from memorybank.serve.render import CONSOLE
from memorybank.settings import Settings, load
from memorybank.storage.migrate import migrate as apply_migrations
from memorybank.storage.server import Server

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)
models = typer.Typer(no_args_is_help=True, help="The models this installation has.")
app.add_typer(models, name="models")

Host = Annotated[
    str | None, typer.Option(help="Address to listen on; beyond loopback is refused without keys.")
]
Port = Annotated[int | None, typer.Option(help="Port of the HTTP API; 0 takes a free one.")]


@app.callback()
def _root(version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False) -> None:
    """Long-term memory for AI agents."""
    if version:
        typer.echo(memorybank.__version__)
        raise typer.Exit


@app.command()
def up(host: Host = None, port: Port = None) -> None:
    """Run database, HTTP API and workers until Ctrl-C."""
    settings = _settings(host, port)

    def announce(url: str) -> None:
        health = Remote(url).request("GET", "/health")
        typer.echo(
            f"memorybank is {health['status']} at {url} (engine: {health['engine']}, data: {paths.home()})"
        )

    _run(lambda: running.up(settings, announce))


@app.command()
def serve(host: Host = None, port: Port = None) -> None:
    """Run the HTTP API alone; workers run elsewhere (`memorybank worker`)."""
    settings = _settings(host, port)
    _run(lambda: running.serve(settings, lambda: typer.echo(f"listening on port {settings.server.port}")))


@app.command()
def worker() -> None:
    """Run workers alone."""
    raise typer.Exit(subprocess.run([sys.executable, "-m", "memorybank_workers"], check=False).returncode)


@app.command()
def migrate() -> None:
    """Bring the database to the newest schema."""
    settings = _settings()

    async def run() -> None:
        server = Server(settings.database, paths.home())
        applied = await apply_migrations(await server.conninfo())
        await server.stop()
        typer.echo(f"applied {len(applied)} migration(s)" if applied else "the schema is up to date")

    _run(run)


@models.command("install")
def install_models() -> None:
    """Install the weights of the default embedding model."""
    typer.echo(f"weights are at {weights.install()}")


@app.command()
def status() -> None:
    """Show whether a server answers, its engine, and its banks."""
    remote = Remote.here()
    CONSOLE.print_json(data={"url": remote.url, **remote.request("GET", "/health")})


@app.command()
def demo(
    sample: Annotated[
        Path | None, typer.Option(help="A text, or JSON of turns; else our own sample.")
    ] = None,
) -> None:
    """Retain a conversation, show what is remembered of it, ask three questions."""
    settings = _settings(None, 0)
    _run(lambda: demonstration.run(settings, sample))


def _settings(host: str | None = None, port: int | None = None) -> Settings:
    settings = load()
    given = {key: value for key, value in {"host": host, "port": port}.items() if value is not None}
    logs.configure(settings.log)
    return settings.model_copy(update={"server": settings.server.model_copy(update=given)})


def _run(action: Callable[[], Awaitable[Any]]) -> None:
    async def main() -> None:
        await action()

    asyncio.run(main())


def main() -> None:
    """Run the command line; an error of ours is one line that says what to do, and status 1."""
    add_commands(app)
    try:
        app()
    except MemoryBankError as error:
        typer.secho(error.message, fg="red", err=True)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
