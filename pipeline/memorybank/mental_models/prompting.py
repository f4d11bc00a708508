"""What a model is asked for a mental model: the whole document, a change of it, or its answer in another shape. Pure.

The system part is the same for all models, so that providers keep it; mission and data stand behind it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memorybank import templates
from memorybank.directives.verdict import told
from memorybank.llm import fields
from memorybank.llm.client import ChatRequest
from memorybank.mental_models import schema
from memorybank.sections import Document, rendered
from memorybank.settings import BankConfig
from memorybank.storage.directives import Directive
from memorybank.storage.mental_models import Model, Shown
from memorybank.text.guards import SHOWN_CHARS, cut
from memorybank.timeline.stamps import day

#: Name of the schema of a structured answer.
STRUCTURED = "structured_answer"


@dataclass(frozen=True)
class Evidence:
    """What one refresh looks at: memories, the first ones known to the document, and chunks of text around them."""

    shown: tuple[Shown, ...]
    chunks: tuple[str, ...] = ()

    @property
    def ids(self) -> list[UUID]:
        """The memories in the order of their numbers."""
        return [one.id for one in self.shown]


@dataclass(frozen=True)
class Frame:
    """What holds for each call about one model."""

    config: BankConfig
    directives: Sequence[Directive]
    max_output_tokens: int | None


def whole(model: Model, evidence: Evidence, frame: Frame) -> ChatRequest:
    """Return the call that asks for the whole document."""
    prompt = templates.load("mental_models", "full").render(
        **_about(model, frame), facts=fields.rows(map(_line, evidence.shown)), chunks=list(evidence.chunks)
    )
    return _request(prompt, schema.NAME, schema.FULL, frame.max_output_tokens)


def mended(model: Model, evidence: Evidence, frame: Frame, document: Document, wish: str) -> ChatRequest:
    """Return the call that asks for a whole document in place of one in which something is wrong."""
    said = f'{{"sections": [{", ".join(_sections(document, evidence.ids, "name"))}]}}'
    turns = ({"role": "assistant", "content": said}, {"role": "user", "content": wish})
    return whole(model, evidence, frame).following(*turns)


def change(model: Model, evidence: Evidence, known: int, frame: Frame) -> ChatRequest:
    """Return the call that asks what becomes of the document; the first `known` memories are its sources."""
    prompt = templates.load("mental_models", "delta").render(
        **_about(model, frame),
        facts=fields.rows(map(_line, evidence.shown[:known])),
        new_facts=fields.rows(map(_line, evidence.shown[known:]), known),
        chunks=list(evidence.chunks),
        document="\n".join(_sections(model.document, evidence.ids)),
    )
    return _request(prompt, schema.NAME, schema.DELTA, frame.max_output_tokens)


def structure(
    model: Model,
    evidence: Evidence,
    document: Document,
    asked: Mapping[str, Any],
    max_output_tokens: int | None,
) -> ChatRequest:
    """Return the call that asks for what a document says in another shape."""
    prompt = templates.load("reflect", "structure").render(
        facts=fields.rows(map(_line, evidence.shown)), draft=rendered(document), question=model.source_query
    )
    return _request(prompt, STRUCTURED, dict(asked), max_output_tokens)


def _about(model: Model, frame: Frame) -> dict[str, str]:
    return {
        "mission": (frame.config.reflect_mission or "").strip(),
        "directives": f"\n{told(frame.directives)}" if frame.directives else "",
        "language": " ".join((frame.config.llm_output_language or "").split()),
        "max_tokens": str(model.max_tokens),
        "question": model.source_query,
    }


def _request(
    prompt: templates.Rendered, name: str, asked: dict[str, Any], max_output_tokens: int | None
) -> ChatRequest:
    return ChatRequest(
        stage="reflect",
        system=prompt.system,
        user=prompt.user,
        schema_name=name,
        schema=asked,
        max_output_tokens=max_output_tokens,
    )


def _line(one: Shown) -> dict[str, Any]:
    return {
        "text": cut(one.text, SHOWN_CHARS),
        "kind": one.fact_type if one.fact_type == "observation" else "",
        "said": day(one.mentioned_at),
        "happened": "/".join(dict.fromkeys(filter(None, map(day, (one.occurred_start, one.occurred_end))))),
        "context": one.context,
    }


def _sections(document: Document, ids: Sequence[UUID], name: str = "section") -> list[str]:
    """Return sections as JSON, their sources by number."""
    numbers = {id_: number for number, id_ in enumerate(ids, 1)}
    return [
        fields.compact(
            {
                name: section.name,
                "statements": [
                    {"text": one.text, "facts": [numbers[id_] for id_ in one.sources if id_ in numbers]}
                    for one in section.statements
                ],
            }
        )
        for section in document
    ]
