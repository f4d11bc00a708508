"""The property test notices each wall that is broken: `make mutants` prints what noticed it."""

import random

import pytest
from isolation_changes import change_all
from isolation_look import OWNERS, Leak, Look
from isolation_making import made
from isolation_mutants import MUTANTS, broken
from isolation_oracle import askers
from isolation_plan import planned
from isolation_site import Site
from isolation_truth import truth
from isolation_walk import walk

#: Worlds in which a broken wall must be noticed.
SEEDS = range(100, 106)


@pytest.mark.parametrize("name", MUTANTS)
def test_a_broken_wall_is_noticed(site: Site, name: str) -> None:
    for seed in SEEDS:
        noticed = site.run(_noticed(site, name, seed))
        if noticed:
            print(f"\n| {name} | world {seed} | {noticed} |")
            return
    pytest.fail(f"nobody noticed in {len(SEEDS)} worlds")


async def _noticed(site: Site, name: str, seed: int) -> str:
    """Return what noticed that a wall is broken; nothing else is wrong in this world."""
    world = await made(site, planned(seed))
    found = await truth(world)
    OWNERS.update(dict.fromkeys((*world.secrets, *world.names), world.number))
    with broken(name):
        # Operators see it all: they come last.
        for asker in sorted(askers(world.plan), key=lambda one: one.kind == "operator"):
            try:
                await walk(Look(world, found, asker, random.Random(seed)), share=2.0)
            except Leak as error:
                return str(error).splitlines()[0][:160]
        for asker in (one for one in askers(world.plan) if one.kind != "operator"):
            try:
                await change_all(Look(world, await truth(world), asker, random.Random(seed)), share=0)
            except Leak as error:
                return str(error).splitlines()[0][:160]
    return ""
