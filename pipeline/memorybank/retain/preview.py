"""Extraction tried out: the same checks, cutting, reading and guards as a retain, and nothing is stored."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memorybank.errors import ModelError
from memorybank.llm.ledger import MemoryLedger, StoredLedger
from memorybank.model import Bank, Fact, RetainItem, TokenUsage
from memorybank.retain import intake
from memorybank.retain.chunking import ChunkSize, chunk
from memorybank.retain.screening import Screen
from memorybank.retain.stage import Retain, aside
from memorybank.retain.work import ChunkWork, Extraction
from memorybank.settings import BankConfig, check_updates, resolve_bank, stage_model
from memorybank.storage.llm_calls import Caller

#: Fields of free text that a prompt quotes.
MISSIONS = ("retain_mission", "retain_custom_instructions")


@dataclass(frozen=True)
class Wish:
    """What is tried out: an item, per-bank fields over the bank's own, a name for who speaks ("" is the bank's)."""

    item: RetainItem
    overrides: Mapping[str, Any]
    narrator: str = ""


@dataclass(frozen=True)
class Piece:
    """A chunk, and the facts that a retain would make of it."""

    text: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True)
class Preview:
    """What a retain would find, and what finding it used."""

    pieces: tuple[Piece, ...]
    usage: TokenUsage


async def preview(retain: Retain, bank: Bank, caller: Caller, wish: Wish) -> Preview:
    """Return what a retain of an item would find; `caller` is who the model's calls are counted for.

    Raises as a retain does, InvalidConfig for an override, and the ModelError of the first chunk that is lost.
    """
    accepted = await aside([wish.item], intake.accept, [wish.item], retain.limits(bank), ("body",))
    [item] = accepted.items
    config, narrator = _screened(retain.limits(bank), _config(retain, bank, wish), wish)
    ledger = MemoryLedger(StoredLedger(retain.database, caller))
    chunks = [replace(one, ledger=ledger) for one in works(item, config, narrator or bank.narrator)]
    found = await _extracted(retain, config, chunks)
    return Preview(tuple(map(_piece, chunks, found)), ledger.usage)


def works(item: RetainItem, config: BankConfig, narrator: str) -> list[ChunkWork]:
    """Return the chunks of an accepted item as a retain would have them extracted."""
    size = ChunkSize.of(config.retain_chunk_size, config.retain_structured_chunk_size)
    texts = chunk(item.content, size)
    whole = ChunkWork("", config, item.timestamp, 1, len(texts), item.context, item.metadata, narrator)
    return [replace(whole, text=text, number=number) for number, text in enumerate(texts, 1)]


def _config(retain: Retain, bank: Bank, wish: Wish) -> BankConfig:
    """Return the bank's configuration under the item's strategy, and under the wish."""
    own = retain.config_of(bank, wish.item.strategy)
    limit = stage_model(retain.settings, "retain").max_output_tokens
    return resolve_bank(own, check_updates(wish.overrides, {}, own, limit))


def _screened(limits: intake.Limits, config: BankConfig, wish: Wish) -> tuple[BankConfig, str]:
    """Return what is tried out and who speaks without secrets: a model is shown both."""
    screen = Screen.of(limits.config_of(wish.item.strategy).memory_defense, limits.retain.mask_secrets)
    told = {name: screen.text(value) for name in MISSIONS if isinstance(value := getattr(config, name), str)}
    return config.model_copy(update=told), screen.text(wish.narrator)


async def _extracted(retain: Retain, config: BankConfig, works: Sequence[ChunkWork]) -> list[Extraction]:
    """Return what became of each chunk, some of them at once; after the first that is lost no more is asked."""
    extractor = retain.extractor_for(config)
    gate = asyncio.Semaphore(retain.settings.retain.extraction_concurrency)
    lost: list[ModelError] = []

    async def one(work: ChunkWork) -> Extraction:
        async with gate:
            if lost:
                return Extraction()
            [extraction] = await extractor.extract([work])
        if extraction.error:
            lost.append(extraction.error)
        return extraction

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(work)) for work in works]
    if lost:
        raise lost[0]
    return [task.result() for task in tasks]


def _piece(work: ChunkWork, found: Extraction) -> Piece:
    free = work.config.entities_allow_free_form
    kept = (
        replace(fact, entities=tuple(name for name in fact.entities if free or name.is_label))
        for fact in found.facts
    )
    return Piece(work.text, tuple(kept))
