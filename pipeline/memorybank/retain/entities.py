"""Which names mean the same thing. Pure.

Two names are one entity when they have the same key, when one was learned as another spelling, or when the document
itself says so: by words ("Robert Chen, aka Bob") or by a longer form of a person's name that nothing else in the
document could mean (Okafor, J. Okafor, Dr. Okafor: Jude Okafor). Names with digits only ever equal themselves, and a
nickname is never guessed.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from memorybank import text
from memorybank.storage.entities import Known, Name

PERSON, CONCEPT = "PERSON", "CONCEPT"
#: Words of a person's name at most; longer chains are titles of works and names of bodies.
MAX_NAME_WORDS = 4
#: Longest identity key: PostgreSQL cannot index longer ones (2,700 bytes).
MAX_KEY_CHARS = 256

#: Words before a name that say that it is a person's; they are no part of it.
_TITLES = frozenset(
    (
        *("mr", "mrs", "ms", "miss", "mx", "dr", "prof", "professor", "sir", "herr", "frau", "mme", "mlle"),
        *("monsieur", "madame", "sr", "sra", "srta", "don", "doña", "signor", "signora"),
    )
)
_SAYS_SO = re.compile(
    r"[\s,(\"“„«]+(?:a\.?k\.?a\.?|also known as|better known as|nicknamed|alias|genannt|auch bekannt als|alias dit"
    r"|dite?|conocid[oa] como|又名|又称|别名)[\s\"“„«:]*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Mention:
    """A name in a document. `exact`: the caller wants this name and no other spelling to count."""

    document: int
    name: str
    kind: str = CONCEPT
    exact: bool = False

    @property
    def key(self) -> str:
        """The identity key of the name."""
        return text.name_key(self.name)[:MAX_KEY_CHARS]


@dataclass(frozen=True)
class Resolution:
    """What names mean: `key_of` a mention is the key of its entity. `learned`: alias key, alias, entity key.

    `moved`: in this document, mentions of that entity belong to the entity with that key.
    """

    names: tuple[Name, ...] = ()
    key_of: Mapping[Mention, str] = field(default_factory=dict)
    learned: tuple[tuple[str, str, str], ...] = ()
    moved: tuple[tuple[int, UUID, str], ...] = ()


@dataclass(frozen=True)
class Form:
    """One spelling of a name, as the rules look at it."""

    key: str
    name: str
    kind: str

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the key, titles left out."""
        words = tuple(self.key.split())
        bare = tuple(word for word in words if word not in _TITLES)
        return bare or words

    @property
    def is_person(self) -> bool:
        """Whether something says that this names a person: its kind, a title or an initial."""
        return self.kind.upper() == PERSON or len(self.words) < len(self.key.split()) or self.has_initial

    @property
    def has_initial(self) -> bool:
        """Whether the first word is a letter that stands for a name: J. Okafor."""
        return len(self.words) > 1 and len(self.words[0]) == 1 and self.words[0].isalpha()


def resolve(
    mentions: Iterable[Mention],
    known: Sequence[Known],
    present: Sequence[Known],
    said: Mapping[int, Sequence[tuple[str, str]]],
) -> Resolution:
    """Return the entity of each mention.

    `known`: entities that have the key of a mention, or an alias of that key. `present`: entities that facts of the
    same documents mention already. `said`: by document, pairs of names (canonical, other) that the text equates.
    """
    own = {entity.key for entity in known if entity.alias is None}
    alias = {entity.alias: entity for entity in known if entity.alias is not None}
    by_document: dict[int, list[Mention]] = defaultdict(list)
    for mention in mentions:
        if mention.key:
            by_document[mention.document].append(mention)
    names: dict[str, Name] = {}
    key_of: dict[Mention, str] = {}
    learned: dict[str, tuple[str, str, str]] = {}
    moved: list[tuple[int, UUID, str]] = []
    for document, here in by_document.items():
        there = [entity for entity in present if entity.document == document]
        same = _equated(here, there, said.get(document, ()))
        for mention in here:
            key = mention.key if mention.exact else same.get(mention.key, mention.key)
            if key == mention.key and not mention.exact and key not in own and key in alias:
                key = alias[key].key
            key_of[mention] = key
            names.setdefault(key, _name(key, mention, here, there, alias.values()))
        for short, long in same.items():
            learned[short] = (short, _written(short, here, there), long)
            names.setdefault(long, _name(long, None, here, there, alias.values()))
        moved += [(document, entity.id, same[entity.key]) for entity in there if entity.key in same]
    return Resolution(tuple(names.values()), key_of, tuple(learned.values()), tuple(moved))


