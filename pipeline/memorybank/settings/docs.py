"""Writes the `[bank]` table of configs/default.toml and the page docs/settings.md from the declarations.

Run `python -m memorybank.settings.docs` in a checkout after a change; a test says when it was forgotten.
"""

import json
import re
import textwrap
import tomllib
from collections.abc import Iterator, Mapping
from typing import Any, Literal, get_args

from pydantic.fields import FieldInfo

from memorybank import paths
from memorybank.settings import aliases
from memorybank.settings.bank import bank_fields
from memorybank.settings.environment import SHORT, kinds, name_of
from memorybank.settings.keys import declared, field_of, flat
from memorybank.settings.labels import Labels
from memorybank.settings.providers import NONE, PROVIDERS, model_name

#: Everything of default.toml after this line is made here.
MARK = (
    "# --- made from the declarations in settings/bank.py by `python -m memorybank.settings.docs`; "
    "do not edit below ---\n"
)

#: Width of comments in default.toml, as long as the code's own lines.
_WIDTH = 118

_INTRO = """\
# Settings

*Made from the declarations by `python -m memorybank.settings.docs`; do not edit.*

Every setting has a default in `configs/default.toml`. Later sources win:

1. `configs/default.toml`;
2. an overlay file of the same form, named by `MEMORYBANK_CONFIG`; an unknown key in it refuses the start;
3. the environment. The name of a key is `MEMORYBANK_` and its path with `__`: `retain.llm.model` is
   `MEMORYBANK_RETAIN__LLM__MODEL`. Text stands as it is, everything else is JSON (`true`, `8`, `["recall"]`);
   a list of words may use commas.

An unknown `MEMORYBANK_…` name is reported with the nearest real ones. It refuses the start where it looks
like the address of a database: an embedded database that nobody asked for would lose what is written to it.
`MEMORYBANK_HOME` says where data is kept (default: the platform's user data directory), `MEMORYBANK_URL` which
server the commands ask (default: `server.host` and `server.port`).

`[<stage>.llm]` lies over `[llm]`. A value that you set in `[llm]` also wins over one that default.toml ships
for a stage. A stage with a model of another provider takes neither address, key nor extra body from `[llm]`.

Names of the Hindsight server (`HINDSIGHT_API_…`) are accepted where the setting exists; our own name wins.
They are in the last column, without the prefix. `LLM_PROVIDER` and `LLM_MODEL` make one name here (the same
with `RETAIN_`, `REFLECT_` and `CONSOLIDATION_` before them), and so do `EMBEDDINGS_PROVIDER` and the model's
variable of that provider:

| provider | `llm.model` | address, if none is given |
| --- | --- | --- |
"""

_BANK_INTRO = """
## [bank]

What can be set for each bank, over `PATCH /v1/default/banks/{bank_id}/config`; this table gives the default
of all banks. Types and bounds are checked there too.

Different from the Hindsight server: a PATCH also refuses an unknown `retain_extraction_mode` and numbers out
of bounds, which would else be stored and not used; and a bad value in the environment refuses the start, it
is not replaced.
"""

_HEAD = (
    "| key | type | default | environment | meaning | Hindsight |\n| --- | --- | --- | --- | --- | --- |\n"
)

#: What a type is called on the page.
_WORDS: dict[Any, str] = {int: "integer", float: "number", str: "text", bool: "true or false", dict: "object"}


def main() -> None:
    """Write both files of the checkout."""
    (paths.configs() / "default.toml").write_text(default_toml(), encoding="utf-8")
    (paths.configs().parent / "docs" / "settings.md").write_text(page(), encoding="utf-8")


def default_toml() -> str:
    """Return configs/default.toml with its `[bank]` table as declared now."""
    written = (paths.configs() / "default.toml").read_text(encoding="utf-8")
    return written.partition(MARK)[0] + MARK + "\n" + _bank_table()


