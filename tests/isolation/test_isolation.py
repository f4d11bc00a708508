"""Nobody is told what is not theirs, in random installations, by any call, over HTTP with real keys.

`make isolation` looks at 2,000 worlds, other ones each time; a failure prints the number of its world.
"""

import asyncio
import os
import random

from hypothesis import HealthCheck, Phase, given, settings
from isolation_changes import change_all
from isolation_look import OWNERS, Look
from isolation_making import made
from isolation_oracle import Asker, askers
from isolation_plan import Plan, planned, plans
from isolation_site import Site
from isolation_truth import Truth, truth
from isolation_walk import walk
from isolation_world import World

#: How many worlds: set for the long run.
WORLDS = int(os.environ.get("MEMORYBANK_ISOLATION_WORLDS", "0"))
#: Worlds of a run of all tests; of all who could look at one, so many do.
QUICK, LOOKERS = 200, 2
#: Share of the way that each walks.
SHARE = 0.5
#: Worlds that are asked over a socket.
OVER_SOCKET = 4
#: In one of so many worlds somebody leaves a place.
LEAVING = 4
#: In one of so many worlds somebody changes all that is theirs.
CHANGING = 5
#: Worlds that are made and looked at at once.
BESIDE = 4


def test_nobody_is_told_what_is_not_theirs(site: Site) -> None:
    @settings(
        max_examples=(WORLDS or QUICK) // BESIDE,
        deadline=None,
        database=None,
        derandomize=not WORLDS,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(plans(BESIDE))
    def checked(beside: list[Plan]) -> None:
        site.run(_all(site, beside))

    checked()


def test_nobody_is_told_over_a_socket(site: Site) -> None:
    """What a real server adds to answers tells nothing either."""

    async def asked() -> None:
        async with site.listening():
            await _all(site, [planned(seed) for seed in range(OVER_SOCKET)])

    site.run(asked())


async def _all(site: Site, beside: list[Plan]) -> None:
    async with asyncio.TaskGroup() as worlds:
        for plan in beside:
            worlds.create_task(_checked(site, plan))


async def _checked(site: Site, plan: Plan) -> None:
    world = await made(site, plan)
    found = await truth(world)
    OWNERS.update(dict.fromkeys((*world.secrets, *world.names), world.number))
    lookers = random.Random(plan.seed).sample(askers(plan), LOOKERS)
    looks = [Look(world, found, asker, random.Random(plan.seed)) for asker in lookers]
    await asyncio.gather(*(walk(look, SHARE) for look in looks))
    if plan.seed % LEAVING == 0:
        await _leave(world, found)
    if plan.seed % CHANGING == 0:
        await change_all(looks[0], SHARE)


async def _leave(world: World, found: Truth) -> None:
    """Whoever leaves a place sees nothing of it any more, from the next request on."""
    chance, places = random.Random(world.plan.seed), enumerate(world.plan.places)
    members = [(person, n) for n, place in places if place.kind != "dm" for person in place.members]
    if not members:
        return
    person, place = chance.choice(members)
    world.oracle.left.add((person, place))
    left = await world.ask(Asker("operator"), "PUT", "/v1/default/directory", world.directory())
    assert left.status_code == 200, left.text
    await walk(Look(world, found, Asker("person", person), chance), SHARE)
