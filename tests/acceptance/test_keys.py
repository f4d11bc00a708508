"""Real keys over real processes: who is let in, what they may ask for, and that what is not theirs is not there."""

import json
import re
import signal
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
from hindsight_client import Hindsight
from hindsight_client_api.exceptions import ApiException
from processes import WHEN_ASKED, Installation, Program

from memorybank.serve.actions import CALLS
from memorybank.serve.calls import BANK, Call, Rule

#: Ana owns all agents of `solo`, and with Ben those of `team`; Mia is of their organization; Otto is of another.
DIRECTORY = """
organizations: [{id: acme}, {id: other}]
people:
  - {id: ana, organization: acme, role: owner, key: key-of-ana-0123456789}
  - {id: ben, organization: acme, key: key-of-ben-0123456789}
  - {id: mia, organization: acme, key: key-of-mia-0123456789}
  - {id: otto, organization: other, key: key-of-otto-0123456789}
agents:
  - {id: aide, owner: ana, organization: acme, bank: team, key: key-of-aide-0123456789}
  - {id: twin, owner: ben, organization: acme, bank: team, key: key-of-twin-0123456789}
  - {id: solo, owner: ana, organization: acme, key: key-of-solo-0123456789}
  - {id: far, owner: otto, organization: other, bank: away, key: key-of-far-0123456789}
"""
#: Refused before anything else is looked at, so that a walk over all calls changes nothing.
NO_JSON = {"content": b"{", "headers": {"content-type": "application/json"}}
OPEN = ("/health", "/health/live", "/version", "/openapi.json", "/docs")


class World:
    """A running installation with a directory, and a key for everybody in it."""

    def __init__(self, home: Installation, up: Program, keys: dict[str, str]) -> None:
        self.home, self.up, self.url, self.keys = home, up, up.url(), keys
        self.client = httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def ask(self, who: str | None, method: str, path: str, **options: Any) -> httpx.Response:
        """Ask with the key of somebody, or none."""
        headers = {"authorization": f"Bearer {self.keys[who]}"} if who else {}
        headers |= options.pop("headers", {})
        self.client.cookies.clear()
        return self.client.request(method, path, headers=headers, **options)

    def made(self, *arguments: str) -> str:
        done = self.home.run("keys", "create", *arguments)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    home = Installation(tmp_path_factory.mktemp("keys"), **WHEN_ASKED)
    try:
        declared = home.folder / "directory.yaml"
        declared.write_text(DIRECTORY)
        done = home.run("directory", "apply", str(declared), "--json")
        assert done.returncode == 0, done.stderr
        [operator] = json.loads(done.stdout)["keys"]
        keys = {name: f"key-of-{name}-0123456789" for name in re.findall(r"key-of-(\w+)-", DIRECTORY)}
        world = World(home, home.up(), keys | {"operator": operator["key"]})
        world.keys["part"] = world.made("--operator", "--bank", "solo", "--name", "for solo")
        for bank in ("team", "solo", "away"):
            body = {"items": [{"content": f"Ana keeps bees in {bank}.", "document_id": f"d-{bank}"}]}
            assert world.ask("operator", "POST", f"/v1/default/banks/{bank}/memories", json=body).is_success
        yield world
        world.client.close()
        world.up.send(signal.SIGINT)
        assert world.up.wait() == 0
        said = world.up.out + world.up.err
        assert not [name for name, key in world.keys.items() if key in said], "a key was logged"
    finally:
        home.end()


def _path(call: Call, bank: str) -> str:
    return re.sub(r"\{\w+(:path)?\}", str(uuid4()), call.path.replace("{bank_id}", bank))


def _said(answer: httpx.Response) -> tuple[Any, ...]:
    """All that an answer says, but when it was said, and to which request."""
    kept = {name: value for name, value in answer.headers.items() if name != "date"}
    return answer.status_code, kept, re.sub('"req_[0-9a-f]{32}"', '"req"', answer.text)


@pytest.mark.parametrize("call", list(CALLS), ids=lambda call: call.name)
def test_every_call_wants_a_key(world: World, call: Call) -> None:
    """None, a wrong one and a session that is none are told the same, before the body is looked at."""
    world.keys["wrong"] = "key-of-nobody-0123456789"
    path = _path(call, "team")
    answers = [
        world.ask(None, call.method, path, **NO_JSON),
        world.ask("wrong", call.method, path, **NO_JSON),
        world.ask(None, call.method, path, headers={"x-api-key": b"\xfc"}),
        world.ask(None, call.method, path, headers={"cookie": "memorybank_session=x", "origin": world.url}),
    ]
    assert all(_said(answer) == _said(answers[0]) for answer in answers)
    assert (answers[0].status_code, answers[0].headers["www-authenticate"]) == (401, "Bearer")
    # Those of keys with values say in one word what their contract says.
    assert ("Unauthorized" if call.group == "entries" else "key") in answers[0].text


