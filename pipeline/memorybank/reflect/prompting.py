"""What the model is asked: rules and identity as system, question and evidence as data. Pure.

The rules are the same for every bank and come first, so that providers keep them; who the bank is, its disposition and
its directives follow them in the system part of every call that answers: the first, the last and a repair.
"""

from collections.abc import Mapping
from typing import Any

from memorybank import templates
from memorybank.llm.client import ChatRequest, Message
from memorybank.reflect import disposition, tools
from memorybank.reflect.notebook import Page
from memorybank.reflect.run import Run
from memorybank.settings import stage_model
from memorybank.storage.directives import Directive

#: Name of the schema of a structured answer.
STRUCTURED = "structured_answer"
#: What a model is told of observations that lag behind. Where none do it is told nothing: what was weighed all the same
#: may say what no longer holds, and "up to date" would vouch for it.
WAITING = {
    "slightly_stale": "Freshness: a few facts told since stand in no observation yet.",
    "stale": "Freshness: stale, many facts told since stand in no observation yet.",
}


def step(
    run: Run, names: list[str], messages: tuple[Message, ...], in_words: Page | None = None
) -> ChatRequest:
    """Return the call in which the model may use tools; the results so far stand in the messages.

    A model without tools has them described, calls them in JSON, and is shown what was found `in_words`.
    """
    described = tools.in_words(names) if in_words else ""
    prompt = templates.load("reflect", "agent").render(run.nonce, **_asked(run), tools=described)
    system = (templates.load("reflect", "answer").system, prompt.system, identity(run))
    if in_words is None:
        offered: dict[str, Any] = {"tools": tools.offered(names), "tool_choice": "auto"}
        return _request(run, system, prompt.user, messages=messages, **offered)
    user = f"{prompt.user}\n{fenced(in_words, run.nonce)}"
    schema = tools.step_schema(names)
    return _request(run, system, user, messages=messages, schema_name=tools.STEP, schema=schema)


def final(run: Run, evidence: Page, turns: tuple[Message, ...] = ()) -> ChatRequest:
    """Return the call that answers from what was shown; `turns`: an earlier answer, and what is wrong with it."""
    prompt = templates.load("reflect", "answer").render(
        **_asked(run),
        models="\n".join(evidence.models),
        facts="\n".join(evidence.facts),
        chunks="\n".join(evidence.chunks),
    )
    return _request(run, (prompt.system, identity(run)), prompt.user, messages=turns)


def shorter(run: Run, draft: str) -> ChatRequest:
    """Return the call that asks for the same answer in fewer tokens."""
    prompt = templates.load("reflect", "shorten").render(
        max_tokens=str(run.query.max_tokens), draft=draft, question=run.query.query
    )
    return _request(run, (prompt.system, identity(run)), prompt.user)


def structure(run: Run, facts: str, draft: str) -> ChatRequest:
    """Return the call that puts an answer into the shape asked for."""
    prompt = templates.load("reflect", "structure").render(facts=facts, draft=draft, question=run.query.query)
    schema = dict(run.query.response_schema or {})
    return _request(run, (prompt.system, identity(run)), prompt.user, schema_name=STRUCTURED, schema=schema)


def identity(run: Run) -> str:
    """Return who answers, how, and under which directives."""
    config = run.config
    said = templates.load("reflect", "identity").render(
        today=run.today.isoformat(),
        name=" ".join(run.bank.narrator.split()),
        mission=(config.reflect_mission or "").strip(),
        disposition=disposition.in_words(config),
        directives="".join(f"\n- {_in_one_line(one)}" for one in run.directives),
        language=" ".join((config.llm_output_language or "").split()),
    )
    return f"{said.system}\n{said.user}"


def result(page: Page, freshness: str, nonce: str) -> str:
    """Return what a tool found, as the model gets it."""
    parts = [fenced(page, nonce)]
    if page.again:
        parts.append(f"Shown before: {', '.join(f'[{number}]' for number in page.again)}.")
    if said := WAITING.get(freshness):
        parts.append(said)
    return "\n".join(filter(None, parts)) or "Nothing found."


def fenced(page: Page, nonce: str) -> str:
    """Return lines in fences, each kind in its own."""
    kinds = {"models": page.models, "facts": page.facts, "chunks": page.chunks}
    return "\n".join(templates.fence(tag, "\n".join(lines), nonce) for tag, lines in kinds.items() if lines)


def _in_one_line(directive: Directive) -> str:
    return f"{directive.name}: {directive.content}".replace("\n", "\n  ")


def _asked(run: Run) -> Mapping[str, str]:
    return {"context": run.query.context, "question": run.query.query}


def _request(run: Run, system: tuple[str, ...], user: str, **more: Any) -> ChatRequest:
    return ChatRequest(
        stage="reflect",
        system="\n\n".join(filter(None, system)),
        user=user,
        max_output_tokens=stage_model(run.settings, "reflect").max_output_tokens,
        **more,
    )
