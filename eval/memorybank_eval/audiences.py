"""What the filter on audiences costs: a person who sees 500 of them asks beside an operator, who sees everything."""

import argparse
import asyncio
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from memorybank_eval import machine, report, workload
from memorybank_eval.client import Client, bank_path, turn_item
from memorybank_eval.datasets import Turn
from memorybank_eval.server import RunningServer, running
from memorybank_eval.timing import TOGETHER, Target, medians, timed
from memorybank_eval.workload import further

#: Private places, each of which has an audience in the bank.
PLACES = 500
#: Who asks: the operator, a member of all places, and one of a tenth of them.
OPERATOR, ALL, TENTH = "operator", "all audiences", "a tenth"
_MEMBER_OF: Mapping[str, int] = {ALL: PLACES, TENTH: PLACES // 10}
#: Requests under way at once while a bank is filled.
AT_ONCE = 4


def measure(sizes: Sequence[int], questions: int, rounds: int) -> list[dict[str, Any]]:
    """Fill a bank of each size, spread over the places, and ask it as each of them in turns."""
    with running() as server:
        return asyncio.run(_measure(server, sizes, questions, rounds))


async def _measure(
    server: RunningServer, sizes: Sequence[int], questions: int, rounds: int
) -> list[dict[str, Any]]:
    async with Client(server.url) as first:
        made = await first.call("PUT", "/v1/default/directory", _directory(sizes))
    keys = {one["id"] or OPERATOR: one["key"] for one in made["keys"]}
    async with AsyncExitStack() as open_:
        clients = {
            who: await open_.enter_async_context(Client(server.url, key=keys[who]))
            for who in (OPERATOR, *_MEMBER_OF)
        }
        turns = iter(further(workload.made_up().turns, sum(sizes)))
        for size in sizes:
            await _fill(clients[OPERATOR], _bank(size), [next(turns) for _ in range(size)])
        return [await _ask(server, clients, size, questions, rounds) for size in sizes]


def _bank(size: int) -> str:
    return f"audiences-{size}"


def _directory(sizes: Sequence[int]) -> dict[str, Any]:
    organization = "org"
    places = [
        {
            "id": f"place-{number}",
            "kind": "private",
            "organization": organization,
            "members": [who for who, count in _MEMBER_OF.items() if number < count],
        }
        for number in range(PLACES)
    ]
    return {
        "organizations": [{"id": organization}],
        "people": [{"id": who, "organization": organization} for who in _MEMBER_OF],
        "agents": [
            {"id": _bank(size), "organization": organization, "bank": _bank(size), "key": False}
            for size in sizes
        ],
        "places": places,
    }


async def _fill(client: Client, bank: str, turns: Sequence[Turn]) -> None:
    """Retain turns, spread evenly over the places."""
    report.say(f"{bank}: filling …")
    await client.configure(bank, {"retain_extraction_mode": "chunks"})
    gate = asyncio.Semaphore(AT_ONCE)

    async def retain(number: int) -> None:
        items = [turn_item(turn.text, turn.id, turn.at, "A conversation.") for turn in turns[number::PLACES]]
        async with gate:
            if items:
                body = {"items": items, "place": f"place-{number}"}
                await client.call("POST", f"{bank_path(bank)}/memories", body)

    await asyncio.gather(*map(retain, range(PLACES)))


async def _ask(
    server: RunningServer, clients: Mapping[str, Client], size: int, questions: int, rounds: int
) -> dict[str, Any]:
    texts = [question.text for question in workload.made_up().questions]
    runs: dict[tuple[str, int], list[dict[str, float]]] = {}
    for number in range(rounds):
        for callers in (1, TOGETHER):
            for who, client in clients.items():
                target = Target(client, (_bank(size),), (server.pid,))
                mark = f"{number}-{callers}-{who}-"
                one = await timed(target, texts, questions, callers, mark)
                runs.setdefault((who, callers), []).append(one)
    figures = {
        who: {f"{callers}_at_once": medians(runs[who, callers], "p50_ms") for callers in (1, TOGETHER)}
        for who in clients
    }
    times = {
        who: {
            way: round(figures[who][way]["p50_ms"] / figures[OPERATOR][way]["p50_ms"], 2)
            for way in figures[who]
        }
        for who in _MEMBER_OF
    }
    return {"facts": size, "audiences": PLACES, "figures": figures, "times_the_operators_p50": times}


def table(sizes: Sequence[Mapping[str, Any]]) -> str:
    """Return a result as text."""
    rows = [
        (
            f"{one['facts']:,}",
            who,
            way,
            *(f"{got[key]:.1f}" for key in ("p50_ms", "p95_ms", "cpu_ms")),
            str(one["times_the_operators_p50"].get(who, {}).get(way, "")),
        )
        for one in sizes
        for who, ways in one["figures"].items()
        for way, got in ways.items()
    ]
    return report.table(("facts", "who", "callers", "p50 ms", "p95 ms", "CPU ms", "p50 / operator's"), rows)


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Declare `audiences`."""
    parser = commands.add_parser("audiences", help="what does it cost to see 500 audiences?")
    parser.add_argument("--size", type=int, action="append", help="facts (500 and 20,000; repeatable)")
    parser.add_argument("--questions", type=int, default=100, help="of one measurement")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, help="write the result as JSON")
    parser.set_defaults(run=_audiences)


def _audiences(given: argparse.Namespace) -> None:
    described = machine.describe()
    sizes = measure(given.size or (500, 20_000), given.questions, given.rounds)
    print(table(sizes))
    if given.out:
        report.write_json(given.out, {"kind": "audiences", **described, "sizes": sizes})