@pytest.mark.parametrize("path", OPEN)
def test_some_is_told_to_everybody(world: World, path: str) -> None:
    assert world.ask(None, "GET", path).status_code == 200


def test_metrics_are_the_operators(world: World) -> None:
    answers = {
        who: world.ask(who, "GET", "/metrics").status_code for who in (None, "part", "ana", "operator")
    }
    assert answers == {None: 401, "part": 403, "ana": 403, "operator": 200}


@pytest.mark.parametrize(
    "call", [call for call in CALLS if call.path.startswith(BANK)], ids=lambda call: call.name
)
def test_a_bank_of_others_is_as_one_that_is_not_there(world: World, call: Call) -> None:
    for who in ("far", "otto", "part", "solo"):
        theirs, nowhere = (
            world.ask(who, call.method, _path(call, bank), **NO_JSON) for bank in ("team", "meat")
        )
        assert theirs.status_code == 404
        there, absent = (
            (status, headers, re.sub("team|meat", "bank", text))
            for status, headers, text in (_said(theirs), _said(nowhere))
        )
        assert there == absent


def _changes_nothing(call: Call) -> bool:
    """Whether a call on a bank can be tried by all: it reads, has a body to be refused, or is of what is not there."""
    reads = call.method == "GET" or call.body is not None or call.path.count("{") > 1
    return call.path.startswith(BANK) and reads


#: Who of those who know of the bank `team`, or `solo`, may make a call; the others are told that they may not.
MAY = {
    ("team", Rule.SEES): {"ana", "ben", "mia", "aide", "twin", "operator"},
    ("team", Rule.USES): {"ana", "ben", "aide", "twin", "operator"},
    ("team", Rule.OWNS): {"operator"},
    ("solo", Rule.SEES): {"ana", "ben", "mia", "solo", "operator", "part"},
    ("solo", Rule.USES): {"ana", "solo", "operator", "part"},
    ("solo", Rule.OWNS): {"ana", "operator", "part"},
}


@pytest.mark.parametrize(
    "call", [call for call in CALLS if _changes_nothing(call)], ids=lambda call: call.name
)
@pytest.mark.parametrize("bank", ["team", "solo"])
def test_whom_a_call_on_a_bank_is_for(world: World, call: Call, bank: str) -> None:
    knows = MAY[bank, Rule.SEES]
    refused = {
        who for who in knows if world.ask(who, call.method, _path(call, bank), **NO_JSON).status_code == 403
    }
    assert knows - refused == MAY[bank, call.rule]


def test_calls_on_the_installation_are_the_operators(world: World) -> None:
    for call in CALLS:
        if call.rule is Rule.OPERATES:
            for who in set(world.keys) - {"operator", "wrong", "revoked"}:
                assert world.ask(who, call.method, _path(call, ""), **NO_JSON).status_code == 403, who


def test_everybody_lists_the_banks_they_know_of(world: World) -> None:
    def banks(who: str) -> set[str]:
        answer = world.ask(who, "GET", "/v1/default/banks").json()
        assert answer["total"] == len(answer["banks"])
        return {bank["bank_id"] for bank in answer["banks"]}

    assert banks("operator") >= {"team", "solo", "away"}
    assert {who: banks(who) for who in ("ana", "mia", "otto", "aide", "far", "part")} == {
        "ana": {"team", "solo"},
        "mia": {"team", "solo"},
        "otto": {"away"},
        "aide": {"team"},
        "far": {"away"},
        "part": {"solo"},
    }


def test_what_is_kept_for_a_bank_is_seen_by_who_uses_it(world: World) -> None:
    def seen(who: str, bank: str = "team") -> list[str]:
        answer = world.ask(who, "POST", f"/v1/default/banks/{bank}/memories/recall", json={"query": "bees"})
        return [hit["text"] for hit in answer.json()["results"]]

    for who in ("operator", "ana", "ben", "aide", "twin"):
        assert seen(who) == ["Ana keeps bees in team."]
    assert seen("mia") == []
    for path in ("documents", "entities", "tags", "memories/list", "operations"):
        assert world.ask("mia", "GET", f"/v1/default/banks/team/{path}").json()["total"] == 0
    document = "/v1/default/banks/team/documents/d-team"
    unknown = world.ask("mia", "GET", document.replace("d-team", "d-meat"))
    hidden = world.ask("mia", "GET", document)
    assert (hidden.status_code, hidden.text.replace("d-team", "d-meat")) == (404, unknown.text)
    assert world.ask("mia", "DELETE", document).status_code == 404
    chunk = "/v1/default/chunks/{0}_d-{0}_0"
    for who, bank in (("mia", "team"), ("far", "team"), ("part", "team"), ("otto", "solo")):
        assert world.ask(who, "GET", chunk.format(bank)).status_code == 404
    assert world.ask("aide", "GET", chunk.format("team")).status_code == 200
    assert world.ask("part", "GET", chunk.format("solo")).status_code == 200


