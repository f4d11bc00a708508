"""Puts the stages together from the settings: which model reads, which answers, which makes the vectors."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from uuid import UUID

from memorybank.audience import Viewer
from memorybank.consolidate.stage import Consolidate
from memorybank.curate.band import Band
from memorybank.curate.entries import Entries
from memorybank.curate.facts import Facts
from memorybank.curate.placed import PlacedRecall
from memorybank.curate.stating import Stating
from memorybank.errors import ModelMisconfigured
from memorybank.llm import litellm_client
from memorybank.llm.client import LanguageModel
from memorybank.llm.embedding import GRAPHS, Embedder, OnnxMiniLM, RemoteEmbedder
from memorybank.llm.embedding_api import LitellmEmbedder
from memorybank.llm.litellm_client import LitellmModel
from memorybank.llm.reranking import LitellmReranker, OnnxReranker, Reranker
from memorybank.llm.retry import Patience
from memorybank.mental_models.evidence import Asked
from memorybank.mental_models.stage import MentalModels
from memorybank.model import Bank, Hit
from memorybank.recall.budget import of_text
from memorybank.recall.query import Include, RecallQuery
from memorybank.recall.stage import Recall
from memorybank.reflect.query import Search
from memorybank.reflect.stage import Reflect
from memorybank.retain.conversion import Converter
from memorybank.retain.curating import Curate
from memorybank.retain.extraction import Asking
from memorybank.retain.extractors import extractor_for
from memorybank.retain.files import Files
from memorybank.retain.stage import Retain
from memorybank.settings import (
    STAGES,
    BankConfig,
    EmbeddingSettings,
    RerankerSettings,
    Settings,
    Stage,
    stage_model,
)
from memorybank.storage import models
from memorybank.storage.pool import Database

#: What other systems put before the names of the built-in embedding models.
PUBLISHER = "sentence-transformers/"


@dataclass(frozen=True)
class Parts:
    """The stages of one process."""

    retain: Retain
    files: Files
    curate: Curate
    stating: Stating
    facts: Facts
    band: Band
    entries: Entries
    consolidate: Consolidate
    recall: PlacedRecall
    reflect: Reflect
    mental_models: MentalModels


@dataclass(frozen=True)
class RecallForReflect:
    """Recall as reflect asks it: facts alone, and a question that is too long is cut, not refused."""

    recall: Recall | PlacedRecall

    async def __call__(self, bank: Bank, config: BankConfig, search: Search, viewer: Viewer) -> Sequence[Hit]:
        """Return facts, the best first."""
        scope = search.scope
        query = RecallQuery(
            search.query,
            types=search.types,
            budget=search.budget,
            max_tokens=search.max_tokens,
            include=Include(entities_max_tokens=None),
            tags=scope.tags,
            tags_match=scope.tags_match,
            tag_groups=scope.tag_groups,
        )
        limit = self.recall.settings.recall.query_max_tokens
        cost = search.cost or of_text
        return (await self.recall(bank, config, query.shortened(limit), viewer, cost)).hits


@dataclass(frozen=True)
class RecallForMentalModels:
    """Recall as a refresh asks it: the ids of memories, and the texts around them where they are wanted."""

    recall: Recall | PlacedRecall

    async def __call__(
        self, bank: Bank, config: BankConfig, asked: Asked, viewer: Viewer
    ) -> tuple[Sequence[UUID], Sequence[str]]:
        """Return ids of memories, the best first, and texts of chunks."""
        query = RecallQuery(
            asked.query,
            types=asked.scope.fact_types,
            budget=asked.budget,
            max_tokens=asked.max_tokens,
            include=Include(entities_max_tokens=None, chunks_max_tokens=asked.chunks_max_tokens),
            tag_groups=asked.scope.condition,
        )
        found = await self.recall(
            bank, config, query.shortened(self.recall.settings.recall.query_max_tokens), viewer
        )
        return [hit.id for hit in found.hits], [chunk.text for chunk in (found.chunks or {}).values()]


@asynccontextmanager
async def assembled(settings: Settings, database: Database) -> AsyncIterator[Parts]:
    """Give the stages; raises ModelMisconfigured when a model cannot be used."""
    embedder = await _embedder(settings.embeddings, database)
    model = LitellmModel({stage: stage_model(settings, stage) for stage in STAGES})
    reader = _model_for(model, settings, "retain")
    retain_model = stage_model(settings, "retain")
    patience = Patience(retain_model.backoff_seconds, retain_model.backoff_cap_seconds)
    asking = Asking(settings.retain.attempts, patience, retain_model.max_output_tokens)
    recall = PlacedRecall(Recall(database, embedder, settings, await _reranker(settings.reranker)))
    retain = Retain(database, embedder, partial(extractor_for, model=reader, asking=asking), settings)
    converter = Converter(settings.files, settings.retain.max_item_chars, settings.retain.recalled_tags)
    curate = Curate(database, embedder, settings)
    stating = Stating(database, embedder, settings, curate)
    mental_models = MentalModels(
        RecallForMentalModels(recall), _model_for(model, settings, "reflect"), embedder, database, settings
    )
    try:
        yield Parts(
            retain=retain,
            files=Files(retain, converter, settings.files),
            curate=curate,
            stating=stating,
            facts=Facts(stating, recall),
            band=Band(stating),
            entries=Entries(stating),
            consolidate=Consolidate(
                database, embedder, _model_for(model, settings, "consolidation"), settings
            ),
            recall=recall,
            reflect=Reflect(
                RecallForReflect(recall),
                mental_models.find_for,
                _model_for(model, settings, "reflect"),
                database,
                settings,
            ),
            mental_models=mental_models,
        )
    finally:
        await recall.recall.close()
        await litellm_client.close()


def _model_for(model: LanguageModel, settings: Settings, stage: Stage) -> LanguageModel | None:
    """Return the model of a stage; None where the extractive engine does its work."""
    return None if stage_model(settings, stage).extractive else model


async def _reranker(own: RerankerSettings) -> Reranker | None:
    """Return the cross-encoder, ready to be asked; None where none is set."""
    if own.provider == "local":
        return await asyncio.to_thread(OnnxReranker, Path(own.model))
    if own.provider == "litellm":
        # Else the first question would wait for the import, and go without.
        await litellm_client.import_library()
        return LitellmReranker(own.model, own.base_url or None, own.api_key or None, own.timeout_seconds)
    return None


async def _embedder(own: EmbeddingSettings, database: Database) -> Embedder | RemoteEmbedder:
    """Return the embedding model and make sure that the database knows it under its width."""
    embedder: Embedder | RemoteEmbedder
    if own.provider == "litellm":
        embedder = LitellmEmbedder(
            own.model,
            base_url=own.base_url or None,
            api_key=own.api_key or None,
            timeout_seconds=own.timeout_seconds,
        )
        await embedder.probe()
    elif own.model.removeprefix(PUBLISHER) in GRAPHS:
        embedder = OnnxMiniLM(own.model.removeprefix(PUBLISHER))
    else:
        raise ModelMisconfigured(
            f"embeddings.model {own.model!r} is not built in: use {' or '.join(GRAPHS)}, or set"
            " embeddings.provider to litellm for a model behind an API"
        )
    async with database.transaction() as connection:
        await models.embedding_model(connection, embedder.model, embedder.dimensions)
    return embedder
