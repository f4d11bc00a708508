"""What people have made of facts stands when their text is read again: which new facts are those. Pure.

Only in chunks that stand in the place of others: said anywhere else, or anew, the same words are news.
"""

from collections.abc import Mapping, Sequence

from memorybank.storage.mentions import Curated, Home
from memorybank.storage.units import NewUnit
from memorybank.text.guards import same_key


def reread(
    facts: Sequence[NewUnit], known: Mapping[int, Home], curated: Sequence[Curated]
) -> dict[int, Curated]:
    """Return, by place among `facts`, the corrected or invalidated ones that they are, as they were read.

    Its statement tells; then what is `known` as it stands is that; then its words, for dates may be read otherwise.
    """
    if not curated:
        return {}
    by_statement = {(one.document, one.statement): one for one in curated}
    by_words = {(one.document, same_key(one.text)): one for one in curated}
    found: dict[int, Curated] = {}
    for place, fact in enumerate(facts):
        one = by_statement.get((fact.document, fact.statement))
        if one is None and place not in known:
            one = by_words.get((fact.document, same_key(fact.text)))
        if one is not None:
            found[place] = one
    return found
