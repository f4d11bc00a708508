"""Which words before a colon are speakers: "Mara: ..." is one, "House rule: ..." is none."""

import re
from collections import Counter
from collections.abc import Collection, Sequence

from memorybank.llm.extractive.evidence import Evidence
from memorybank.llm.extractive.lexicon import given_names, lexicon_of, words_of
from memorybank.llm.extractive.lines import Line
from memorybank.llm.extractive.tongues import KANA, UNSPACED
from memorybank.llm.extractive.turns import role_of
from memorybank.llm.extractive.unspaced import find_names

#: A text is a transcript if that share of its lines bears a label.
LABELLED_SHARE = 0.5
#: In a text of at least so many lines, of which fewer than this share bear a label, a label that comes once is a
#: heading ("Attendees: ..."), not a speaker.
NOTE_LINES, NOTE_SHARE = 4, 0.34
#: Longest speaker of a script without spaces: anywhere, in a transcript, and by itself.
_UNSPACED_LABEL, _UNSPACED_IN_TRANSCRIPT, _UNSPACED_ALONE = 8, 5, 4
_NAME_WORDS = 3
#: "de", "van" are small inside names.
_SMALL_PART = 3
#: Questions and answers as lists of them are labelled; one without the other says nothing.
EXCHANGES = ("q a", "question answer", "f a", "frage antwort", "q r", "p r", "d r")

_PHRASE = re.compile("[のはが的了是]")


def trusted_labels(lines: Sequence[Line]) -> frozenset[str]:
    """The labels of a text that are speakers."""
    filled = [line for line in lines if not line.blank or line.label]
    labelled = [line for line in filled if line.label or line.sure]
    labels = Counter(line.label for line in labelled if line.label)
    transcript = len(labelled) >= 2 and len(labelled) >= LABELLED_SHARE * len(filled)
    notes = len(filled) >= NOTE_LINES and len(labelled) < NOTE_SHARE * len(filled)
    # Behind a stamp one word is a speaker, whatever it means elsewhere.
    stamped = {line.label for line in filled if line.label and line.sure and len(line.label.split()) == 1}
    speakers = {
        label
        for label, count in labels.items()
        if _is_known(label) or (not (notes and count == 1) and _is_speaker(label, transcript))
    }
    return frozenset(speakers | stamped | _exchange(labels))


def _exchange(labels: Collection[str]) -> set[str]:
    """The labels of questions and answers, where a text has both."""
    by_name = {label.lower(): label for label in labels}
    pairs = (pair.split() for pair in EXCHANGES)
    return {by_name[name] for pair in pairs if set(pair) <= by_name.keys() for name in pair}


def _is_known(label: str) -> bool:
    """Whether a label is a role or a first name; the fields at the head of a message never speak."""
    low = label.lower()
    return low not in words_of("und", "fields") and (role_of(label) is not None or low in given_names())


def _is_speaker(label: str, transcript: bool) -> bool:
    if UNSPACED.search(label):
        return _is_unspaced_speaker(label, transcript)
    words = [word.strip(".'’-").lower() for word in label.split()]
    if label.lower() in words_of("und", "fields"):
        return False
    if _has_ordinary_word(words):
        named = any(words[0] in words_of(code, "ambiguous_names") for code in ("en", "fr", "es"))
        return transcript and len(words) == 1 and label[0].isupper() and named
    if label[0].isupper() and len(words) <= _NAME_WORDS:
        return all(word[:1].isupper() or len(word) <= _SMALL_PART for word in label.split())
    return len(words) == 1 and label.isalpha() and len(label) > 1 and label not in words_of("en", "acronyms")


def _has_ordinary_word(words: Sequence[str]) -> bool:
    lexicons = [lexicon_of(code) for code in ("en", "de", "fr", "es")]
    return any(word and any(lexicon.is_ordinary(word) for lexicon in lexicons) for word in words)


def _is_unspaced_speaker(label: str, transcript: bool) -> bool:
    if len(label) > _UNSPACED_LABEL or _PHRASE.search(label):
        return False
    if label in words_of("zh", "labels") or label in words_of("ja", "labels"):
        return False
    if len(label) <= (_UNSPACED_IN_TRANSCRIPT if transcript else _UNSPACED_ALONE):
        return True
    return label in find_names(label, "ja" if KANA.search(label) else "zh", Evidence())
