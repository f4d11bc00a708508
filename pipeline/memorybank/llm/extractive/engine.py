"""From a chunk of text to findings, without a model: sentences are facts, names are entities, times are resolved."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from memorybank.llm.extractive.evidence import Evidence, gather
from memorybank.llm.extractive.finding import FactKind, Finding
from memorybank.llm.extractive.kinds import Kind, kind_in
from memorybank.llm.extractive.lexicon import Lexicon, lexicon_of, words_of
from memorybank.llm.extractive.names import names_in
from memorybank.llm.extractive.records import read_records
from memorybank.llm.extractive.repeats import is_degenerate, without_repeats
from memorybank.llm.extractive.tongues import GUESSED_CHARS, UNSPACED, language_of_sentence, language_of_text
from memorybank.llm.extractive.transcript import read_lines
from memorybank.llm.extractive.turns import SYSTEM_ROLES, Turn
from memorybank.text import name_key, normalize, sentences
from memorybank.timeline import TimeSpan, find_times

#: No fact is longer; a longer sentence is cut at its marks.
MAX_FACT_CHARS = 2_000
#: A sentence as short as this leans on the one before it.
FRAGMENT_WORDS = 3
#: An answer as short as this is kept with its question.
ANSWER_WORDS = 5

#: An item's mark; "14. April" is a date.
_BULLET = re.compile(
    r"\s*(?:[-*•–—>]|\[[ x]\]|\d{1,3}\)|\d{1,3}\.(?!\s+(?:Jan|Feb|Mär|Apr|Mai|Jun|Jul|Aug|Sep|Okt|Nov|Dez)))\s+"
)
#: In a chat a line is a message; one of at least so many characters may have been wrapped.
WRAPPED_CHARS = 70
#: A full stop that is followed by a small letter: the end of a sentence in chats, unless the word is cut short.
_SMALL_START = re.compile(r"(?<![^\W\d_])(?P<word>[^\W\d_]{3,30})(?P<mark>[.!?]+)\s+(?=[^\W\d_])(?=[a-zß-ÿ])")
#: How far from a time the words stand that take it back.
DISMISSAL_CHARS = 40
_NOT_BEFORE = re.compile(
    r"\b(?:not|no longer|isn't|wasn't|instead of|rather than|nicht|nicht mehr|statt|pas|au lieu de|en vez de|ya no es)"
    r"(?:\W+(?:on|in|at|for|this|the|am|im|le|el|du|den|dem))*\W*$"
)
_NOT_AFTER = re.compile(
    r"\W*(?:(?:is|was|has been|got|ist|wird|wurde|est|está|queda)\W+)?"
    r"(?:cancell?ed|called off|off\b|not? (?:work|possible)|no longer|doesn't work|won't work|klappt nicht|geht nicht"
    r"|fällt aus|entfällt|abgesagt|annul|cancelad|ne va pas)"
)
_WORD = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
_SOFT_BREAK = re.compile(r"[;,:，；、]\s*|\s+")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    kind: Kind
    language: str


@dataclass(slots=True)
class _Group:
    """Sentences that make one fact, behind the question they answer, if they do."""

    turn: Turn
    sentences: list[_Sentence]
    question: str = ""
    closed: bool = field(default=False)

    @property
    def body(self) -> str:
        unspaced = bool(UNSPACED.search(self.sentences[0].text))
        return ("" if unspaced else " ").join(sentence.text for sentence in self.sentences)

    @property
    def text(self) -> str:
        said = f"{self.turn.speaker}: {self.body}" if self.turn.speaker else self.body
        return f"{self.question}\n{said}" if self.question else said


def extract(text: str, anchor: datetime | None, *, context: str = "") -> list[Finding]:
    """The findings of one chunk, in order.

    `anchor` is when the text was said (relative times count from it; lines with stamps of their own count from
    those). `context` lends its names as evidence and nothing else.
    """
    turns = _read(normalize(text))
    language = language_of_text("\n".join(turn.text for turn in turns))
    evidence = gather((turn.text for turn in turns), _names_given(turns, context))
    findings = [_finding(group, anchor, evidence) for group in _groups(turns, language)]
    return without_repeats(findings, language)


def _read(text: str) -> list[Turn]:
    turns = read_records(text)
    if turns is None:
        turns = read_lines(text)
    return [turn for turn in turns if turn.role not in SYSTEM_ROLES]


def _names_given(turns: Sequence[Turn], context: str) -> set[str]:
    """Names that are told as such: of speakers, and in the context."""
    given = {turn.speaker for turn in turns if turn.named and turn.speaker}
    if context.strip():
        given.update(names_in(context, language_of_text(context), Evidence()))
    return given


def _groups(turns: Sequence[Turn], language: str) -> list[_Group]:
    """The statements of all turns, those that lean on each other together."""
    groups: list[_Group] = []
    asked = ""
    for turn in turns:
        open_group: _Group | None = None
        answers = asked
        asked = ""
        for sentence in _sentences(turn, language):
            if sentence.kind != "statement":
                open_group = None
                asked = _as_asked(turn, sentence)
                continue
            asked = ""
            if (
                open_group is not None
                and _leans(sentence)
                and len(open_group.text) + len(sentence.text) < MAX_FACT_CHARS
            ):
                open_group.sentences.append(sentence)
            elif open_group := _new_group(turn, sentence, answers):
                groups.append(open_group)
            answers = ""
    return groups


def _new_group(turn: Turn, sentence: _Sentence, answers: str) -> _Group | None:
    """A fact's first sentence; an answer of a few words keeps its question, without one a number says nothing."""
    if answers and _length(sentence.text) <= ANSWER_WORDS:
        return _Group(turn, [sentence], answers)
    if not any(char.isalpha() for char in sentence.text):
        return None
    return _Group(turn, [sentence])


