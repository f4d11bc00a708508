"""Whom each call is for: what it takes says it, and the exceptions stand here."""

import pytest

from memorybank.serve.actions import CALLS
from memorybank.serve.calls import BANK, Call, Rule

#: Calls on a bank without a viewer that change no more than whoever uses it may; and some that take one, for where
#: they look, and change what belongs to the bank.
FOR_USERS = {
    "retain_memories",
    "file_retain",
    "dry_run_extract_memories",
    "create_mental_model",
    "create_knowledge_folder",
    "create_knowledge_page",
    "merge_entity",
    "unmerge_entity",
    "trigger_consolidation",
    "recover_consolidation",
}
#: Calls that read, though they are no GET.
READING = {"recall_memories", "recall_facts", "reflect", "reflect_stream", "dry_run_refresh_mental_model"}


@pytest.mark.parametrize("call", list(CALLS), ids=lambda call: call.name)
def test_whom_a_call_is_for(call: Call) -> None:
    if call.name in FOR_USERS:
        expected = Rule.USES
    elif call.path.startswith(BANK) or call.takes_viewer:
        unguarded = Rule.USES if call.method == "GET" else Rule.OWNS
        # Facts resolve what their principal sees themselves, at a place.
        expected = Rule.SEES if call.takes_viewer or call.group == "facts" else unguarded
    else:
        assert call.rule in (Rule.OPERATES, Rule.PERSON, Rule.AGENT, Rule.THEIRS), (
            "a call beyond banks says whom it is for"
        )
        return
    assert call.rule is expected


def test_what_reads_and_what_changes() -> None:
    assert {call.name for call in CALLS if call.method != "GET" and not call.changes} == READING
