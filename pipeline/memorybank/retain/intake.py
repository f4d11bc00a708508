"""The entry of retain: checks, cleans and screens items, and cuts a request into operations. Pure.

One parent for each strategy; under it children of about `retain.batch_tokens`. A document is never split across
children: they would have to wait for each other.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache
from typing import Any
from urllib.parse import unquote

from memorybank import text
from memorybank.errors import BadRequest, Blocked, InvalidInput
from memorybank.ids import new_id
from memorybank.model import EntityInput, RetainItem
from memorybank.retain.detectors import detectors
from memorybank.retain.payload import APPEND, REPLACE, Batch, DocumentPart
from memorybank.retain.recalled import item_without_recalled
from memorybank.retain.screening import Screen, Violation, mask
from memorybank.settings import BankConfig, RetainSettings

#: Longest document id, tag and name, in characters: PostgreSQL cannot index longer ones (2,700 bytes).
MAX_ID_CHARS = 512
MAX_NAME_CHARS = 256
#: Tags, names and scopes of one item.
MAX_LABELS = 256
#: Characters of a context: it is in the prompt of each chunk. Of all metadata of an item; it goes with each fact.
MAX_CONTEXT_CHARS, MAX_METADATA_CHARS = 8_000, 32_000
#: The path of a field in a request.
Place = tuple[str | int, ...]
SCOPES = ("combined", "per_tag", "all_combinations", "shared")


@dataclass(frozen=True)
class Child:
    """One operation's content, its size in cl100k tokens and in items."""

    batch: Batch
    tokens: int

    @property
    def items(self) -> int:
        """How many items it holds; a document that is read again is one."""
        return sum(len(document.items) or 1 for document in self.batch.documents)

    @property
    def document_ids(self) -> tuple[str, ...]:
        """The documents it writes."""
        return tuple(document.id for document in self.batch.documents)


@dataclass(frozen=True)
class Limits:
    """What a request must keep to: the installation's limits, and what its bank stores."""

    retain: RetainSettings
    config_of: Callable[[str | None], BankConfig]


@dataclass(frozen=True)
class Accepted:
    """The items of a request that may be stored, why the others may not, and how many recalled blocks were left out."""

    items: tuple[RetainItem, ...]
    violations: tuple[Violation, ...] = ()
    recalled_blocks: int = 0


def accept(items: Sequence[RetainItem], limits: Limits, at: Place = ("body", "items")) -> Accepted:
    """Return the items as they may be stored; `at` is where the request has them.

    Raises InvalidInput or BadRequest, naming item and field, and Blocked where no item is left.
    """
    cleaned = clean(items, limits, at)
    screens = cache(
        lambda strategy: Screen.of(limits.config_of(strategy).memory_defense, limits.retain.mask_secrets)
    )
    kept: list[RetainItem] = []
    violations: list[Violation] = []
    recalled_blocks = 0
    if limits.retain.mask_secrets:
        # Before its configuration is looked for: a strategy that is not there is named in the answer.
        for index, item in enumerate(cleaned):
            _refuse_secret(item.strategy, (*at, index, "strategy"))
    for index, whole in enumerate(cleaned):
        # What an agent was reminded of is no news.
        item, blocks = item_without_recalled(whole, limits.retain.recalled_tags)
        recalled_blocks += blocks
        screen = screens(item.strategy)
        if screen.looks_for:
            _refuse_secret(item.document_id, (*at, index, "document_id"))
        screened, found = screen.item(item)
        if found and screen.blocks:
            violations.append(Violation.of(index, found))
        else:
            kept.append(screened)
    if not kept:
        raise Blocked([vars(violation) for violation in violations])
    return Accepted(tuple(kept), tuple(violations), recalled_blocks)


def _refuse_secret(name: str | None, loc: Place) -> None:
    """Raise InvalidInput for a name that holds a credential: masked, it would be the name of something else."""
    found = mask(name or "", detectors(personal=False))[1]
    _check(not found, loc, f"must not hold a secret ({', '.join(found)})")


