"""Names in Chinese: by quotation marks, kinds of places and firms, forms of address, surnames, and lists."""

import re
from functools import cache

from memorybank.llm.extractive.cjk import STRUCK, Sheet, listed, listed_places
from memorybank.llm.extractive.evidence import Evidence
from memorybank.llm.extractive.lexicon import word_set, words_of

_HAN = "[\u3400-\u9fff]"
_BOOK = re.compile(r"[《〈]([^《》〈〉]{1,30})[》〉]")
_QUOTED = re.compile(r"[“「『\"]([^“”「」『』\"]{2,14})[”」』\"]")
_SPEECH_MARKS = re.compile(r"[，。！？、；：]|我|你|吗|吧|了$|呢$|啊$|的$")
_SAYING = re.compile(r"(?:说|道|问|喊|写|答|回|讲)[：:，]?$")
#: Behind a place's name these make a people, a language, a kitchen of it.
_OF_PLACE = re.compile("[人话語语菜餐式籍产文]")
#: Longest name before a kind of place or firm.
_HEADED_CHARS = 8
#: Verbs of two characters that stand directly before a place.
_VERBS = re.compile(
    "(?:参观|加入|离开|访问|成立|收购|创办|创立|投资|经营|管理|毕业|就职|任职|联系|负责|路过|经过|预订|预定|选择|推荐|喜欢|听说|知道|认识|关于|位于|来自|属于|今天|昨天|明天|去年|今年|明年|上周|下周|现在|目前|以前|之前|后来|讨厌|不喜欢|想去|打算|准备|开始|需要|希望|觉得|发现|看到|找到|买到|附近)"
)
_RELATION = re.compile(
    "(?:妈|爸|爷|奶|婆|公|姑|舅|叔|姨|妹|哥|弟|姐|朋友|同事|同学|老公|老婆|儿子|女儿|室友|邻居|老板|经理|客户|男友|女友|医生|老师|作家|歌手|导演|演员|教练|舍友|闺蜜|主任|律师|房东|妻子|丈夫)$"
)
#: A name's characters that are common inside a given name of two, but never alone.
_WEAK_GIVEN = frozenset("小大中一子月天多里")
_NAMED_CHARS = 6


@cache
def _characters(name: str) -> frozenset[str]:
    return frozenset("".join(words_of("zh", name)) + ("\x00" if name in ("before", "after") else ""))


@cache
def _patterns() -> dict[str, re.Pattern[str]]:
    surnames = "".join(_characters("surnames"))
    return {
        "heads": re.compile(listed("zh", "heads")),
        "addressed": re.compile(f"([{surnames}])({_HAN}{{0,2}}?)({listed('zh', 'address')})"),
        "nicknamed": re.compile(f"[{''.join(_characters('prefixes'))}]({_HAN})"),
        "surnamed": re.compile(f"(?:{listed('zh', 'double_surnames')})|[{surnames}]"),
        "named": re.compile(f"(?:{listed('zh', 'naming')})({_HAN}{{2,{_NAMED_CHARS}}})"),
    }


def find_names(sentence: str, evidence: Evidence) -> list[str]:
    """The names in a Chinese sentence, in order of writing."""
    sheet = Sheet(sentence)
    _take_quoted(sheet)
    sheet.take_known(evidence)
    _take_headed(sheet)
    _take_named(sheet)
    _take_addressed(sheet)
    _take_nicknames(sheet)
    _take_full_names(sheet)
    sheet.take_listed(listed_places(_HAN), _OF_PLACE)
    _take_products(sheet)
    sheet.take_latin()
    return sheet.names()


def _take_quoted(sheet: Sheet) -> None:
    for match in _BOOK.finditer(sheet.text):
        sheet.take(match.start(), match.end(), match[1])
    for match in _QUOTED.finditer(sheet.text):
        if not _SPEECH_MARKS.search(match[1]) and not _SAYING.search(sheet.text[: match.start()]):
            sheet.take(match.start(), match.end(), match[1])


def _take_headed(sheet: Sheet) -> None:
    """蓝鲸书店, 云帆科技: what stands before a kind of place up to the last small word."""
    generic, short = words_of("zh", "generic"), words_of("zh", "short_heads")
    for match in _patterns()["heads"].finditer(sheet.text):
        start = _left_edge(sheet.text, match.start())
        start = max([start, *(verb.end() for verb in _VERBS.finditer(sheet.text, start, match.start()))])
        if match.start() - start == 1 and _bounded_twice(sheet.text, start):
            # 在和平医院: the small word before is part of the name.
            start -= 1
        before = sheet.text[start : match.start()]
        if len(before) < 2 or before in generic or (match[0] in short and _is_generic(before, generic)):
            continue
        if _is_generic(before, generic) or before[0] in "一二三四五六七八九十几两第":
            continue
        # 云帆科技公司: the kinds may follow each other.
        end = match.end()
        while follower := _patterns()["heads"].match(sheet.text, end):
            end = follower.end()
        if STRUCK not in sheet.text[start:end]:
            sheet.take(start, end)


