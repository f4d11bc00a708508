"""The actors, one for each kind of work and named like it. A message holds an id, the row all else."""

from collections.abc import Awaitable, Callable
from uuid import UUID

import dramatiq

from memorybank.operations import Kind
from memorybank_workers.broker import QUEUE

Work = Callable[[UUID], Awaitable[None]]


def declare(broker: dramatiq.Broker, work: Work) -> None:
    """Declare every actor on a broker."""

    @dramatiq.actor(broker=broker, queue_name=QUEUE, actor_name=Kind.RETAIN.value)
    async def retain(operation_id: str) -> None:
        await work(UUID(operation_id))

    @dramatiq.actor(broker=broker, queue_name=QUEUE, actor_name=Kind.VECTOR_INDEX.value)
    async def vector_index(operation_id: str) -> None:
        await work(UUID(operation_id))

    @dramatiq.actor(broker=broker, queue_name=QUEUE, actor_name=Kind.FILE_CONVERT_RETAIN.value)
    async def file_convert_retain(operation_id: str) -> None:
        await work(UUID(operation_id))

    @dramatiq.actor(broker=broker, queue_name=QUEUE, actor_name=Kind.REFRESH_MENTAL_MODEL.value)
    async def refresh_mental_model(operation_id: str) -> None:
        await work(UUID(operation_id))

    @dramatiq.actor(broker=broker, queue_name=QUEUE, actor_name=Kind.CONSOLIDATION.value)
    async def consolidation(operation_id: str) -> None:
        await work(UUID(operation_id))
