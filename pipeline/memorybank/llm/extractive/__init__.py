"""The extractive engine: facts, names and dates without a language model. The default where no model is set.

Facts are the sentences of the text themselves, behind their speaker; entities are names; times are resolved
against the day they were said. Greetings, questions and filler are dropped, and nothing is stored that is not in
the source: no synthesis. Precision comes before recall. Everything here is pure; the word lists lie in `data/`.
"""

from memorybank.llm.extractive.engine import extract
from memorybank.llm.extractive.finding import Finding
from memorybank.llm.extractive.kinds import Kind, kind
from memorybank.llm.extractive.names import names

__all__ = ["Finding", "Kind", "extract", "kind", "names"]
