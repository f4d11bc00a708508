"""Nothing leaves that breaks a directive, or that nobody can say keeps them: checked, mended once, else withheld.

It fails closed: where no verdict comes, in time and in full, the directives without one count as broken.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from memorybank.directives import handing, rules, verdict
from memorybank.directives.checks import State
from memorybank.directives.draft import Draft, Rule, Violation
from memorybank.directives.verdict import Judged
from memorybank.errors import ModelError, ModelMalformed
from memorybank.llm.client import LanguageModel
from memorybank.llm.ledger import Ledger
from memorybank.llm.retry import Budget, Patience
from memorybank.llm.structured import structured
from memorybank.settings import Settings, stage_model
from memorybank.storage.directives import Directive

__all__ = [
    "UNVERIFIED",
    "WITHHELD",
    "Checker",
    "Draft",
    "Enforced",
    "Rule",
    "Violation",
    "breaks",
    "enforced",
]

_log = logging.getLogger(__name__)

#: What is said in place of an answer; it quotes nothing, of the answer or the directives, and is never checked.
WITHHELD = "This answer is withheld: a directive of this memory bank forbids it."
UNVERIFIED = (
    "This answer is withheld: it could not be checked whether it keeps the directives of this memory bank."
)

D = TypeVar("D", bound=Draft)


def _nobody(milliseconds: int) -> None:
    """Take no note."""


@dataclass(frozen=True)
class Checker:
    """Says what a draft breaks. Without a `model` what only a model could check counts as broken.

    `budget` makes the attempts for one verdict, which takes at most `timeout` seconds with all of them; `asked` is told
    how many milliseconds each took.
    """

    model: LanguageModel | None
    budget: Callable[[], Budget]
    max_output_tokens: int | None
    timeout: float
    asked: Callable[[int], None] = _nobody

    @classmethod
    def of(
        cls, model: LanguageModel | None, settings: Settings, asked: Callable[[int], None] = _nobody
    ) -> "Checker":
        """Return the checker of an installation."""
        own, limits = stage_model(settings, "reflect"), settings.reflect
        patience = Patience(own.backoff_seconds, own.backoff_cap_seconds)
        return cls(
            model,
            lambda: Budget(limits.verdict_attempts, patience),
            own.max_output_tokens,
            limits.verdict_timeout_seconds,
            asked,
        )

    async def check(
        self, directives: Sequence[Directive], question: str, draft: D, ledger: Ledger | None = None
    ) -> "Enforced[D]":
        """Return what a draft breaks, in the order of the directives; a model is asked where code cannot decide."""
        broken: dict[Directive, Violation] = {}
        left: list[Directive] = []
        hidden = {place for place, line in enumerate(draft.handed, 1) if handing.says(directives, line)}
        for directive in directives:
            found, decided = _by_code(directive, draft)
            if found is not None:
                broken[directive] = found
            if not decided:
                left.append(directive)
        seen = draft if handing.needs_model(left) else replace(draft, handed=())
        judged = await self._verdict(left, question, seen, ledger) if left else {}
        for number, directive in enumerate(left, 1):
            one = judged.get(number)
            if one is None:
                broken.setdefault(directive, Violation(directive, Rule.NO_VERDICT))
            elif not one.ok:
                broken.setdefault(directive, Violation(directive, Rule.MODEL, one.words))
            if one is not None and handing.needs_model([directive]):
                hidden |= one.tell
        violations = tuple(broken[directive] for directive in directives if directive in broken)
        return Enforced(None if violations else draft, violations, frozenset(hidden))

    async def _verdict(
        self, directives: Sequence[Directive], question: str, draft: Draft, ledger: Ledger | None
    ) -> Mapping[int, Judged]:
        """Return what a model says of each directive, by number; whatever goes wrong leaves some out."""
        if self.model is None:
            _log.warning(
                "%d directives can only be checked by a language model: set llm.model", len(directives)
            )
            return {}
        budget, count = self.budget(), len(directives)

        def read(value: Any) -> Mapping[int, Judged]:
            judged = verdict.read(value, count, draft)
            if len(judged) < count and budget.left:
                missing = ", ".join(str(number) for number in range(1, count + 1) if number not in judged)
                raise ModelMalformed(f"it has no clear verdict, exactly one, of the directives {missing}")
            return judged

        request = verdict.request(directives, question, draft, self.max_output_tokens)
        began = time.perf_counter()
        try:
            async with asyncio.timeout(self.timeout):
                return await structured(self.model, request, read, budget, ledger)
        except (ModelError, TimeoutError) as error:
            _log.warning("no verdict on %d directives: %s", count, str(error) or "it took too long")
            return {}
        finally:
            self.asked(round((time.perf_counter() - began) * 1000))


@dataclass(frozen=True)
class Enforced(Generic[D]):
    """What may leave: `draft`, None where it is withheld. `violations` are those of the last check.

    `hidden`: places of the lines handed out beside the draft that tell what is forbidden.
    """

    draft: D | None
    violations: tuple[Violation, ...] = ()
    hidden: frozenset[int] = frozenset()
    repaired: bool = False

    @property
    def refusal(self) -> str:
        """What is said in place of an answer that is withheld."""
        unverified = all(one.rule is Rule.NO_VERDICT for one in self.violations)
        return UNVERIFIED if unverified else WITHHELD


async def enforced(
    checker: Checker,
    directives: Sequence[Directive],
    question: str,
    draft: D,
    repair: Callable[[str], Awaitable[D | None]] | None = None,
    ledger: Ledger | None = None,
) -> Enforced[D]:
    """Check a draft, have it mended at most once, and return what may leave. Without directives nobody is asked.

    `repair` gets what is wrong, in words for the model, and returns another draft; None where it has none. Where
    nothing is known to be wrong, only not to be right, there is nothing to mend: it is withheld at once.
    """
    if not directives:
        return Enforced(draft)
    found = await checker.check(directives, question, draft, ledger)
    _report(found.violations, "is mended" if repair else "is withheld")
    mendable = [one for one in found.violations if one.rule is not Rule.NO_VERDICT]
    mended = await repair(wish(mendable)) if repair and mendable else None
    if mended is None:
        return found
    found = await checker.check(directives, question, mended, ledger)
    _report(found.violations, "is withheld")
    return replace(found, repaired=True)


def wish(violations: Sequence[Violation]) -> str:
    """Return a verdict in words, for the model whose draft it is: it may know the offending words."""
    lines = [_wish(one) for one in violations]
    return "\n".join(
        ["Your answer breaks directives that hold for every answer:", *lines,
         "Write it again so that it keeps all directives, and change nothing else. Quote no directive; that something "
         "may not be told you may say."]
    )  # fmt: skip


def _wish(one: Violation) -> str:
    offending = f" (offending: {', '.join(map(repr, one.words))})" if one.words else ""
    return f"- {one.directive.name}: {one.directive.content}{offending}"


def breaks(directives: Sequence[Directive], quoted: str) -> bool:
    """Whether a text by itself breaks a directive that code can check: who only quotes leaves it out."""
    return any(_by_code(one, Draft(quoted, cited=True))[0] for one in directives)


def _by_code(directive: Directive, draft: Draft) -> tuple[Violation | None, bool]:
    """Return what code finds broken of a directive, and whether that settles it."""
    known = rules.read(directive.content)
    found = [(check.rule, check.on(draft)) for check in known.checks]
    for rule, one in found:
        if one.state is State.BROKEN:
            return Violation(directive, rule, one.words), True
    return None, known.alone and all(one.state is State.KEPT for _, one in found)


def _report(violations: Sequence[Violation], what: str) -> None:
    """Tell the operator what was found, with the words that no caller gets."""
    for one in violations:
        _log.warning(
            "an answer %s: directive %s %r, %s, words: %r",
            what,
            one.directive.id,
            one.directive.name,
            one.rule.value,
            one.words,
        )
