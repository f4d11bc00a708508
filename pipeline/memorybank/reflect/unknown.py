"""What is said where nothing is remembered: in the language of the question, with not a word of a directive. Pure."""

import re
from collections.abc import Iterable, Sequence

from memorybank.text import language

#: The same sentence in the languages that we tell apart.
SENTENCES = {
    "en": "I do not know: no memory is stored that could answer this.",
    "de": "Ich weiß es nicht: Es ist nichts gespeichert, was das beantworten könnte.",
    "fr": "Je ne sais pas : aucun souvenir enregistré ne permet de répondre à cela.",
    "es": "No lo sé: no hay ningún recuerdo guardado que pueda responder a esto.",
    "it": "Non lo so: nessun ricordo salvato può rispondere a questa domanda.",
    "pt": "Não sei: não há nenhuma memória guardada que possa responder a isto.",
    "ru": "Я не знаю: в памяти нет ничего, что могло бы на это ответить.",
    "zh": "我不知道:没有存储任何能回答这个问题的记忆。",
    "ja": "わかりません。これに答えられる記憶は保存されていません。",
    "ko": "모르겠습니다. 이 질문에 답할 수 있는 기억이 저장되어 있지 않습니다.",
}
#: Words in a row that a text shares with a directive when it quotes it; of a shorter one all of them.
QUOTED_WORDS = 8

_WORD = re.compile(r"\w+")


def said(question: str, codes: Sequence[str] = ()) -> str:
    """Return the sentence in the first of the languages asked for, else in that of the question, else in English."""
    wanted = (*codes, language(question), "en")
    return next(SENTENCES[code] for code in wanted if code in SENTENCES)


def quotes(text: str, contents: Iterable[str]) -> bool:
    """Return whether a text repeats a piece of one of the contents."""
    held = f" {_words(text)} "
    return any(f" {piece} " in held for content in contents for piece in _pieces(_words(content).split()))


def _pieces(words: list[str]) -> Iterable[str]:
    size = min(len(words), QUOTED_WORDS)
    return (" ".join(words[at : at + size]) for at in range(len(words) - size + 1) if size)


def _words(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))
