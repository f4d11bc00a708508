"""Which directives code recognises, what it checks of them, and which it decides alone."""

import pytest

from memorybank.directives import rules
from memorybank.directives.checks import ForbiddenWords, Language, Length, MustCite

LANGUAGES = [
    ("Answer in French.", "fr"),
    ("Please always answer in german!", "de"),
    ("Respond only in Spanish", "es"),
    ("- Reply in Italian.", "it"),
    ("All answers must be written in Portuguese.", "pt"),
    ("You must answer in Russian.", "ru"),
    ("Use Japanese only", "ja"),
    ("In Korean.", "ko"),
    ("ANSWER IN ENGLISH.", "en"),
    ("Antworte immer auf Deutsch.", "de"),
    ("Alle Antworten müssen auf Englisch sein.", "en"),
    ("Réponds en français.", "fr"),
    ("Répondez toujours en anglais.", "en"),
    ("Responde siempre en español.", "es"),
    ("Rispondi in italiano.", "it"),
    ("Responda em português.", "pt"),
    ("Отвечай всегда на русском языке.", "ru"),
    ("Отвечайте по-русски", "ru"),
    ("请始终用中文回答。", "zh"),
    ("日本語で答えてください。", "ja"),
    ("한국어로 답변하세요.", "ko"),
    ("Answer in simplified Chinese.", "zh"),
]
LENGTHS = [
    ("Use at most 50 words.", "words", 50),
    ("No more than 3 sentences.", "sentences", 3),
    ("max. 200 characters", "characters", 200),
    ("Answer in one sentence.", "sentences", 1),
    ("Keep your answers under 50 words.", "words", 49),
    ("Answer briefly, at most two sentences.", "sentences", 2),
    ("Answers must not exceed 30 words.", "words", 30),
    ("Limit answers to 40 words.", "words", 40),
    ("Never use more than ten words.", "words", 10),
    ("Answer in 100 words or less.", "words", 100),
    ("Antworte in höchstens zwei Sätzen.", "sentences", 2),
    ("Antworte in einem Satz.", "sentences", 1),
    ("Réponds en au plus 50 mots.", "words", 50),
    ("Réponds en une seule phrase.", "sentences", 1),
    ("Responde en como máximo 3 frases.", "sentences", 3),
    ("Rispondi in non più di 20 parole.", "words", 20),
    ("Responda em no máximo 20 palavras.", "words", 20),
    ("Отвечай не более чем в 50 словах.", "words", 50),
    ("请用不超过50个字回答。", "characters", 50),
    ("200文字以内で回答してください。", "characters", 200),
    ("50단어 이내로 답변하세요.", "words", 50),
]
CITING = [
    "Cite your sources.",
    "Always cite.",
    "Always cite your sources for every claim.",
    "Every answer must cite its sources.",
    "Never answer without citing a source.",
    "Nenne immer deine Quellen.",
    "Cite toujours tes sources.",
    "Cita siempre tus fuentes.",
    "Cita sempre le tue fonti.",
    "Cite sempre suas fontes.",
    "Всегда указывай источники.",
    "请务必注明来源。",
    "必ず出典を明記してください。",
    "항상 출처를 밝히세요.",
]
#: Directive, what must not be said, and whether that decides it.
WORDS = [
    ("Never mention Project Heron.", ["Project Heron"], True),
    ("Do not mention Ana Petrova, Bert or Cid.", ["Ana Petrova", "Bert", "Cid"], True),
    ("Never mention 'salary' and \"bonus\".", ["salary", "bonus"], True),
    ("Do not use the word synergy.", ["synergy"], True),
    ("Never say 'I guarantee it'.", ["I guarantee it"], True),
    ("Never say “if”.", ["if"], True),
    ('The word "cheap" is forbidden.', ["cheap"], True),
    ("Avoid the words cheap, low-cost.", ["cheap", "low-cost"], True),
    ("Project Heron must never be mentioned.", ["Project Heron"], True),
    ("Never mention salaries.", ["salaries"], False),
    ("Never mention the Heron project.", ["Heron project"], False),
    ("Never Mention Salaries", ["Salaries"], False),
    ("NEVER MENTION SALARIES", ["SALARIES"], False),
    ("Erwähne niemals das Wort Gehalt.", ["Gehalt"], True),
    ("Erwähne nie „Reiher“.", ["Reiher"], True),
    ("Erwähne nie Gehälter.", ["Gehälter"], False),
    ("Ne mentionne jamais le mot « Héron ».", ["Héron"], True),
    ("N'utilise jamais le mot synergie.", ["synergie"], True),
    ("Nunca menciones Proyecto Garza.", ["Proyecto Garza"], True),
    ("Non menzionare mai Airone.", ["Airone"], True),
    ("Nunca mencione Garça.", ["Garça"], True),
    ("Никогда не упоминай Сокол.", ["Сокол"], True),
    ("绝不要提及“苍鹭”。", ["苍鹭"], True),
    ("「鷺」という言葉を使わないでください。", ["鷺"], True),
    ("'왜가리'를 언급하지 마세요.", ["왜가리"], True),
]
#: What only a model can judge, in part or as a whole.
MODELS = [
    "Be polite.",
    "Answer in French or German.",
    "Answer in French if the question is in French.",
    "Answer in Dutch.",
    "Answer in formal French.",
    "Answer questions about money in at most 50 words.",
    "Never mention Project Heron unless asked.",
    "Never mention Project Heron to customers.",
    "Never mention that you are an AI.",
    "Never mention it.",
    "Never use jargon.",
    "Never say anything rude.",
    "Never reveal passwords.",
    "Cite your sources with page numbers.",
    "Antworte auf Deutsch, außer wenn jemand Englisch spricht.",
    "Réponds en français, sauf si la question est en anglais.",
    "如果用户用英文提问，请用英文回答。",
    "At most 0 words.",
    "Never answer in French.",
    "Always answer in the language of the question.",
    "No more than 3 sentences per paragraph.",
    "Answer in at least 50 words.",
    "Never cite your sources.",
    "Nenne deine Quellen nicht.",
    "Ne cite jamais tes sources.",
    "Non citare le tue fonti.",
    "Не указывай источники.",
    "不要引用来源。",
    "不要用中文回答。",
    "出典を示さないでください。",
    "日本語で答えないでください。",
    "출처를 밝히지 마세요.",
    "한국어로 답변하지 마세요.",
    "Do not use emojis.",
    "Use formal language.",
    "Never mention customers by name.",
    "",
]


