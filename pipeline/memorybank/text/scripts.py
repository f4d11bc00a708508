"""Scripts: which characters are written without spaces between words, as bodies of regex classes."""

import re

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"
#: Thai, Lao, Myanmar, Khmer with their marks: no spaces between words either.
SOUTH_EAST = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ece\u1000-\u1049\u1050-\u109f\u1780-\u17d3"
CYRILLIC = "\u0400-\u04ff"
#: Combining marks that Python's \w leaves out although they stand inside words (Latin, Hebrew, Arabic,
#: Indic).
MARKS = (
    "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed"
    "\u0900-\u0903\u093a-\u094f\u0951-\u0963\u0981-\u0dff"
)

#: A run of writing that is cut into character pairs. Hangul words are separated by spaces, but their
#: particles are not, so pairs serve there as well.
UNSPACED_RUN = re.compile(f"[{HAN}{KANA}]+|[{HANGUL}]+|[{SOUTH_EAST}]+")
HAN_CHAR = re.compile(f"[{HAN}]")
KANA_CHAR = re.compile(f"[{KANA}]")
HANGUL_CHAR = re.compile(f"[{HANGUL}]")
CYRILLIC_CHAR = re.compile(f"[{CYRILLIC}]")
#: A single Han character between kana: a Japanese word of its own, also found by itself.
LONE_HAN = re.compile(f"(?<![{HAN}])[{HAN}](?![{HAN}])")
