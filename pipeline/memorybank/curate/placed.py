"""Recall for a place: what people and agents stated as facts that apply there comes first, and then the rest.

At most 40 facts: pinned ones, then those that answer the question, then the newest. All who recall for a place go this
way, so that no fact beyond these enters a reply.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memorybank.audience import Viewer
from memorybank.model import Bank, FactType, Hit, Scores
from memorybank.recall.budget import Cost, Packing, of_text
from memorybank.recall.query import MOST_TOKENS, Include, RecallQuery
from memorybank.recall.run import RecallResult
from memorybank.recall.stage import Recall
from memorybank.settings import BankConfig, Settings
from memorybank.storage import stated
from memorybank.storage.stated import Memory
from memorybank.tags import passing

#: Facts that one reply is told.
MOST_FACTS = 40


@dataclass(frozen=True)
class PlacedRecall:
    """Recall, for viewers at a place and others."""

    recall: Recall

    @property
    def settings(self) -> Settings:
        """Those of recall."""
        return self.recall.settings

    async def __call__(
        self, bank: Bank, config: BankConfig, query: RecallQuery, viewer: Viewer, cost: Cost = of_text
    ) -> RecallResult:
        """Return the best hits of a bank, behind the facts of the place where there is one; raises what recall does."""
        if not viewer.placed:
            return await self.recall(bank, config, query, viewer, cost)
        packing = Packing(min(query.max_tokens, MOST_TOKENS), cost)
        packing.add([hit for hit, _ in await self.facts(bank, config, query, viewer)])
        others = replace(query, facts=False, max_tokens=packing.left)
        found = await self.recall(bank, config, others, viewer, cost)
        return replace(found, hits=(*packing.hits, *found.hits))

    async def facts(
        self, bank: Bank, config: BankConfig, query: RecallQuery | None, viewer: Viewer
    ) -> list[tuple[Hit, Memory]]:
        """Return the facts of a place; without a question the newest come first. Raises what recall raises."""
        ranked: dict[object, Hit] = {}
        if query is not None:
            own = replace(query, facts=True, max_tokens=MOST_TOKENS, budget="high", trace=False)
            own = replace(own, include=Include(entities_max_tokens=None))
            ranked = {hit.id: hit for hit in (await self.recall(bank, config, own, viewer)).hits}
            query = query.check(self.settings.recall.query_max_tokens)
        async with self.recall.database.connection() as connection:
            found = await stated.first_for(
                connection, bank.id, viewer, [hit.id for hit in ranked.values()], MOST_FACTS
            )
        return [(ranked.get(fact.id) or _unranked(fact), fact) for fact in _wanted(found, query)]


def _wanted(found: Sequence[Memory], query: RecallQuery | None) -> Sequence[Memory]:
    """Return the facts that the filters of a question let pass; facts have no tags."""
    if query is None:
        return found
    tags = query.tag_filter
    if tags is not None and not passing([frozenset()], tags)[0]:
        return []
    return [fact for fact in found if query.types is None or fact.fact_type in query.types]


def _unranked(fact: Memory) -> Hit:
    """Return a fact that the question did not find, or that nobody asked for."""
    return Hit(fact.id, fact.text, FactType(fact.fact_type), Scores(0.0), mentioned_at=fact.mentioned_at)