def _as_asked(turn: Turn, sentence: _Sentence) -> str:
    if sentence.kind != "question":
        return ""
    return f"{turn.speaker}: {sentence.text}" if turn.speaker else ""


def _sentences(turn: Turn, language: str) -> Iterator[_Sentence]:
    """The sentences of a turn, each once and at most as long as a fact may be."""
    seen: set[str] = set()
    for block in _blocks(turn):
        for sentence in _apart(whole for whole in sentences(block) if not is_degenerate(whole)):
            clean = " ".join(sentence[len(bullet[0]) if (bullet := _BULLET.match(sentence)) else 0 :].split())
            if not clean or clean.casefold() in seen:
                continue
            seen.add(clean.casefold())
            own = language_of_sentence(clean, language)
            for piece in _pieces(clean):
                yield _Sentence(piece, _kind(piece, own), own)


def _kind(sentence: str, language: str) -> Kind:
    """The kind of a sentence; a short one may greet or thank in a language of its own."""
    found = kind_in(sentence, lexicon_of(language))
    if found != "statement" or len(sentence) >= GUESSED_CHARS:
        return found
    own = language_of_text(sentence)
    return found if own in ("und", language) else kind_in(sentence, lexicon_of(own))


def _blocks(turn: Turn) -> Iterator[str]:
    """What may hold sentences over several lines: prose as a whole, a chat by the message."""
    if turn.speaker is None:
        yield turn.text
        return
    block = ""
    for line in turn.text.split("\n"):
        wrapped = len(block.rsplit("\n", 1)[-1]) >= WRAPPED_CHARS and line.lstrip()[:1].islower()
        if block and not wrapped:
            yield block
            block = ""
        block = f"{block}\n{line}" if block else line
    yield block


def _apart(found: Iterable[str]) -> Iterator[str]:
    """Sentences that go on in lower case, as people type in chats, cut at their marks."""
    for sentence in found:
        start = 0
        for end in _SMALL_START.finditer(sentence):
            if end["word"].lower() not in words_of("en", "abbreviations"):
                yield sentence[start : end.end("mark")]
                start = end.end()
        yield sentence[start:]