def _bank_table() -> str:
    lines = ["# Defaults of all banks; each bank may override them.", "[bank]"]
    for name, field in bank_fields().items():
        lines += textwrap.wrap(
            f"{field.description} {_bounds(field)}".strip(),
            _WIDTH,
            initial_indent="# ",
            subsequent_indent="# ",
        )
        unset = field.default is None
        lines.append(f"#{name} = {_example(field)}" if unset else f"{name} = {json.dumps(field.default)}")
    return "\n".join(lines) + "\n"


def _example(field: FieldInfo) -> str:
    """Return a value of the right form for a key that is not set."""
    return {str: '""', int: "3"}.get(_first(field), "[]" if _is_list(field) else "{}")


def _bounds(field: FieldInfo) -> str:
    """Return the choices or the bounds of a field as a sentence."""
    if _first(field) is Literal:
        return f"One of {', '.join(get_args(field.annotation))}."
    low = next((f"at least {rule.ge}" for rule in field.metadata if hasattr(rule, "ge")), "")
    above = next((f"above {rule.gt}" for rule in field.metadata if hasattr(rule, "gt")), "")
    high = next((f"at most {rule.le}" for rule in field.metadata if hasattr(rule, "le")), "")
    bounds = ", ".join(part for part in (low, above, high) if part)
    return f"{bounds[0].upper()}{bounds[1:]}." if bounds else ""


def page() -> str:
    """Return docs/settings.md."""
    return _INTRO + _provider_rows() + _server_tables() + _BANK_INTRO + "\n" + _bank_rows()


def _provider_rows() -> str:
    rows = [
        f"| `{name}` | `{model_name(known, '<model>')}` | {known.base_url} |"
        for name, known in PROVIDERS.items()
    ]
    return "\n".join([*rows, f"| `{NONE}` | empty: the extractive engine | |"]) + "\n"


def _server_tables() -> str:
    """Return one table for each table of default.toml before `[bank]`, in its order and with its comments."""
    text = (paths.configs() / "default.toml").read_text(encoding="utf-8").partition(MARK)[0]
    shipped = dict(flat(tomllib.loads(text), declared()))
    parts = []
    for block in re.split(r"^(?=(?:# .*\n)*\[)", text, flags=re.MULTILINE)[1:]:
        comment, table = _table_head(block)
        rows = [_row(f"{table}.{leaf}", meaning, shipped) for leaf, meaning in _commented_keys(block)]
        parts.append(f"\n## [{table}]\n\n" + (f"{comment}\n\n" if comment else "") + _HEAD + "".join(rows))
    return "".join(parts)


def _table_head(block: str) -> tuple[str, str]:
    """Return the comment above a table and the table's name."""
    head, _, rest = block.partition("[")
    return _joined(head.splitlines()), rest.partition("]")[0]


def _commented_keys(block: str) -> Iterator[tuple[str, str]]:
    """Yield (key, comment) of each key of a table; `#key = …` is a key that is not set."""
    comment: list[str] = []
    for line in block.partition("]\n")[2].splitlines():
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
    kind = "number" if key not in declared() else _kind(field)
    return _line(
        f"`{key}`", kind, default, " ".join(names), f"{meaning} {_bounds(field)}".strip(), " ".join(theirs)
    )


def _bank_rows() -> str:
    rows = []
    for name, field in bank_fields().items():
        default = "not set" if field.default is None else f"`{json.dumps(field.default)}`"
        meaning = f"{field.description} {_bounds(field)}".strip()
        rows.append(
            _line(
                f"`{name}`",
                _kind(field),
                default,
                f"`{name_of('bank.' + name)}`",
                meaning,
                f"`{name.upper()}`",
            )
        )
    return _HEAD + "".join(rows)


def _kind(field: FieldInfo) -> str:
    return _WORDS.get(
        _first(field), "list" if _is_list(field) else "text" if _first(field) is Literal else "object"
    )


def _first(field: FieldInfo) -> Any:
    return kinds(field.annotation)[0]


def _is_list(field: FieldInfo) -> bool:
    return _first(field) is list or field.annotation == Labels | None


def _line(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |\n"


if __name__ == "__main__":
    main()
