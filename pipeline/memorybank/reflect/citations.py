"""Citations: the numbers in an answer, and the answer without them. Pure."""

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise

from memorybank.reflect.notebook import Notebook
from memorybank.text import count_tokens, cut_to_tokens

#: One or more numbers in square brackets, and the space before them; some models write "[id 3]", "[^3]" or "【3】".
_ID = r"(?:(?:ids?|facts?)\s*:?\s*|[#^])?\d{1,4}"
_GROUP = rf"[ \t]*[\[【]{_ID}(?:\s*[,;、]\s*{_ID})*[\]】](?!\()"
_CITED = re.compile(_GROUP, re.IGNORECASE)
_WORD = re.compile(r"\w")
_NUMBER = re.compile(r"\d+")
_SENTENCE_END = re.compile(rf"(?:[.!?](?:{_GROUP})*(?=\s|$)|[。！？](?:{_GROUP})*|\n)", re.IGNORECASE)
_HALF_CITED = re.compile(r"\s*[\[【](?:[\d,;、:#^\s]|ids?|facts?)*$", re.IGNORECASE)


@dataclass(frozen=True)
class Answer:
    """An answer as the model wrote it, with numbers in brackets; `listed`: numbers that it gave beside it."""

    text: str
    listed: tuple[int, ...] = ()

    @property
    def numbers(self) -> list[int]:
        """The numbers that its sentences cite, in the order of first mention; where none does, those beside it."""
        groups = _CITED.findall(self.text)
        found = [int(number) for group in groups for number in _NUMBER.findall(group)]
        return list(dict.fromkeys(found or self.listed))

    @property
    def plain(self) -> str:
        """The answer without its numbers: they mean nothing to who did not see the list."""
        return _CITED.sub("", self.text).strip()

    @property
    def sentences(self) -> list["Answer"]:
        """Its sentences, each with the citations behind it."""
        ends = [0, *(match.end() for match in _SENTENCE_END.finditer(self.text)), len(self.text)]
        parts = (Answer(self.text[start:end].strip()) for start, end in pairwise(ends))
        return [one for one in parts if _WORD.search(one.plain)]

    def cites(self, shown: Notebook) -> bool:
        """Return whether every sentence cites something that was shown."""
        return all(any(map(shown.note, sentence.numbers)) for sentence in self.sentences)

    def with_sources(self, shown: Notebook) -> str:
        """Return the answer with citations that its reader understands: numbered anew, and named below it."""
        notes = [note for note in map(shown.note, self.numbers) if note]
        places = {note.number: place for place, note in enumerate(notes, 1)}

        def renumbered(match: re.Match[str]) -> str:
            found = [places.get(int(number)) for number in _NUMBER.findall(match[0])]
            return "".join(f" [{place}]" for place in dict.fromkeys(found) if place)

        sources = [f"[{place}] {note.named}" for place, note in enumerate(notes, 1)]
        return "\n".join([_CITED.sub(renumbered, self.text).strip(), *([""] if sources else []), *sources])

    def within(self, max_tokens: int) -> "Answer":
        """Return the answer with at most so many tokens: whole sentences, where they are more than half of that."""
        if count_tokens(self.plain) <= max_tokens:
            return self
        ends = [match.end() for match in _SENTENCE_END.finditer(self.text)]
        fitting = bisect_right(ends, max_tokens, key=lambda end: count_tokens(self._upto(end).plain))
        whole = self._upto(ends[fitting - 1]) if fitting else self._upto(0)
        if 2 * count_tokens(whole.plain) > max_tokens:
            return whole
        return replace(self, text=_HALF_CITED.sub("", cut_to_tokens(self.text, max_tokens)))

    def _upto(self, end: int) -> "Answer":
        return replace(self, text=self.text[:end].rstrip())
