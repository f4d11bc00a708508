"""Environment variables as settings: MEMORYBANK_<SECTION>__<KEY>, short names, HINDSIGHT_API_… aliases.

A name with our prefix that means nothing is told with the nearest real ones; where it looks like the address
of a database, nothing starts: an embedded database that nobody asked for would lose what is written to it.
"""

import difflib
import json
import logging
import re
import types
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from memorybank.errors import InvalidConfig
from memorybank.settings import aliases
from memorybank.settings.keys import field_of, near

PREFIX = "MEMORYBANK_"

#: Short names of settings.
SHORT = {"MEMORYBANK_PORT": "server.port"}

#: Names with our prefix that are no settings: read by paths.home, by the loader and by the command line.
NOT_SETTINGS = frozenset({"MEMORYBANK_HOME", "MEMORYBANK_CONFIG", "MEMORYBANK_URL", "MEMORYBANK_API_KEY"})

#: Left to test suites and tools around us.
RESERVED = "MEMORYBANK_TEST_"

#: Words that show that a variable is meant for the database.
_DATABASE_WORDS = frozenset({"DATABASE", "DB", "DSN", "PG", "POSTGRES", "POSTGRESQL"})

#: How alike a word must be to DATABASE to be taken for it with a typing error (DATABSE .93, DATA .67).
_DATABASE_LIKENESS = 0.75

_log = logging.getLogger(__name__)


def name_of(key: str) -> str:
    """Return the environment name of a key: retain.llm.model -> MEMORYBANK_RETAIN__LLM__MODEL."""
    return PREFIX + key.replace(".", "__").upper()


def from_environment(
    environ: Mapping[str, str], keys: Iterable[str], fields: Mapping[str, FieldInfo]
) -> dict[str, tuple[Any, str]]:
    """Return key -> (value, environment name) for all variables that are settings; ours win over aliases.

    `keys` are all keys there are, names in open tables included. An empty value of what is no text counts as
    not set. Raises InvalidConfig for a name that is meant for the database but is none of ours.
    """
    names = {name_of(key): key for key in keys} | SHORT
    _check_names(environ, names)
    texts = aliases.translated(environ)
    texts |= {key: (environ[name], name) for name, key in names.items() if name in environ}
    found = {}
    for key, (text, name) in texts.items():
        field = field_of(key, fields)
        if field is not None and (text or str in kinds(field.annotation)):
            found[key] = (parsed(text, field.annotation), name)
    return found


def _check_names(environ: Mapping[str, str], names: Mapping[str, str]) -> None:
    for name, value in environ.items():
        if name.startswith(PREFIX) and name not in names and name not in NOT_SETTINGS:
            if not name.startswith(RESERVED):
                _report(name, value, PREFIX, names)
        elif name.startswith(aliases.PREFIX):
            short = name.removeprefix(aliases.PREFIX)
            if short in aliases.WITHOUT_COUNTERPART:
                _log.warning("%s has no counterpart here and is ignored", name)
            elif short not in aliases.KNOWN:
                _report(name, value, aliases.PREFIX, [aliases.PREFIX + known for known in aliases.KNOWN])


def _report(name: str, value: str, prefix: str, names: Iterable[str]) -> None:
    """Warn of an unknown name; refuse it where it is meant for the database."""
    hint = near(name, names)
    if _means_database(name.removeprefix(prefix), value):
        raise InvalidConfig(
            f"unknown variable {name}{hint}: not starting, or the wrong database would be used"
        )
    _log.warning("unknown variable %s is ignored%s", name, hint)


def _means_database(rest: str, value: str) -> bool:
    words = re.split("_+", rest)
    alike = (difflib.SequenceMatcher(None, word, "DATABASE").ratio() for word in words)
    return (
        bool(_DATABASE_WORDS.intersection(words))
        or max(alike) >= _DATABASE_LIKENESS
        or value.startswith(("postgres://", "postgresql://"))
    )


def kinds(annotation: Any) -> tuple[Any, ...]:
    """Return the plain types of a field's annotation, None left out: `list[str] | None` -> (list,)."""
    if get_origin(annotation) is Annotated:
        return kinds(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        return tuple(kind for arm in get_args(annotation) for kind in kinds(arm))
    return () if annotation is types.NoneType else (get_origin(annotation) or annotation,)


def _is_text(annotation: Any) -> bool:
    return all(kind in (str, Literal) for kind in kinds(annotation))


def parsed(text: str, annotation: Any) -> Any:
    """Return a variable's value for a field: text as it stands, else JSON; a list of words may use commas."""
    if _is_text(annotation):
        return text
    try:
        return json.loads(text)
    except ValueError:
        if list in kinds(annotation) and not text.lstrip().startswith(("[", "{")):
            return [word.strip() for word in text.split(",") if word.strip()]
        return text
