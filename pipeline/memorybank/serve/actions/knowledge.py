"""Knowledge pages: a tree of folders and pages, which are mental models with managed defaults."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query

from memorybank.audience import Viewer
from memorybank.errors import BadRequest, NotFound
from memorybank.ids import new_id
from memorybank.memory import MemoryBank
from memorybank.mental_models import pages, trigger
from memorybank.sections import rendered
from memorybank.serve.actions.mental_model_views import trigger_of
from memorybank.serve.actions.mental_models import changes_of, new_model
from memorybank.serve.calls import BANK, Rule, call
from memorybank.serve.http.schemas.knowledge import (
    CreateFolderRequest,
    CreateKnowledgePageResponse,
    CreatePageRequest,
    KnowledgeNode,
    KnowledgePageBundleFile,
    KnowledgePageBundleResponse,
    KnowledgePageResponse,
    KnowledgePageSearchResponse,
    KnowledgePageSearchResult,
    KnowledgeSearchQuery,
    KnowledgeTreeResponse,
    UpdateNodeRequest,
)
from memorybank.serve.http.schemas.mental_models import MentalModelTrigger
from memorybank.serve.http.schemas.wire import Deleted, stamp
from memorybank.storage import knowledge, mental_models
from memorybank.storage.knowledge import Folder
from memorybank.storage.listings import Page
from memorybank.storage.mental_models import Model
from memorybank.storage.queries import Connection

KNOWLEDGE = BANK + "/knowledge-base"
#: All pages: a tree has no pages of its own to turn.
EVERY = Page(limit=10_000)


async def _tree(connection: Connection, bank: int, viewer: Viewer) -> tuple[list[Folder], list[Model]]:
    folders = await knowledge.folders(connection, bank, viewer)
    found, _ = await mental_models.list_(connection, bank, viewer, mental_models.ALL, EVERY, managed=True)
    return folders, sorted(found, key=lambda page: (page.name, page.number))


@call("GET", KNOWLEDGE + "/tree")
async def get_knowledge_base_tree(memory: MemoryBank, viewer: Viewer, bank_id: str) -> KnowledgeTreeResponse:
    """Return the whole tree."""
    async with memory.reading(bank_id) as (connection, bank):
        folders, found = await _tree(connection, bank.id, viewer)
    return KnowledgeTreeResponse(roots=_inside(None, folders, found))


def _inside(parent: Folder | None, folders: Sequence[Folder], found: Sequence[Model]) -> list[KnowledgeNode]:
    number = parent.number if parent else None
    inner = [_folder(one, parent, _inside(one, folders, found)) for one in folders if one.parent == number]
    return inner + [_page(one, parent) for one in found if one.folder == number]


def _folder(one: Folder, parent: Folder | None, children: list[KnowledgeNode]) -> KnowledgeNode:
    above = parent.id if parent else None
    return KnowledgeNode(id=one.id, kind="folder", name=one.name, parent_id=above, children=children)


def _page(one: Model, parent: Folder | None) -> KnowledgeNode:
    return KnowledgeNode(
        id=one.id,
        kind="page",
        name=one.name,
        parent_id=parent.id if parent else None,
        mental_model_id=one.id,
        managed=True,
        description=one.source_query,
        tags=list(one.tags),
        timestamp=stamp(one.refreshed_at),
        is_stale=one.is_stale,
        last_refresh_failed_at=stamp(one.failed_at),
        trigger=trigger_of(one),
    )


@call("POST", KNOWLEDGE + "/folders", status=201, rule=Rule.USES)
async def create_knowledge_folder(
    memory: MemoryBank, viewer: Viewer, bank_id: str, body: CreateFolderRequest
) -> KnowledgeNode:
    """Make a folder; the bank appears on first use."""
    name, id_ = trigger.worded(body.name, "name", trigger.MAX_NAME_CHARS), f"kf-{new_id().hex}"
    async with memory.making(bank_id) as (connection, bank, audience):
        await knowledge.hold(connection, bank.id)
        folders = await knowledge.folders(connection, bank.id, viewer)
        parent = pages.folder_of(folders, body.parent_id)
        pages.check_place(folders, parent)
        await knowledge.add(connection, bank.id, audience, id_, name, parent.number if parent else None)
    return KnowledgeNode(id=id_, kind="folder", name=name, parent_id=body.parent_id)


@call("POST", KNOWLEDGE + "/pages", status=201, rule=Rule.USES)
async def create_knowledge_page(
    memory: MemoryBank, viewer: Viewer, bank_id: str, body: CreatePageRequest
) -> CreateKnowledgePageResponse:
    """Make a page and queue its first build; the bank appears on first use."""
    stored = _managed(body.trigger or MentalModelTrigger())
    room = body.max_tokens or pages.MAX_TOKENS
    new = new_model(f"kp-{new_id().hex}", body, stored, max_tokens=room, is_managed=True)
    async with memory.making(bank_id) as (connection, bank, audience):
        await knowledge.hold(connection, bank.id)
        folders = await knowledge.folders(connection, bank.id, viewer)
        parent = pages.folder_of(folders, body.parent_id)
        new = replace(new, folder=parent.number if parent else None)
        await mental_models.add(connection, bank.id, audience, new)
        page = await mental_models.get(connection, bank.id, Viewer(audiences=(audience,)), new.id)
        operation = await mental_models.ask(connection, page)
    return CreateKnowledgePageResponse(page_id=new.id, mental_model_id=new.id, operation_id=str(operation))


def _managed(asked: MentalModelTrigger) -> dict[str, Any]:
    """Return the trigger of a page: what is said of it, over what pages have."""
    said = asked.model_dump(exclude_unset=True, include=set(MentalModelTrigger.model_fields))
    return trigger.checked(pages.managed(said))


@call("GET", KNOWLEDGE + "/pages/{page_id}")
async def get_knowledge_page(
    memory: MemoryBank, viewer: Viewer, bank_id: str, page_id: str
) -> KnowledgePageResponse:
    """Return one page as markdown with front matter."""
    async with memory.reading(bank_id) as (connection, bank):
        page = await mental_models.get(connection, bank.id, viewer, page_id)
    if not page.is_managed:
        raise NotFound(f"Knowledge page '{page_id}' not found")
    return KnowledgePageResponse(
        id=page.id,
        name=page.name,
        type="page",
        description=page.source_query,
        tags=list(page.tags),
        timestamp=stamp(page.refreshed_at),
        body=rendered(page.document),
        markdown=pages.markdown(page),
    )


@call("PATCH", KNOWLEDGE + "/nodes/{node_id}")
async def update_knowledge_node(
    memory: MemoryBank, viewer: Viewer, bank_id: str, node_id: str, body: UpdateNodeRequest
) -> KnowledgeNode:
    """Rename or move a folder or a page, or ask something else of a page."""
    given = body.model_fields_set & set(type(body).model_fields)
    if not given:
        raise BadRequest("nothing is asked otherwise", loc=("body",))
    changes = changes_of(body)
    if body.trigger is not None:
        changes = replace(changes, trigger=_managed(body.trigger))
    async with memory.changing(bank_id) as (connection, bank):
        await knowledge.hold(connection, bank.id)
        folders, found = await _tree(connection, bank.id, viewer)
        node = pages.node_of(folders, found, node_id)
        parent = _parent(folders, node)
        if "parent_id" in given:
            parent = pages.folder_of(folders, body.parent_id)
            if isinstance(node, Folder):
                pages.check_place(folders, parent, node)
        number = parent.number if parent else None
        if isinstance(node, Folder):
            moved = replace(node, name=changes.name or node.name, parent=number)
            await knowledge.place_folder(connection, moved)
        else:
            await mental_models.update(connection, node, changes)
            await knowledge.place_page(connection, node.number, changes.name or node.name, number)
        folders, found = await _tree(connection, bank.id, viewer)
    changed = pages.node_of(folders, found, node_id)
    if isinstance(changed, Folder):
        return _folder(changed, parent, _inside(changed, folders, found))
    return _page(changed, parent)


def _parent(folders: Sequence[Folder], node: Folder | Model) -> Folder | None:
    above = node.parent if isinstance(node, Folder) else node.folder
    return next((one for one in folders if one.number == above), None)


@call("DELETE", KNOWLEDGE + "/nodes/{node_id}")
async def delete_knowledge_node(memory: MemoryBank, viewer: Viewer, bank_id: str, node_id: str) -> Deleted:
    """Delete a page, or a folder with all that is in it."""
    async with memory.changing(bank_id) as (connection, bank):
        await knowledge.hold(connection, bank.id)
        node = pages.node_of(*await _tree(connection, bank.id, viewer), node_id)
        if isinstance(node, Folder):
            await knowledge.delete(connection, node)
        else:
            await mental_models.delete(connection, node)
    return Deleted()


@call("GET", KNOWLEDGE + "/search")
async def search_knowledge_base(
    memory: MemoryBank, viewer: Viewer, bank_id: str, asked: Annotated[KnowledgeSearchQuery, Query()]
) -> KnowledgePageSearchResponse:
    """Find pages by words and by meaning."""
    question = await memory.question_vector(asked.q)
    async with memory.reading(bank_id) as (connection, bank):
        _, found = await _tree(connection, bank.id, viewer)
        nearness = await knowledge.nearness(connection, bank.id, viewer, question)
    results = pages.search(found, asked.q, nearness, asked.limit)
    return KnowledgePageSearchResponse(
        results=[
            KnowledgePageSearchResult(
                id=one.page.id,
                name=one.page.name,
                mental_model_id=one.page.id,
                snippet=one.snippet,
                score=one.score,
                source_query=one.page.source_query,
                updated_at=stamp(one.page.refreshed_at),
            )
            for one in results
        ],
        total=len(results),
    )


@call("GET", KNOWLEDGE + "/export")
async def export_knowledge_base(
    memory: MemoryBank, viewer: Viewer, bank_id: str
) -> KnowledgePageBundleResponse:
    """Return all pages as markdown files."""
    async with memory.reading(bank_id) as (connection, bank):
        files = pages.bundle(*await _tree(connection, bank.id, viewer))
    return KnowledgePageBundleResponse(
        files=[KnowledgePageBundleFile(path=path, content=content) for path, content in files]
    )
