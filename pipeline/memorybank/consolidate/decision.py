"""What is done of what a model wants: every reference is checked against what was shown, each action by itself.

A bad action is skipped and counted, the others are taken. Nothing is lost on a model's word: an observation is
rewritten to what replaces it, or taken into another that says the same, and never just deleted; its old text is its
history. Pure.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from memorybank.consolidate import schema
from memorybank.consolidate.agreement import opposed, related, same
from memorybank.consolidate.schema import Action, Kind
from memorybank.errors import ModelMalformed
from memorybank.storage.observations import Pending, Shown, Twin
from memorybank.storage.observing import Change, Create
from memorybank.text.guards import echoes

#: Reasons that lie with the model. Where they are all that its answer comes to, asking again may help.
USELESS = frozenset(
    (
        "malformed",
        "unknown_fact",
        "unknown_observation",
        "empty",
        "off_topic",
        "prompt_example",
        "nothing_in_its_place",
        "opposite",
        "conflict",
    )
)


@dataclass(frozen=True)
class Board:
    """What a decision is about: new facts and observations, numbered from 1 in this order.

    `room`: how many observations the scope can still take, None for any number; `translated`: texts may be in another
    language than their facts; `prompt`: the instructions that were sent.
    """

    facts: Sequence[Pending]
    shown: Sequence[Shown] = ()
    room: int | None = None
    translated: bool = False
    prompt: str = ""


@dataclass(frozen=True)
class Decision:
    """What is done, and how many actions were skipped, by reason."""

    creates: tuple[Create, ...] = ()
    changes: tuple[Change, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)

    def within(self, room: int | None) -> "Decision":
        """Return it with no more new observations than there is room for; those that are left out are counted."""
        over = 0 if room is None else len(self.creates) - max(0, room)
        if over <= 0:
            return self
        counted = {**self.skipped, "scope_full": over}
        return replace(self, creates=self.creates[:-over], skipped=counted)


def decide(value: Mapping[str, Any], board: Board) -> Decision:
    """Return what of an answer is done; raises ModelMalformed where nothing of it is any use."""
    table = _Table(board)
    for action in schema.read(value):
        if action is None:
            table.skipped["malformed"] += 1
        else:
            table.take(action)
    done = table.decision()
    useless = sum(count for reason, count in done.skipped.items() if reason in USELESS)
    if useless and not table.kept and useless == sum(done.skipped.values()):
        why = ", ".join(f"{reason} {count}" for reason, count in sorted(done.skipped.items()))
        raise ModelMalformed(f"none of its actions can be used ({why})")
    return done


class _Refused(Exception):
    """Why an action is not taken."""


@dataclass
class _Table:
    """A decision in the making: observations by their number, and what becomes of each."""

    board: Board
    creates: list[Create] = field(default_factory=list)
    changes: dict[int, Change] = field(default_factory=dict)
    heirs: dict[int, int] = field(default_factory=dict)
    retired: list[tuple[int, Action]] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    kept: int = 0

    def take(self, action: Action) -> None:
        """Take one action, or count why not."""
        doing: dict[Kind, Callable[[Action], None]] = {
            Kind.CREATE: self._create,
            Kind.UPDATE: self._update,
            Kind.KEEP: self._keep,
            Kind.MERGE: self._merge,
            Kind.RETIRE: self._retire,
        }
        try:
            doing[action.kind](action)
        except _Refused as refused:
            self.skipped[str(refused)] += 1
        else:
            self.kept += action.kind is not Kind.RETIRE

    def decision(self) -> Decision:
        """Return what came out; observations that no longer stand get what was created in their place."""
        for number, action in self.retired:
            self._replace(number, action)
        done = Decision(tuple(self.creates), tuple(self.changes.values()), dict(self.skipped))
        return done.within(self.board.room)

    def _create(self, action: Action) -> None:
        facts = self._facts(action)
        said = self._text(action, *(fact.text for fact in facts))
        self.creates.append(Create(said, _ids(facts), action.reason))

    def _update(self, action: Action) -> None:
        shown, facts = self._shown(action.observation), self._facts(action)
        said = self._text(action, shown.text) if action.text else shown.text
        self._change(action, said, facts)

    def _keep(self, action: Action) -> None:
        if action.observation is not None:
            self._change(action, self._shown(action.observation).text, self._facts(action))

    def _merge(self, action: Action) -> None:
        shown = self._shown(action.observation)
        others = [self._shown(number) for number in action.others]
        if not others:
            raise _Refused("unknown_observation")
        if any(opposed(shown.text, other.text) for other in others):
            raise _Refused("opposite")
        if any(number in self.changes for number in action.others):
            raise _Refused("conflict")
        said = (
            self._text(action, shown.text, *(other.text for other in others)) if action.text else shown.text
        )
        facts = self._facts(action) if action.facts else []
        self._change(action, said, facts, tuple(other.id for other in others))
        self.heirs |= {number: action.observation or 0 for number in action.others}

    def _retire(self, action: Action) -> None:
        """Keep for the end: what replaces the observation may come later in the answer."""
        self._shown(action.observation)
        self._facts(action)
        self.retired.append((action.observation or 0, action))

    def _replace(self, number: int, action: Action) -> None:
        """Put into an observation what is said in its place, by the action or by what is created of the same facts."""
        shown, said, facts = self.board.shown[number - 1], action.text, self._facts(action)
        if number in self.changes or number in self.heirs:
            self.skipped["conflict"] += 1
            return
        made = next(
            (
                one
                for one in self.creates
                if set(_ids(facts)) <= set(one.facts) and self._related(one.text, shown.text)
            ),
            None,
        )
        if made and not said:
            self.creates.remove(made)
            self.changes[number] = Change(shown.id, made.text, made.facts, action.reason or made.reason)
        elif said and self._related(said, shown.text) and not same(said, shown.text):
            self._change(action, said, facts)
            self.kept += 1
        else:
            self.skipped["nothing_in_its_place"] += 1

    def _change(
        self, action: Action, said: str, facts: Sequence[Pending], gone: tuple[UUID, ...] = ()
    ) -> None:
        """Join a change to those of the same observation: the last text stands, it was written knowing the others."""
        number = action.observation or 0
        shown = self._shown(number)
        is_new = said != shown.text
        if not is_new:
            facts = self._not_opposed(said, facts)
        if not facts and not gone:
            return
        before = self.changes.get(number) or Change(shown.id, None, ())
        self.changes[number] = Change(
            shown.id,
            said if is_new else before.text,
            joined(before.facts, _ids(facts)),
            action.reason or before.reason,
            (*before.gone, *gone),
        )

    def _not_opposed(self, said: str, facts: Sequence[Pending]) -> list[Pending]:
        """Return the facts that may prove a text as it stands; those that deny it are observations of their own."""
        against = [fact for fact in facts if opposed(fact.text, said)]
        self.creates += [Create(fact.text, (fact.id,), "says otherwise") for fact in against]
        return [fact for fact in facts if fact not in against]

    def _text(self, action: Action, *about: str) -> str:
        """Return the text of an action; raises _Refused for one that is none, or about something else."""
        said = action.text
        if not any(char.isalnum() for char in said):
            raise _Refused("empty")
        if echoes(said, self.board.prompt, " ".join(fact.text for fact in self.board.facts)):
            raise _Refused("prompt_example")
        if not self._related(said, *about):
            raise _Refused("off_topic")
        return said

    def _related(self, said: str, *about: str) -> bool:
        return self.board.translated or related(said, *about)

    def _facts(self, action: Action) -> list[Pending]:
        count = len(self.board.facts)
        facts = [self.board.facts[number - 1] for number in action.facts if 0 < number <= count]
        if not facts:
            raise _Refused("unknown_fact")
        return facts

    def _shown(self, number: int | None) -> Shown:
        if number is None or not 0 < number <= len(self.board.shown):
            raise _Refused("unknown_observation")
        if number in self.heirs:
            raise _Refused("conflict")
        return self.board.shown[number - 1]


def _ids(facts: Sequence[Pending]) -> tuple[UUID, ...]:
    return tuple(fact.id for fact in facts)


def without_twins(decision: Decision, twins: Sequence[Twin]) -> Decision:
    """Return a decision that creates nothing which is there already: its facts go to the one that says the same."""
    heirs = {gone: change.observation for change in decision.changes for gone in change.gone}
    changes = {change.observation: change for change in decision.changes}
    made: list[Create] = []
    for place, create in enumerate(decision.creates):
        twin = next((one for one in twins if one.place == place and same(one.text, create.text)), None)
        at = next((at for at, one in enumerate(made) if same(one.text, create.text)), None)
        if twin:
            stored = heirs.get(twin.id, twin.id)
            before = changes.get(stored) or Change(stored, None, (), "said again")
            changes[stored] = replace(before, facts=joined(before.facts, create.facts))
        elif at is not None:
            made[at] = replace(made[at], facts=joined(made[at].facts, create.facts))
        else:
            made.append(create)
    return replace(decision, creates=tuple(made), changes=tuple(changes.values()))


def joined(facts: Sequence[UUID], others: Sequence[UUID]) -> tuple[UUID, ...]:
    """Return both, each fact once."""
    return tuple(dict.fromkeys((*facts, *others)))
