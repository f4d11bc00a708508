"""Which addresses nobody beyond this machine reaches: the others need a key first."""

import pytest

from memorybank.serve.running import is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.0.2.7", "memory.example", "", "localhost.memory.example", "127.0.0.1.example"],
)
def test_everything_else_is_not(host: str) -> None:
    assert not is_loopback(host)
