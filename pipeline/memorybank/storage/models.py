"""Embedding models by number: vectors of two models never meet in one comparison."""

from memorybank.errors import InvalidConfig
from memorybank.storage.queries import Connection, execute, fetch_one


async def embedding_model(connection: Connection, name: str, dimensions: int) -> int:
    """Return the number of a model, making it on first use.

    Raises InvalidConfig when the model was known with another number of dimensions: it is not the same model.
    """
    row = await fetch_one(connection, "models.get", {"name": name})
    if row is None:
        await execute(connection, "models.add", {"name": name, "dimensions": dimensions})
        row = await fetch_one(connection, "models.get", {"name": name})
    if row is None or row["dimensions"] != dimensions:
        known = row["dimensions"] if row else 0
        raise InvalidConfig(
            f"embedding model {name} has {dimensions} dimensions, its stored vectors have {known}: give it another name"
        )
    return int(row["id"])
