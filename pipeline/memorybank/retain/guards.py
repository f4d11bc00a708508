"""By what two facts are one. Pure."""

from memorybank.model import Fact
from memorybank.text.guards import same_key


def statement(fact: Fact) -> str:
    """Return what is equal for facts that say the same of the same time and place. Audience and tags are not in it."""
    start, end = fact.occurred_start, fact.occurred_end or fact.occurred_start
    period = [at.isoformat() if at else "" for at in (start, end)]
    place = same_key(fact.place_name or "")
    return "\n".join([str(fact.fact_type), *period, place, same_key(fact.text)])
