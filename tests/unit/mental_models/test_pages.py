"""Knowledge pages: where they may stand, and what files they make."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from memorybank.errors import BadRequest, NotFound
from memorybank.mental_models import pages
from memorybank.sections import Section, Statement
from memorybank.storage.knowledge import Folder
from memorybank.storage.mental_models import Model

AT = datetime(2026, 3, 4, tzinfo=UTC)
FOLDERS = [
    Folder(1, "kf-1", "A", None),
    Folder(2, "kf-2", "B", 1),
    Folder(3, "kf-3", "C", 2),
    Folder(4, "kf-4", "a", None),
]


def page(number: int, name: str, folder: int | None = None, said: str = "Ada sings.") -> Model:
    document = (Section("All", (Statement(said, (UUID(int=1),)),)),)
    empty: dict[str, Any] = dict.fromkeys(("built_query", "seen_at", "full_refreshed_at", "failed_at"))
    return Model(
        number, 1, 1, f"kp-{number}", name, "Who sings?", ("a", "b"), 4096, {}, True, folder, 1,
        refreshed_at=AT, rebuild=False, created_at=AT, read_at=AT, is_stale=False, response={}, document=document,
        **empty,
    )  # fmt: skip


def test_a_page_is_what_its_maker_says_over_what_pages_are() -> None:
    assert pages.managed({}) == pages.MANAGED
    assert pages.managed({"mode": "full"})["mode"] == "full"
    assert "refresh_after_consolidation" not in pages.managed({"refresh_cron": "0 9 * * *"})


@pytest.mark.parametrize(("parent", "moved"), [(1, 1), (3, 1), (2, 2), (3, 2)])
def test_a_folder_is_not_inside_itself(parent: int, moved: int) -> None:
    with pytest.raises(BadRequest, match="inside itself"):
        pages.check_place(FOLDERS, FOLDERS[parent - 1], FOLDERS[moved - 1])


def test_a_moved_folder_brings_its_depth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "MAX_DEPTH", 3)
    pages.check_place(FOLDERS, None, FOLDERS[0])
    pages.check_place(FOLDERS, FOLDERS[3], FOLDERS[1])
    with pytest.raises(BadRequest, match="deep"):
        pages.check_place(FOLDERS, FOLDERS[3], FOLDERS[0])
    with pytest.raises(BadRequest, match="deep"):
        pages.check_place(FOLDERS, FOLDERS[2])


def test_nodes_by_id() -> None:
    one = page(7, "P")
    assert pages.node_of(FOLDERS, [one], "kp-7") is one
    assert pages.folder_of(FOLDERS, None) is None
    with pytest.raises(NotFound):
        pages.node_of(FOLDERS, [one], "kp-8")
    with pytest.raises(BadRequest):
        pages.folder_of(FOLDERS, "kp-7")


def test_front_matter_is_yaml_whatever_the_name() -> None:
    said = pages.markdown(page(1, 'A: "b" # c'))
    assert said.splitlines()[:7] == [
        "---",
        'type: "page"',
        'title: "A: \\"b\\" # c"',
        'description: "Who sings?"',
        'tags: ["a", "b"]',
        'timestamp: "2026-03-04T00:00:00+00:00"',
        "---",
    ]
    never = replace(page(1, "P"), refreshed_at=None, document=(), tags=())
    assert "timestamp" not in pages.markdown(never) and pages.markdown(never).endswith("# P\n")


def test_no_two_files_share_a_path_in_any_case() -> None:
    made = [page(1, "x/y", 1), page(2, "X:Y", 1), page(3, "index", 1), page(4, "..", 1), page(5, "con ", 3)]
    paths = [path for path, _ in pages.bundle(FOLDERS, made)]
    assert len({path.casefold() for path in paths}) == len(paths) == len(made) + len(FOLDERS) + 1
    assert "A/B/C/con.md" in paths and "a-2/index.md" in paths and "A/X-Y-2.md" in paths
    assert not [path for path in paths if ".." in path.split("/") or path.startswith("/")]


def test_search_weighs_words_and_meaning() -> None:
    found = [
        page(1, "One", said="Ada keeps bees."),
        page(2, "Two", said="Ben repairs clocks."),
        page(3, "Three"),
    ]

    def numbers(question: str, **near: float) -> list[int]:
        nearness = {int(key[1:]): value for key, value in near.items()}
        return [one.page.number for one in pages.search(found, question, nearness, 10)]

    assert numbers("bees") == [1]
    assert numbers("watchmaker", n2=0.6, n1=0.1) == [2]
    assert numbers("bees", n2=0.3, n3=0.15) == [1, 2]
    assert numbers("zebra") == []
    assert pages.search(found, "clocks", {}, 10)[0].snippet == "Ben repairs clocks."
    assert pages.search([], "x", {}, 10) == []
