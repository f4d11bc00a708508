"""Which extractor a bank's configuration asks for."""

from memorybank.llm.client import LanguageModel
from memorybank.retain.extraction import Asking, ModelExtractor
from memorybank.retain.sentences import SentenceExtractor
from memorybank.retain.verbatim import ChunksExtractor, VerbatimExtractor
from memorybank.retain.work import Extractor
from memorybank.settings import BankConfig


def extractor_for(config: BankConfig, model: LanguageModel | None, asking: Asking) -> Extractor:
    """Return the extractor of a mode; without a model the built-in engine does its work."""
    if config.retain_extraction_mode == "chunks":
        return ChunksExtractor()
    inner: Extractor = ModelExtractor(model, asking) if model else SentenceExtractor()
    return VerbatimExtractor(inner) if config.retain_extraction_mode == "verbatim" else inner
