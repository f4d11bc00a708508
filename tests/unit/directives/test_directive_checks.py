"""What code says of drafts: broken only where that is plain, open where it cannot tell."""

from pathlib import Path
from typing import Any

import pytest
from directive_samples import draft

from memorybank.directives import rules
from memorybank.directives.checks import Language, Length, MustCite, State

KEPT, BROKEN, OPEN = State.KEPT, State.BROKEN, State.OPEN

#: Directive, draft, what is said of it.
SPOKEN = [
    ("Answer in French.", "La sortie est prévue pour vendredi, selon Ana.", KEPT),
    ("Answer in French.", "The release is on Friday.", BROKEN),
    ("Answer in French.", "It is on Friday, as Ana said in the stand-up.", BROKEN),
    ("Answer in French.", "Die Veröffentlichung ist am Freitag.", BROKEN),
    ("Answer in French.", "Graz", OPEN),
    ("Answer in French.", "Ana Petrova, Port Zundelmoor", OPEN),
    ("Answer in French.", "2031-03-04", OPEN),
    ("Answer in French.", "Il a lu The Lord of the Rings hier.", OPEN),
    (
        "Answer in French.",
        "Elle a dit « we will ship it on Friday and that is that » lors de la réunion.",
        KEPT,
    ),
    ("Answer in French.", 'Elle a dit "it is what it is" à la fin de la réunion.', KEPT),
    ("Answer in French.", "Le code est `if it is not on then it was off` dans le fichier.", KEPT),
    ("Answer in French.", "Voir https://www.is.it/the/and/of pour la suite de la liste.", KEPT),
    (
        "Answer in French.",
        "Ana est à Graz depuis le mois de mars. She is not in the office on Friday.",
        BROKEN,
    ),
    (
        "Answer in French.",
        "Ana est à Graz depuis le mois de mars. Elle y vit avec sa sœur dans une maison de la vieille ville, et elle"
        " travaille pour la mairie. She is on leave.",
        OPEN,
    ),
    ("Answer in German.", "Am Freitag, sagt Ana, wird das Release verschoben.", KEPT),
    ("Answer in German.", "Am Freitag.", OPEN),
    ("Answer in English.", "The launch is on Friday, says Müller from Gmünd.", KEPT),
    ("Answer in English.", "Le lancement est prévu pour vendredi, selon Ana.", BROKEN),
    ("Answer in Spanish.", "El lanzamiento es el viernes, según Ana.", KEPT),
    ("Answer in Spanish.", "O lançamento é na sexta-feira, segundo a Ana.", BROKEN),
    ("Answer in Italian.", "Il lancio è venerdì, secondo Ana.", KEPT),
    ("Answer in Portuguese.", "O lançamento não é na sexta-feira.", KEPT),
    ("Answer in Russian.", "Релиз в пятницу.", KEPT),
    ("Answer in Russian.", "The release is on Friday.", BROKEN),
    ("Answer in Japanese.", "リリースは金曜日です。", KEPT),
    ("Answer in Japanese.", "東京", OPEN),
    ("Answer in Japanese.", "发布会在星期五举行，安娜在会议上说。", BROKEN),
    ("Answer in Chinese.", "发布会在星期五举行。", KEPT),
    ("Answer in Chinese.", "リリースは金曜日です。", BROKEN),
    ("Answer in Korean.", "출시는 금요일입니다.", KEPT),
    ("Answer in Korean.", "The release is on Friday.", BROKEN),
]
SAID = [
    ("Never mention Project Heron.", "We work on {} now."),
    ("Never mention Project Heron.", "({})"),
    ("Never say 'Project Heron'.", "{}"),
]
#: Ways to say "Project Heron".
FORMS = [
    "Project Heron",
    "PROJECT-HERON",
    "project\u00a0heron",
    "the Heron project",
    "Project Herons",
    "Project Heron's",
    "Project Heron’s",
    "projectheron",
    "Project_Heron",
    "Project **Heron**",
    "Project: Heron",
    "Project Her-\non",
    "Project Her\u00adon",
    "Project He\u200bron",
    "Project \u202eHeron",
    "Project He\ufe0fron",
    "Proj\U000e0065ect Heron",
    "Project Héron",
    "Ｐｒｏｊｅｃｔ Ｈｅｒｏｎ",
    "𝐏𝐫𝐨𝐣𝐞𝐜𝐭 𝐇𝐞𝐫𝐨𝐧",
    "Рrоjесt Неrоn",
    "Project Ηεrοn",
    "Project H e r o n",
    "Project H.e.r.o.n",
    "Project H-e-r-o-n",
    "Project H̶e̶r̶o̶n̶",
    "Project He\u20ddron",
    "Project H&#101;ron",
    "Project Her&shy;on",
    "Project H<b>er</b>on",
    '<a title="Project Heron">it</a>',
]
#: Directive, draft that keeps it.
UNSAID = [
    ("Never mention Project Heron.", "The project is on track."),
    ("Never mention Project Heron.", "Heronry projects are for birds."),
    ("Never mention Ana.", "a < b and c > d"),
    ("Never mention Ana.", "Banana bread, analysis, Diana."),
    ("Never mention 'AI'.", "Vitamin A. It is said that A I is a grade."),
    ("Never say 'art'.", "A party for the start of the article."),
    ("Never use the word 'her'.", "Here, there, the others."),
    ("Never mention Heron.", "Неправда, 鷺."),
]
#: Directive, draft that breaks it.
INFLECTED = [
    ("Never use the word salary.", "All salaries are secret."),
    ("Never use the word 'salaries'.", "Her salary is secret."),
    ("Never use the word 'box'.", "Two boxes."),
    ("Erwähne niemals das Wort Gehalt.", "Wegen des Gehaltes."),
    ("Никогда не упоминай Сокол.", "Мы говорим о Соколе."),
    ("Non menzionare mai 'segreto'.", "Tre segreti."),
    ("N'utilise jamais le mot cadeau.", "Des cadeaux."),
    ("Nunca menciones 'salario'.", "Los salarios son altos."),
    ("绝不要提及“苍鹭”。", "我们讨论苍鹭项目。"),
    ("'왜가리'를 언급하지 마세요.", "왜가리는 새입니다."),
]


