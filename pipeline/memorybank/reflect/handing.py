"""What leaves beside an answer, under the directives: what it rests on, and the steps of its trace. Pure.

What must not be told keeps its id and loses its words. What an answer rests on is judged with it, line by line; a trace
may hold hundreds of lines that nobody judges, so under a directive which a model has to judge it shows ids alone.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from memorybank.directives import handing
from memorybank.directives.handing import HIDDEN
from memorybank.model import Hit
from memorybank.reflect.notebook import Note
from memorybank.reflect.query import Step, UsedModel
from memorybank.storage.directives import Directive
from memorybank.timeline.stamps import period

Basis = Hit | UsedModel


def basis(notes: Sequence[Note]) -> tuple[Basis, ...]:
    """Return what stands behind notes."""
    return tuple(one for note in notes if (one := note.fact or note.model) is not None)


def line(place: int, one: Basis) -> str:
    """Return all that a caller gets of it, as one JSON object."""
    if isinstance(one, UsedModel):
        told = {"text": f"{one.name}: {one.text}"}
    else:
        happened = period(one.occurred_start, one.occurred_end)
        told = {"text": one.text, "context": one.context, "happened": happened}
    return json.dumps({"id": place, **{key: said for key, said in told.items() if said}}, ensure_ascii=False)


def lines(based: Sequence[Basis]) -> tuple[str, ...]:
    """Return a line for each, numbered from 1."""
    return tuple(line(place, one) for place, one in enumerate(based, 1))


def shown(based: Sequence[Basis], hidden: Collection[int]) -> list[Basis]:
    """Return the same with nothing but ids of those at the places that are hidden."""
    return [_veiled(one) if place in hidden else one for place, one in enumerate(based, 1)]


def _veiled(one: Basis) -> Basis:
    if isinstance(one, UsedModel):
        return UsedModel(one.id, "mental model", HIDDEN)
    return replace(one, text=HIDDEN, context="", occurred_start=None, occurred_end=None)


def steps(made: Sequence[Step], directives: Sequence[Directive]) -> tuple[Step, ...]:
    """Return the steps as a trace may show them: a model's own queries are words of an answer too."""
    if not directives:
        return tuple(made)
    nobody_judges = handing.needs_model(directives)

    def told(said: str) -> str:
        return HIDDEN if nobody_judges or handing.says(directives, said) else said

    return tuple(replace(step, input=_input(step, told), output=_output(step.output, told)) for step in made)


def _input(step: Step, told: Any) -> Mapping[str, Any]:
    asked = json.dumps(step.input, ensure_ascii=False, default=str)
    # The first look asks what the caller asked.
    return step.input if not step.iteration or told(asked) == asked else {}


def _output(found: Mapping[str, Any], told: Any) -> Mapping[str, Any]:
    changed = dict(found)
    for kind, key in (("memories", "text"), ("mental_models", "name")):
        if kind in found:
            changed[kind] = [one | {key: told(one[key])} for one in found[kind]]
    return changed
