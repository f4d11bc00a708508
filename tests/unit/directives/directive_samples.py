"""Directives and drafts for the tests."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from memorybank.directives.draft import Draft
from memorybank.storage.directives import Directive

DAY = datetime(2031, 3, 1, tzinfo=UTC)


def directive(content: str, number: int = 1) -> Directive:
    return Directive(UUID(int=number), f"rule {number}", content, 0, True, (), DAY, DAY)


def draft(text: str, output: Any = None, *, cited: bool = False) -> Draft:
    return Draft(text, output, cited)