def said(content: str, text: str, output: Any = None) -> State:
    """What the only rule of a directive says of a draft."""
    [check] = rules.read(content).checks
    return check.on(draft(text, output)).state


@pytest.mark.parametrize(("content", "text", "state"), SPOKEN)
def test_languages_of_drafts(content: str, text: str, state: State) -> None:
    assert said(content, text) is state


def sentences() -> dict[str, list[str]]:
    """Short sentences of ten languages, full of names and dates: the cases of the time expressions."""
    lines = {
        path.stem: [line.split("|")[0].strip() for line in path.read_text("utf-8").splitlines()]
        for path in (Path(__file__).parents[1] / "timeline" / "cases").glob("*.txt")
    }
    return {code: [one for one in said if one and one[0] not in "@#"] for code, said in lines.items()}


SENTENCES = sentences()


@pytest.mark.parametrize("code", sorted(SENTENCES))
def test_no_sentence_is_taken_for_one_of_another_language(code: str) -> None:
    assert len(SENTENCES) == 10
    for spoken, said in SENTENCES.items():
        wrong = State.BROKEN if spoken == code else State.KEPT
        states = [Language(code).on(draft(one)).state for one in said]
        assert [one for one, state in zip(said, states, strict=True) if state is wrong] == []


def test_the_language_of_the_output_counts_but_not_that_of_its_keys() -> None:
    text = "La sortie est prévue pour vendredi, selon Ana."
    assert (
        said("Answer in French.", text, {"when_is_it_and_who_is_there": "vendredi", "n": [4, None]}) is KEPT
    )
    wrong = {"why": [{"reason": "It was moved to Friday because of the weather that we had."}]}
    assert said("Answer in French.", text, wrong) is BROKEN


