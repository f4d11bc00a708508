"""Who may see and who may change what: every kind of audience, for every kind of principal, at every kind of place."""

from uuid import NAMESPACE_URL, UUID, uuid5

import pytest

from memorybank.audience import (
    OPERATOR,
    Audience,
    AudienceKind,
    Place,
    PlaceKind,
    Principal,
    PrincipalKind,
    Reach,
    Surface,
    may_change,
    may_see,
)


def _id(name: str) -> UUID:
    return uuid5(NAMESPACE_URL, name)


#: Ana owns the agent Aide, which remembers in `bank` and belongs to Acme; so do Ben, a member, and Olga, an owner. Otto
#: is an outsider with the agent Other, in a bank of his own; Twin is a second agent in `bank`, Olga's. Lone has no
#: organization.
ACME, ELSE = _id("acme"), _id("else")
ANA, BEN, OLGA, OTTO, LIV = (_id(name) for name in ("ana", "ben", "olga", "otto", "liv"))
AIDE, TWIN, OTHER, LONE = (_id(name) for name in ("aide", "twin", "other", "lone"))
OPS, GENERAL, AFAR = _id("ops"), _id("general"), _id("afar")
BANK = "bank"


def _person(
    id_: UUID, organization: UUID | None, *places: UUID, owner: bool = False, **agents: UUID
) -> Principal:
    owned = {agent: bank for bank, agent in agents.items()}
    return Principal(PrincipalKind.PERSON, id_, organization, owner, agents=owned, places=frozenset(places))


def _agent(id_: UUID, organization: UUID | None, bank: str) -> Principal:
    return Principal(PrincipalKind.AGENT, id_, organization, agents={id_: bank})


PRINCIPALS = {
    "operator": OPERATOR,
    "elsewhere": Principal(PrincipalKind.OPERATOR, banks=frozenset({"other"})),
    "ana": _person(ANA, ACME, OPS, GENERAL, _id("dm"), bank=AIDE),
    "ben": _person(BEN, ACME, GENERAL),
    "olga": _person(OLGA, ACME, owner=True, bank=TWIN),
    "otto": _person(OTTO, ELSE, AFAR, owner=True, other=OTHER),
    "liv": _person(LIV, None, bank=LONE),
    "aide": _agent(AIDE, ACME, BANK),
    "twin": _agent(TWIN, ACME, BANK),
    "other": _agent(OTHER, ELSE, "other"),
    "lone": _agent(LONE, None, BANK),
}
CIRCLES = {
    "bank": Audience(AudienceKind.BANK),
    "aide's": Audience(AudienceKind.AGENT, agent=AIDE),
    "lone's": Audience(AudienceKind.AGENT, agent=LONE),
    "acme's": Audience(AudienceKind.ORGANIZATION, organization=ACME),
    "else's": Audience(AudienceKind.ORGANIZATION, organization=ELSE),
    "about ana": Audience.about(ANA, AIDE, ACME),
    "about aide": Audience.about(AIDE, TWIN, ACME),
    "lone about ben": Audience.about(BEN, LONE, None),
    "else about ana": Audience.about(ANA, OTHER, ELSE),
    "ops": Audience(AudienceKind.PLACE, place=OPS),
    "general": Audience(AudienceKind.PLACE, place=GENERAL),
    "ana with aide": Audience(AudienceKind.DM, agent=AIDE, person=ANA),
    "ana with twin": Audience(AudienceKind.DM, agent=TWIN, person=ANA),
    "ben with aide": Audience(AudienceKind.DM, agent=AIDE, person=BEN),
}
PLACES = {
    "general": Place(GENERAL, PlaceKind.PUBLIC, ACME),
    "ops": Place(OPS, PlaceKind.PRIVATE, ACME),
    "aide's room": Place(_id("room"), PlaceKind.PRIVATE, ACME, agent=AIDE),
    "ana with aide": Place(_id("dm"), PlaceKind.DM, ACME, agent=AIDE, person=ANA),
    "afar": Place(AFAR, PlaceKind.PUBLIC, ELSE),
}
ACMES = {"acme's", "about ana", "about aide"}
#: Who sees which circles of the bank, without a place.
SEEN = {
    "operator": set(CIRCLES),
    "elsewhere": set(),
    "ana": {
        "bank",
        "aide's",
        "acme's",
        "about ana",
        "else about ana",
        "ops",
        "general",
        "ana with aide",
        "ana with twin",
    },
    "ben": {"acme's", "general", "lone about ben", "ben with aide"},
    "olga": {"bank", "acme's"},
    "otto": {"else's"},
    "liv": {"bank", "lone's"},
    "aide": {"bank", "aide's", *ACMES},
    "twin": {"bank", *ACMES},
    "other": set(),
    "lone": {"bank", "lone's", "lone about ben"},
}
#: And at a place; who is not named may not speak there, and learns nothing.
SEEN_AT = {
    "general": {
        "operator": {"bank", "aide's", "lone's", "acme's", "general"},
        "ana": {"bank", "aide's", "acme's", "about ana", "else about ana", "general"},
        "ben": {"acme's", "lone about ben", "general"},
        "aide": {"bank", "aide's", "acme's", "general"},
        "twin": {"bank", "acme's", "general"},
    },
    "ops": {
        "operator": {"bank", "aide's", "lone's", "acme's", "ops"},
        "ana": {"bank", "aide's", "acme's", "about ana", "else about ana", "ops"},
        "aide": {"bank", "aide's", "acme's", "ops"},
        "twin": {"bank", "acme's", "ops"},
    },
    "aide's room": {
        "operator": {"bank", "aide's", "acme's"},
        "aide": {"bank", "aide's", "acme's"},
    },
    "ana with aide": {
        "operator": {"bank", "aide's", "acme's", "about ana", "ana with aide"},
        "ana": {"bank", "aide's", "acme's", "about ana", "else about ana", "ana with aide"},
        "aide": {"bank", "aide's", "acme's", "about ana", "ana with aide"},
    },
    "afar": {
        "operator": {"bank", "aide's", "lone's", "else's"},
        "otto": {"else's"},
    },
}
#: Circles of whose rows a principal may change what others wrote: through facts, and through Band.
CHANGED = {
    "operator": set(CIRCLES),
    "elsewhere": set(),
    "ana": {
        "bank",
        "aide's",
        "about ana",
        "else about ana",
        "ops",
        "general",
        "ana with aide",
        "ana with twin",
    },
    "ben": {"general", "lone about ben", "ben with aide"},
    "olga": {"bank", "acme's"},
    "otto": {"else's"},
    "liv": {"bank", "lone's"},
}
CHANGED_BY_BAND = {
    "ana": {"aide's", "about ana", "else about ana"},
    "ben": {"lone about ben"},
    "liv": {"lone's"},
}


