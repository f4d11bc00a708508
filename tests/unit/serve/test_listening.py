"""Where the server may listen while there are no keys."""

import pytest

from memorybank.errors import InvalidConfig
from memorybank.serve.running import check_host


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.2", "::1", "localhost"])
def test_loopback_is_allowed(host: str) -> None:
    check_host(host)


@pytest.mark.parametrize(
    "host",
    ["0.0.0.0", "::", "192.0.2.7", "memory.example", "", "localhost.memory.example", "127.0.0.1.example"],
)
def test_everything_else_is_refused_with_what_to_do(host: str) -> None:
    with pytest.raises(InvalidConfig, match="no keys yet") as refused:
        check_host(host)
    assert repr(host) in refused.value.message
    assert "Listen on 127.0.0.1" in refused.value.message
