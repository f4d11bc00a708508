"""Health and version."""

from typing import Literal

from memorybank.serve.http.schemas.wire import WireResponse


class LivenessResponse(WireResponse):
    """The process runs; nothing is said of the database."""

    status: Literal["alive"]
    version: str
    uptime_seconds: float


class FeaturesInfo(WireResponse):
    """Which parts of the interface this server has."""

    observations: bool
    mcp: bool
    worker: bool
    bank_config_api: bool
    bank_llm_health: bool
    file_upload_api: bool
    document_export_api: bool
    document_import_api: bool
    audit_log: bool
    llm_trace: bool
    store_document_text: bool


class VersionResponse(WireResponse):
    """The version of this server and what it can do; `engine` names the model, or `extractive`."""

    api_version: str
    features: FeaturesInfo
    engine: str
