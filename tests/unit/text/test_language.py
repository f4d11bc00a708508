"""Language guesses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.text import language

CODES = {"en", "de", "fr", "es", "it", "pt", "ru", "zh", "ja", "ko", "und"}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What did we decide about the kiln?", "en"),
        ("Wann haben wir den Ofen zuletzt gereinigt?", "de"),
        ("Häuser", "de"),
        ("Quand avons-nous vendu la voiture ?", "fr"),
        ("¿Cuándo vendimos el coche?", "es"),
        ("Dónde está mi bicicleta azul", "es"),
        ("Quando abbiamo venduto la macchina?", "it"),
        ("Quando é que nós vendemos o carro?", "pt"),
        ("Onde está a minha bicicleta?", "pt"),
        ("Когда мы продали машину?", "ru"),
        ("我们上周去了东京", "zh"),
        ("用 pgvector 做检索", "zh"),
        ("先週東京に行きました", "ja"),
        ("우리는 지난주에 도쿄에 갔다", "ko"),
        ("Mail ana@example.com or see https://example.com/a", "en"),
        ("ZX-48211-Q", "und"),
        ("Pottery class", "und"),
        ("", "und"),
        ("12 345", "und"),
    ],
)
def test_language(text: str, code: str) -> None:
    assert language(text) == code


@given(st.text(st.characters(), max_size=200))
def test_any_text_has_an_answer(text: str) -> None:
    assert language(text) in CODES
