"""Every declared call, with a request that means something: for walks past doors that must look shut, or like no door.

A call that is not named here fails a test (test_walked_calls): whoever adds one says how it is walked.
"""

from dataclasses import dataclass
from typing import Any

from memorybank.serve.actions import CALLS
from memorybank.serve.calls import BANK, Call

#: A UUID that nothing has, and an id of those that callers choose.
NOTHING, NOWHERE = "00000000-0000-7000-8000-000000000000", "no-such-thing"
_QUERY = "Who met whom?"
_MODEL = {"name": "Some", "source_query": _QUERY}
_ITEMS = {"items": [{"content": "Somebody met somebody."}]}


@dataclass(frozen=True)
class Walk:
    """How a call is walked. `names`: what kind of row its path names, beside the bank; `body`; `form` in parts.

    `settles`: it asks for a change of one row that it names, or of the whole bank.
    """

    names: str | None = None
    body: Any = None
    params: dict[str, Any] | None = None
    form: dict[str, Any] | None = None


#: Calls on a bank, and on what is in it.
WALKS: dict[str, Walk] = {
    "create_or_update_bank": Walk(body={"name": "Other"}),
    "update_bank": Walk(body={"name": "Other"}),
    "update_bank_disposition": Walk(body={"disposition": {"skepticism": 3, "literalism": 3, "empathy": 3}}),
    "get_bank_profile": Walk(),
    "delete_bank": Walk(),
    "get_bank_config": Walk(),
    "update_bank_config": Walk(body={"updates": {"reflect_mission": "Other"}}),
    "reset_bank_config": Walk(),
    "list_tags": Walk(),
    "get_agent_stats": Walk(),
    "list_directives": Walk(),
    "create_directive": Walk(body={"name": "Some", "content": "Be brief."}),
    "get_directive": Walk("directive"),
    "update_directive": Walk("directive", {"content": "Be long."}),
    "delete_directive": Walk("directive"),
    "list_documents": Walk(),
    "get_chunk": Walk("chunk"),
    "list_document_chunks": Walk("document"),
    "get_document_history": Walk("document"),
    "reprocess_document": Walk("document"),
    "get_document": Walk("document"),
    "update_document": Walk("document", {"tags": ["other"]}),
    "delete_document": Walk("document"),
    "list_entities": Walk(),
    "get_entity": Walk("entity"),
    "merge_entity": Walk("entity", {"names": ["Somebody Else"]}),
    "unmerge_entity": Walk("entity"),
    "list_facts": Walk(),
    "create_fact": Walk(body={"text": "Somebody met somebody.", "for": {"scope": "just_you"}}),
    "recall_facts": Walk(body={"place": NOWHERE}),
    "get_fact": Walk("memory_unit"),
    "update_fact": Walk("memory_unit", {"pinned": True}),
    "delete_fact": Walk("memory_unit"),
    "file_retain": Walk(form={"request": "{}"}),
    "list_mental_models": Walk(),
    "create_mental_model": Walk(body=_MODEL),
    "get_mental_model": Walk("mental_model"),
    "update_mental_model": Walk("mental_model", {"name": "Other"}),
    "delete_mental_model": Walk("mental_model"),
    "get_mental_model_history": Walk("mental_model"),
    "refresh_mental_model": Walk("mental_model", {}),
    "dry_run_refresh_mental_model": Walk("mental_model"),
    "clear_mental_model": Walk("mental_model"),
    "get_knowledge_base_tree": Walk(),
    "create_knowledge_folder": Walk(body={"name": "Some"}),
    "create_knowledge_page": Walk(body=_MODEL),
    "get_knowledge_page": Walk("page"),
    "update_knowledge_node": Walk("node", {"name": "Other"}),
    "delete_knowledge_node": Walk("node"),
    "search_knowledge_base": Walk(params={"q": _QUERY}),
    "export_knowledge_base": Walk(),
    "trigger_consolidation": Walk(body={}),
    "recover_consolidation": Walk(),
    "list_observation_scopes": Walk(),
    "clear_observations": Walk(),
    "clear_memory_observations": Walk("memory_unit"),
    "get_observation_history": Walk("memory_unit"),
    "retain_memories": Walk(body=_ITEMS),
    "recall_memories": Walk(body={"query": _QUERY}),
    "list_memories": Walk(),
    "get_memory": Walk("memory_unit"),
    "update_memory": Walk("memory_unit", {"state": "invalidated"}),
    "forget_memory": Walk("memory_unit"),
    "clear_bank_memories": Walk(),
    "list_operations": Walk(),
    "get_operation_status": Walk("operation"),
    "cancel_operation": Walk("operation"),
    "retry_operation": Walk("operation"),
    "delete_operation": Walk("operation"),
    "dry_run_extract_memories": Walk(body={"content": "Somebody met somebody."}),
    "reflect": Walk(body={"query": _QUERY}),
    "reflect_stream": Walk(body={"query": _QUERY}),
}
#: Calls of the operator of the installation: to anybody else the same refusal, whatever there is.
OPERATED = {
    "get_directory": None,
    "put_directory": {},
    "list_keys": None,
    "create_key": {"kind": "operator"},
    "revoke_key": None,
}
#: Calls that belong to no bank, and where they are walked.
ELSEWHERE = {
    "list_banks": "isolation_reads",
    **dict.fromkeys(
        (
            "get_agent_me",
            "get_my_profile",
            "list_agent_chats",
            "list_agent_memories",
            "create_agent_memory",
            "get_agent_memory",
            "supersede_agent_memory",
            "archive_agent_memory",
            "list_user_memories",
            "get_user_memory",
            "delete_user_memory",
            "supersede_user_memory",
            "archive_user_memory",
            "restore_user_memory",
            "list_entries",
            "put_entries",
            "list_own_agents",
        ),
        "isolation_shared",
    ),
}
BY_NAME: dict[str, Call] = {declared.name: declared for declared in CALLS}


def path(name: str, bank_id: str, row: str = NOTHING) -> str:
    """Return the path of a call on a bank, and on a row in it."""
    found = BY_NAME[name].path.replace("{bank_id}", bank_id)
    head, brace, tail = found.partition("{")
    return head + row + tail.partition("}")[2] if brace else head


def in_a_bank() -> list[str]:
    """Return the calls whose path names a bank."""
    return [name for name, declared in BY_NAME.items() if declared.path.startswith(BANK)]
