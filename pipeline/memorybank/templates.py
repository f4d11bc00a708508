"""Prompts as data: loads prompts/<stage>/<name>.vN.md, checks the header, and renders strictly.

    +++
    name = "extract"
    version = 1
    text = ["mission"]                  variables that stand as they are: by us, or by the bank's owner
    data = { content = "content" }      variables that are fenced, and the tag of the fence: what others wrote
    +++
    === system ===
    The same for every call, so that providers can cache it: no variables.
    === user ===
    Mission: {{mission}}
    {{content}}

A line all of whose variables are empty is left out, so that optional parts need no logic. Data is never
instruction: it stands inside `<tag id="NONCE">`, with a nonce that is new in every call, and fence tags in it
are escaped.
"""

import functools
import re
import secrets
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memorybank import paths
from memorybank.errors import MemoryBankError

#: Bytes of a nonce: what a text would have to guess to close its fence.
NONCE_BYTES = 6
#: Every tag that fences data in some prompt; none of them may stand unescaped inside data.
FENCE_TAGS = (
    "content", "context", "new_facts", "observations", "facts", "chunks", "models", "draft", "question",
)  # fmt: skip

Value = str | Sequence[str]

_FILE = re.compile(r"(?P<name>[a-z_]+)\.v(?P<version>\d+)\.md")
_DOCUMENT = re.compile(
    r"\A\+\+\+\n(?P<header>.*?)^\+\+\+\n=== system ===\n(?P<system>.*?)^=== user ===\n(?P<user>.*)\Z",
    re.DOTALL | re.MULTILINE,
)
_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
#: What may stand in a tag without being seen: white space and characters of no width.
_GAP = "[\\s\u200b-\u200d\u2060\ufeff]*"
_IN_TAG = rf"(?={_GAP}/?{_GAP}(?:{'|'.join(FENCE_TAGS)})\b)"
_TAG = re.compile("[<＜]" + _IN_TAG, re.IGNORECASE)
_ESCAPED = re.compile("&lt;" + _IN_TAG, re.IGNORECASE)


@dataclass(frozen=True)
class Rendered:
    """A prompt ready to send."""

    system: str
    user: str
    nonce: str


@dataclass(frozen=True)
class Template:
    """One released version of a prompt; `text` and `data` together are the variables of its user part."""

    name: str
    version: int
    text: frozenset[str]
    data: Mapping[str, str]
    system: str
    user: str

    def render(self, /, _nonce: str | None = None, **values: Value) -> Rendered:
        """Fill the user part. Data may be several texts: each gets a fence of its own. `_nonce`: one that is in use.

        Raises MemoryBankError when a variable is missing or unknown.
        """
        self._match(values)
        nonce = _nonce or fresh_nonce()
        filled = {
            name: _fenced(self.data[name], value, nonce) if name in self.data else str(value)
            for name, value in values.items()
        }
        return Rendered(self.system, _fill(self.user, filled), nonce)

    def _match(self, values: Mapping[str, Value]) -> None:
        declared = self.text | self.data.keys()
        for kind, names in (("missing", declared - values.keys()), ("unknown", values.keys() - declared)):
            if names:
                raise MemoryBankError(
                    f"prompt {self.name}.v{self.version}: {kind} {', '.join(sorted(names))}"
                )


def load(stage: str, name: str, version: int | None = None) -> Template:
    """Return a prompt, its newest version unless one is named.

    Raises MemoryBankError when there is none, or when its file breaks the rules.
    """
    return _load(paths.prompts() / stage, name, version)


@functools.cache
def _load(folder: Path, name: str, version: int | None) -> Template:
    found = {}
    for path in folder.glob(f"{name}.v*.md"):
        if (match := _FILE.fullmatch(path.name)) and match["name"] == name:
            found[int(match["version"])] = path
    chosen = max(found, default=0) if version is None else version
    if chosen not in found:
        raise MemoryBankError(f"there is no prompt {folder.name}/{name}.v{chosen}.md")
    return parse(found[chosen].read_text(encoding="utf-8"), found[chosen].name)


def parse(document: str, filename: str) -> Template:
    """Return the template of a file's text; raise MemoryBankError, naming the file, where it is wrong."""
    split, named = _DOCUMENT.match(document), _FILE.fullmatch(filename)
    if not split or not named:
        raise MemoryBankError(f"prompt {filename}: a header and the parts system and user are needed")
    try:
        header = tomllib.loads(split["header"])
        template = Template(
            name=str(header.pop("name")),
            version=int(header.pop("version")),
            text=frozenset(header.pop("text", ())),
            data=dict(header.pop("data", {})),
            system=split["system"].strip(),
            user=split["user"].strip(),
        )
    except (tomllib.TOMLDecodeError, KeyError, TypeError, ValueError) as error:
        raise MemoryBankError(f"prompt {filename}: the header cannot be read: {error}") from error
    for fault in _faults(template, named["name"], int(named["version"]), header.keys()):
        raise MemoryBankError(f"prompt {filename}: {fault}")
    return template


def _faults(template: Template, name: str, version: int, more: Iterable[str]) -> Iterator[str]:
    """Yield what is wrong with a template."""
    used, declared = set(_VARIABLE.findall(template.user)), template.text | template.data.keys()
    if more:
        yield f"the header knows no {', '.join(sorted(more))}"
    if (template.name, template.version) != (name, version):
        yield "name and version differ from the file's"
    if _VARIABLE.search(template.system):
        yield "the system part has a variable"
    if used != declared:
        yield f"declared and used variables differ: {', '.join(sorted(used ^ declared))}"
    if template.text & template.data.keys():
        yield "a variable is both text and data"
    if unknown := set(template.data.values()) - set(FENCE_TAGS):
        yield f"unknown fence tags: {', '.join(sorted(unknown))}"


def fence(tag: str, text: str, nonce: str) -> str:
    """Return the text as fenced data."""
    return f'<{tag} id="{nonce}">\n{escaped(text)}\n</{tag}>' if _fences else text


def escaped(text: str) -> str:
    """Return the text with its fence tags made harmless: `<` becomes `&lt;` before them."""
    return _TAG.sub("&lt;", text)


def unescaped(text: str) -> str:
    """Undo `escaped`, for what a model copied from fenced data."""
    return _ESCAPED.sub("<", text)


def _fenced(tag: str, value: Value, nonce: str) -> str:
    texts = [value] if isinstance(value, str) else value
    return "\n".join(fence(tag, text, nonce) for text in texts if text)


def _fill(part: str, values: Mapping[str, str]) -> str:
    """Put the values in, once: what stands inside a value is never filled."""
    lines = []
    for line in part.split("\n"):
        names = _VARIABLE.findall(line)
        if not names or any(values[name] for name in names):
            lines.append(_VARIABLE.sub(lambda match: values[match[1]], line))
    return "\n".join(lines).strip()


def _random_nonce() -> str:
    return secrets.token_hex(NONCE_BYTES)


_nonces: Callable[[], str] = _random_nonce
_fences = True


def fresh_nonce() -> str:
    """Return the nonce of one call."""
    return _nonces()


@contextmanager
def fixed_nonce(nonce: str) -> Iterator[None]:
    """Let `fresh_nonce()` answer `nonce` inside the block (for tests and recordings)."""
    global _nonces
    before = _nonces
    _nonces = lambda: nonce  # noqa: E731
    try:
        yield
    finally:
        _nonces = before


@contextmanager
def without_fences() -> Iterator[None]:
    """Let data stand bare in prompts inside the block: for a test that shows what the fences are good for."""
    global _fences
    _fences = False
    try:
        yield
    finally:
        _fences = True
