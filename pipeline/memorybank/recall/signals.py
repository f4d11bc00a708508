"""The signals of recall: what speaks for a unit, each a small function from the scene to one number for each unit.

A signal is None where question or bank have nothing for it: no speaker is named, no time is asked for, nobody chats
with an assistant. What every unit has (BM25, cosine) is z-scored over the units that the viewer may see; the others lie
in 0 to 1 and count as they are. `configs/default.toml` says how much each counts. Pure.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from memorybank.recall import asking
from memorybank.recall.arms import semantic, temporal
from memorybank.recall.arms.lexical import Lexical
from memorybank.recall.fusion import COSINE_FLOOR, LEXICAL_FLOOR, at_least, z_scored
from memorybank.recall.question import Question
from memorybank.recall.space import Flags, Floats, Integers, Space
from memorybank.storage.found import Addresses, Dated
from memorybank.text.traits import Trait

#: Mean length of a unit, in terms, up to which a bank holds the turns of a talk. What a long message says does not
#: depend on the one before, and one that ends in a question also tells something: there, neighbours cost plain dense 9
#: points of frac@10.
TURN_TERMS = 20.0
#: What neighbours lend a unit of their BM25: at one step, at two.
LENT = (0.5, 0.25)
#: Share of the units that a speaker must have said before a name counts as one: "Warning: hot." speaks only once.
SPEAKER_SHARE = 0.01
#: And so many at least.
SPEAKER_UNITS = 2
#: Units of a sample whose neighbours are read too.
SAMPLED_NEIGHBOURS = 64


@dataclass(frozen=True)
class Scene:
    """One question before the units that may answer it: cosine (n,), BM25, mean length of the bank's units, dates.

    `spread`: standard deviation of BM25 over all units. `dated` is None where the question names no time, `later` (what
    was said after it) where it is asked now. `sample`: indices of units that stand for all, where not all are here.
    """

    space: Space
    question: Question
    cosine: Floats
    keywords: Lexical
    spread: float
    mean_length: float
    dated: Dated | None = None
    later: Addresses | None = None
    sample: Integers | None = None

    @cached_property
    def talk(self) -> float:
        """How far the bank holds the turns of a talk: 1, less the longer its units are."""
        return min(1.0, TURN_TERMS / self.mean_length)

    @cached_property
    def chat(self) -> bool:
        """Whether a user and an assistant speak here."""
        return bool(self.said_by(asking.USERS).any() and self.said_by(asking.ASSISTANTS).any())

    @cached_property
    def asks(self) -> Flags:
        """Whether each unit only asks, and another one comes after it in its document (n,)."""
        return self.shows(Trait.ASKS) & self.space.followed

    @cached_property
    def floor(self) -> float:
        """The least spread of BM25, which is measured against the weight of the question."""
        return LEXICAL_FLOOR * self.keywords.asked

    @cached_property
    def keyword_spread(self) -> float:
        """What one standard deviation of BM25 is."""
        return at_least(self.spread, self.floor)

    def z_scored(self, values: Floats, floor: float, sampled: int | None = None) -> Floats:
        """Return values in standard deviations over all units, or over the first `sampled` that stand for them."""
        return z_scored(values, floor, None if self.sample is None else values[self.sample[:sampled]])

    def said_by(self, speakers: tuple[int, ...]) -> Flags:
        """Whether each unit was said by one of these (n,)."""
        return np.isin(self.space.speakers, speakers)

    def shows(self, trait: Trait) -> Flags:
        """Whether each unit has the trait (n,)."""
        return (self.space.traits & trait.value).astype(np.bool_)


def lexical(scene: Scene) -> Floats:
    """BM25 of the unit."""
    keyword = scene.keywords.keyword
    return (keyword - keyword.mean()) / scene.keyword_spread if len(keyword) else keyword


def neighbours(scene: Scene) -> Floats:
    """BM25 of the units beside it: what is said stands in several turns of a talk.

    On the scale of `lexical`, so that also in a tiny bank no unit stands before the neighbour that it borrows from.
    """
    keyword = scene.keywords.keyword
    lent = scene.space.borrowed(keyword, LENT) - keyword
    return scene.talk * (lent - lent.mean()) / scene.keyword_spread if len(lent) else lent


def session(scene: Scene) -> Floats:
    """BM25 of the whole document or session."""
    return scene.talk * scene.z_scored(scene.keywords.session, scene.floor)


def dense(scene: Scene) -> Floats:
    """Cosine of the unit's vector."""
    return scene.z_scored(scene.cosine, COSINE_FLOOR)


def dense_neighbours(scene: Scene) -> Floats:
    """Mean cosine of the unit and those beside it."""
    around = semantic.around(scene.space, scene.cosine)
    return scene.talk * scene.z_scored(around, COSINE_FLOOR, SAMPLED_NEIGHBOURS)


def speaker(scene: Scene) -> Floats | None:
    """The question names exactly one speaker, and the unit is theirs."""
    standing = scene.space.speakers if scene.sample is None else scene.space.speakers[scene.sample]
    least = max(SPEAKER_UNITS, SPEAKER_SHARE * len(standing))
    called = [number for number in scene.question.called if np.count_nonzero(standing == number) >= least]
    return (scene.space.speakers == called[0]).astype(np.float64) if len(called) == 1 else None


def user(scene: Scene) -> Floats | None:
    """The question is about what its asker said or did, and the unit is a user's."""
    return _role(scene, "user", asking.USERS)


def assistant(scene: Scene) -> Floats | None:
    """The question is about what the assistant answered, and the unit is an assistant's."""
    return _role(scene, "assistant", asking.ASSISTANTS)


def _role(scene: Scene, role: asking.Role, speakers: tuple[int, ...]) -> Floats | None:
    if scene.question.role != role or not scene.chat:
        return None
    return scene.said_by(speakers).astype(np.float64)


def time(scene: Scene) -> Floats | None:
    """Nearness to the time that the question names."""
    if scene.question.window is None or scene.dated is None:
        return None
    return temporal.closeness(scene.space, scene.question.window, scene.dated)


def later(scene: Scene) -> Floats | None:
    """The unit was said after the question was asked, so it cannot be the answer."""
    if scene.later is None or not len(scene.later):
        return None
    values = np.zeros(len(scene.space))
    at, known = scene.space.find(scene.later)
    values[at[known]] = 1.0
    return values


def asks(scene: Scene) -> Floats:
    """The unit only asks: the next one tells."""
    return scene.talk * scene.asks.astype(np.float64)


def answers(scene: Scene) -> Floats:
    """The unit before it asks something like the question."""
    return scene.talk * scene.space.after(np.maximum(scene.cosine, 0.0) * scene.asks)


def kind(scene: Scene) -> Floats | None:
    """The unit may hold the kind of answer that is asked for: a time, a number, a place, a name, a reason."""
    wanted = scene.question.answer
    return scene.talk * scene.shows(wanted).astype(np.float64) if wanted else None


#: Every signal by the name of its weight, but the graph's, which is known only when the best units are.
SIGNALS: Mapping[str, Callable[[Scene], Floats | None]] = {
    signal.__name__: signal
    for signal in (
        lexical,
        neighbours,
        session,
        dense,
        dense_neighbours,
        speaker,
        user,
        assistant,
        time,
        later,
        asks,
        answers,
        kind,
    )
}


def read(scene: Scene) -> dict[str, Floats]:
    """Return the signals that question and bank have, (n,) each."""
    found = ((name, signal(scene)) for name, signal in SIGNALS.items())
    return {name: values for name, values in found if values is not None}
