"""Which addresses and names nobody beyond this machine reaches: the others need a key first."""

from typing import Any

import pytest

from memorybank.errors import Forbidden
from memorybank.serve.admission import Admission, Carried, is_loopback


class _NoKeys(Admission):
    async def needs_key(self) -> bool:
        return False


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.0.2.7", "memory.example", "", "localhost.memory.example", "127.0.0.1.example"],
)
def test_everything_else_is_not(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize(
    ("host", "let_in"),
    [
        (None, True),
        ("localhost:8899", True),
        ("127.0.0.1:8899", True),
        ("[::1]:8899", True),
        ("LOCALHOST", True),
        ("memory.example", False),
        ("memory.example:8899", False),
        ("localhost@memory.example", False),
        ("[::1", False),
        ("192.0.2.7", False),
    ],
)
async def test_without_keys_the_server_answers_to_names_of_its_machine_alone(
    host: str | None, let_in: bool
) -> None:
    nothing: Any = None
    door = _NoKeys(nothing)
    if let_in:
        assert (await door.principal(Carried(host=host))).operates_all
        return
    with pytest.raises(Forbidden):
        await door.principal(Carried(host=host))
