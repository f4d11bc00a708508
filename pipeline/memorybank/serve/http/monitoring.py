"""Health, version and metrics: not calls of the memory, and never counted as such."""

import time
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

import memorybank
from memorybank.errors import DatabaseUnavailable
from memorybank.memory import MemoryBank
from memorybank.serve.http.deps import current_memory, operating
from memorybank.serve.http.metrics import REGISTRY, measure
from memorybank.serve.http.schemas.monitoring import FeaturesInfo, LivenessResponse, VersionResponse

router = APIRouter(tags=["monitoring"])
_STARTED = time.monotonic()
Memory = Annotated[MemoryBank, Depends(current_memory)]


@router.get("/health", operation_id="health_endpoint_health_get")
@router.get("/health/ready", operation_id="get_readiness")
async def health(memory: Memory, response: Response) -> dict[str, Any]:
    """Return 200 when the database answers, else 503; with the engine."""
    began = time.perf_counter()
    try:
        await memory.database.ping()
    except DatabaseUnavailable as error:
        response.status_code = 503
        return {"status": "unhealthy", "database": "disconnected", "error": error.message}
    return {
        "status": "healthy",
        "database": "connected",
        "db_acquire_ms": round((time.perf_counter() - began) * 1000, 2),
        "engine": memory.engine,
        **memory.database.statistics(),
    }


@router.get("/health/live", operation_id="get_liveness")
async def liveness() -> LivenessResponse:
    """Return that this process runs; never asks the database."""
    uptime = time.monotonic() - _STARTED
    return LivenessResponse(status="alive", version=memorybank.__version__, uptime_seconds=uptime)


@router.get("/version", operation_id="get_version")
async def version(memory: Memory) -> VersionResponse:
    """Return what this server is and which parts of the interface it has."""
    features = FeaturesInfo(
        observations=True,
        mcp=False,
        worker=True,
        bank_config_api=memory.settings.server.bank_config_api,
        bank_llm_health=False,
        file_upload_api=memory.settings.files.enabled,
        document_export_api=False,
        document_import_api=False,
        audit_log=False,
        llm_trace=False,
        store_document_text=memory.settings.bank.store_document_text,
    )
    return VersionResponse(api_version=memorybank.__version__, features=features, engine=memory.engine)


@router.get("/metrics", operation_id="metrics_endpoint_metrics_get", dependencies=[Depends(operating)])
async def metrics(memory: Memory) -> Response:
    """Return this process's metrics as Prometheus text, to the operator: counts say what others do."""
    await measure(memory)
    return Response(generate_latest(REGISTRY), media_type=CONTENT_TYPE_LATEST)
