"""A call that the property test does not walk is a call whose leaks nobody would find."""

from isolation_calls import BY_NAME, ELSEWHERE, OPERATED, WALKS
from isolation_site import Site

#: Routes that are no declared calls: what they are, and that they tell nothing of a bank (test_isolation asks them).
PLAIN = {
    "/health", "/health/ready", "/health/live", "/version", "/metrics", "/v1/default/session",
}  # fmt: skip


def test_every_call_is_walked() -> None:
    walked = [*WALKS, *OPERATED, *ELSEWHERE]
    assert len(walked) == len(set(walked))
    assert set(walked) == set(BY_NAME)


def test_every_route_is_a_declared_call_or_plain(site: Site) -> None:
    declared = {call.path for call in BY_NAME.values()}
    plain = {path.replace(":path", "") for path in declared}
    assert set(site.app.openapi()["paths"]) == plain | PLAIN
