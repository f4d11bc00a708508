"""Writes the page docs/settings.md from the declarations, configs/default.toml and `settings_page.md`.

Run `python -m memorybank_eval.settings_page` in a checkout after a change; a test says when it was forgotten.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any, Literal, get_args

from pydantic.fields import FieldInfo

from memorybank import paths
from memorybank.settings import aliases
from memorybank.settings.environment import SHORT, kinds, name_of
from memorybank.settings.keys import declared, field_of, flat
from memorybank.settings.providers import NONE, PROVIDERS, model_name

_HEAD = (
    "| key | type | default | environment | meaning | Hindsight |\n| --- | --- | --- | --- | --- | --- |\n"
)

#: A table of default.toml, up to a blank line: the comment above it, its name, its keys.
_TABLE = re.compile(r"((?:^# .*\n)*)^\[([\w.]+)\]\n((?:.+\n)*)", re.MULTILINE)

#: What a type is called on the page; all others are objects.
_WORDS: dict[Any, str] = {
    int: "integer", float: "number", str: "text", bool: "true or false", Literal: "text", list: "list", tuple: "list",
}  # fmt: skip
#: Bounds as pydantic holds them, and as sentences.
_BOUNDS = {"ge": "at least", "gt": "above", "le": "at most"}


def main() -> None:
    """Write the page of the checkout."""
    (paths.configs().parent / "docs" / "settings.md").write_text(page(), encoding="utf-8")


def page() -> str:
    """Return docs/settings.md."""
    frame = (files(__package__) / "settings_page.md").read_text(encoding="utf-8")
    return frame.replace("{providers}", _provider_rows()).replace("{tables}", _tables())


def _provider_rows() -> str:
    rows = [
        f"| `{name}` | `{model_name(known.prefix, '<model>')}` | {known.base_url} |"
        for name, known in PROVIDERS.items()
    ]
    return "\n".join([*rows, f"| `{NONE}` | empty: the extractive engine | |"]) + "\n"


def _tables() -> str:
    """Return one table for each table of default.toml, in its order and with its comments."""
    text = (paths.configs() / "default.toml").read_text(encoding="utf-8")
    shipped = dict(flat(tomllib.loads(text), declared()))
    parts = []
    for comment, table, body in _TABLE.findall(text):
        rows = [_row(f"{table}.{leaf}", meaning, shipped) for leaf, meaning in _commented_keys(body)]
        about = f"{_joined(comment.splitlines())}\n\n" if comment else ""
        parts.append(f"\n## [{table}]\n\n{about}{_HEAD}{''.join(rows)}")
    return "".join(parts)


def _commented_keys(body: str) -> Iterator[tuple[str, str]]:
    """Yield (key, comment) of each key of a table; `#key = …` is a key that is not set."""
    comment: list[str] = []
    for line in body.splitlines():
        key = re.match(r"#?([a-z][a-z0-9_]*) = ", line)
        if key:
            yield key.group(1), _joined(comment)
        comment = [*comment, line] if line.startswith("# ") else []


def _joined(comment: list[str]) -> str:
    return " ".join(line.removeprefix("# ") for line in comment).strip()


def _row(key: str, meaning: str, shipped: Mapping[str, Any]) -> str:
    field = field_of(key, declared())
    if field is None:
        raise LookupError(f"default.toml holds {key}, which is not declared")
    names = [f"`{name_of(key)}`", *(f"`{short}`" for short, meant in SHORT.items() if meant == key)]
    theirs = [f"`{name}`" for name, meant in aliases.ALIASES.items() if meant == key]
    if not meaning and key not in shipped:
        meaning = f"As in `llm.{key.rpartition('.')[2]}`."
    default = f"`{json.dumps(shipped[key])}`" if key in shipped else "not set"
    kind = _WORDS.get(kinds(field.annotation)[0], "object") if key in declared() else "number"
    cells = (
        f"`{key}`",
        kind,
        default,
        " ".join(names),
        f"{meaning} {_bounds(field)}".strip(),
        " ".join(theirs),
    )
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


def _bounds(field: FieldInfo) -> str:
    """Return the choices or the bounds of a field as a sentence."""
    if kinds(field.annotation)[0] is Literal:
        return f"One of {', '.join(get_args(field.annotation))}."
    given = [
        f"{words} {getattr(rule, name)}"
        for name, words in _BOUNDS.items()
        for rule in field.metadata
        if hasattr(rule, name)
    ]
    return f"{', '.join(given).capitalize()}." if given else ""


if __name__ == "__main__":
    main()