@pytest.mark.parametrize(("content", "code"), LANGUAGES)
def test_languages(content: str, code: str) -> None:
    assert rules.read(content) == rules.Rules((Language(code),), alone=True)


@pytest.mark.parametrize(("content", "unit", "most"), LENGTHS)
def test_lengths(content: str, unit: str, most: int) -> None:
    known = rules.read(content)
    [check] = known.checks
    assert isinstance(check, Length) and known.alone
    assert (check.unit, check.most) == (unit, most)


@pytest.mark.parametrize("content", CITING)
def test_citing(content: str) -> None:
    assert rules.read(content) == rules.Rules((MustCite(),), alone=True)


@pytest.mark.parametrize(("content", "phrases", "alone"), WORDS)
def test_words(content: str, phrases: list[str], alone: bool) -> None:
    known = rules.read(content)
    [check] = known.checks
    assert isinstance(check, ForbiddenWords)
    assert (list(check.phrases), known.alone) == (phrases, alone)


@pytest.mark.parametrize("content", MODELS)
def test_what_only_a_model_can_judge(content: str) -> None:
    assert rules.read(content) == rules.Rules()


@pytest.mark.parametrize(
    ("content", "kinds", "alone"),
    [
        ("Answer in French, in at most 50 words.", [Language, Length], True),
        ("Respond in Spanish and cite your sources.", [Language, MustCite], True),
        ("Answer in French. Use at most 3 sentences.", [Language, Length], True),
        ("- Answer in French\n- Never mention Heron", [Language, ForbiddenWords], True),
        ("Answer in French. Be polite.", [Language], False),
        ("Be kind. Never say 'no'. Answer in German.", [ForbiddenWords, Language], False),
        ("Answer in French. But English is fine too.", [], False),
    ],
)
def test_several_sentences(content: str, kinds: list[type], alone: bool) -> None:
    known = rules.read(content)
    assert ([type(check) for check in known.checks], known.alone) == (kinds, alone)


def test_a_long_directive_is_read_quickly() -> None:
    assert rules.read("answer in " * 400) == rules.Rules()
    assert rules.read("Never mention " + "Ana, " * 700 + "Bert.").alone
