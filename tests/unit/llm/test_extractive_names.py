"""Names by language, and what must not be taken for one."""

import pytest

from memorybank.llm.extractive import names


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I met Mara Quill at the Bank of Lisbon in Porto.", ["Mara Quill", "Bank of Lisbon", "Porto"]),
        ("Will is allergic to peanuts, and Rose knows it.", ["Will", "Rose"]),
        ("Will you come on Monday?", []),
        ("On Monday Tom called from Den Haag.", ["Tom", "Den Haag"]),
        ("Dr. Amara Nwosu works at St. Brannoc's Hospital.", ["Amara Nwosu", "St. Brannoc's Hospital"]),
        (
            "J. Okafor paid Carrow & Finch for the Kestrel X14.",
            ["J. Okafor", "Carrow & Finch", "Kestrel X14"],
        ),
        ("Locker 41 holds skis, Locker 42 holds tents.", ["Locker 41", "Locker 42"]),
        ("Flights KL644 and KL645 were late.", ["KL644", "KL645"]),
        ("The Q3 Budget 2025 is not the Q3 Budget 2026.", ["Q3 Budget 2025", "Q3 Budget 2026"]),
        ("Leo's sister read “The Salt Orchard” in The Hague.", ["Leo", "The Salt Orchard", "The Hague"]),
        ('He said "No way" and left.', []),
        ("HR and the CEO like English tea in May.", []),
        ("Step 3 is easy, but Page 4 is hard.", []),
        ("Write to nora.bell@quillmail.example about OPS-1173 and ZX-48211-Q.", []),
        ("We use KettleOS and an iPod.", ["KettleOS", "iPod"]),
        ("Climbing Kilimanjaro was hard.", ["Kilimanjaro"]),
        ("i sold the van to my neighbour pete in new york", ["pete", "new york"]),
        ("THIS IS VERY IMPORTANT NEWS FOR ALL", []),
        ("She gave Anna 20 euros.", ["Anna"]),
    ],
)
def test_english(sentence: str, expected: list[str]) -> None:
    assert names(sentence, "en") == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Die Sitzung im großen Saal wurde auf Donnerstag verschoben.", []),
        ("Bitte bringt die Unterlagen und den Schlüssel für den Schrank mit.", []),
        (
            "Frau Dr. Hagedorn arbeitet bei Optik Sonnleitner in Leipzig.",
            ["Hagedorn", "Optik Sonnleitner", "Leipzig"],
        ),
        ("Sabines Bruder studiert an der Hochschule Eschenried.", ["Sabine", "Hochschule Eschenried"]),
        ("Unsere Kinder Frieda und Emil mögen Kuchen mit Sahne.", ["Frieda", "Emil"]),
        ("Der Hund heißt Knödel und mag keine Katzen.", ["Knödel"]),
        ("Tante Ilse trinkt eine Tasse Kaffee in der Kastanienallee.", ["Tante Ilse", "Kastanienallee"]),
        ("Karl-Heinz von Adelsberg verkauft die „Möwe“.", ["Karl-Heinz von Adelsberg", "Möwe"]),
    ],
)
def test_german_nouns_are_no_names(sentence: str, expected: list[str]) -> None:
    assert names(sentence, "de") == expected


@pytest.mark.parametrize(
    ("language", "sentence", "expected"),
    [
        ("fr", "L'avion d'Hélène part de Montréal avec M. Kermadec.", ["Hélène", "Montréal", "Kermadec"]),
        (
            "fr",
            "Jean-Baptiste de La Tour-Neuve lit « La Lanterne bleue ».",
            ["Jean-Baptiste de La Tour-Neuve", "La Lanterne bleue"],
        ),
        (
            "es",
            "María del Carmen Ortuño dirige la Fundación Puente Viejo.",
            ["María del Carmen Ortuño", "Fundación Puente Viejo"],
        ),
        ("es", "El doctor Ibarra vive en Sevilla.", ["Ibarra", "Sevilla"]),
        ("it", "Mia sorella Chiara abita a Torino.", ["Chiara", "Torino"]),
    ],
)
def test_romance_languages(language: str, sentence: str, expected: list[str]) -> None:
    assert names(sentence, language) == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("我和林晓雨在“蓝鲸书店”见面。", ["林晓雨", "蓝鲸书店"]),
        ("陈思远在上海的云帆科技做工程师。", ["陈思远", "上海", "云帆科技"]),
        ("我妹妹嫁给了欧阳明，他们住在成都。", ["欧阳明", "成都"]),
        ("张老师和小刘推荐了《长河旧梦》。", ["张老师", "小刘", "长河旧梦"]),
        ("我家的狗叫豆豆，今年三岁。", ["豆豆"]),
        ("新手机是星瞳 X9，比旧的贵八百块。", ["星瞳 X9"]),
        ("杨医生在和平医院工作了二十年。", ["杨医生", "和平医院"]),
        ("周末我很高兴，因为任何时候都可以去公园。", []),
        ("他说：“我不去了”，然后走了。", []),
    ],
)
def test_chinese(sentence: str, expected: list[str]) -> None:
    assert names(sentence, "zh") == expected


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("高橋健一は大阪のミナト商事でエンジニアをしています。", ["高橋健一", "大阪", "ミナト商事"]),
        ("鈴木花子さんと「青空食堂」で会いました。", ["鈴木花子", "青空食堂"]),
        ("山本部長とマリアは来週ベルリンに出張します。", ["山本", "マリア", "ベルリン"]),
        ("昨日田中さんがコーヒーとケーキを買った。", ["田中"]),
        ("小林くんの犬はサクラという名前です。", ["小林", "サクラ"]),
        ("新しいカメラはルミナ X5 です。", ["ルミナ X5"]),
        ("お母さんはスーパーでパンとチーズを買います。", []),
        ("「もう帰りたい」と言った。", []),
    ],
)
def test_japanese(sentence: str, expected: list[str]) -> None:
    assert names(sentence, "ja") == expected


def test_known_names_are_found_where_nothing_else_tells() -> None:
    assert names("Hale hums today.", "en") == []
    assert names("Hale hums today.", "en", known=frozenset({"Hale"})) == ["Hale"]
    assert names("then hale hums again", "en", known=frozenset({"Hale"})) == ["hale"]


@pytest.mark.parametrize(
    "secret",
    [
        "sk-test4f9a8b7c6d5e4f3a",
        "AKIAIOSFODNN7EXAMPLE",
        "postgres://u:p@h/db",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc123def456",
    ],
)
def test_secrets_are_no_names(secret: str) -> None:
    assert names(f"The key for Porto is {secret} for now.", "en") == ["Porto"]