def _bounded_twice(text: str, start: int) -> bool:
    boundary = _characters("boundary")
    return start > 1 and text[start - 1] in boundary and text[start - 2] in boundary


def _left_edge(text: str, end: int) -> int:
    boundary = _characters("boundary")
    start = end
    while (
        start > 0
        and end - start < _HEADED_CHARS
        and re.match(_HAN, text[start - 1])
        and text[start - 1] not in boundary
    ):
        start -= 1
    return start


def _is_generic(before: str, generic: frozenset[str]) -> bool:
    """Whether a word is made of ordinary ones alone (商业 + 中心)."""
    if not before:
        return True
    return any(before.endswith(word) and _is_generic(before[: -len(word)], generic) for word in generic)


def _take_named(sheet: Sheet) -> None:
    """叫豆豆, 名叫…: what somebody or something is called."""
    ends = _characters("boundary") | frozenset("今都也就现一")
    for match in _patterns()["named"].finditer(sheet.text):
        name = match[1]
        if name.startswith(tuple(words_of("zh", "naming_words"))):
            continue
        cut = next((at for at, char in enumerate(name) if char in ends and at > 0), len(name))
        end = match.start(1) + cut
        if 2 <= cut <= 5 and (cut < len(name) or not re.match(_HAN, sheet.text[end : end + 1] or "。")):
            sheet.take(match.start(1), sheet.model_behind(end))


def _take_addressed(sheet: Sheet) -> None:
    """张老师, 王建国先生; a full name is left without its form of address."""
    for match in _patterns()["addressed"].finditer(sheet.text):
        if not _may_start(sheet.text, match.start()) or (
            match[2] and match[2][0] in _characters("not_given")
        ):
            continue
        if match[1] + match[2][:1] in words_of("zh", "surname_words"):
            continue
        sheet.take(match.start(), match.end(2) if match[2] else match.end())


def _take_nicknames(sheet: Sheet) -> None:
    """小刘, 老王, 阿明."""
    after = _characters("after")
    for match in _patterns()["nicknamed"].finditer(sheet.text):
        text, end = sheet.text, match.end()
        if any(text.startswith(word, match.start()) for word in words_of("zh", "prefix_words")):
            continue
        if match[0][0] != "阿" and match[1] not in _characters("prefix_chars"):
            continue
        if _may_start(text, match.start()) and (end == len(text) or text[end] in after):
            sheet.take(match.start(), end)


def _take_full_names(sheet: Sheet) -> None:
    """Surname and given name of one or two characters, where the characters around allow it."""
    for match in _patterns()["surnamed"].finditer(sheet.text):
        if not _may_start(sheet.text, match.start()):
            continue
        length = _given_length(sheet.text, match.start(), match.end())
        if length:
            sheet.take(match.start(), match.end() + length)


def _given_length(text: str, start: int, end: int) -> int:
    never, after = _characters("not_given") - _WEAK_GIVEN, _characters("after")
    if any(text[start:].startswith(word) for word in words_of("zh", "surname_words")):
        return 0
    for length in (2, 1):
        given = text[end : end + length]
        if len(given) < length or any(not re.match(_HAN, char) or char in never for char in given):
            continue
        if length == 1 and (given in _WEAK_GIVEN or (end - start == 1 and text[start] in _WEAK_SURNAMES)):
            continue
        if given[-1] in "小大中多里" or given in _TIME_WORDS:
            continue
        if end + length == len(text) or text[end + length] in after:
            return length
    return 0


_TIME_WORDS = word_set("明天 明年 明早 明晚 月初 天天")
#: Surnames that are ordinary words so often that one character behind them proves nothing.
_WEAK_SURNAMES = frozenset("于高方白金石田万江龙水夏时温雷林文关向汤马黄任何贺史武钱段毛连安")


def _may_start(text: str, start: int) -> bool:
    """Whether a name may start here, by what stands before."""
    if start == 0 or text[start - 1] in _characters("before"):
        return True
    return bool(_RELATION.search(text[max(0, start - 3) : start])) or not re.match(_HAN, text[start - 1])


def _take_products(sheet: Sheet) -> None:
    """星瞳 X9: Han characters with a model number, behind a small word."""
    for match in re.finditer(f"(?<=[是叫用买了换台部款个的，])({_HAN}{{2,4}})(?=[ ]?[A-Z0-9])", sheet.text):
        end = sheet.model_behind(match.end())
        if end > match.end():
            sheet.take(match.start(), end)