def _pieces(sentence: str) -> Iterable[str]:
    """A sentence cut to the size of a fact."""
    while len(sentence) > MAX_FACT_CHARS:
        breaks = [
            match.end() for match in _SOFT_BREAK.finditer(sentence, MAX_FACT_CHARS // 2, MAX_FACT_CHARS)
        ]
        cut = breaks[-1] if breaks else MAX_FACT_CHARS
        yield sentence[:cut].strip()
        sentence = sentence[cut:].strip()
    if sentence:
        yield sentence


def _leans(sentence: _Sentence) -> bool:
    """Whether a sentence needs the one before it: it opens with a pronoun, or is a fragment without a name."""
    lexicon: Lexicon = lexicon_of(sentence.language)
    if UNSPACED.search(sentence.text):
        return sentence.text.startswith(tuple(lexicon.words["dependent"]))
    words = _WORD.findall(sentence.text.lower().replace("’", "'"))
    if not words or words[0] in lexicon.words["dependent"]:
        return bool(words)
    if words[0].isdecimal() and len(words) <= ANSWER_WORDS:
        return True
    return len(words) <= FRAGMENT_WORDS and not names_in(sentence.text, sentence.language, Evidence())


def _length(sentence: str) -> int:
    """Words; two characters of a script without spaces count as one."""
    unspaced = len(UNSPACED.findall(sentence))
    return unspaced // 2 if unspaced else len(_WORD.findall(sentence))


def _finding(group: _Group, anchor: datetime | None, evidence: Evidence) -> Finding:
    turn = group.turn
    return Finding(
        text=group.text[: MAX_FACT_CHARS + len(turn.speaker or "") + 2],
        speaker=turn.speaker,
        entities=_entities(group, evidence),
        occurred=_occurred(group, turn.said or anchor),
        fact_type=_fact_type(group),
        mentioned=turn.said,
    )


def _entities(group: _Group, evidence: Evidence) -> tuple[str, ...]:
    """The speaker, if that is a name, then the names in order of writing."""
    found: dict[str, str] = {}
    if (
        group.turn.named
        and group.turn.speaker
        and len(group.turn.speaker) >= _shortest_name(group.turn.speaker)
    ):
        found[name_key(group.turn.speaker)] = group.turn.speaker
    parts = [(group.question.partition(": ")[2], group.sentences[0].language)] if group.question else []
    parts += [(sentence.text, sentence.language) for sentence in group.sentences]
    for text, language in parts:
        for name in names_in(text, language, evidence):
            found.setdefault(name_key(name), name)
    return tuple(found.values())


def _shortest_name(name: str) -> int:
    """Letters of the shortest name: one in a script of words, two else ("A" in a transcript names nobody)."""
    return 1 if UNSPACED.search(name) else 2


def _occurred(group: _Group, anchor: datetime | None) -> TimeSpan | None:
    """The first time that the fact names and does not take back."""
    for sentence in group.sentences:
        for span in find_times(sentence.text, anchor):
            if not _is_dismissed(sentence.text, span.text):
                return span
    return None


def _is_dismissed(sentence: str, time: str) -> bool:
    """Whether a time is named only to say that it does not hold: "not on Friday", "Tuesday is cancelled"."""
    before, _, after = sentence.lower().partition(time.lower())
    return bool(_NOT_BEFORE.search(before[-DISMISSAL_CHARS:]) or _NOT_AFTER.match(after[:DISMISSAL_CHARS]))


def _fact_type(group: _Group) -> FactKind:
    """What an agent says of itself is its experience; everything else is about the world."""
    if not group.turn.by_agent:
        return "world"
    for sentence in group.sentences:
        first_person = lexicon_of(sentence.language).words["first_person"]
        if UNSPACED.search(sentence.text):
            if any(word in sentence.text for word in first_person):
                return "experience"
        elif first_person.intersection(_WORD.findall(sentence.text.lower().replace("’", "'"))):
            return "experience"
    return "world"
