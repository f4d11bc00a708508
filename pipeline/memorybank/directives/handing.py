"""What directives say of memories that are handed out beside an answer: as what it rests on, or in a trace. Pure.

How an answer is worded is no matter of theirs: only what must not be told counts. Words that are forbidden code finds;
where a directive is for a model to judge, so is each line, and what nobody judges is not shown.
"""

from collections.abc import Iterable

from memorybank.directives import rules
from memorybank.directives.checks import ForbiddenWords, State
from memorybank.directives.draft import Draft
from memorybank.storage.directives import Directive

#: Stands in place of what must not be told.
HIDDEN = "(not shown: a directive of this memory bank forbids it)"


def says(directives: Iterable[Directive], line: str) -> bool:
    """Return whether a line says words that one of the directives forbids."""
    checks = (check for one in directives for check in rules.read(one.content).checks)
    return any(
        check.on(Draft(line)).state is State.BROKEN for check in checks if isinstance(check, ForbiddenWords)
    )


def needs_model(directives: Iterable[Directive]) -> bool:
    """Return whether a model must judge what one of the directives forbids to tell."""
    return any(not rules.read(one.content).alone for one in directives)
