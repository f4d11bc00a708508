"""From what a model wrote to facts that may be stored: text, dates, names, guards. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from memorybank import text
from memorybank.model import EntityInput, Fact, FactType
from memorybank.retain import labels
from memorybank.retain.dates import Evidence
from memorybank.retain.placing import placed
from memorybank.retain.schema import Answer, Draft
from memorybank.settings.labels import LabelGroup
from memorybank.text import guards
from memorybank.text.guards import same_key

#: Facts of one chunk at most: so many addresses a chunk has, less one.
MAX_FACTS = 1_000
#: The kind of an entity that is a label.
LABEL = "label"


@dataclass(frozen=True)
class Source:
    """What facts are drawn from: the text, its date, the prompt that was sent with it.

    `labels` are the bank's groups; `whole`: the text is kept word for word, its facts need no words of their own.
    """

    text: str
    anchor: datetime | None
    prompt: str = ""
    labels: tuple[LabelGroup, ...] = ()
    whole: bool = False


#: The facts of one content, and how many were dropped by reason.
Part = tuple[tuple[Fact, ...], Mapping[str, int]]


@dataclass(frozen=True)
class Built:
    """What an answer gives for each content; those in `unclear` must be asked about one by one."""

    parts: tuple[Part, ...]
    unclear: frozenset[int] = frozenset()


def statement(fact: Fact) -> str:
    """Return what is equal for facts that say the same of the same time and place. Audience and tags are not in it."""
    start, end = fact.occurred_start, fact.occurred_end or fact.occurred_start
    period = [at.isoformat() if at else "" for at in (start, end)]
    place = same_key(fact.place_name or "")
    return "\n".join([str(fact.fact_type), *period, place, same_key(fact.text)])


def build(answer: Answer, sources: Sequence[Source]) -> Built:
    """Return the facts of an answer, for each of the contents that it is about."""
    divided = placed(answer, [source.text for source in sources])
    parts = tuple(map(_part, divided.answers, sources))
    return Built(parts, divided.unclear)


def _part(answer: Answer, source: Source) -> Part:
    dropped = Counter(answer.dropped)
    evidence = Evidence(source.text, source.anchor)
    if source.whole:
        return tuple(_fact(draft, source, evidence)[1] for draft in answer.drafts[:MAX_FACTS]), dropped
    made: list[Fact] = []
    place_of: dict[int, int] = {}
    keys: dict[str, int] = {}
    for draft in answer.drafts:
        reason, fact = _fact(draft, source, evidence)
        key = statement(fact)
        if not reason and key in keys:
            reason, place_of[draft.place] = "duplicate", keys[key]
        if not reason and len(made) == MAX_FACTS:
            reason = "too_many"
        if reason:
            dropped[reason] += 1
            continue
        keys[key] = place_of[draft.place] = len(made)
        causes = {place_of[cause] for cause in draft.causes if cause in place_of} - {len(made)}
        made.append(replace(fact, causes=tuple(sorted(causes))))
    return tuple(made), dropped


def once(facts: Iterable[Fact]) -> tuple[tuple[Fact, ...], Mapping[str, int]]:
    """Return facts without repeats of the same text; for facts without causes."""
    found: dict[str, Fact] = {}
    dropped: Counter[str] = Counter()
    for fact in facts:
        key = statement(fact)
        reason = "duplicate" if key in found else "too_many" if len(found) == MAX_FACTS else ""
        if reason:
            dropped[reason] += 1
        else:
            found[key] = fact
    return tuple(found.values()), dropped


def _fact(draft: Draft, source: Source, evidence: Evidence) -> tuple[str, Fact]:
    """Return the reason to drop a fact, empty for none, and the fact."""
    what = guards.unlooped(draft.what)
    occurred = evidence.occurred(draft)
    said = evidence.dated(replace(draft, what=what, when=guards.unlooped(draft.when)), occurred)
    given = labels.read(draft.labels, source.labels)
    fact = Fact(
        text=guards.cut(fact_text(said)),
        fact_type=FactType.EXPERIENCE if draft.is_own_act else FactType.WORLD,
        occurred_start=occurred.start,
        occurred_end=occurred.end,
        mentioned_at=evidence.said_at(draft.what),
        place_name=guards.cut(draft.where) or None,
        entities=(
            *_names(draft, source),
            *(EntityInput(label.text, LABEL, is_label=True) for label in given),
        ),
        tags=tuple(label.text for label in given if label.is_tag),
    )
    if not what:
        return "degenerate", fact
    if guards.echoes(what, source.prompt, source.text):
        return "prompt_example", fact
    return "", fact


def _names(draft: Draft, source: Source) -> Iterator[EntityInput]:
    """Yield the names of a fact but those that only the prompt has; one among the people involved is a person's."""
    for name in draft.entities:
        key = f" {text.name_key(name.text)} "
        if key in _key_of(source.prompt) and key not in _key_of(source.text):
            continue
        is_person = name.type == EntityInput.type and key in f" {text.name_key(draft.who)} "
        yield replace(name, type="PERSON") if is_person else name


@lru_cache(maxsize=32)
def _key_of(said: str) -> str:
    """Return a text as its names are looked for in it."""
    return f" {text.name_key(said)} "


def fact_text(draft: Draft) -> str:
    """Return the stored text: what, then when, who and why where they add something and still fit."""
    parts = [draft.what]
    who, why = guards.unlooped(draft.who), guards.unlooped(draft.why)
    for label, part in (("When: ", draft.when), ("Involving: ", who), ("", why)):
        fits = sum(map(len, parts)) + len(label) + len(part) + 3 * len(parts) <= guards.MAX_FACT_CHARS
        if part and fits and text.fold(part) not in text.fold(draft.what):
            parts.append(label + part)
    return " | ".join(parts)
