"""The contract as data: which call stands at which path, and what its answer looks like.

A shape is written as the contract's own notation: `name*: type` is required, `type?` may be null, `[T]` is a list,
`map<T>` an object of T, `obj` any object, `any` anything; a capitalised type is another shape.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

_BANK = "/v1/default/banks/{bank_id}"
_KNOWLEDGE = _BANK + "/knowledge-base"
_DIRECTIVE = _BANK + "/directives/{directive_id}"
_MODEL = _BANK + "/mental-models/{mental_model_id}"

#: Operation id -> method, path, shape of the answer.
CALLS: dict[str, tuple[str, str, str]] = {
    "list_banks": ("GET", "/v1/default/banks", "BankListResponse"),
    "create_or_update_bank": ("PUT", _BANK, "BankProfileResponse"),
    "update_bank": ("PATCH", _BANK, "BankProfileResponse"),
    "delete_bank": ("DELETE", _BANK, "DeleteResponse"),
    "get_bank_profile": ("GET", _BANK + "/profile", "BankProfileResponse"),
    "update_bank_disposition": ("PUT", _BANK + "/profile", "BankProfileResponse"),
    "get_bank_config": ("GET", _BANK + "/config", "BankConfigResponse"),
    "update_bank_config": ("PATCH", _BANK + "/config", "BankConfigResponse"),
    "reset_bank_config": ("DELETE", _BANK + "/config", "BankConfigResponse"),
    "retain_memories": ("POST", _BANK + "/memories", "RetainResponse"),
    "file_retain": ("POST", _BANK + "/files/retain", "FileRetainResponse"),
    "dry_run_extract_memories": ("POST", _BANK + "/memories/dry-run-extract", "DryRunExtractionResult"),
    "recall_memories": ("POST", _BANK + "/memories/recall", "RecallResponse"),
    "reflect": ("POST", _BANK + "/reflect", "ReflectResponse"),
    # Ours: the same answer as it comes about.
    "reflect_stream": ("POST", _BANK + "/reflect/stream", "any"),
    "list_memories": ("GET", _BANK + "/memories/list", "ListMemoryUnitsResponse"),
    "get_memory": ("GET", _BANK + "/memories/{memory_id}", "MemoryUnit"),
    "update_memory": ("PATCH", _BANK + "/memories/{memory_id}", "MemoryUnit"),
    "clear_bank_memories": ("DELETE", _BANK + "/memories", "DeleteResponse"),
    "clear_memory_observations": (
        "DELETE",
        _BANK + "/memories/{memory_id}/observations",
        "ClearMemoryObservationsResponse",
    ),
    "get_observation_history": ("GET", _BANK + "/memories/{memory_id}/history", "any"),
    "clear_observations": ("DELETE", _BANK + "/observations", "DeleteResponse"),
    "list_observation_scopes": ("GET", _BANK + "/observations/scopes", "ObservationScopesResponse"),
    "trigger_consolidation": ("POST", _BANK + "/consolidate", "ConsolidationResponse"),
    "recover_consolidation": ("POST", _BANK + "/consolidation/recover", "RecoverConsolidationResponse"),
    "list_mental_models": ("GET", _BANK + "/mental-models", "MentalModelListResponse"),
    "create_mental_model": ("POST", _BANK + "/mental-models", "CreateMentalModelResponse"),
    "get_mental_model": ("GET", _MODEL, "MentalModelResponse"),
    "update_mental_model": ("PATCH", _MODEL, "MentalModelResponse"),
    "delete_mental_model": ("DELETE", _MODEL, "Deleted"),
    "get_mental_model_history": ("GET", _MODEL + "/history", "any"),
    "refresh_mental_model": ("POST", _MODEL + "/refresh", "AsyncOperationSubmitResponse"),
    "dry_run_refresh_mental_model": ("POST", _MODEL + "/dry-run-refresh", "MentalModelDryRunRefreshResult"),
    "clear_mental_model": ("POST", _MODEL + "/clear", "MentalModelResponse"),
    "get_knowledge_base_tree": ("GET", _KNOWLEDGE + "/tree", "KnowledgeTreeResponse"),
    "create_knowledge_folder": ("POST", _KNOWLEDGE + "/folders", "KnowledgeNode"),
    "create_knowledge_page": ("POST", _KNOWLEDGE + "/pages", "CreateKnowledgePageResponse"),
    "get_knowledge_page": ("GET", _KNOWLEDGE + "/pages/{page_id}", "KnowledgePageResponse"),
    "update_knowledge_node": ("PATCH", _KNOWLEDGE + "/nodes/{node_id}", "KnowledgeNode"),
    "delete_knowledge_node": ("DELETE", _KNOWLEDGE + "/nodes/{node_id}", "Deleted"),
    "search_knowledge_base": ("GET", _KNOWLEDGE + "/search", "KnowledgePageSearchResponse"),
    "export_knowledge_base": ("GET", _KNOWLEDGE + "/export", "KnowledgePageBundleResponse"),
    "list_directives": ("GET", _BANK + "/directives", "DirectiveListResponse"),
    "create_directive": ("POST", _BANK + "/directives", "DirectiveResponse"),
    "get_directive": ("GET", _DIRECTIVE, "DirectiveResponse"),
    "update_directive": ("PATCH", _DIRECTIVE, "DirectiveResponse"),
    "delete_directive": ("DELETE", _DIRECTIVE, "Deleted"),
    "list_documents": ("GET", _BANK + "/documents", "ListDocumentsResponse"),
    "get_document": ("GET", _BANK + "/documents/{document_id}", "DocumentResponse"),
    "update_document": ("PATCH", _BANK + "/documents/{document_id}", "UpdateDocumentResponse"),
    "delete_document": ("DELETE", _BANK + "/documents/{document_id}", "DeleteDocumentResponse"),
    "list_document_chunks": ("GET", _BANK + "/documents/{document_id}/chunks", "ListChunksResponse"),
    "get_document_history": ("GET", _BANK + "/documents/{document_id}/history", "DocumentHistoryResponse"),
    "reprocess_document": ("POST", _BANK + "/documents/{document_id}/reprocess", "ReprocessDocumentResponse"),
    "get_chunk": ("GET", "/v1/default/chunks/{chunk_id}", "ChunkResponse"),
    "list_entities": ("GET", _BANK + "/entities", "EntityListResponse"),
    "get_entity": ("GET", _BANK + "/entities/{entity_id}", "EntityDetailResponse"),
    # Ours: the contract merges nothing.
    "merge_entity": ("POST", _BANK + "/entities/{entity_id}/merge", "EntityDetailResponse"),
    "unmerge_entity": ("POST", _BANK + "/entities/{entity_id}/unmerge", "UnmergeEntityResponse"),
    "list_tags": ("GET", _BANK + "/tags", "ListTagsResponse"),
    "get_agent_stats": ("GET", _BANK + "/stats", "BankStatsResponse"),
    "list_operations": ("GET", _BANK + "/operations", "OperationsListResponse"),
    "get_operation_status": ("GET", _BANK + "/operations/{operation_id}", "OperationStatusResponse"),
    "cancel_operation": ("DELETE", _BANK + "/operations/{operation_id}", "OperationDone"),
    "retry_operation": ("POST", _BANK + "/operations/{operation_id}/retry", "OperationDone"),
    "delete_operation": ("DELETE", _BANK + "/operations/{operation_id}/delete", "OperationDone"),
    "health_endpoint_health_get": ("GET", "/health", "Health"),
    "get_readiness": ("GET", "/health/ready", "Health"),
    "get_liveness": ("GET", "/health/live", "LivenessResponse"),
    "get_version": ("GET", "/version", "VersionResponse"),
    "metrics_endpoint_metrics_get": ("GET", "/metrics", "any"),
}

SHAPES: dict[str, str] = {
    "BankProfileResponse": "bank_id*: str, name*: str, disposition*: DispositionTraits, mission*: str,"
    " background: str?",
    "DispositionTraits": "skepticism*: int, literalism*: int, empathy*: int",
    "BankListResponse": "banks*: [BankListItem], total*: int, limit*: int, offset*: int",
    "BankListItem": "bank_id*: str, name: str?, disposition*: DispositionTraits, mission: str?, created_at: time?,"
    " updated_at: time?, fact_count: int, last_document_at: time?, last_write_at: time?",
    "DeleteResponse": "success*: bool, message: str?, deleted_count: int?",
    "BankConfigResponse": "bank_id*: str, config*: obj, overrides*: obj",
    "RetainResponse": "success*: bool, bank_id*: str, items_count*: int, async*: bool, operation_id: uuid?,"
    " operation_ids: [uuid]?, usage: TokenUsage?",
    "FileRetainResponse": "operation_ids*: [uuid]",
    "DryRunExtractionResult": "facts: [ExtractedFact], chunks: [ExtractionChunk], usage: TokenUsage",
    "ExtractedFact": "text*: str, fact_type*: str, occurred_start: time?, occurred_end: time?, entities: [str],"
    " chunk_index: int?",
    "ExtractionChunk": "text*: str, fact_count*: int",
    "TokenUsage": "input_tokens: int, output_tokens: int, total_tokens: int, cached_tokens: int, thoughts_tokens: int",
    "RecallResponse": "results*: [RecallResult], trace: obj?, entities: map<EntityStateResponse>?,"
    " chunks: map<ChunkData>?, source_facts: map<RecallResult>?, source_facts_truncated: bool?,"
    # Ours: what ran, and what should have and did not.
    " stages: [str], left_out: map<str>?",
    "RecallResult": "id*: uuid, text*: str, type: str?, entities: [str]?, context: str?, occurred_start: time?,"
    " occurred_end: time?, mentioned_at: time?, document_id: str?, metadata: map<str>?, chunk_id: str?, tags: [str]?,"
    " source_fact_ids: [uuid]?, scores: RecallScores?",
    "RecallScores": "final*: num, reranker: num?, semantic: num?, keyword: num?",
    "EntityStateResponse": "entity_id*: uuid, canonical_name*: str, observations*: [EntityObservationResponse]",
    "EntityObservationResponse": "text*: str, mentioned_at: time?",
    "ChunkData": "id*: str, text*: str, chunk_index*: int, truncated: bool",
    "ReflectResponse": "text*: str, based_on: ReflectBasedOn?, structured_output: obj?, usage: TokenUsage?,"
    " trace: ReflectTrace?",
    "ReflectBasedOn": "memories: [ReflectFact], mental_models: [ReflectModel], directives: [ReflectDirective]",
    "ReflectModel": "id*: str, text*: str, context: str?",
    "ReflectDirective": "id*: uuid, name*: str, content*: str",
    "ReflectFact": "id: uuid?, text*: str, type: str?, context: str?, occurred_start: time?, occurred_end: time?",
    "ReflectTrace": "tool_calls: [ReflectToolCall], llm_calls: [ReflectLLMCall], violations: [obj]?",
    "ReflectToolCall": "tool*: str, input*: obj, output: obj?, duration_ms*: int, iteration: int",
    "ReflectLLMCall": "scope*: str, duration_ms*: int",
    "ClearMemoryObservationsResponse": "deleted_count*: int",
    "ObservationScopesResponse": "scopes*: [ObservationScope]",
    "ObservationScope": "tags*: [str], count*: int",
    "ConsolidationResponse": "operation_id*: uuid, deduplicated: bool",
    "RecoverConsolidationResponse": "retried_count*: int",
    "HistoryEntry": "previous_text*: str, previous_tags*: [str], previous_occurred_start: time?,"
    " previous_occurred_end: time?, previous_mentioned_at: time?, changed_at*: time, new_source_memory_ids*: [uuid],"
    " source_facts*: [HistoryFact], reason: str?",  # Ours: the reason.
    "HistoryFact": "id*: uuid, text*: str, type*: str, context*: str, is_new*: bool",
    "ListMemoryUnitsResponse": "items*: [MemoryListItem], total*: int, limit*: int, offset*: int",
    "MemoryListItem": "id*: uuid, text*: str, context*: str, date*: str, fact_type*: str, document_id*: str?,"
    " mentioned_at*: time?, occurred_start*: time?, occurred_end*: time?, entities*: str, chunk_id*: str?,"
    " proof_count*: int, tags*: [str], metadata*: map<str>, consolidated_at*: time?, consolidation_failed_at*: time?,"
    " state*: str, invalidation_reason*: str?, invalidated_at*: time?, edited_at*: time?, updated_at*: time,"
    " source_memory_ids*: [uuid], observation_scopes: any",
    "MemoryUnit": "id*: uuid, text*: str, context*: str, date*: str, type*: str, mentioned_at: time?,"
    " occurred_start: time?, occurred_end: time?, entities*: [str], document_id: str?, chunk_id: str?, tags*: [str],"
    " metadata*: map<str>, observation_scopes: any, state*: str, invalidation_reason: str?, invalidated_at: time?,"
    " edited_at: time?, proof_count: int, mentioned_in: [str], history: [obj]?, source_memory_ids: [uuid]?,"
    " source_memories: [SourceMemory]?",
    "SourceMemory": "id*: uuid, text*: str, type*: str, context*: str, occurred_start: time?, mentioned_at: time?",
    "ListDocumentsResponse": "items*: [DocumentListItem], total*: int, limit*: int, offset*: int",
    "DocumentListItem": "id*: str, bank_id*: str, content_hash*: str?, created_at*: time, updated_at*: time,"
    " text_length*: int, memory_unit_count*: int, retain_params*: obj?, document_metadata*: obj?, tags*: [str]",
    "DocumentResponse": "id*: str, bank_id*: str, original_text*: str?, content_hash*: str?, created_at*: time,"
    " updated_at*: time, memory_unit_count*: int, nodes_by_fact_type: map<int>?, tags: [str], document_metadata: obj?,"
    " retain_params: obj?, observation_scopes: any",
    "UpdateDocumentResponse": "success: bool",
    "DeleteDocumentResponse": "success*: bool, message*: str, document_id*: str, memory_units_deleted*: int",
    "ListChunksResponse": "items*: [ChunkResponse], total*: int, limit*: int, offset*: int",
    "ChunkResponse": "chunk_id*: str, document_id*: str, bank_id*: str, chunk_index*: int, chunk_text*: str,"
    " created_at*: time",
    "DocumentHistoryResponse": "document_id*: str, items*: [DocumentEvent], total*: int, limit*: int, offset*: int",
    "DocumentEvent": "document_id*: str, kind*: str, created_at: time, operation_id: str?, fact_id: str?,"
    " facts_added: int, facts_removed: int, observations_created: ObservationIdSample,"
    " observations_removed: ObservationIdSample, observations_updated: ObservationIdSample",
    "ObservationIdSample": "count: int, ids: [str]",
    "ReprocessDocumentResponse": "success*: bool, operation_id*: str, items_count*: int",
    "EntityListResponse": "items*: [EntityListItem], total*: int, limit*: int, offset*: int",
    "EntityListItem": "id*: uuid, canonical_name*: str, mention_count*: int, first_seen: time?, last_seen: time?,"
    " metadata: obj?",
    "EntityDetailResponse": "id*: uuid, canonical_name*: str, mention_count*: int, first_seen: time?, last_seen: time?,"
    " metadata: obj?, observations*: [EntityObservationResponse], aliases: [EntityAlias]",
    "EntityAlias": "name*: str, entity_id: uuid?",
    "UnmergeEntityResponse": "success*: bool",
    "ListTagsResponse": "items*: [TagItem], total*: int, limit*: int, offset*: int",
    "TagItem": "tag*: str, count*: int",
    "BankStatsResponse": "bank_id*: str, total_nodes*: int, total_links*: int, total_documents*: int,"
    " nodes_by_fact_type*: map<int>, links_by_link_type*: map<int>, links_by_fact_type*: map<int>,"
    " links_breakdown*: obj, pending_operations*: int, failed_operations*: int, operations_by_status: map<int>,"
    " last_consolidated_at: time?, last_memory_write_at: time?, pending_consolidation: int,"
    " failed_consolidation: int, total_observations: int",
    "OperationsListResponse": "bank_id*: str, total*: int, limit*: int, offset*: int, operations*: [OperationResponse]",
    "OperationResponse": "id*: uuid, task_type*: str, items_count*: int, document_id*: str?, filename*: str?,"
    " mental_model_id*: str?, details*: RefreshDetails?,"
    " created_at*: time, updated_at*: time?, status*: str, error_message*: str?, retry_count*: int?,"
    " next_retry_at*: time?,"
    " progress*: OperationProgress?",
    "OperationProgress": "stage*: str, at*: time, processed: int?, total: int?, detail: map<int>?",
    "OperationStatusResponse": "operation_id*: uuid, status*: str, operation_type*: str?, created_at*: time?,"
    " updated_at*: time?, completed_at*: time?, error_message*: str?, retry_count*: int?, next_retry_at*: time?,"
    " progress*: OperationProgress?, result_metadata*: obj?, child_operations*: [ChildOperationStatus]?,"
    " task_payload*: obj?, details*: RefreshDetails?",
    "RefreshDetails": "operation_type: str, outcome*: str, failure_reason: str?",
    "MentalModelListResponse": "items*: [MentalModelResponse], total*: int, limit*: int, offset*: int",
    "CreateMentalModelResponse": "mental_model_id: str?, operation_id*: uuid",
    "MentalModelResponse": "id*: str, bank_id*: str, name*: str, source_query: str?, content: str?, tags: [str],"
    " max_tokens: int?, trigger: MentalModelTrigger?, last_refreshed_at: time?, last_full_refreshed_at: time?,"
    " last_refresh_failed_at: time?, last_memory_seen_at: time?, created_at: time?, reflect_response: obj?,"
    " is_stale: bool?, is_knowledge_page: bool?",
    "MentalModelTrigger": "mode: str, refresh_after_consolidation: bool, refresh_cron: str?,"
    " min_refresh_interval_seconds: int?, fact_types: [str]?, exclude_mental_models: bool,"
    " exclude_mental_model_ids: [str]?, tags_match: str?, tag_groups: [obj]?, include_chunks: bool?,"
    " recall_max_tokens: int?, recall_chunks_max_tokens: int?, response_schema: obj?, keep_trace: bool, budget: str?",
    "Deleted": "status*: str",
    "DirectiveResponse": "id*: uuid, bank_id*: str, name*: str, content*: str, priority: int, is_active: bool,"
    " tags: [str], created_at: time?, updated_at: time?",
    "DirectiveListResponse": "items*: [DirectiveResponse], total*: int, limit*: int, offset*: int",
    "KnowledgeTreeResponse": "roots*: [KnowledgeNode]",
    "KnowledgeNode": "id*: str, kind*: str, name*: str, parent_id: str?, mental_model_id: str?, managed: bool,"
    " description: str?, tags: [str], timestamp: time?, is_stale: bool?, last_refresh_failed_at: time?,"
    " trigger: MentalModelTrigger?, children: [KnowledgeNode]",
    "CreateKnowledgePageResponse": "page_id*: str, mental_model_id*: str, operation_id: uuid?",
    "KnowledgePageResponse": "id*: str, name*: str, type*: str, description: str?, tags: [str], timestamp: time?,"
    " body: str?, markdown*: str",
    "KnowledgePageSearchResponse": "results*: [KnowledgePageSearchResult], total*: int",
    "KnowledgePageSearchResult": "id*: str, name*: str, mental_model_id: str?, snippet*: str, score*: num,"
    " source_query: str?, updated_at: time?",
    "KnowledgePageBundleResponse": "files*: [KnowledgePageBundleFile]",
    "KnowledgePageBundleFile": "path*: str, content*: str",
    "AsyncOperationSubmitResponse": "operation_id*: uuid, status*: str",
    "MentalModelHistoryEntry": "previous_content*: str, changed_at*: time, reason*: str",
    "MentalModelDryRunRefreshResult": "mental_model_id*: str, name*: str, requested_mode*: str, effective_mode*: str,"
    " mode_fallback_reason: str?, outcome*: str, would_persist*: bool, scope*: MentalModelRefreshScope,"
    " window*: MentalModelRefreshWindow, facts*: MentalModelFactCounts, based_on: map<[obj]>, current_content*: str,"
    " candidate_content*: str, preview_content*: str, diff*: str, delta_operations: MentalModelDeltaOperations?,"
    " retraction: obj?, trace*: MentalModelRefreshTrace, usage: TokenUsage, duration_ms: int, warnings: [str]",
    "MentalModelRefreshScope": "tags: [str]?, tags_match*: str, tag_groups: [obj]?, fact_types: [str]?,"
    " exclude_mental_models*: bool, exclude_mental_model_ids: [str]?",
    "MentalModelRefreshWindow": "created_after: time?, created_before*: time, watermark: time?",
    "MentalModelFactCounts": "retrieved: map<int>, used: map<int>",
    "MentalModelDeltaOperations": "applied: [obj], skipped: [obj]",
    "MentalModelRefreshTrace": "effective_mode*: str, mode_fallback_reason: str?, outcome*: str, recorded_at: time?,"
    " duration_ms: int, tool_calls: [obj], llm_calls: [obj], delta_operations: MentalModelDeltaOperations?,"
    " retraction: obj?, usage: TokenUsage?, warnings: [str]",
    "ChildOperationStatus": "operation_id*: uuid, status*: str, sub_batch_index: int?, items_count: int?,"
    " error_message: str?",
    "OperationDone": "success*: bool, message*: str, operation_id*: uuid",
    "Health": "status*: str, database*: str, db_acquire_ms*: num, engine: str, connections_num: int,"
    " connections_ms: int, requests_num: int, usage_ms: int, pool_min: int, pool_max: int, pool_size: int,"
    " pool_available: int, requests_waiting: int, requests_queued: int, requests_wait_ms: int, requests_errors: int,"
    " returns_bad: int, connections_errors: int, connections_lost: int",
    "LivenessResponse": "status*: str, version*: str, uptime_seconds*: num",
    "VersionResponse": "api_version*: str, features*: FeaturesInfo, engine: str",
    "FeaturesInfo": "observations*: bool, mcp*: bool, worker*: bool, bank_config_api*: bool, bank_llm_health*: bool,"
    " file_upload_api*: bool, document_export_api*: bool, document_import_api*: bool, audit_log*: bool,"
    " llm_trace*: bool, store_document_text*: bool",
}


def violations(type_: str, value: Any, place: str = "$") -> Iterator[str]:
    """Yield what in a value is not as its type says."""
    if type_.endswith("?"):
        if value is not None:
            yield from violations(type_[:-1], value, place)
        return
    kind = type_[0] if type_.startswith("[") else type_.partition("<")[0]
    if not _PLAIN.get(kind, _is_object)(value):
        yield f"{place}: {value!r} is no {type_}"
    elif kind == "[":
        for index, one in enumerate(value):
            yield from violations(type_[1:-1], one, f"{place}[{index}]")
    elif kind == "map":
        for key, one in value.items():
            yield from violations(type_[4:-1], one, f"{place}.{key}")
    elif kind in SHAPES:
        yield from _of_shape(kind, value, place)


def _of_shape(name: str, value: dict[str, Any], place: str) -> Iterator[str]:
    fields = dict(field.strip().split(": ") for field in SHAPES[name].split(","))
    types = {field.rstrip("*"): type_ for field, type_ in fields.items()}
    yield from (f"{place}: {key} is not in {name}" for key in value.keys() - types.keys())
    yield from (f"{place}: {name} lacks {key}" for key in types if key + "*" in fields and key not in value)
    for key in types.keys() & value.keys():
        yield from violations(types[key], value[key], f"{place}.{key}")


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


def _matches(form: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(form, value) is not None


#: How the types that are no shapes are told; what is not here is an object.
_PLAIN: dict[str, Callable[[Any], bool]] = {
    "any": lambda value: True,
    "bool": lambda value: isinstance(value, bool),
    "int": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "num": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "str": lambda value: isinstance(value, str),
    "[": lambda value: isinstance(value, list),
    "time": _matches(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"),
    "uuid": _matches(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"),
}