@pytest.mark.parametrize("who", PRINCIPALS)
def test_what_is_seen(who: str) -> None:
    principal = PRINCIPALS[who]
    assert {name for name, circle in CIRCLES.items() if may_see(principal, BANK, circle)} == SEEN[who]


@pytest.mark.parametrize("where", PLACES)
@pytest.mark.parametrize("who", [who for who in PRINCIPALS if who != "elsewhere"])
def test_what_applies_at_a_place(who: str, where: str) -> None:
    principal, place = PRINCIPALS[who], PLACES[where]
    seen = {name for name, circle in CIRCLES.items() if may_see(principal, BANK, circle, place)}
    assert seen == SEEN_AT[where].get(who, set())


@pytest.mark.parametrize("who", [who for who in PRINCIPALS if not PRINCIPALS[who].operates])
@pytest.mark.parametrize("where", PLACES)
def test_a_place_only_narrows(who: str, where: str) -> None:
    """But for what an agent is told of the place where it is, which it cannot ask for elsewhere."""
    principal, place = PRINCIPALS[who], PLACES[where]
    more = {
        name
        for name, circle in CIRCLES.items()
        if may_see(principal, BANK, circle, place) and not may_see(principal, BANK, circle)
    }
    assert more <= ({where} if principal.kind is PrincipalKind.AGENT else set())


@pytest.mark.parametrize("who", PRINCIPALS)
@pytest.mark.parametrize("through", Surface)
def test_what_others_wrote_is_changed(who: str, through: Surface) -> None:
    principal = PRINCIPALS[who]
    changed = {name for name, circle in CIRCLES.items() if may_change(principal, BANK, circle, None, through)}
    if principal.operates:
        assert changed == CHANGED[who]
    elif principal.kind is PrincipalKind.AGENT:
        assert changed == set()
    elif through is Surface.FACTS:
        assert changed == CHANGED[who]
    elif through is Surface.BAND:
        assert changed == CHANGED_BY_BAND.get(who, set())
    else:
        assert changed == CHANGED[who] & {"aide's", "lone's"}


@pytest.mark.parametrize("through", Surface)
def test_an_agent_changes_what_it_wrote_and_only_in_its_bank(through: Surface) -> None:
    for circle in CIRCLES.values():
        assert may_change(PRINCIPALS["aide"], BANK, circle, AIDE, through)
        assert not may_change(PRINCIPALS["aide"], "other", circle, AIDE, through)
        if circle.agent != AIDE and circle.kind is not AudienceKind.BANK:
            assert not may_change(PRINCIPALS["aide"], BANK, circle, TWIN, through)


def test_what_is_changed_is_seen() -> None:
    for principal in PRINCIPALS.values():
        for circle in CIRCLES.values():
            if may_change(principal, BANK, circle, None, Surface.FACTS):
                assert may_see(principal, BANK, circle)


def test_nothing_shares_a_missing_id() -> None:
    """Nobody without an organization, person or agent meets a circle that lacks it too."""
    nobody = Reach(banks=frozenset(), agents=frozenset())
    for kind in AudienceKind:
        assert not nobody.sees(BANK, Audience(kind))


def test_an_operator_without_a_place_has_no_reach() -> None:
    with pytest.raises(ValueError, match="sees everything"):
        Reach.of(OPERATOR)


@pytest.mark.parametrize(
    ("who", "known"),
    [
        ("ana", {"ana", "ben", "aide"}),
        ("otto", {"otto"}),
        ("liv", {"liv", "lone"}),
        ("lone", {"lone"}),
        ("aide", {"ana", "ben", "aide"}),
    ],
)
def test_who_is_known_by_name(who: str, known: set[str]) -> None:
    """Who has no organization shares none with anybody."""
    names = {one: PRINCIPALS[one] for one in ("ana", "ben", "otto", "liv", "aide", "lone")}
    found = {
        name for name, one in names.items() if one.id and PRINCIPALS[who].knows(one.id, one.organization)
    }
    assert found == known


@pytest.mark.parametrize(
    ("who", "place", "read"),
    [
        ("ana", OPS, True),
        ("ben", OPS, False),
        ("ben", AFAR, True),
        ("ben", None, True),
        ("aide", OPS, False),
        ("operator", OPS, True),
    ],
)
def test_where_something_was_said_is_told_to_who_reads_there(
    who: str, place: UUID | None, read: bool
) -> None:
    assert PRINCIPALS[who].reads_in(place, {AFAR}) is read
