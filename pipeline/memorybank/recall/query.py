"""What a caller asks of recall, with the interface's defaults, and the checks at the engine's entry.

The checks stand here and not in a handler, so that HTTP, tools, reflect and workers meet the same ones.
"""

import re
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from memorybank.errors import BadRequest, InvalidInput
from memorybank.model import Budget, FactType
from memorybank.tags import MODES, Match, TagGroup, TagLeaf, is_open
from memorybank.text import count_tokens, cut_to_tokens, normalize

#: A type of former releases: asked for by old clients, dropped without a word.
FORMER_TYPE = "opinion"
#: More tokens than any bank holds: what is asked beyond is not worth counting, nor may arithmetic overflow on it.
MOST_TOKENS = 10**12
#: No token of cl100k is longer: a text beyond this many characters a token is over its limit uncounted.
LONGEST_TOKEN = 128

_WORD = re.compile(r"\w")


@dataclass(frozen=True)
class MinScores:
    """Least scores of a hit; None asks for none. `reranker` counts only where a reranker ran."""

    semantic: float | None = None
    keyword: float | None = None
    reranker: float | None = None
    final: float | None = None


@dataclass(frozen=True)
class Window:
    """A span of time that the caller asks about, both ends inside."""

    start: datetime
    end: datetime


@dataclass(frozen=True)
class Include:
    """What comes beside the hits, each with its budget in cl100k tokens; None leaves it out."""

    entities_max_tokens: int | None = 500
    chunks_max_tokens: int | None = None
    source_facts_max_tokens: int | None = None
    source_facts_max_tokens_per_observation: int = -1


@dataclass(frozen=True)
class RecallQuery:
    """One question to a bank. `query_timestamp` is what relative times count from; None is now.

    `facts`: only memories that people stated as facts, or only the others.
    """

    query: str
    types: tuple[str, ...] | None = None
    prefer_observations: bool = False
    budget: Budget = "mid"
    max_tokens: int = 4096
    trace: bool = False
    query_timestamp: datetime | None = None
    include: Include = field(default_factory=Include)
    tags: tuple[str, ...] | None = None
    tags_match: Match = "any"
    tag_groups: TagGroup | None = None
    min_scores: MinScores = field(default_factory=MinScores)
    temporal_window: Window | None = None
    facts: bool | None = None

    def check(self, query_max_tokens: int) -> "RecallQuery":
        """Return the query as it may be asked: text normalised, former types dropped, times with a zone.

        Raises BadRequest for a query that is too long; InvalidInput for one without a word, for unknown
        types or tag modes, for tags beside tag groups and for a window whose end is before its start.
        """
        text = _checked_text(self.query, query_max_tokens)
        if self.tags and self.tag_groups is not None:
            raise InvalidInput("give tags or tag_groups, not both", loc=("body", "tags"), value=self.tags)
        if self.tags_match not in MODES:
            raise InvalidInput(
                f"tags_match must be one of {', '.join(MODES)}",
                loc=("body", "tags_match"),
                value=self.tags_match,
            )
        return replace(
            self,
            query=text,
            max_tokens=min(self.max_tokens, MOST_TOKENS),
            types=_checked_types(self.types),
            tags=None if self.tags is None else tuple(normalize(tag) for tag in self.tags),
            query_timestamp=_with_zone(self.query_timestamp) if self.query_timestamp else None,
            temporal_window=_checked_window(self.temporal_window) if self.temporal_window else None,
        )

    def shortened(self, query_max_tokens: int) -> "RecallQuery":
        """Return the query cut to the limit: for callers inside, whose text nobody can be asked to shorten."""
        return replace(self, query=cut_to_tokens(self.query, query_max_tokens))

    @property
    def tag_filter(self) -> TagGroup | None:
        """The tag condition, or None where every unit passes."""
        if self.tag_groups is not None:
            return self.tag_groups
        leaf = TagLeaf(self.tags or (), self.tags_match)
        return None if is_open(leaf) else leaf


def _checked_text(query: str, limit: int) -> str:
    place = ("body", "query")
    if len(query) > limit * LONGEST_TOKEN or count_tokens(query) > limit:
        raise BadRequest(f"the query is longer than {limit} tokens", loc=place)
    text = normalize(query).strip()
    if not _WORD.search(text):
        raise InvalidInput("the query has no word to search for", loc=place, value=query)
    return text


def _checked_types(types: tuple[str, ...] | None) -> tuple[str, ...] | None:
    """Return the types to search, None for all; an empty tuple finds nothing."""
    if not types:
        return None
    known = {str(fact_type) for fact_type in FactType}
    unknown = [name for name in types if name not in known and name != FORMER_TYPE]
    if unknown:
        raise InvalidInput(
            f"Invalid fact type(s): {', '.join(unknown)}. Must be one of: {', '.join(sorted(known))}",
            loc=("body", "types"),
            value=types,
        )
    kept = tuple(sorted(known.intersection(types)))
    return None if len(kept) == len(known) else kept


def _checked_window(window: Window) -> Window:
    checked = Window(_with_zone(window.start), _with_zone(window.end))
    if checked.end < checked.start:
        raise InvalidInput("the end is before the start", loc=("body", "temporal_window"))
    return checked


def _with_zone(at: datetime) -> datetime:
    return at if at.tzinfo else at.replace(tzinfo=UTC)