def clean(items: Sequence[RetainItem], limits: Limits, at: Place = ("body", "items")) -> list[RetainItem]:
    """Return the items as PostgreSQL can hold them; raises InvalidInput or BadRequest, naming item and field."""
    if not items:
        raise InvalidInput("items must not be empty", loc=at)
    if len(items) > limits.retain.max_items:
        raise InvalidInput(f"at most {limits.retain.max_items} items in one request", loc=at)
    return [_clean(item, (*at, index), limits) for index, item in enumerate(items)]


def _clean(item: RetainItem, at: Place, limits: Limits) -> RetainItem:
    content = text.normalize(item.content)
    seen = bool(content.strip()) and bool(text.visible(content).strip())
    _check(seen, (*at, "content"), "content must not be blank", item.content)
    longest = limits.retain.max_item_chars
    _check(len(content) <= longest, (*at, "content"), f"content must be at most {longest} characters")
    _check(item.update_mode in (REPLACE, APPEND), (*at, "update_mode"), "must be replace or append")
    document_id = text.normalize(item.document_id or "") or None
    _check(len(document_id or "") <= MAX_ID_CHARS, (*at, "document_id"), f"at most {MAX_ID_CHARS} characters")
    _check(
        _addressable(document_id or ""),
        (*at, "document_id"),
        "no line break, and no part between slashes that is . or ..",
        document_id,
    )
    strategy = text.normalize(item.strategy or "") or None
    _check(len(strategy or "") <= MAX_NAME_CHARS, (*at, "strategy"), f"at most {MAX_NAME_CHARS} characters")
    context = text.normalize(item.context)
    _check(len(context) <= MAX_CONTEXT_CHARS, (*at, "context"), f"at most {MAX_CONTEXT_CHARS} characters")
    if item.update_mode == APPEND:
        _check_append(document_id, limits.config_of(strategy), at)
    return replace(
        item,
        content=content,
        context=context,
        metadata=_metadata(item.metadata, (*at, "metadata")),
        document_id=document_id,
        strategy=strategy,
        entities=given_entities(item.entities, (*at, "entities")),
        tags=labels(item.tags, (*at, "tags")),
        observation_scopes=_scopes(item.observation_scopes, (*at, "observation_scopes")),
    )


def _check(holds: bool, loc: Place, message: str, value: Any = None) -> None:
    if not holds:
        raise InvalidInput(message, loc=loc, value=value)


def _addressable(document_id: str) -> bool:
    """Whether a document can be asked for, and deleted, by its id in a path.

    Clients and proxies resolve "." and "..", encoded or not: deleting the document ".." would delete its bank.
    No route matches a line break.
    """
    if "\n" in document_id:
        return False
    return not {".", ".."}.intersection(re.split(r"[/\\]", unquote(document_id)))


def _check_append(document_id: str | None, config: BankConfig, at: Place) -> None:
    if document_id is None:
        raise BadRequest("update_mode 'append' needs a document_id", loc=(*at, "document_id"))
    if not config.store_document_text:
        message = "update_mode 'append' needs the document's text: this bank has store_document_text off"
        raise BadRequest(message, loc=(*at, "update_mode"))


def _metadata(metadata: Mapping[str, str], loc: Place) -> dict[str, str]:
    _check(len(metadata) <= MAX_LABELS, loc, f"at most {MAX_LABELS} keys")
    found = {text.normalize(key): text.normalize(value) for key, value in metadata.items()}
    _check(
        max(map(len, found), default=0) <= MAX_NAME_CHARS, loc, f"keys of at most {MAX_NAME_CHARS} characters"
    )
    size = sum(len(key) + len(value) for key, value in found.items())
    _check(size <= MAX_METADATA_CHARS, loc, f"at most {MAX_METADATA_CHARS} characters in all")
    return found