@pytest.mark.parametrize(("content", "frame"), SAID)
@pytest.mark.parametrize("form", FORMS)
def test_a_word_is_found_however_it_is_written(content: str, frame: str, form: str) -> None:
    assert said(content, frame.format(form)) is BROKEN


@pytest.mark.parametrize(("content", "text"), UNSAID)
def test_other_words_are_not_it(content: str, text: str) -> None:
    assert said(content, text) is KEPT


@pytest.mark.parametrize(("content", "text"), INFLECTED)
def test_endings_hide_no_word(content: str, text: str) -> None:
    assert said(content, text) is BROKEN


@pytest.mark.parametrize(
    ("output", "state"),
    [
        ({"a": "fine"}, KEPT),
        ({"a": "a heron"}, BROKEN),
        ({"a": [{"b": ["x", "HERON"]}]}, BROKEN),
        ({"heron": 1}, BROKEN),
        ({"a": {"the_heron_plan": None}}, BROKEN),
        (None, KEPT),
    ],
)
def test_words_in_the_output_are_said_too(output: Any, state: State) -> None:
    assert said("Never mention Heron.", "Fine.", output) is state


def test_numbers_in_the_output_are_said_too() -> None:
    assert said("Never say '4711'.", "Fine.", {"n": 4711}) is BROKEN
    assert said("Never say '4711'.", "Fine.", {"n": True}) is KEPT


def test_the_words_are_told() -> None:
    [check] = rules.read("Never mention Heron or Falcon.").checks
    found = check.on(draft("The heron, a FALCON, and a heron."))
    assert (found.state, found.words) == (BROKEN, ("heron", "falcon"))


@pytest.mark.parametrize(
    ("unit", "most", "text", "state"),
    [
        ("words", 5, "One two three, four five.", KEPT),
        ("words", 5, "One two three four five six.", BROKEN),
        ("words", 6, "Ana's well-known 3.5 kg box, x.", KEPT),
        ("words", 3, "Ana is here [1, 2] [3].", KEPT),
        ("words", 3, "**Ana** is *here*", KEPT),
        ("words", 5, "東京に行きました。", OPEN),
        ("sentences", 1, "Dr. Ana moved it to Friday at 3.30 p.m. today.", KEPT),
        ("sentences", 1, "It is. So.", BROKEN),
        ("sentences", 2, "一つ。二つ。", KEPT),
        ("sentences", 1, "## Home\n\n- Ana lives in Graz.", KEPT),
        ("characters", 5, " 12345 ", KEPT),
        ("characters", 5, "123456", BROKEN),
        ("characters", 1, "e\u0301", KEPT),
        ("words", 1, "", KEPT),
    ],
)
def test_lengths_of_drafts(unit: Any, most: int, text: str, state: State) -> None:
    assert Length(unit, most).on(draft(text)).state is state


def test_each_value_of_the_output_has_the_length_by_itself() -> None:
    assert Length("words", 3).on(draft("One.", {"a": "one two three", "b": ["four five six"]})).state is KEPT
    assert Length("words", 3).on(draft("One.", {"a": "one two three four"})).state is BROKEN


def test_citing_is_what_the_draft_says_of_itself() -> None:
    assert MustCite().on(draft("It is so.", cited=True)).state is KEPT
    assert MustCite().on(draft("It is so.")).state is BROKEN


@pytest.mark.parametrize(
    "piece",
    ["h", "H-", "\u200b", "project ", '"', "A ", "a-\n", "-\n", "\n", " ", "[", "a.", "ö", "«", "http://"],
)
def test_long_drafts_are_checked_quickly(piece: str) -> None:
    for content in ("Never mention Project Heron.", "Answer in French.", "Use at most 5 words."):
        assert said(content, piece * (30_000 // len(piece))) in State
