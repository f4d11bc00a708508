"""Budgets: how many candidates a question gets, and which hits fit into its tokens."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import ceil

from memorybank.model import Budget, Hit
from memorybank.settings import BankConfig, RerankerSettings
from memorybank.storage.found import Statistics
from memorybank.text import count_tokens, cut_to_tokens

#: Hits of a question are at most this many times its candidates: what several arms find is joined.
HITS_PER_CANDIDATE = 2
#: Cl100k tokens of a unit for each of its terms, roughly: stop words, punctuation and names come on top.
TOKENS_PER_TERM = 2.5
#: Candidates of a large bank that are looked at closely, at least; and for each unit that the answer has room for.
CHOSEN, CHOSEN_PER_HIT = 250, 1.5
#: Units fetched at a time, at least and at most: enough for the signals that need texts, and no row in vain.
PAGE_LEAST, PAGE_MOST = 50, 200
#: Texts whose token count is remembered: counting is the dearest part of packing, and the same facts come again.
_REMEMBERED = 32_768
#: Longer texts are counted anew: remembering them would cost more memory than it saves time.
_REMEMBERED_CHARS = 2_000

Cost = Callable[[Hit], int]
_LEVELS: Mapping[Budget, int] = {"low": 0, "mid": 1, "high": 2}


def candidates(own: BankConfig, budget: Budget, units: int) -> int:
    """Return how many units are ranked in the end: a fixed number, or a share of the bank within bounds."""
    if own.recall_budget_function == "fixed":
        fixed = own.recall_budget_fixed_low, own.recall_budget_fixed_mid, own.recall_budget_fixed_high
        return HITS_PER_CANDIDATE * fixed[_LEVELS[budget]]
    shares = own.recall_budget_adaptive_low, own.recall_budget_adaptive_mid, own.recall_budget_adaptive_high
    share = ceil(shares[_LEVELS[budget]] * units)
    return HITS_PER_CANDIDATE * min(max(share, own.recall_budget_min), own.recall_budget_max)


def reranked(settings: RerankerSettings, budget: Budget) -> int:
    """Return how many of the best units a reranker reads."""
    counts = settings.candidates_low, settings.candidates_mid, settings.candidates_high
    return counts[_LEVELS[budget]]


def chosen(config: BankConfig, budget: Budget, max_tokens: int, sizes: Statistics) -> int:
    """Return how many candidates of a large bank are looked at closely: more than the answer has room for."""
    room = ceil(CHOSEN_PER_HIT * max_tokens / (TOKENS_PER_TERM * sizes.mean_length))
    return min(candidates(config, budget, sizes.units), max(CHOSEN, room))


def page_size(max_tokens: int, mean_length: float) -> int:
    """Return how many units to fetch at a time, so that one page usually fills the budget."""
    return int(min(max(max_tokens / (TOKENS_PER_TERM * mean_length), PAGE_LEAST), PAGE_MOST))


def text_tokens(text: str) -> int:
    """Return the cl100k tokens of a text, remembered for short ones."""
    return _remembered(text) if len(text) <= _REMEMBERED_CHARS else count_tokens(text)


@lru_cache(maxsize=_REMEMBERED)
def _remembered(text: str) -> int:
    return count_tokens(text)


def of_text(hit: Hit) -> int:
    """Return what a hit costs where only its text counts."""
    return text_tokens(hit.text)


@dataclass
class Packing:
    """Fills a budget with hits in rank order: what does not fit is skipped, what comes after it may still fit.

    The best hit always comes, cut to the budget if it must be, unless not one character of it fits; nothing comes into
    a budget of 0.
    """

    max_tokens: int
    cost: Cost = of_text
    hits: list[Hit] = field(default_factory=list)
    used: int = 0

    @property
    def left(self) -> int:
        """Tokens that are still free."""
        return self.max_tokens - self.used

    def add(self, hits: Iterable[Hit]) -> None:
        """Take those of the hits that fit; hits beyond the budget are not even made."""
        for hit in hits:
            if self.left <= 0:
                return
            cost = self.cost(hit)
            if cost > self.left:
                if self.hits:
                    continue
                hit, cost = self._cut(hit, cost), self.left
                if not hit.text.strip():
                    continue
            self.hits.append(hit)
            self.used += cost

    def _cut(self, hit: Hit, cost: int) -> Hit:
        beside_text = max(0, cost - of_text(hit))
        return replace(hit, text=cut_to_tokens(hit.text, max(1, self.left - beside_text)))
