"""Numbers in digits and in the numerals of East Asia."""

_DIGITS = {char: at for at, char in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2, "元": 1}
_TENS = "十"


def number(word: str) -> int:
    """The value of digits ("41", "４１") or of numerals ("十二", "三十一", "二〇二六").

    Raises:
        ValueError: something else.
    """
    if word.isdecimal():
        return int(word)
    if _TENS not in word:
        return int("".join(str(_digit(char)) for char in word))
    before, after = word.split(_TENS, 1)
    return 10 * (_digit(before) if before else 1) + (_digit(after) if after else 0)


def _digit(char: str) -> int:
    if char not in _DIGITS:
        raise ValueError(f"no numeral: {char!r}")
    return _DIGITS[char]
