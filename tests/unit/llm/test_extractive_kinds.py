"""What is stated, asked, greeted, and filled."""

import pytest

from memorybank.llm.extractive import Kind, kind


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("House rule for the pottery studio: kiln A runs at cone 6, never higher.", "statement"),
        ("This is final.", "statement"),
        ("I prefer dark roast.", "statement"),
        ("Please remember that I hate olives.", "statement"),
        ("Thanks Tom, I'll bring the kayak on Friday.", "statement"),
        ("Great, I booked the hotel.", "statement"),
        ("I got the job!", "statement"),
        ("What is important to me is family.", "statement"),
        ("When I was young, I lived in Hull.", "statement"),
        ("I moved to Graz last week, remember?", "statement"),
        ("You still live in Graz, right?", "question"),
        ("Hey, do you remember where Petra parked?", "question"),
        ("how did it go", "question"),
        ("tell me about your trip", "question"),
        ("Hi Joel!", "greeting"),
        ("Good morning, everyone!", "greeting"),
        ("See you next week, Anna!", "greeting"),
        ("Happy birthday, Anna Lena!", "greeting"),
        ("Wow, that's great!", "filler"),
        ("haha ok", "filler"),
        ("Thanks so much, Tom!", "filler"),
        ("I'm so sorry to hear that.", "filler"),
        ("Let me know if you need anything else!", "filler"),
        ("What a lovely surprise!", "filler"),
        ("Typical dog haha.", "filler"),
        ("👍🎉", "filler"),
        ("...", "filler"),
    ],
)
def test_english(sentence: str, expected: Kind) -> None:
    assert kind(sentence, "en") == expected


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("de", "Guten Morgen, Anna!", "greeting"),
        ("de", "Ach cool, das freut mich!", "filler"),
        ("de", "Weißt du noch, wie der Film hieß?", "question"),
        ("de", "Ich nehme keinen Zucker mehr in den Tee.", "statement"),
        ("fr", "Bonjour Claire !", "greeting"),
        ("fr", "Super, merci beaucoup !", "filler"),
        ("fr", "On part à quelle heure ?", "question"),
        ("fr", "Je suis allergique aux noix.", "statement"),
        ("es", "¡Hasta luego!", "greeting"),
        ("es", "¡Qué bien, me alegro mucho!", "filler"),
        ("es", "¿Ya llamaste a Teo?", "question"),
        ("es", "Los domingos siempre comemos paella en casa.", "statement"),
        ("zh", "大家好！", "greeting"),
        ("zh", "哈哈，太好了！", "filler"),
        ("zh", "你明天来吗", "question"),
        ("zh", "我不吃香菜，也不喝牛奶。", "statement"),
        ("ja", "渡辺さん、こんにちは。", "greeting"),
        ("ja", "そうなんですね。", "filler"),
        ("ja", "いつ戻りますか。", "question"),
        ("ja", "窯の温度は千二百度まで。", "statement"),
        ("it", "Buongiorno a tutti!", "greeting"),
        ("ko", "감사합니다!", "filler"),
    ],
)
def test_other_languages(language: str, sentence: str, expected: Kind) -> None:
    assert kind(sentence, language) == expected


def test_the_language_is_guessed_when_it_is_not_told() -> None:
    assert kind("Ich habe gestern das Fahrrad verkauft.") == "statement"
    assert kind("Vielen Dank!", None) == "filler"