def test_an_agent_keeps_in_its_bank_alone(world: World) -> None:
    body = {"items": [{"content": "Twin met Cleo."}]}
    assert world.ask("twin", "POST", "/v1/default/banks/team/memories", json=body).status_code == 200
    for bank in ("solo", f"new-{uuid4()}"):
        assert world.ask("twin", "POST", f"/v1/default/banks/{bank}/memories", json=body).status_code == 404
    assert world.ask("part", "PUT", f"/v1/default/banks/new-{uuid4()}", json={}).status_code == 404


def test_a_key_comes_in_three_ways(world: World) -> None:
    key = world.keys["aide"]
    for headers in ({"authorization": key}, {"authorization": f"bearer {key}"}, {"x-api-key": key}):
        assert world.ask(None, "GET", "/v1/default/session", headers=headers).json()["kind"] == "agent"


def test_a_revoked_key_opens_nothing_at_once(world: World) -> None:
    made = world.ask(
        "operator", "POST", "/v1/default/keys", json={"kind": "agent", "id": "aide", "name": "spare"}
    )
    assert made.status_code == 201
    world.keys["revoked"] = made.json()["key"]
    assert world.ask("revoked", "GET", "/v1/default/banks").status_code == 200
    listed = world.ask("operator", "GET", "/v1/default/keys").json()["items"][0]
    assert (listed["name"], listed["id"], listed["revoked_at"]) == ("spare", "aide", None)
    assert listed["last_used_at"] is not None and world.keys["revoked"].startswith(listed["prefix"])
    assert "key" not in listed and len(listed["prefix"]) == 8
    path = f"/v1/default/keys/{made.json()['key_id']}"
    assert world.ask("operator", "DELETE", path).json() == {"status": "deleted"}
    assert world.ask("revoked", "GET", "/v1/default/banks").status_code == 401
    assert world.ask("operator", "DELETE", f"/v1/default/keys/{uuid4()}").status_code == 404
    assert world.ask("operator", "DELETE", "/v1/default/keys/x").status_code == 400


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"kind": "agent"}, 422),
        ({"kind": "agent", "id": "nobody"}, 404),
        ({"kind": "agent", "id": "aide", "banks": ["team"]}, 422),
        ({"kind": "operator", "id": "ana"}, 422),
        ({"kind": "operator", "banks": []}, 422),
        ({"kind": "operator", "banks": ["\u0000"]}, 422),
        ({"kind": "operator", "name": "\ud800"}, 422),
        ({"kind": "operator", "name": "a" * 201}, 422),
        ({"kind": "root"}, 422),
        ({"kind": "operator", "key": "chosen-by-me-0123456789"}, 422),
    ],
)
def test_keys_that_cannot_be(world: World, body: Any, status: int) -> None:
    sent = {"content": json.dumps(body), "headers": {"content-type": "application/json"}}
    assert world.ask("operator", "POST", "/v1/default/keys", **sent).status_code == status


def test_a_refused_directory_says_no_key_back(world: World) -> None:
    secret = "secret-of-nobody-0123456789"
    for person in ({"key": secret}, {"id": "x", "key": secret, "rank": 1}, {"id": "x", "key": [secret]}):
        answer = world.ask("operator", "PUT", "/v1/default/directory", json={"people": [person]})
        assert (answer.status_code, secret in answer.text) == (422, False)


def test_an_operator_acts_for_others(world: World) -> None:
    def acting(who: str, whom: str) -> httpx.Response:
        return world.ask(who, "GET", "/v1/default/banks", headers={"x-acting-as": whom})

    uuid = next(
        one["uuid"]
        for one in world.ask("operator", "GET", "/v1/default/directory").json()["agents"]
        if one["id"] == "aide"
    )
    for whom in ("agent:aide", f"agent:{uuid}"):
        assert [bank["bank_id"] for bank in acting("operator", whom).json()["banks"]] == ["team"]
    assert acting("operator", "person:otto").json()["total"] == 1
    assert acting("operator", "person:aide").status_code == 404
    assert acting("operator", "robot:aide").status_code == 400
    for who in ("part", "ana", "aide"):
        for whom in ("agent:aide", "agent:nobody"):
            assert acting(who, whom).status_code == 403


