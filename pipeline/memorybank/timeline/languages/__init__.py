"""The languages whose time expressions are known: one module of tables each."""

from memorybank.timeline.grammar import Language
from memorybank.timeline.languages.de import GERMAN
from memorybank.timeline.languages.en import ENGLISH
from memorybank.timeline.languages.es import SPANISH
from memorybank.timeline.languages.fr import FRENCH
from memorybank.timeline.languages.it import ITALIAN
from memorybank.timeline.languages.ja import JAPANESE
from memorybank.timeline.languages.ko import KOREAN
from memorybank.timeline.languages.pt import PORTUGUESE
from memorybank.timeline.languages.ru import RUSSIAN
from memorybank.timeline.languages.zh import CHINESE

#: English first: where the language of a text is unknown, the first to claim words keeps them.
LANGUAGES: tuple[Language, ...] = (
    ENGLISH,
    GERMAN,
    FRENCH,
    SPANISH,
    ITALIAN,
    PORTUGUESE,
    RUSSIAN,
    CHINESE,
    JAPANESE,
    KOREAN,
)
BY_CODE = {language.code: language for language in LANGUAGES}
