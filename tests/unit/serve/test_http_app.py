"""The application without a database: switches, errors, nulls, unknown fields."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from pydantic import BaseModel

from memorybank.audience import OPERATOR, Principal, PrincipalKind, Viewer
from memorybank.errors import BadRequest, DatabaseUnavailable, ModelRateLimited
from memorybank.ids import stable_id
from memorybank.serve.http.app import build
from memorybank.serve.http.schemas.wire import keeps_nulls
from memorybank.settings import Settings, load


def _settings(**server: Any) -> Settings:
    settings = load(environ={})
    return settings.model_copy(update={"server": settings.server.model_copy(update=server)})


class _OpenDoor:
    """Everybody is the operator, as while there are no keys."""

    async def principal(self, carried: Any) -> Principal:
        return OPERATOR

    async def viewer(self, *asked: Any) -> Viewer:
        return Viewer.operator()


async def _ask(memory: Any, method: str, path: str, **options: Any) -> httpx.Response:
    @asynccontextmanager
    async def opened() -> AsyncIterator[Any]:
        yield memory

    app = build(memory.settings, opened)
    app.state.memory, app.state.admission = memory, _OpenDoor()
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
        return await client.request(method, path, **options)


def _raising(error: Exception) -> Any:
    async def bank(bank_id: str) -> None:
        raise error

    return SimpleNamespace(settings=_settings(), bank=bank)


@pytest.mark.parametrize("method", ["GET", "PATCH", "DELETE"])
async def test_configuration_over_http_can_be_switched_off(method: str) -> None:
    memory = SimpleNamespace(settings=_settings(bank_config_api=False))
    body = {"json": {"updates": {}}} if method == "PATCH" else {}
    answer = await _ask(memory, method, "/v1/default/banks/b/config", **body)
    assert answer.status_code == 404
    assert "switched off" in answer.json()["detail"]


async def test_trying_out_and_files_can_be_switched_off() -> None:
    settings = _settings(dry_run_extract=False)
    files = settings.files.model_copy(update={"enabled": False})
    memory = SimpleNamespace(settings=settings.model_copy(update={"files": files}))
    answers = [
        await _ask(memory, "POST", "/v1/default/banks/b/memories/dry-run-extract", json={"content": "x"}),
        await _ask(
            memory,
            "POST",
            "/v1/default/banks/b/files/retain",
            files={"files": b"x"},
            data={"request": "{}"},
        ),
    ]
    assert [answer.status_code for answer in answers] == [404, 404]
    assert all("switched off" in answer.json()["detail"] for answer in answers)


async def test_an_unforeseen_error_says_its_type_and_nothing_else() -> None:
    answer = await _ask(_raising(RuntimeError("secret")), "GET", "/v1/default/banks/b/profile")
    assert (answer.status_code, answer.json()) == (500, {"detail": "internal error: RuntimeError"})


@pytest.mark.parametrize("error", [RuntimeError("secret"), DatabaseUnavailable("secret")], ids=repr)
@pytest.mark.parametrize(("method", "told"), [("GET", "fetch"), ("POST", "save")])
async def test_k21_what_fails_inside_with_keys_and_values_is_told_without_a_reason(
    monkeypatch: pytest.MonkeyPatch, method: str, told: str, error: Exception
) -> None:
    async def ana(door: _OpenDoor, carried: Any) -> Principal:
        return Principal(PrincipalKind.PERSON, agents={stable_id("agent", "one"): "b"})

    async def failing(*asked: Any, **options: Any) -> None:
        raise error

    monkeypatch.setattr(_OpenDoor, "principal", ana)
    memory = SimpleNamespace(
        settings=_settings(), shelf=failing, entries=SimpleNamespace(list_=failing, put=failing)
    )
    body = {"json": {"agentId": "one", "key": "k", "memory": 1}} if method == "POST" else {}
    answer = await _ask(memory, method, "/api/memory", **body)
    assert (answer.status_code, answer.json()) == (500, {"error": f"Failed to {told} memory"})


@pytest.mark.parametrize(
    ("error", "status", "wait"),
    [
        (BadRequest("no"), 400, None),
        (DatabaseUnavailable("no"), 503, "30"),
        (ModelRateLimited("no", retry_after=7.5), 503, "8"),
        (ModelRateLimited("no", retry_after=0.2), 503, "1"),
        (ModelRateLimited("no"), 503, "30"),
    ],
)
async def test_an_error_has_its_status_and_says_when_to_come_back(
    error: Exception, status: int, wait: str | None
) -> None:
    answer = await _ask(_raising(error), "GET", "/v1/default/banks/b/profile")
    assert (answer.status_code, answer.json()) == (status, {"detail": "no"})
    assert answer.headers.get("retry-after") == wait


async def test_a_refused_value_is_echoed_in_part() -> None:
    body = {"query": "x", "budget": "y" * 5000, "tags": [["z" * 5000]]}
    memory = SimpleNamespace(settings=_settings())
    answer = await _ask(memory, "POST", "/v1/default/banks/b/memories/recall", json=body)
    assert answer.status_code == 422
    assert all(len(str(entry["input"])) <= 201 for entry in answer.json()["detail"])


async def test_all_routes_stand_under_the_base_path() -> None:
    memory = SimpleNamespace(settings=_settings(base_path="/memory"))
    for path in ("/memory/health/live", "/health/live"):
        assert (await _ask(memory, "GET", path)).status_code == 200
    schema = (await _ask(memory, "GET", "/memory/openapi.json")).json()
    assert schema["servers"] == [{"url": "/memory"}]
    assert (await _ask(memory, "GET", "/memory/metrics-not-there")).status_code == 404


def test_nulls_are_kept_where_a_field_is_required_and_nullable() -> None:
    class Plain(BaseModel):
        a: str
        b: str | None = None

    class Keeping(BaseModel):
        a: str | None

    class Outer(BaseModel):
        items: list[Keeping]

    class Mapped(BaseModel):
        items: dict[str, Keeping | None] = {}

    assert [keeps_nulls(model) for model in (Plain, Keeping, Outer, Mapped)] == [False, True, True, True]
