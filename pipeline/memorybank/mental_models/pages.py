"""Knowledge pages: their tree, their markdown, the bundle of files they make, and which fits a question. Pure."""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from memorybank import text
from memorybank.errors import BadRequest, NotFound
from memorybank.sections import rendered
from memorybank.storage.knowledge import Folder
from memorybank.storage.mental_models import Model

#: What a page is where its maker does not say otherwise.
MANAGED: Mapping[str, Any] = {
    "mode": "delta",
    "fact_types": ["observation"],
    "exclude_mental_models": True,
    "refresh_after_consolidation": True,
}
MAX_TOKENS = 4096
#: Deepest nesting of folders: no person makes more, and each costs time.
MAX_DEPTH = 16
#: Constants of BM25, as recall has them; what the words of a question count beside its meaning.
K1, B = 0.9, 0.4
WORDS = 0.5
#: A page that shares no word with a question must cite something that comes nearer than this (cosine): unrelated
#: sentences have about 0.1.
LEAST_NEARNESS = 0.2
#: Longest snippet of a found page, in characters.
SNIPPET_CHARS = 300

_UNSAFE = re.compile(r"[^\w .()&+,'-]+")


@dataclass(frozen=True)
class Found:
    """A page that fits a question; `score` 0 to 1."""

    page: Model
    score: float
    snippet: str


def managed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the trigger of a page: what is given, over what pages have."""
    defaults = dict(MANAGED)
    if given.get("refresh_cron") is not None:
        del defaults["refresh_after_consolidation"]
    return {**defaults, **given}


def folder_of(folders: Sequence[Folder], id_: str | None) -> Folder | None:
    """Return the folder to put something in, None for the root; raises BadRequest where it is not there."""
    if id_ is None:
        return None
    found = next((folder for folder in folders if folder.id == id_), None)
    if found is None:
        raise BadRequest(f"folder '{id_}' does not exist", loc=("body", "parent_id"), value=id_)
    return found


def node_of(folders: Sequence[Folder], pages: Sequence[Model], id_: str) -> Folder | Model:
    """Return a folder or a page; raises NotFound."""
    nodes: list[Folder | Model] = [*folders, *pages]
    found = next((one for one in nodes if one.id == id_), None)
    if found is None:
        raise NotFound(f"Knowledge node '{id_}' not found")
    return found


def check_place(folders: Sequence[Folder], parent: Folder | None, moved: Folder | None = None) -> None:
    """Raise BadRequest where a folder would be inside itself, or nested too deep."""
    known = {folder.number: folder for folder in folders}
    above = list(_up(known, parent))
    if moved is not None and moved in above:
        raise BadRequest("a folder cannot be inside itself", loc=("body", "parent_id"))
    height = max((len(list(_up(known, one, moved))) for one in folders if moved), default=1) if moved else 1
    if len(above) + height > MAX_DEPTH:
        raise BadRequest(f"folders are nested more than {MAX_DEPTH} deep", loc=("body", "parent_id"))


def _up(known: Mapping[int, Folder], folder: Folder | None, top: Folder | None = None) -> Iterator[Folder]:
    """Yield a folder and those around it up to the root, or up to `top`; nothing for one that is not inside `top`."""
    path = []
    while folder is not None:
        path.append(folder)
        if folder == top:
            break
        folder = None if folder.parent is None else known.get(folder.parent)
    if top is None or (path and path[-1] == top):
        yield from path


def markdown(page: Model) -> str:
    """Return a page with its front matter."""
    front = {
        "type": "page",
        "title": page.name,
        "description": page.source_query,
        "tags": list(page.tags),
        "timestamp": page.refreshed_at.isoformat() if page.refreshed_at else None,
    }
    # JSON strings and lists are YAML.
    lines = [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in front.items() if value]
    return (
        "\n".join(["---", *lines, "---", "", f"# {page.name}", "", rendered(page.document)]).rstrip() + "\n"
    )


def bundle(folders: Sequence[Folder], pages: Sequence[Model]) -> list[tuple[str, str]]:
    """Return the files of all pages as (path, content), with an index in each folder."""
    known = {folder.number: folder for folder in folders}
    paths: dict[int | None, str] = {None: ""}
    taken: set[str] = set()
    files, entries = [], dict[int | None, list[str]]()
    for folder in sorted(folders, key=lambda one: len(list(_up(known, one)))):
        path = _free(paths.get(folder.parent, "") + _safe(folder.name), "/", taken)
        paths[folder.number] = path
        entries.setdefault(folder.parent, []).append(f"- [{folder.name}]({_last(path)}/index.md)")
    for page in pages:
        path = _free(paths.get(page.folder, "") + _safe(page.name), ".md", taken)
        files.append((path, markdown(page)))
        entries.setdefault(page.folder, []).append(f"- [{page.name}]({_last(path)}): {page.source_query}")
    names = {None: "Knowledge"} | {folder.number: folder.name for folder in folders}
    for number, path in paths.items():
        listed = "\n".join(entries.get(number, []))
        files.append((f"{path}index.md", f"# {names[number]}\n\n{listed}".rstrip() + "\n"))
    return sorted(files)


def _safe(name: str) -> str:
    """Return a name that is one part of a path everywhere, and no index."""
    safe = _UNSAFE.sub("-", name).strip(" .")[:80].strip(" .") or "page"
    return f"{safe}-1" if safe.casefold() == "index" else safe


def _free(path: str, ending: str, taken: set[str]) -> str:
    """Return a path that is not taken, in any case."""
    count = 1
    found = path + ending
    while found.casefold() in taken:
        count += 1
        found = f"{path}-{count}{ending}"
    taken.add(found.casefold())
    return found


def _last(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].replace(" ", "%20")


def search(pages: Sequence[Model], question: str, nearness: Mapping[int, float], limit: int) -> list[Found]:
    """Return the pages that share words with a question, or cite what comes near it; the best first."""
    asked = set(text.terms(question))
    lexical = _bm25([Counter(text.terms(_whole(page))) for page in pages], asked)
    most = max(lexical, default=0.0)
    found = [
        Found(
            page,
            WORDS * (words / most if most else 0.0) + (1 - WORDS) * max(near, 0.0),
            _snippet(page, asked),
        )
        for page, words in zip(pages, lexical, strict=True)
        if (near := nearness.get(page.number, 0.0)) > LEAST_NEARNESS or words
    ]
    return sorted(found, key=lambda one: -one.score)[:limit]


def _whole(page: Model) -> str:
    return f"{page.name}\n{page.source_query}\n{rendered(page.document)}"


def _bm25(documents: Sequence[Counter[str]], asked: set[str]) -> list[float]:
    """Return the score of each document (BM25, Robertson and Zaragoza 2009)."""
    count, lengths = len(documents), [sum(document.values()) for document in documents]
    mean = sum(lengths) / count if count else 1.0
    scores = [0.0] * count
    for term in asked:
        held = sum(term in document for document in documents)
        weight = math.log(1 + (count - held + 0.5) / (held + 0.5))
        for at, document in enumerate(documents):
            if often := document[term]:
                norm = K1 * (1 - B + B * lengths[at] / (mean or 1.0))
                scores[at] += weight * often * (K1 + 1) / (often + norm)
    return scores


def _snippet(page: Model, asked: set[str]) -> str:
    """Return the statement that shares most words with the question, or the question that the page answers."""
    said = [one.text for section in page.document for one in section.statements]
    best = max(said, key=lambda one: len(asked.intersection(text.terms(one))), default=page.source_query)
    return best if len(best) <= SNIPPET_CHARS else best[:SNIPPET_CHARS].rsplit(" ", 1)[0] + " …"
