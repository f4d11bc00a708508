"""Signals that need a unit's text: who speaks, whether it only asks. Each is gated by what is really there. Pure."""

import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

from memorybank.recall.space import Flags, Floats

#: Share of the candidates that must begin with a name before it counts as a speaker of the conversation.
SPEAKER_SHARE = 0.05
#: Longest unit, in characters, that counts as a turn: a long message that ends in a question also tells something.
TURN_CHARS = 400

_SPEAKER = re.compile(r"(?:\[[^\]\n]{1,40}\]\s*)?([^\W\d_][\w.’'-]*(?: [^\W\d_][\w.’'-]*){0,2}):\s")
_ASKS = re.compile(r"[?？]\s*(?:\[[^\]]*\])?\s*$")


def speaker(text: str) -> str:
    """Return who speaks in a turn written as `Name: text`, in lower case; empty where nobody is named."""
    found = _SPEAKER.match(text)
    return found[1].casefold() if found else ""


def spoken_by_named(question: str, texts: Sequence[str]) -> Floats:
    """Return 1 for each unit of the one speaker whom the question names, else 0 (n,).

    All 0 when the units have no speakers, or the question names none or several of them.
    """
    speakers = [speaker(text) for text in texts]
    least = max(2.0, SPEAKER_SHARE * len(texts))
    known = [name for name, count in Counter(speakers).items() if name and count >= least]
    asked = question.casefold()
    named = [name for name in known if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", asked)]
    if len(named) != 1:
        return np.zeros(len(texts))
    return np.array([float(name == named[0]) for name in speakers])


def only_asks(texts: Sequence[str], answered: Flags) -> Floats:
    """Return 1 for each short unit that ends in a question and is followed by another in its document, else 0 (n,).

    It asks for what the next one tells. `answered` says which units are followed.
    """
    asks = [len(text) <= TURN_CHARS and bool(_ASKS.search(text)) for text in texts]
    return np.array(asks, np.float64) * answered