def given_entities(entities: Sequence[EntityInput], loc: Place) -> tuple[EntityInput, ...]:
    """Return names as they may be stored, each once, in order; raises InvalidInput."""
    _check(len(entities) <= MAX_LABELS, loc, f"at most {MAX_LABELS} entities")
    found: dict[str, EntityInput] = {}
    for place, entity in enumerate(entities):
        name = " ".join(text.normalize(entity.text).split())
        _check(0 < len(name) <= MAX_NAME_CHARS, (*loc, place, "text"), f"1 to {MAX_NAME_CHARS} characters")
        kind = text.normalize(entity.type).strip()[:MAX_NAME_CHARS] or EntityInput.type
        found.setdefault(text.name_key(name), EntityInput(name, kind))
    return tuple(found.values())


def labels(tags: Iterable[str], loc: Place) -> tuple[str, ...]:
    """Return tags as they may be stored: once each, in order, blank ones left out; raises InvalidInput."""
    found = dict.fromkeys(filter(str.strip, map(text.normalize, tags)))
    _check(len(found) <= MAX_LABELS, loc, f"at most {MAX_LABELS} tags")
    for place, tag in enumerate(found):
        _check(len(tag) <= MAX_ID_CHARS, (*loc, place), f"at most {MAX_ID_CHARS} characters")
    return tuple(found)


def _scopes(
    scopes: str | tuple[tuple[str, ...], ...] | None, loc: Place
) -> str | tuple[tuple[str, ...], ...] | None:
    if scopes is None or isinstance(scopes, str):
        _check(scopes is None or scopes in SCOPES, loc, f"must be a list of tag lists or one of {SCOPES}")
        return scopes
    _check(len(scopes) <= MAX_LABELS, loc, f"at most {MAX_LABELS} scopes")
    return tuple(labels(scope, (*loc, place)) for place, scope in enumerate(scopes))


def by_strategy(items: Sequence[RetainItem]) -> dict[str | None, list[RetainItem]]:
    """Return the items of each strategy, in order; raises BadRequest for a document under several strategies."""
    groups: dict[str | None, list[RetainItem]] = {}
    strategy_of: dict[str, str | None] = {}
    for item in items:
        groups.setdefault(item.strategy, []).append(item)
        if item.document_id is not None and (
            strategy_of.setdefault(item.document_id, item.strategy) != item.strategy
        ):
            raise BadRequest(f"document '{item.document_id}' has items of several strategies")
    return groups


def refuse_repeated_documents(items: Sequence[RetainItem]) -> None:
    """Raise BadRequest when two items of one background request name the same document."""
    seen: set[str] = set()
    for item in items:
        if item.document_id in seen:
            raise BadRequest(f"document_id '{item.document_id}' stands twice in one asynchronous batch")
        if item.document_id is not None:
            seen.add(item.document_id)


def children(
    strategy: str | None, items: Sequence[RetainItem], submitted_at: datetime, batch_tokens: int
) -> list[Child]:
    """Return the operations of one strategy: whole documents, packed in order up to about `batch_tokens`."""
    made: list[Child] = []
    held: list[DocumentPart] = []
    tokens = 0
    for document in _documents(items):
        size = sum(text.count_tokens(item.content) for item in document.items)
        if held and tokens + size > batch_tokens:
            made.append(Child(Batch(submitted_at, strategy, tuple(held)), tokens))
            held, tokens = [], 0
        held.append(document)
        tokens += size
    return [*made, Child(Batch(submitted_at, strategy, tuple(held)), tokens)]


def _documents(items: Sequence[RetainItem]) -> list[DocumentPart]:
    """Return items by document. Items without an id share one document of their own, whose id is made here."""
    shared = str(new_id())
    grouped: dict[str, list[RetainItem]] = {}
    for item in items:
        grouped.setdefault(item.document_id or shared, []).append(item)
    return [DocumentPart(document, tuple(part), _mode(part)) for document, part in grouped.items()]


def _mode(items: Sequence[RetainItem]) -> str:
    """Return how the items of a document come to it: a single one that replaces begins the document anew."""
    return APPEND if all(item.update_mode == APPEND for item in items) else REPLACE
