"""Names in Japanese: by quotation marks, honorifics, surnames, kinds of places and firms, katakana, and lists."""

import re
from functools import cache

from memorybank.llm.extractive.cjk import STRUCK, Sheet, alternatives, listed, listed_places
from memorybank.llm.extractive.evidence import Evidence
from memorybank.llm.extractive.lexicon import word_set, words_of

_HAN = "\u3005\u3400-\u9fff"
_KATAKANA = "ァ-ヺー"
_QUOTED = re.compile(r"[「『“\"]([^「」『』“”\"]{2,20})[」』”\"]")
_SAID = re.compile(r"と(?:言|いう声|話|答|聞|思|叫|伝|書)")
_SENTENCE_MARKS = re.compile(r"[。！？、]")
_KATAKANA_RUN = re.compile(f"[{_KATAKANA}]+(?:[・＝=][{_KATAKANA}]+)*")
_OF_PLACE = re.compile("[人語料製産風系]|時間")
_HONORED_KANA = re.compile(
    "たくさん|みなさん|かあさん|とうさん|にいさん|ねえさん|おじさん|おばさん|じいさん|ばあさん|まわりさん|きゃくさん|あかちゃん|いしゃさん|よめさん|くまさん"
)
_TIME_WORDS = re.compile(
    "^(?:昨日|今日|明日|昨夜|今朝|今夜|先週|来週|今週|先月|来月|今月|去年|今年|来年|毎日|毎週|最近|現在|以前|午前|午後|今度|次回|今回|先日|当時)+"
)
_NOT_GIVEN = re.compile(
    "^[市町村県区駅家部課長社国語式中前後上下内外様氏君達方等々一二三四五六七八九十]|[市町村県区駅家部課社長]$"
)
_CALLED = re.compile("という(?:名前|名の)|といいます|と申します|と名付")
_NUMERALS = re.compile("^[一二三四五六七八九十百千万0-9０-９第]+$")
_ROLES = word_set("先生 部長 課長 社長 係長 店長 教授 先輩 選手 監督 博士 医師 弁護士 夫妻 一家 君 氏 様")
#: Shortest run of katakana that is a name by itself.
_KATAKANA_NAME = 3
_HEADED_CHARS = 8


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    surnames = alternatives(words_of("ja", "surnames") - words_of("ja", "weak_surnames"))
    honorifics = listed("ja", "honorifics")
    return {
        "honored": re.compile(f"([{_HAN}]{{1,6}}|[{_KATAKANA}・]{{2,12}}|[ぁ-ん]{{2,5}}?)({honorifics})"),
        "full": re.compile(f"(?<![{_HAN}])({surnames})([{_HAN}]{{0,3}})(?=[ぁ-ん、。！？）」』\x00]|$)"),
        "all_surnames": re.compile(f"({listed('ja', 'surnames')})([{_HAN}]{{0,3}})$"),
        "headed": re.compile(
            f"([{_HAN}{_KATAKANA}・]{{1,{_HEADED_CHARS}}}?)({listed('ja', 'heads')})(?![{_HAN}])"
        ),
        "particle": re.compile(f"(?:{listed('ja', 'particles')})|$|[\x00（(]"),
        "naming": re.compile(f"(?:{listed('ja', 'naming')})"),
        "loan": re.compile(f"(?:{listed('ja', 'loanwords')})+"),
    }


def find_names(sentence: str, evidence: Evidence) -> list[str]:
    """The names in a Japanese sentence, in order of writing."""
    sheet = Sheet(sentence)
    _take_quoted(sheet)
    sheet.take_known(evidence)
    _take_headed(sheet)
    _take_honored(sheet)
    _take_full_names(sheet)
    _take_places(sheet)
    _take_katakana(sheet)
    sheet.take_latin()
    return sheet.names()


def _take_quoted(sheet: Sheet) -> None:
    endings = tuple(words_of("ja", "quote_not"))
    for match in _QUOTED.finditer(sheet.text):
        speech = (
            _SENTENCE_MARKS.search(match[1])
            or match[1].endswith(endings)
            or _SAID.match(sheet.text, match.end())
        )
        if not speech:
            sheet.take(match.start(), match.end(), match[1])


