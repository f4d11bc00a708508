"""Vectors of texts that are stored: what a bank has embedded before is not embedded again."""

from collections.abc import Sequence

import numpy as np

from memorybank.indexing import text_hash
from memorybank.llm.embedding import Embedder, RemoteEmbedder, embed
from memorybank.storage import units
from memorybank.storage.pool import Database


async def passage_vectors(
    database: Database,
    embedder: Embedder | RemoteEmbedder,
    shelf: tuple[int, int],
    texts: Sequence[str],
    prefix: str,
) -> dict[str, np.ndarray]:
    """Return the vector (d,) of each text; `shelf`: the numbers of the bank and of the embedding model.

    No connection is held while a model works. Raises what the embedder raises.
    """
    bank, model = shelf
    by_hash = {text_hash(text): text for text in texts}
    stored = await database.ask(units.known_vectors, bank, model, list(by_hash), embedder.dimensions)
    known = {by_hash[hash_]: vector for hash_, vector in stored.items()}
    missing = [text for text in by_hash.values() if text not in known]
    fresh = await embed(embedder, [prefix + text for text in missing])
    return known | dict(zip(missing, fresh, strict=True))
