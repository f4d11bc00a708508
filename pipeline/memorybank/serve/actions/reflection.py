"""Reflect: an answer at once, or as it comes about."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

from memorybank.audience import Principal, Viewer
from memorybank.memory import MemoryBank
from memorybank.model import Hit
from memorybank.reflect.query import Reflection, ReflectQuery, Scope, Step
from memorybank.serve.actions.translate import tag_groups, usage
from memorybank.serve.calls import BANK, Event, call
from memorybank.serve.http.schemas import reflect as wire
from memorybank.serve.http.schemas.reflect import ReflectRequest, ReflectResponse
from memorybank.serve.http.schemas.wire import stamp
from memorybank.storage.banks import stored_id

#: Seconds without an event after which a stream says that it lives: proxies cut those that are silent for a minute.
PING_SECONDS = 15.0
#: A word with the space behind it: what comes at a time once an answer may leave.
_PIECE = re.compile(r"\S*\s*")


@call("POST", BANK + "/reflect", command="reflect", reads=True)
async def reflect(
    memory: MemoryBank, viewer: Viewer, principal: Principal, bank_id: str, body: ReflectRequest
) -> ReflectResponse:
    """Answer from what is remembered, at a `place` from what applies there, under the bank's directives."""
    if body.place is not None:
        viewer = await memory.viewer_at(principal, bank_id, body.place)
    found = await memory.reflect(bank_id, query(body), viewer)
    return response(body, _shown(found, principal, bank_id))


@call("POST", BANK + "/reflect/stream", reads=True, streams=True)
async def reflect_stream(
    memory: MemoryBank, viewer: Viewer, principal: Principal, bank_id: str, body: ReflectRequest
) -> AsyncIterator[Event]:
    """Answer as `reflect` does, as server-sent events.

    `step` for each tool call as soon as it is done; once the answer is checked `token` for its words and `done` with
    all that `reflect` answers. `error` with status and detail where it fails after the first event. Who hangs up ends
    the work.
    """
    if body.place is not None:
        viewer = await memory.viewer_at(principal, bank_id, body.place)
    told: asyncio.Queue[Step | None] = asyncio.Queue()
    task = asyncio.ensure_future(
        memory.reflect(bank_id, query(body), viewer, lambda step: told.put_nowait(step))
    )
    task.add_done_callback(lambda _: told.put_nowait(None))
    try:
        while True:
            try:
                step = await asyncio.wait_for(told.get(), PING_SECONDS)
            except TimeoutError:
                yield Event("ping", {})
                continue
            if step is None:
                break
            yield Event("step", _progress(step))
        found = _shown(await task, principal, bank_id)
        for piece in filter(None, _PIECE.findall(found.text)):
            yield Event("token", {"text": piece})
        yield Event("done", response(body, found).model_dump(mode="json", exclude_none=True))
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.wait([task])


def _shown(found: Reflection, principal: Principal, bank_id: str) -> Reflection:
    """Return an answer without the directives it keeps, for who sees the bank but does not use it."""
    return found if principal.uses(stored_id(bank_id)) else replace(found, directives=(), broken=())


def _progress(step: Step) -> dict[str, Any]:
    """Return what a stream tells of a step: nothing of what a model wrote, nothing of what was found."""
    return {
        "tool": step.tool,
        "iteration": step.iteration,
        "duration_ms": step.duration_ms,
        "count": step.count,
    }


def query(body: ReflectRequest) -> ReflectQuery:
    """Return a reflect as the engine takes it."""
    return ReflectQuery(
        query=body.query,
        budget=body.budget,
        context=body.context or "",
        max_tokens=body.max_tokens,
        scope=Scope(
            fact_types=None if body.fact_types is None else tuple(body.fact_types),
            tags=None if body.tags is None else tuple(body.tags),
            tags_match=body.tags_match,
            tag_groups=tag_groups(body.tag_groups),
        ),
        response_schema=body.response_schema,
        apply_all_directives=body.apply_all_directives,
        exclude_mental_models=body.exclude_mental_models,
        exclude_mental_model_ids=tuple(body.exclude_mental_model_ids or ()),
    )


def response(body: ReflectRequest, found: Reflection) -> ReflectResponse:
    """Return an answer as the wire has it, with what the request asked to see."""
    output = found.structured_output
    return ReflectResponse(
        text=found.text,
        based_on=_based_on(found) if body.include.facts else None,
        structured_output=dict(output) if output is not None else None,
        structured_output_error=found.structured_output_error,
        usage=usage(found.usage),
        trace=_trace(body.include.tool_calls, found) if body.include.tool_calls else None,
    )


def _based_on(found: Reflection) -> wire.ReflectBasedOn:
    return wire.ReflectBasedOn(
        memories=[_fact(fact) for fact in found.facts],
        mental_models=[
            wire.ReflectMentalModel(id=one.id, text=f"{one.name}: {one.text}") for one in found.models
        ],
        directives=[
            wire.ReflectDirective(id=str(one.id), name=one.name, content=one.content)
            for one in found.directives
        ],
    )


def _fact(fact: Hit) -> wire.ReflectFact:
    return wire.ReflectFact(
        id=str(fact.id),
        text=fact.text,
        type=fact.fact_type,
        context=fact.context or None,
        occurred_start=stamp(fact.occurred_start),
        occurred_end=stamp(fact.occurred_end),
    )


def _trace(asked: wire.ToolCallsIncludeOptions, found: Reflection) -> wire.ReflectTrace:
    steps = [
        wire.ReflectToolCall(
            tool=step.tool,
            input=dict(step.input),
            output=dict(step.output) if asked.output else None,
            duration_ms=step.duration_ms,
            iteration=step.iteration,
        )
        for step in found.steps
    ]
    calls = [wire.ReflectLLMCall(scope=one.scope, duration_ms=one.duration_ms) for one in found.calls]
    broken = [wire.ReflectViolation(**one) for one in found.broken]
    return wire.ReflectTrace(tool_calls=steps, llm_calls=calls, violations=broken or None)