def _take_headed(sheet: Sheet) -> None:
    """ヒバリ電機, 白鷺ホテル: kanji and katakana before a kind of place or firm."""
    generic, short = words_of("ja", "generic"), words_of("ja", "short_heads")
    for match in _patterns()["headed"].finditer(sheet.text):
        start = match.start() + len(match[1]) - len(_TIME_WORDS.sub("", match[1]))
        before = sheet.text[start : match.end(1)]
        if len(before) < 2 or before in generic or _NUMERALS.match(before) or STRUCK in before:
            continue
        if match[2] in short and (len(before) < 2 or any(before.endswith(word) for word in generic)):
            continue
        loan = _patterns()["loan"].fullmatch(before)
        if (
            loan
            or (before + match[2]) in words_of("ja", "loanwords")
            or any(before == word for word in generic)
        ):
            continue
        if re.match(f"[{_KATAKANA}]", match[2]) and re.match(
            f"[{_KATAKANA}ー]", sheet.text[match.end() : match.end() + 1]
        ):
            continue
        sheet.take(start, match.end())


def _take_honored(sheet: Sheet) -> None:
    """田中さん, ゆきちゃん, 山本部長; the honorific is left off."""
    for match in _patterns()["honored"].finditer(sheet.text):
        base, start = match[1], match.start()
        if base.endswith(tuple(words_of("ja", "honorific_words"))) or _HONORED_KANA.search(match[0]):
            sheet.strike(start, match.end())
            continue
        name = _honored_name(base, match[2], sheet.text, start)
        if name:
            at = start + len(base) - len(name)
            sheet.take(at, match.end(), name)


def _honored_name(base: str, honorific: str, text: str, start: int) -> str:
    """The part of what stands before an honorific that is the name; empty if none is."""
    if re.match("[ぁ-ん]", base):
        if start and text[start - 1] not in "、。「『\x00 　！？":
            base = base.lstrip("とのはにがもをで")
        return base if len(base) >= 2 and honorific not in _ROLES else ""
    if re.match(f"[{_KATAKANA}]", base):
        return "" if base in words_of("ja", "loanwords") else base
    base = _TIME_WORDS.sub("", base)
    surname = _patterns()["all_surnames"].search(base)
    if surname:
        return surname[0]
    if honorific in _ROLES:
        return ""
    return base if 1 <= len(base) <= 4 else ""


def _take_full_names(sheet: Sheet) -> None:
    """高橋健一, and a surname alone before a particle."""
    for match in _patterns()["full"].finditer(sheet.text):
        if not (match[2] and _NOT_GIVEN.search(match[2])):
            sheet.take(match.start(), match.end())


def _take_places(sheet: Sheet) -> None:
    for name in listed_places(f"[{_HAN}{_KATAKANA}]"):
        for match in re.finditer(re.escape(name), sheet.text):
            kana = re.match(f"[{_KATAKANA}]", name)
            around = (
                sheet.text[max(0, match.start() - 1) : match.start()]
                + sheet.text[match.end() : match.end() + 1]
            )
            if (kana and re.search(f"[{_KATAKANA}]", around)) or _OF_PLACE.match(sheet.text, match.end()):
                continue
            sheet.take(match.start(), match.end())


def _take_katakana(sheet: Sheet) -> None:
    """Runs of katakana that are no loan words, where a name may stand."""
    for match in _KATAKANA_RUN.finditer(sheet.text):
        run, end = match[0], sheet.model_behind(match.end())
        if len(run.strip("ー")) < 2 or (
            run in words_of("ja", "loanwords") and not _CALLED.match(sheet.text, match.end())
        ):
            continue
        if end > match.end() or _is_katakana_name(run, sheet.text, match.start(), match.end()):
            sheet.take(match.start(), end)


def _is_katakana_name(run: str, text: str, start: int, end: int) -> bool:
    if "・" in run:
        return not all(part in words_of("ja", "loanwords") for part in run.split("・"))
    named = bool(_patterns()["naming"].match(text, end)) or text[:start].endswith(
        ("名前は", "名は", "犬は", "猫は")
    )
    if named and len(run) >= 2:
        return True
    if _patterns()["loan"].fullmatch(run) or run.endswith(tuple(words_of("ja", "loan_endings"))):
        return False
    if len(run) < _KATAKANA_NAME:
        return text[end : end + 1] in ("は", "が") and (start == 0 or text[start - 1] in "の、。「\x00 　")
    return bool(_patterns()["particle"].match(text, end)) and text[end : end + 1] != "な"
