"""Counting model tokens (cl100k) without a network."""

import importlib
import importlib.util
import os
import threading
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

#: Longest piece handed to the encoder at once: its merge step grows faster than linearly on a run without
#: breaks.
PIECE_CHARS = 20_000
#: A piece is cut at the last white space of this many characters, so that a cut rarely falls into a word.
_BREAK_CHARS = 2_000

_ENCODING = "cl100k_base"
#: Where the litellm package keeps tiktoken's files. It is found, not imported: importing it takes
#: seconds.
_SHIPPED = ("litellm_core_utils", "tokenizers")
_loading = threading.Lock()


def count_tokens(text: str) -> int:
    """Number of cl100k tokens. Special tokens are plain text; long texts are counted piece by piece."""
    if not text:
        return 0
    encoding = _encoding()
    return sum(len(encoding.encode_ordinary(piece)) for piece in _pieces(_encodable(text)))


def cut_to_tokens(text: str, limit: int) -> str:
    """The longest beginning of the text that ends between tokens and counts at most `limit` of them."""
    if limit <= 0:
        return ""
    encoding, kept, left = _encoding(), 0, limit
    for piece in _pieces(_encodable(text)):
        tokens = encoding.encode_ordinary(piece)
        if len(tokens) > left:
            return _shrink(text[: kept + _whole_chars(encoding, tokens[:left])], limit)
        kept, left = kept + len(piece), left - len(tokens)
    return text


def _shrink(text: str, limit: int) -> str:
    """A beginning may count one token more than it had inside the text (its last word is cut otherwise)."""
    while text and count_tokens(text) > limit:
        text = text[:-1]
    return text


def _whole_chars(encoding: "Encoding", tokens: list[int]) -> int:
    """How many whole characters the tokens hold; a token may end inside one."""
    return len(encoding.decode_bytes(tokens).decode("utf-8", "ignore"))


def _encodable(text: str) -> str:
    """The same length without lone surrogates, which have no bytes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _pieces(text: str) -> Iterator[str]:
    start = 0
    while len(text) - start > PIECE_CHARS:
        end = start + PIECE_CHARS
        space = max(text.rfind(" ", end - _BREAK_CHARS, end), text.rfind("\n", end - _BREAK_CHARS, end))
        end = space if space > start else end
        yield text[start:end]
        start = end
    yield text[start:]


@lru_cache(maxsize=1)
def _encoding() -> "Encoding":
    with _loading:
        before = os.environ.get("TIKTOKEN_CACHE_DIR")
        os.environ["TIKTOKEN_CACHE_DIR"] = before or _shipped_files()
        try:
            encoding: Encoding = importlib.import_module("tiktoken").get_encoding(_ENCODING)
        finally:
            if before is None:
                del os.environ["TIKTOKEN_CACHE_DIR"]
        return encoding


def _shipped_files() -> str:
    """Folder of the encoding files inside the litellm package.

    Raises:
        ModuleNotFoundError: litellm is not installed.
    """
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("litellm, which ships the token tables, is not installed")
    return str(Path(spec.submodule_search_locations[0]).joinpath(*_SHIPPED))