def test_a_session_is_its_key(world: World) -> None:
    """HttpOnly, SameSite, from pages of this server alone where it changes something; it ends with its key."""
    made = world.ask("operator", "POST", "/v1/default/keys", json={"kind": "person", "id": "ana"}).json()
    key = {"authorization": f"Bearer {made['key']}"}
    begun = world.ask(None, "POST", "/v1/default/session", headers=key)
    cookie, *rest = begun.headers["set-cookie"].split("; ")
    assert begun.status_code == 204
    assert {part.lower() for part in rest} == {"httponly", "samesite=strict", "path=/", "max-age=43200"}
    session = {"cookie": cookie}
    assert world.ask(None, "GET", "/v1/default/banks", headers=session).json()["total"] == 2
    write = ("PUT", "/v1/default/banks/solo/profile")
    host = world.url.removeprefix("http://")
    for origin in (
        None,
        "null",
        "http://evil.example",
        f"http://{host}.evil.example",
        f"http://evil@{host}0",
    ):
        headers = session if origin is None else session | {"origin": origin}
        assert world.ask(None, *write, headers=headers, json={}).status_code == 403
    own = session | {"origin": world.url}
    assert world.ask(None, *write, headers=own, json={}).status_code == 422, "let in, and its body refused"
    assert world.ask(None, *write, headers=key, json={}).status_code == 422, "a key needs no Origin"
    assert world.ask(None, "DELETE", "/v1/default/session", headers=own).status_code == 204
    assert world.ask(None, "GET", "/v1/default/banks", headers=session).status_code == 401
    session = {"cookie": world.ask(None, "POST", "/v1/default/session", headers=key).headers["set-cookie"]}
    assert world.ask(None, "GET", "/v1/default/banks", headers=session).status_code == 200
    world.ask("operator", "DELETE", f"/v1/default/keys/{made['key_id']}")
    assert world.ask(None, "GET", "/v1/default/banks", headers=session).status_code == 401
    assert world.ask(None, "POST", "/v1/default/session").status_code == 401


@pytest.mark.parametrize("who", ["aide", "operator", None])
async def test_the_published_client_sends_its_key(world: World, who: str | None) -> None:
    client = Hindsight(base_url=world.url, api_key=world.keys[who] if who else None, timeout=60)
    try:
        if who:
            assert (await client.arecall("team", "bees")).results
        else:
            with pytest.raises(ApiException) as refused:
                await client.arecall("team", "bees")
            assert refused.value.status == 401
    finally:
        await client.aclose()


def test_commands_send_the_key_of_the_environment(world: World) -> None:
    elsewhere = {"MEMORYBANK_URL": world.url}
    without = world.home.run("recall", "team", "bees", **elsewhere)
    assert (without.returncode, without.stderr.count("\n")) == (1, 1)
    assert "MEMORYBANK_API_KEY" in without.stderr
    ana, operator = ({**elsewhere, "MEMORYBANK_API_KEY": world.keys[who]} for who in ("ana", "operator"))
    assert "bees" in world.home.run("recall", "team", "bees", **ana).stdout
    there = world.home.run("directory", "show", "--json", **operator)
    assert json.loads(there.stdout) == world.ask("operator", "GET", "/v1/default/directory").json()
    here = world.home.run("directory", "show")
    assert here.returncode == 0 and "aide" in here.stdout


def test_the_first_key_closes_the_door_and_opens_the_house(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keyless until then, over loopback alone; once the command has ended, no server lets anybody in without a key."""
    home = Installation(tmp_path_factory.mktemp("first"), **WHEN_ASKED)
    try:
        refused = home.run("serve", "--host", "0.0.0.0", "--port", "0")
        assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
        assert "memorybank keys create --operator" in refused.stderr
        serve = home.serve()
        url = serve.url()

        def status(**headers: str) -> int:
            return httpx.get(f"{url}/v1/default/banks", headers=headers, trust_env=False).status_code

        assert status() == status(Authorization="Bearer any") == 200
        assert httpx.post(f"{url}/v1/default/session", trust_env=False).status_code == 401
        key = home.run("keys", "create", "--operator").stdout.strip()
        assert (status(), status(Authorization=f"Bearer {key}")) == (401, 200)
        beyond = home.serve(MEMORYBANK_SERVER__HOST="0.0.0.0")
        port = beyond.url().rpartition(":")[2]
        assert httpx.get(f"http://127.0.0.1:{port}/v1/default/banks", trust_env=False).status_code == 401
    finally:
        home.end()


def test_a_wrong_file_is_told_where_it_is_wrong(world: World) -> None:
    wrong = world.home.folder / "wrong.yaml"
    wrong.write_text("people: [{id: eve}, {id: carl, organization: nowhere}]")
    done = world.home.run("directory", "apply", str(wrong))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.strip() == "people.1.organization: there is no organization of the id 'nowhere'"
