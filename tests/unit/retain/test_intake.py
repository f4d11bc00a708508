"""The entry of retain: what is refused and how, what is cleaned, how a request is cut."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from memorybank.errors import BadRequest, Blocked, InvalidInput
from memorybank.model import EntityInput, RetainItem
from memorybank.retain import intake, payload
from memorybank.retain.intake import Limits, accept, by_strategy, children, clean, refuse_repeated_documents
from memorybank.settings import MemoryDefense, defaults

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)
BANK = defaults().bank
LIMITS = Limits(defaults().retain, lambda _: BANK)


def item(content: str = "Ada likes teal.", **fields: object) -> RetainItem:
    return replace(RetainItem(content, AT), **fields)


def refused(*items: RetainItem, limits: Limits = LIMITS) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        clean(items, limits)
    return caught.value


@pytest.mark.parametrize("content", ["", "  \n", "\x00", "\ud83d", "\x00 \n", "\u200b\ufeff", "\u202e"])
def test_blank_content_is_named(content: str) -> None:
    error = refused(item(), item(content))
    assert (error.status, error.loc) == (422, ("body", "items", 1, "content"))


def test_no_items_too_many_and_too_long_are_refused() -> None:
    tight = Limits(
        defaults().retain.model_copy(update={"max_items": 1, "max_item_chars": 20}), LIMITS.config_of
    )
    assert refused().loc == ("body", "items")
    assert refused(item(), item(), limits=tight).loc == ("body", "items")
    assert refused(item("long " * 20), limits=tight).loc == ("body", "items", 0, "content")


@pytest.mark.parametrize(
    ("fields", "loc"),
    [
        ({"update_mode": "merge"}, ("update_mode",)),
        ({"document_id": "d" * 513}, ("document_id",)),
        ({"document_id": ".."}, ("document_id",)),
        ({"document_id": "."}, ("document_id",)),
        ({"document_id": "two\r\nlines"}, ("document_id",)),
        ({"document_id": "notes/../../other"}, ("document_id",)),
        ({"document_id": "notes\\.."}, ("document_id",)),
        ({"document_id": "%2E%2e"}, ("document_id",)),
        ({"strategy": "s" * 257}, ("strategy",)),
        ({"context": "c" * 8_001}, ("context",)),
        ({"metadata": {str(n): "" for n in range(257)}}, ("metadata",)),
        ({"metadata": {"k" * 257: ""}}, ("metadata",)),
        ({"metadata": {"k": "v" * 32_000}}, ("metadata",)),
        ({"tags": ("ok", "t" * 513)}, ("tags", 1)),
        ({"observation_scopes": "everyone"}, ("observation_scopes",)),
        ({"observation_scopes": (("a",), ("b" * 513,))}, ("observation_scopes", 1, 0)),
        ({"entities": (EntityInput("Ada"), EntityInput(" \x00"))}, ("entities", 1, "text")),
        ({"entities": (EntityInput("e" * 257),)}, ("entities", 0, "text")),
    ],
)
def test_a_wrong_field_is_named(fields: dict[str, object], loc: tuple[str | int, ...]) -> None:
    error = refused(item(**fields))
    assert (error.status, error.loc) == (422, ("body", "items", 0, *loc))


def test_append_needs_a_document_and_its_text() -> None:
    with pytest.raises(BadRequest, match="document_id"):
        clean([item(update_mode="append")], LIMITS)
    textless = Limits(LIMITS.retain, lambda _: BANK.model_copy(update={"store_document_text": False}))
    with pytest.raises(BadRequest, match="store_document_text"):
        clean([item(update_mode="append", document_id="d")], textless)


def test_what_postgres_cannot_hold_is_taken_out() -> None:
    dirty = item(
        "To\x00tal: 40 EUR \ud83d",
        context="a\x00b",
        metadata={"k\x00": "v\ud83d"},
        document_id="d\x00",
        tags=("t\x00", "t", " "),
        entities=(EntityInput("Ada\x00  Lovelace", ""), EntityInput("ada lovelace")),
        observation_scopes=(("x\x00",), ()),
    )
    [clean_item] = clean([dirty], LIMITS)
    assert clean_item.content == "Total: 40 EUR "
    assert (clean_item.context, clean_item.metadata, clean_item.document_id) == ("ab", {"k": "v"}, "d")
    assert clean_item.tags == ("t",)
    assert clean_item.entities == (EntityInput("Ada Lovelace", "CONCEPT"),)
    assert clean_item.observation_scopes == (("x",), ())


@pytest.mark.parametrize(
    ("content", "left"),
    [
        ("<memories>Ada's bike is a Brompton.</memories> What colour is it?", "  What colour is it?"),
        ("<HINDSIGHT_MEMORIES source='x'>old</hindsight_memories>new", " new"),
        ("<relevant-memories>old</relevant-memories>new", " new"),
        ("<recalled>old</recalled>new", " new"),
        ("<notes>kept</notes>", "<notes>kept</notes>"),
        ("<memories>never closed", "<memories>never closed"),
        ("<memories>nothing else</memories>", " "),
    ],
)
def test_what_was_recalled_is_left_out(content: str, left: str) -> None:
    own = defaults().retain.model_copy(update={"recalled_tags": ["memories", "recalled"]})
    accepted = accept([item(content, context=content)], Limits(own, LIMITS.config_of))
    [kept] = accepted.items
    assert kept.content.split() == kept.context.split() == left.split()
    assert accepted.recalled_blocks == 2 * (left != content)


def with_policy(action: str) -> Limits:
    rules = [{"on": "sensitive_data", "action": action}]
    policy = MemoryDefense.model_validate({"enabled": True, "rules": rules})
    return Limits(
        LIMITS.retain, lambda name: BANK.model_copy(update={"memory_defense": None if name else policy})
    )


KEY = "ghp_" + "a8Kd93jfLq02ZmXc7VbN"


def test_secrets_are_masked_where_no_policy_says_otherwise() -> None:
    accepted = accept([item(f"Use {KEY}\x00 now")], LIMITS)
    assert accepted.items[0].content == "Use [REDACTED:github_token] now"
    assert accepted.violations == ()


def test_a_key_that_a_nul_byte_cuts_is_found() -> None:
    [kept] = accept([item(KEY[:10] + "\x00" + KEY[10:])], LIMITS).items
    assert kept.content == "[REDACTED:github_token]"


@pytest.mark.parametrize("field", ["document_id", "strategy"])
def test_a_name_that_holds_a_secret_is_refused_and_not_repeated(field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        accept([item(**{field: f"x-{KEY}"})], LIMITS)
    assert caught.value.loc == ("body", "items", 0, field)
    assert (caught.value.status, KEY in repr(vars(caught.value)) + str(caught.value)) == (422, False)


def test_blocked_items_are_dropped_and_named_without_their_secret() -> None:
    accepted = accept([item("one"), item(KEY), item("three", context=KEY)], with_policy("block"))
    assert [kept.content for kept in accepted.items] == ["one"]
    assert [violation.index for violation in accepted.violations] == [1, 2]
    assert "github_token" in accepted.violations[0].message and KEY not in repr(accepted.violations)
    with pytest.raises(Blocked) as caught:
        accept([item(KEY)], with_policy("block"))
    assert (caught.value.status, caught.value.violations[0]["detector"]) == (422, "sensitive_data")


def test_a_strategy_may_have_a_policy_of_its_own() -> None:
    accepted = accept([item(KEY), item(KEY, strategy="lax")], with_policy("block"))
    assert [kept.content for kept in accepted.items] == ["[REDACTED:github_token]"]


@pytest.mark.parametrize("document_id", ["a/b/c", "...", ".hidden", "v1.2..v1.3", "100%", "c:\\notes.txt"])
def test_ids_that_only_look_like_paths_are_kept(document_id: str) -> None:
    [clean_item] = clean([item(document_id=document_id)], LIMITS)
    assert clean_item.document_id == document_id


def test_an_empty_document_id_or_strategy_is_none() -> None:
    [clean_item] = clean([item(document_id="\x00", strategy="")], LIMITS)
    assert (clean_item.document_id, clean_item.strategy) == (None, None)


def test_repeated_documents_are_refused_in_the_background_only() -> None:
    twice = [item(document_id="d"), item(document_id="d")]
    with pytest.raises(BadRequest, match="'d'"):
        refuse_repeated_documents(twice)
    refuse_repeated_documents([item(), item(), item(document_id="d")])
    [child] = children(None, twice, AT, 100)
    assert [document.id for document in child.batch.documents] == ["d"]
    assert len(child.batch.documents[0].items) == 2


def test_items_are_grouped_by_strategy_and_a_document_has_one() -> None:
    groups = by_strategy([item(strategy="a"), item(), item(strategy="a")])
    assert {name: len(items) for name, items in groups.items()} == {"a": 2, None: 1}
    with pytest.raises(BadRequest, match="several strategies"):
        by_strategy([item(strategy="a", document_id="d"), item(document_id="d")])


def test_items_without_id_share_one_generated_document() -> None:
    [child] = children(None, [item("one"), item("two"), item("three", document_id="own")], AT, 1000)
    shared, own = child.batch.documents
    assert [one.content for one in shared.items] == ["one", "two"] and own.id == "own"
    assert child.items == 3


def test_children_hold_whole_documents_up_to_about_the_batch_size() -> None:
    items = [item("word " * 40, document_id=f"d{n}") for n in range(10)]
    made = children(None, items, AT, 100)
    assert [len(child.batch.documents) for child in made] == [2] * 5
    assert all(child.tokens <= 100 for child in made)
    [whole] = children(None, [item("word " * 500, document_id="big")], AT, 100)
    assert whole.tokens > 100


def test_only_items_that_all_append_make_a_document_append() -> None:
    mixed = [item(document_id="d", update_mode="append"), item(document_id="d")]
    assert intake.children(None, mixed[:1], AT, 10)[0].batch.documents[0].update_mode == "append"
    assert intake.children(None, mixed, AT, 10)[0].batch.documents[0].update_mode == "replace"


def test_a_payload_comes_back_from_json_as_it_was() -> None:
    [cleaned] = clean(
        [
            item(
                context="c",
                metadata={"k": "v"},
                document_id="d",
                entities=(EntityInput("Ada", "PERSON"),),
                resolve_entities=False,
                tags=("t",),
                observation_scopes=(("a", "b"), ()),
                timestamp_assumed=True,
                strategy="s",
            )
        ],
        LIMITS,
    )
    [child] = children(
        "s", [cleaned, replace(cleaned, timestamp=None, observation_scopes="shared")], AT, 1000
    )
    assert payload.from_json(payload.to_json(child.batch)) == child.batch
    staged = payload.Staged("s", ("d",), 2, 1, {"stale": 1}, ("why",))
    assert payload.from_json(payload.to_json(staged)) == staged
