"""What a sentence does: state, ask, greet, or fill. Only statements become facts."""

import re
from typing import Literal

from memorybank.llm.extractive.lexicon import Lexicon, lexicon_of
from memorybank.llm.extractive.tokens import WORD
from memorybank.llm.extractive.tongues import UNSPACED, language_of_text

Kind = Literal["statement", "question", "greeting", "filler"]

#: Greetings and fillers are short; longer sentences are not tried against their patterns.
LONGEST_PHRASE = 90
#: A run of ordinary reaction words may be this long and is still filler.
LONGEST_REACTION = 8
#: A question keeps its fact ("I moved to Graz last week, remember?") if that many words state it first.
STATED_WORDS = 5
#: What is laughed at in so few words is no statement ("Typical dog haha").
LONGEST_LAUGHED = 4
#: A name called in a greeting: "Thanks, Anna Lena!"
LONGEST_ADDRESS = 2
#: The same in characters: "渡辺、".
UNSPACED_ADDRESS = 3
#: An exclamation that opens with one of these words and is no longer than that many is a reaction.
LONGEST_EXCLAMATION = 7

_SEGMENT = re.compile(r"[,;!?…—–]+(?=[\s\"'”’»)]|$)|\.+(?=[\s\"'”’»)]|$)|(?<=\s)-+(?=\s)|[，、。！？；～]+")
_NOT_WORDS = re.compile(r"[^\w\s'’.:/%&+-]+")
_APOSTROPHE = str.maketrans("’ʼ`´", "''''")
_QUESTION = re.compile(r"[?？]+[\s\"'”’»)」』.!！]*(?:[^\w\s]+\s*)?$")
_CLOSED = re.compile(r"[.!。！]\s*$")
_HONORED = re.compile(r"^.{1,5}(?:さん|くん|ちゃん|様|さま|先生|君)$")
_LAUGHTER = re.compile(r"a?(?:ha){2,}h?|haha\w*|hehe\w*|(?:ja){2,}j?|hihi|lo+l|lmao|rofl|mdr|ptdr|xd+|kk+")
_LAUGH = re.compile(r"(?:x+d+|[:;]-?[)(dp]+|\^+|<3+)", re.IGNORECASE)


def kind(sentence: str, language: str | None = None) -> Kind:
    """The kind of one sentence; the language is guessed if it is not told."""
    return kind_in(sentence, lexicon_of(language or language_of_text(sentence)))


def kind_in(sentence: str, lexicon: Lexicon) -> Kind:
    """The kind of one sentence by the lists of its language."""
    whole = _bare(sentence)
    if not any(char.isalnum() for char in whole) or _LAUGH.fullmatch(whole):
        return "filler"
    if _QUESTION.search(sentence):
        return "statement" if _states_before_asking(sentence, lexicon) else "question"
    found = _kind_of_phrase(whole, lexicon)
    if found == "statement" and _exclaims(sentence, whole, lexicon):
        return "filler"
    return _kind_of_parts(sentence, lexicon) if found == "statement" else found


def _kind_of_phrase(bare: str, lexicon: Lexicon) -> Kind:
    """Greetings and fillers are known as a whole; all else may be a statement."""
    if len(bare) > LONGEST_PHRASE:
        return "statement"
    if lexicon.patterns["greetings"].fullmatch(bare):
        return "greeting"
    return "filler" if _fills(bare, lexicon) else "statement"


def _kind_of_parts(sentence: str, lexicon: Lexicon) -> Kind:
    """A sentence of several parts ("Great, thanks Tom - see you!") is what its parts with content are."""
    parts = _parts(sentence)
    kinds = [_kind_of_phrase(_bare(part), lexicon) for part in parts]
    content = [part for part, found in zip(parts, kinds, strict=True) if found == "statement"]
    if len(content) < len(parts):
        content = [part for part in content if not _is_address(part, lexicon)]
    if not content:
        return "greeting" if "greeting" in kinds else "filler"
    return "question" if _asks_unmarked(sentence, content, lexicon) else "statement"


def _parts(sentence: str) -> list[str]:
    return [part.strip() for part in _SEGMENT.split(sentence) if part and WORD.search(part)]


def _fills(bare: str, lexicon: Lexicon) -> bool:
    if lexicon.patterns["fillers"].fullmatch(bare):
        return True
    words = WORD.findall(bare)
    calm = [word for word in words if not _LAUGHTER.fullmatch(word)]
    if len(calm) < len(words) and len(calm) <= LONGEST_LAUGHED:
        return not lexicon.words["first_person"].intersection(calm) and not _counts(bare)
    return 0 < len(words) <= LONGEST_REACTION and lexicon.words["filler_words"].issuperset(words)


def _exclaims(sentence: str, whole: str, lexicon: Lexicon) -> bool:
    """ "What a lovely surprise!", "¡Cómo pasa el tiempo!": an exclamation that tells nothing."""
    words = WORD.findall(whole)
    if not sentence.rstrip(" \"'”’»)").endswith("!") or len(words) > LONGEST_EXCLAMATION:
        return False
    return lexicon.is_a(words[0], "exclaims") and not _counts(whole)


def _counts(text: str) -> bool:
    return any(char.isdecimal() for char in text)


def _is_address(part: str, lexicon: Lexicon) -> bool:
    """Whether a part only calls somebody: one or two capital words that say nothing."""
    if UNSPACED.search(part):
        return len(part) <= UNSPACED_ADDRESS or bool(_HONORED.search(part))
    words = WORD.findall(part)
    return len(words) <= LONGEST_ADDRESS and all(
        word[0].isupper() and not word.isupper() and not lexicon.knows(word.lower()) for word in words
    )


def _asks_unmarked(sentence: str, content: list[str], lexicon: Lexicon) -> bool:
    """A question without its mark, as people type it: "how did it go", "你明天来吗"."""
    patterns, first, last = lexicon.patterns, _bare(content[0]), _bare(content[-1])
    if patterns["question_ends"].search(last) or patterns["request_starts"].match(last):
        return True
    # A Spanish question may have its first mark only.
    asks = "¿" in sentence or (len(content) == 1 and not _CLOSED.search(sentence))
    return asks and bool(patterns["question_starts"].match(first))


def _states_before_asking(sentence: str, lexicon: Lexicon) -> bool:
    """ "I moved to Graz last week, remember?": a fact about the speaker with a tag or a question behind it."""
    parts = [_bare(part) for part in _parts(sentence)]
    words = WORD.findall(parts[0]) if len(parts) > 1 else []
    if len(words) < STATED_WORDS or not lexicon.is_a(words[0], "first_person"):
        return False
    patterns = lexicon.patterns
    return bool(patterns["tags"].fullmatch(parts[-1]) or patterns["question_starts"].match(parts[-1]))


def _bare(text: str) -> str:
    """Lower case, plain apostrophes, no marks at the ends, single spaces."""
    text = _NOT_WORDS.sub(" ", text.translate(_APOSTROPHE).lower())
    return " ".join(text.split()).strip(" .:/%&+-'")
