"""Ways to write one name: titles, initials, first and last names, accents, legal forms, and what a text says. Pure.

A form knows the other keys under which the thing it names may be met: `same`, as good as its own, and `parts`, by which
a person is called for short. Names with other digits share no key, and a nickname is never guessed.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from memorybank import text
from memorybank.paths import table
from memorybank.storage.entities import MAX_KEY_CHARS

PERSON, CONCEPT = "PERSON", "CONCEPT"
#: Words of a person's name at most; longer chains are titles of works and names of bodies.
MAX_NAME_WORDS = 4

#: The words of `spelling.toml`.
_TABLE = table("retain/spelling.toml")
_HE, _SHE, _ANYBODY, _ADDRESS, _LEGAL, _HEADS = (
    frozenset(_TABLE[name].split()) for name in ("he", "she", "anybody", "address", "legal", "heads")
)
_TITLES = _HE | _SHE | _ANYBODY
_ADDRESSED: list[str] = _TABLE["addressed"].split()
_SENSE_OF: dict[str, str] = {
    kind: sense for sense, kinds in _TABLE["senses"].items() for kind in kinds.split()
}
#: What is called a place today and an organisation tomorrow: a café, a museum. Of one word, they are two things.
_VENUE = {"organization", "place"}

_INITIAL = re.compile(r"^\w\.")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
#: Characters of a full name in a script without spaces, at least and at most; of a part of it, at least.
_CJK_NAME, _CJK_PART = (3, 5), 2

_SAYS_SO = re.compile(_TABLE["says_so"], re.IGNORECASE)
_SHORTENED = re.compile(r"\s*[(（]([^()（）]{2,12})[)）]")


@lru_cache(maxsize=1_024)
def sense_of(kind: str) -> str:
    """Return the class of things that a kind names; "" where it says nothing."""
    word = "_".join(text.fold(kind).split())
    return _SENSE_OF.get(word, word)


@dataclass(frozen=True)
class Form:
    """One spelling of a name. Two forms of one key and sense are equal."""

    key: str
    name: str = field(compare=False)
    sense: str = ""

    @classmethod
    def of(cls, name: str, kind: str = CONCEPT) -> "Form":
        """Read a name; without a kind, a title says that it is a person, a legal form that it is a firm."""
        form = cls(text.name_key(name)[:MAX_KEY_CHARS], " ".join(name.split()), sense_of(kind))
        if form.sense or not (form.titles or form.is_legal):
            return form
        return cls(form.key, form.name, "person" if form.titles else "organization")

    @cached_property
    def _all_words(self) -> list[str]:
        return self.key.split()

    @cached_property
    def titles(self) -> frozenset[str]:
        """Titles and forms of address."""
        words = self._all_words
        found = {word for word in words[:-1] if word in _TITLES}
        found |= {word for word in words[1:] if word in _ADDRESS}
        if len(words) == 1 and len(self.key) > _CJK_PART and _CJK.fullmatch(self.key):
            found |= {end for end in _ADDRESSED if self.key.endswith(end)}
        return frozenset(found)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the name, titles left out."""
        if len(self._all_words) == 1:
            for end in self.titles:
                return (self.key.removesuffix(end),)
        return tuple(word for word in self._all_words if word not in self.titles)

    @property
    def is_legal(self) -> bool:
        """Whether the name ends in a legal form: Kestrel GmbH."""
        return len(self._all_words) > 1 and self._all_words[-1] in _LEGAL

    @property
    def has_initial(self) -> bool:
        """Whether the first word is a letter that stands for a name: J. Okafor."""
        return len(self.words) > 1 and bool(_INITIAL.match(self.name))

    @property
    def is_person(self) -> bool:
        """Whether something says that this names a person: its kind, a title or an initial."""
        return self.sense == "person" or (not self.sense and self.has_initial)

    @cached_property
    def same(self) -> tuple[str, ...]:
        """Simpler keys of the same name: without title, legal form or accents."""
        found = [" ".join(self.words)] if self.titles else []
        if self.is_legal and self.sense in ("", "organization"):
            found.append(" ".join(self._all_words[:-1]))
        if not self.key.isascii():
            found += [_plain(self.key), _plain(self.key.translate(_UMLAUTS))]
        return tuple(dict.fromkeys(key for key in found if key != self.key))

    @cached_property
    def parts(self) -> tuple[str, ...]:
        """What a person of this name may be called for short."""
        if any(char.isdigit() for char in self.key) or self.sense not in ("", "person"):
            return ()
        words = self.words
        if len(words) == 1:
            return tuple(_cjk_parts(words[0]))
        if len(words) > MAX_NAME_WORDS or any(len(word) == 1 for word in (words[0], words[-1])):
            return ()
        *given, last = words
        initials = [name[0] for name in given]
        found = [given[0], last, f"{initials[0]} {last}"]
        if len(given) > 1:
            found += [" ".join(given), f"{given[0]} {last}", " ".join((*initials, last))]
        return tuple(found)

    @cached_property
    def in_text(self) -> tuple[str, ...]:
        """Keys that mean the same in one text for a thing of the same known kind: without "Lake", without genitive."""
        words = self._all_words
        if len(words) < 2 or not self.sense:
            return ()
        heads = [" ".join(words[1:])] if words[0] in _HEADS else []
        return (*heads, " ".join(words[:-1])) if words[-1] == "s" else tuple(heads)

    def may_be(self, sense: str) -> bool:
        """Tell whether a thing of that class may be meant."""
        if not self.sense or not sense or self.sense == sense:
            return True
        return {self.sense, sense} == _VENUE and len(self._all_words) > 1


def _plain(key: str) -> str:
    """Return a key without the accents of Latin letters."""
    letters: list[str] = []
    for char in unicodedata.normalize("NFD", key):
        if not (unicodedata.combining(char) and letters and letters[-1].isascii()):
            letters.append(char)
    return unicodedata.normalize("NFC", "".join(letters))


def _cjk_parts(name: str) -> Iterator[str]:
    shortest, longest = _CJK_NAME
    if shortest <= len(name) <= longest and _CJK.fullmatch(name):
        for count in range(_CJK_PART, len(name)):
            yield name[:count]
            yield name[-count:]


def another_person(one: Form, other: Form) -> bool:
    """Tell whether two forms of one bare name are of a woman and a man: Mr. and Mrs. Holm."""
    if one.words != other.words:
        return False
    return bool((one.titles & _HE and other.titles & _SHE) or (one.titles & _SHE and other.titles & _HE))


def said_aliases(content: str, names: Iterable[str]) -> list[tuple[str, str]]:
    """Return pairs of names (canonical, other) that a text equates in words; the longer one is canonical."""
    ordered = sorted(set(names), key=len, reverse=True)
    pairs: list[tuple[str, str]] = []
    for found in _SAYS_SO.finditer(content):
        before, after = content[: found.start()], content[found.end() :]
        left = next((name for name in ordered if before.endswith(name)), None)
        right = next((name for name in ordered if after.startswith(name)), None)
        if left and right and left != right:
            longer_right = len(right.split()) > len(left.split())
            pairs.append((right, left) if longer_right else (left, right))
    if "(" in content or "（" in content:
        pairs += [pair for name in ordered for pair in _shortened(content, name)]
    return pairs


def _shortened(content: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield a name and the letters that stand for it behind it: National Rail Agency (NRA)."""
    initials = "".join(word[0] for word in name.split())
    for found in re.finditer(re.escape(name), content) if len(initials) > 1 else ():
        behind = _SHORTENED.match(content, found.end())
        if behind and text.fold(behind[1].strip()) == text.fold(initials):
            yield name, behind[1].strip()
