"""Text: normal forms, THE tokenizer, token counting, sentences, language.

Everything here is pure and works on any string, lone surrogates included. `terms` is used for storing and
for asking alike; a change of it means that every posting must be built again.
"""

from memorybank.text.language import language
from memorybank.text.normal import UNSEEN, fold, name_key, normalize, visible
from memorybank.text.sentences import sentences
from memorybank.text.terms import term_hash, terms
from memorybank.text.tokens import count_tokens, cut_to_tokens

__all__ = [
    "UNSEEN",
    "count_tokens",
    "cut_to_tokens",
    "fold",
    "language",
    "name_key",
    "normalize",
    "sentences",
    "term_hash",
    "terms",
    "visible",
]
