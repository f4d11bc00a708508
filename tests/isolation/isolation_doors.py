"""What is not theirs looks as what is not there: the same answer but for the names that were sent."""

from typing import Any

import httpx
from isolation_calls import BY_NAME, NOTHING, NOWHERE, OPERATED, WALKS, in_a_bank, path
from isolation_look import Leak, Look
from isolation_oracle import Asker
from isolation_truth import Row

#: Headers that say when or how long, of any answer.
_PASSING = ("date", "content-length")


def _said(answer: httpx.Response, *sent: str) -> tuple[int, str, list[tuple[str, str]]]:
    """Return an answer without what was sent: ids as they are, and as paths or errors write them."""
    text = answer.text
    for name in sorted(sent, key=len, reverse=True):
        text = text.replace(name, "…")
    headers = sorted((name, value) for name, value in answer.headers.items() if name not in _PASSING)
    return answer.status_code, text, headers


async def _ask(look: Look, name: str, bank_id: str, row: str) -> httpx.Response:
    walk = WALKS[name]
    options: dict[str, Any] = {}
    if walk.form is not None:
        options = {"data": walk.form, "files": [("files", ("a.txt", b"Somebody met somebody."))]}
    return await look.ask(
        BY_NAME[name].method, path(name, bank_id, row), walk.body, params=walk.params or {}, **options
    )


async def shut_banks(look: Look, share: float) -> None:
    """A bank that somebody has nothing to do with is answered as one that is not there, by a share of the calls."""
    unknown = f"bank-of-nobody-{look.world.number}"
    for bank in range(2):
        if look.knows(bank):
            continue
        names = in_a_bank()
        for name in look.chance.sample(names, int(len(names) * share)):
            real = look.world.banks[bank]
            row = _ghost(name)
            there = await _ask(look, name, real, row)
            absent = await _ask(look, name, unknown, row)
            if _said(there, real) != _said(absent, unknown):
                raise Leak(
                    f"{look.asker}, {name}: {_said(there, real)} where there is a bank, {_said(absent, unknown)} else"
                )


async def shut_rows(look: Look, share: float) -> None:
    """A row that is not theirs is answered as one that is not there, by a share of the calls that name one."""
    for bank in range(2):
        if not look.knows(bank):
            continue
        for name, walk in WALKS.items():
            hidden = _hidden(look, bank, walk.names)
            row = look.one(hidden)
            if walk.names is None or row is None or look.chance.random() > share:
                continue
            bank_id = look.world.banks[bank]
            there = await _ask(look, name, bank_id, row)
            absent = await _ask(look, name, bank_id, _ghost(name))
            if _said(there, row) != _said(absent, _ghost(name)):
                raise Leak(
                    f"{look.asker}, {name} of {row}: {_said(there, row)}, {_said(absent, _ghost(name))} of nothing"
                )


async def open_rows(look: Look, share: float) -> None:
    """A row that is theirs is told, by a share of the calls."""
    for bank in range(2):
        if not look.knows(bank):
            continue
        for name, walk in WALKS.items():
            row = look.one(_own(look, bank, walk.names))
            if row is None or BY_NAME[name].method != "GET" or look.chance.random() > share:
                continue
            answer = await _ask(look, name, look.world.banks[bank], row)
            if answer.status_code != 200:
                raise Leak(f"{look.asker}, {name}: {row} is theirs, and was answered {answer.text}")


async def operators_alone(look: Look) -> None:
    """What an operator of the installation may ask is refused to all others, before anything is looked at."""
    if look.asker == Asker("operator"):
        return
    for name, body in OPERATED.items():
        answer = await look.ask(BY_NAME[name].method, BY_NAME[name].path.replace("{key_id}", NOTHING), body)
        if answer.status_code != 403:
            raise Leak(f"{look.asker}, {name}: {answer.status_code}")
    for place, status in {"/metrics": 403, "/health": 200, "/version": 200}.items():
        answer = await look.ask("GET", place)
        if answer.status_code != status:
            raise Leak(f"{look.asker}, {place}: {answer.status_code}")


def _ghost(name: str) -> str:
    """Return an id that nothing has, of the form that a call takes."""
    match WALKS[name].names:
        case "chunk":
            return f"{NOWHERE}_{NOWHERE}_0"
        case "document" | "mental_model" | "page" | "node":
            return NOWHERE
    return NOTHING


def _rows(look: Look, bank: int, kind: str, seen: bool) -> list[str]:
    """Return ids of rows of a kind that are theirs, or not."""
    of = {"page": "mental_model", "node": "knowledge_folder", "directive": "directive"}.get(kind, kind)
    if kind == "entity":
        return list(look.entities(bank, seen))
    if kind == "directive":
        theirs = look.uses(bank) is seen
        return [row.id for row in look.truth.rows["directive"] if row.bank == bank] if theirs else []
    rows = look.rows(of, bank, seen)
    if kind == "page":
        rows = [row for row in rows if row.about["is_managed"]]
    if kind == "node":
        rows = rows + [row for row in look.rows("mental_model", bank, seen) if row.about["is_managed"]]
    if kind == "chunk":
        return [_chunk(look, row) for row in rows]
    ids = [row.id for row in rows]
    return (
        ids
        if seen or kind != "document"
        else [id_ for id_ in ids if id_ not in _rows(look, bank, kind, True)]
    )


def _chunk(look: Look, row: Row) -> str:
    """Return what callers call a chunk."""
    [document] = [one for one in look.truth.rows["document"] if one.about["number"] == row.about["document"]]
    if document.about["is_placed"]:
        return row.id
    return f"{look.world.banks[row.bank]}_{document.id}_{row.about['ordinal']}"


def _hidden(look: Look, bank: int, kind: str | None) -> list[str]:
    return [] if kind is None else _rows(look, bank, kind, seen=False)


def _own(look: Look, bank: int, kind: str | None) -> list[str]:
    return [] if kind is None else _rows(look, bank, kind, seen=True)
