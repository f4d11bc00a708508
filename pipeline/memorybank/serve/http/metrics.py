"""Prometheus metrics of this process, under the names that dashboards of the contract expect."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from memorybank.memory import MemoryBank
from memorybank.storage.listings import count_live_operations

REGISTRY = CollectorRegistry()
_LABELS = ("method", "endpoint", "status")
DURATION = Histogram("hindsight_http_duration_seconds", "Seconds a request took.", _LABELS, registry=REGISTRY)
REQUESTS = Counter("hindsight_http_requests", "Requests answered.", _LABELS, registry=REGISTRY)
IN_PROGRESS = Gauge("hindsight_http_requests_in_progress", "Requests being answered.", registry=REGISTRY)
POOL = Gauge("hindsight_db_pool", "Counters of the connection pool.", ("name",), registry=REGISTRY)
OPERATIONS = Gauge(
    "hindsight_async_operations", "Operations that are not done.", ("operation", "status"), registry=REGISTRY
)
ProcessCollector(registry=REGISTRY)


class RequestMetrics:
    """Counts and times requests by route template: never by bank, whose names are the caller's secret."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and note how it went."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = 500
        began = time.perf_counter()

        async def noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        with IN_PROGRESS.track_inprogress():
            try:
                await self.app(scope, receive, noted)
            finally:
                route = getattr(scope.get("route"), "path", "unmatched")
                labels = (scope["method"], route, str(status))
                DURATION.labels(*labels).observe(time.perf_counter() - began)
                REQUESTS.labels(*labels).inc()


async def measure(memory: MemoryBank) -> None:
    """Read what only the database knows, at the time of asking."""
    for name, value in memory.database.statistics().items():
        POOL.labels(name).set(value)
    OPERATIONS.clear()
    async with memory.database.connection() as connection:
        for row in await count_live_operations(connection):
            OPERATIONS.labels(row["kind"], row["status"]).set(row["operations"])