def _equated(
    here: Sequence[Mention], there: Sequence[Known], said: Sequence[tuple[str, str]]
) -> dict[str, str]:
    """Return, of one document, the key of each other spelling and the key that it stands for."""
    forms: dict[str, Form] = {}
    for key, name, kind in [
        *((mention.key, mention.name, mention.kind) for mention in here if not mention.exact),
        *((entity.key, entity.name, entity.kind) for entity in there),
    ]:
        if key not in forms or kind.upper() == PERSON:
            forms[key] = Form(key, name, kind)
    same = {text.name_key(other): text.name_key(canonical) for canonical, other in said}
    for key, form in forms.items():
        longer = _longer_form(form, forms.values())
        if longer is not None:
            same.setdefault(key, longer)
    return {key: _end(key, same) for key in same if _end(key, same) != key}


def _end(key: str, same: Mapping[str, str]) -> str:
    """Follow spellings to the one that stands for no other."""
    seen = {key}
    while key in same and same[key] not in seen:
        key = same[key]
        seen.add(key)
    return key


def _longer_form(short: Form, forms: Iterable[Form]) -> str | None:
    """Return the key of the one longer form of a person's name; None without one, or with two that differ."""
    longer = [form for form in forms if is_longer_form(form, short)]
    full = [form for form in longer if not any(is_longer_form(other, form) for other in longer)]
    return full[0].key if len(full) == 1 else None


def is_longer_form(long: Form, short: Form) -> bool:
    """Tell whether one name is a longer way to write the other person's name."""
    if long.key == short.key or _has_digit(long.key + short.key) or not (long.is_person or short.is_person):
        return False
    if not _kinds_agree(long, short) or not 2 <= len(long.words) <= MAX_NAME_WORDS:
        return False
    if short.has_initial:
        same_rest = short.words[-1] == long.words[-1] and len(short.words) <= len(long.words)
        return same_rest and len(long.words[0]) > 1 and long.words[0].startswith(short.words[0])
    if len(short.words) == 1:
        return len(short.words[0]) > 1 and short.words[0] in (long.words[0], long.words[-1])
    return (
        len(short.words) < len(long.words)
        and short.words[0] == long.words[0]
        and short.words[-1] == long.words[-1]
    )


def _kinds_agree(one: Form, other: Form) -> bool:
    kinds = {one.kind.upper(), other.kind.upper()} - {CONCEPT}
    return len(kinds) < 2


def _has_digit(name: str) -> bool:
    return any(char.isdigit() for char in name)


def said_aliases(content: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of names (canonical, other) that a text equates in words; the longer one is canonical."""
    pairs: list[tuple[str, str]] = []
    ordered = sorted(set(names), key=len, reverse=True)
    for found in _SAYS_SO.finditer(content):
        before, after = content[: found.start()], content[found.end() :]
        left = next((name for name in ordered if before.endswith(name)), None)
        right = next((name for name in ordered if after.startswith(name)), None)
        if left and right and left != right:
            longer_right = len(right.split()) > len(left.split())
            pairs.append((right, left) if longer_right else (left, right))
    return pairs


def _name(
    key: str,
    mention: Mention | None,
    here: Sequence[Mention],
    there: Sequence[Known],
    aliased: Iterable[Known],
) -> Name:
    """Return the entity to be known under a key: its name as written where it stands in full."""
    written = [(other.name, other.kind) for other in here if other.key == key]
    written += [(entity.name, entity.kind) for entity in (*there, *aliased) if entity.key == key]
    if not written and mention is not None:
        written = [(mention.name, mention.kind)]
    name = written[0][0] if written else key
    kind = next((kind for _, kind in written if kind.upper() != CONCEPT), CONCEPT)
    return Name(key, " ".join(name.split()), kind)


def _written(key: str, here: Sequence[Mention], there: Sequence[Known]) -> str:
    """Return a name as it is written."""
    names = [mention.name for mention in here if mention.key == key]
    return next(iter([*names, *(entity.name for entity in there if entity.key == key)]), key)
