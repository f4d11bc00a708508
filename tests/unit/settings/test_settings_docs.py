"""default.toml and the page hold every key, as declared."""

import re
import tomllib
from itertools import pairwise

from memorybank import paths
from memorybank.settings import LlmSettings, defaults, resolve_bank
from memorybank.settings.keys import OPEN_TABLES, declared
from memorybank.settings.llm import StageLlm
from memorybank_eval import settings_page

DEFAULT_TOML = (paths.configs() / "default.toml").read_text(encoding="utf-8")


def written_keys() -> list[str]:
    """Return each key that default.toml shows, set or not set."""
    keys, table = [], ""
    for line in DEFAULT_TOML.splitlines():
        if head := re.fullmatch(r"\[([\w.]+)\]", line):
            table = head.group(1)
        elif key := re.match(r"#?([a-z]\w*) = ", line):
            keys.append(f"{table}.{key.group(1)}")
    return keys


def test_default_toml_holds_every_declared_key_once_and_no_other() -> None:
    keys = written_keys()
    assert len(keys) == len(set(keys))
    in_tables = {key for key in keys if key.rpartition(".")[0] in OPEN_TABLES}
    assert set(keys) - in_tables == declared().keys() - OPEN_TABLES
    assert in_tables


def test_every_key_has_a_comment() -> None:
    lines = DEFAULT_TOML.splitlines()
    bare = [
        line
        for above, line in pairwise(lines)
        if re.match(r"[a-z]\w* = ", line) and not above.startswith("# ")
    ]
    assert bare == []


def test_examples_of_unset_keys_are_allowed_values() -> None:
    for name, value in re.findall(
        r"^#(\w+) = (.+)$", DEFAULT_TOML.partition("[bank]")[2], flags=re.MULTILINE
    ):
        resolve_bank(defaults().bank, tomllib.loads(f"{name} = {value}"))


def test_the_page_has_each_table_and_key_once() -> None:
    rows = re.findall(
        r"^\| `([\w.]+)` \| (?:integer|number|text|true or false|list|object) \|",
        settings_page.page(),
        re.MULTILINE,
    )
    assert rows == written_keys()
    assert re.findall(r"^## \[(.*)\]$", settings_page.page(), re.MULTILINE) == re.findall(
        r"^\[(.*)\]$", DEFAULT_TOML, re.MULTILINE
    )


def test_the_page_is_up_to_date() -> None:
    assert settings_page.page() == (paths.configs().parent / "docs" / "settings.md").read_text(
        encoding="utf-8"
    )


def test_a_stage_can_set_whatever_the_general_table_can() -> None:
    assert list(StageLlm.model_fields) == list(LlmSettings.model_fields)
