"""What counts as a secret, as data: one row a class. Pure; `screening` does the searching.

A row is found by a literal that its pattern begins with, so that a long text is searched at the speed of a literal,
and sometimes a check of the find. Boundaries are ASCII on purpose: `\\w` counts letters of every script, so a key that
stands next to Chinese text without a space would neither begin nor end for it.

Patterns are linear: what repeats is possessive (`++`) or bounded, and no two starts can run over the same text.
"""

import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

#: Bits a character of a value that was drawn at random; words have fewer.
RANDOM_BITS = 3.0
#: A part of a key between hyphens is at least so long where it holds digits, and so long where it does not.
MIXED_PART, LETTERS_PART = 12, 20
#: Fewest digits of a password of nothing else: shorter ones are counts, years, sizes.
PASSWORD_DIGITS = 6
#: A quoted secret without a digit is at least so long.
UNDIGITED = 8
#: Words and names: some-words, camelCase, a_word_2, v1.2.3, 2026-03-01, 10:00, a call, a path, an address.
_WORDED = re.compile(
    r"(?:[A-Za-z]?[a-z]+|[A-Z]+)(?:[A-Z][a-z]{2,}|[-_. :/]+(?:[A-Za-z]?[a-z]+|[A-Z]+))*(?:[-_. ][0-9]{1,4})?"
    r"|[vV]?[0-9]+(?:[.:T/-][0-9]+)*Z?|[A-Za-z_][\w.]*[(\[].*|[~.]?/.*|[a-z+]+://.*"
)


@dataclass(frozen=True)
class Class:
    """One row. `rest` follows any of the `prefixes`; its only group that took part, or else the whole, is the secret.

    `folds`: case does not matter. `begins`: no letter or digit may stand before the prefix. `before`: what of the text
    before the find belongs to it, read backwards; where there is none, it is no find.
    """

    type: str
    prefixes: str
    rest: str
    check: Callable[[str], bool] | None = None
    folds: bool = False
    begins: bool = True
    before: re.Pattern[str] | None = None


@dataclass(frozen=True)
class Detector:
    """A class under one of its prefixes: no text without `literal` has any."""

    kind: Class
    literal: str
    pattern: re.Pattern[str]


@cache
def detectors(*, personal: bool) -> tuple[Detector, ...]:
    """Return what finds credentials, and with `personal` also what is about a person."""
    return tuple(
        _detector(kind, prefix.replace("~", " "))
        for kind in (*MARKED, *STRUCTURED, *LABELLED, *(PERSONAL if personal else ()))
        for prefix in kind.prefixes.split(" ")
    )


def _detector(kind: Class, literal: str) -> Detector:
    left = f"(?<![A-Za-z0-9]{re.escape(literal)})" if kind.begins else ""
    return Detector(kind, literal, re.compile(re.escape(literal) + left + kind.rest))


# --- checks of a find ---


def random(value: str) -> bool:
    """Tell whether a value was drawn, not worded: letters and digits, none much more often than the others."""
    return _digit(value) and _letter(value) and spelled_out(value) and entropy(value) >= RANDOM_BITS


def entropy(value: str) -> float:
    """Return bits a character (Shannon) of a value that is not empty."""
    shares = [count / len(value) for count in Counter(value).values()]
    return -sum(share * math.log2(share) for share in shares)


def key_shaped(value: str) -> bool:
    """Tell a key from words joined by hyphens: a part of it is long, and mixed."""
    return any(
        (len(part) >= MIXED_PART and _digit(part))
        or (len(part) >= LETTERS_PART and part not in (part.lower(), part.upper(), part.capitalize()))
        for part in re.split(r"[-_]", value)
    )


def encoded(value: str) -> bool:
    """Tell credentials behind the name of a scheme from a word: a digit, a sign, or a capital inside."""
    return spelled_out(value) and (_digit(value) or "=" in value or value[1:] != value[1:].lower())


def password(value: str) -> bool:
    """Tell a password from what else stands behind the word: a type, a call, a variable, a path, a word, a count."""
    if not spelled_out(value) or re.match(r"[~.]?/|[A-Za-z_][\w.]*[(\[]", value):
        return False
    if _letter(value):
        return not re.fullmatch(r"[^\W\d_]+(?:[._-][^\W\d_]+)*", value)
    return value.isdigit() and len(value) >= PASSWORD_DIGITS


def quoted_secret(value: str) -> bool:
    """Tell a short secret in quotes from a word, a name in any spelling, a version, a date, a numbered thing."""
    if not spelled_out(value) or _WORDED.fullmatch(value) or value.endswith((":", ",", ".")):
        return False
    if _digit(value):
        return _letter(value)
    return len(value) >= UNDIGITED and value[1:].lower() != value[1:] and value[1:].upper() != value[1:]


def spelled_out(value: str) -> bool:
    """Tell a value from what stands for one: a variable, a blank, stars, or what was masked before."""
    stands_for_one = value.startswith(("$", "<", "{", "%", "[REDACTED:")) or set(value) <= set("*xX.•-_")
    return not stands_for_one and value.lower() not in ("null", "none", "true", "false", "undefined")


def luhn(value: str) -> bool:
    """Tell whether the last digit of a card number checks the others (ISO/IEC 7812-1)."""
    digits = [int(char) for char in reversed(value) if char.isdigit()]
    total = sum(digits[::2]) + sum(sum(divmod(2 * digit, 10)) for digit in digits[1::2])
    return total % 10 == 0 and len(set(digits)) > 1


def mod_97(value: str) -> bool:
    """Tell whether the check digits of an account number are right (ISO 13616)."""
    plain = value.replace(" ", "")
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _digit(value: str) -> bool:
    return any(char.isdigit() for char in value)


def _letter(value: str) -> bool:
    return any(char.isalpha() for char in value)


# --- the classes ---

#: Letters and digits; with what base64url adds; with what base64 adds; lower hexadecimal; no more of the first.
A, U, B, X, END = "[A-Za-z0-9]", "[A-Za-z0-9_-]", "[A-Za-z0-9+/]", "[0-9a-f]", "(?![A-Za-z0-9])"

#: Keys that providers mark themselves.
MARKED = (
    Class("anthropic_api_key", "sk-ant-", f"{U}{{16,}}+"),
    Class("openai_api_key", "sk-", f"{U}{{16,}}+", key_shaped),
    # Our own: `storage.keys`.
    Class("memorybank_key", "mb_", f"{U}{{43}}{END}", key_shaped),
    Class("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_", f"{A}{{10,}}+"),
    Class("stripe_webhook_secret", "whsec_", f"{B}{{24,}}+=*+"),
    Class("aws_access_key", "AKIA ASIA ABIA ACCA", f"[A-Z0-9]{{16}}{END}"),
    Class("github_token", "ghp_ gho_ ghu_ ghs_ ghr_", f"{A}{{16,}}+"),
    Class("github_token", "github_pat_", "[A-Za-z0-9_]{22,}+"),
    Class("gitlab_token", "glpat- gldt- glrt- glptt- glsoat-", f"{U}{{20,}}+"),
    Class("slack_token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxe- xoxo- xapp-", "[A-Za-z0-9-]{10,}+"),
    Class("slack_webhook", "hooks.slack.com/services/", "[A-Za-z0-9_/]{20,}+"),
    Class("discord_webhook", "discord.com/api/webhooks/", f"[0-9]{{15,20}}/{U}{{20,}}+"),
    Class("google_api_key", "AIza", f"{U}{{35}}{END}"),
    Class("google_oauth_secret", "GOCSPX-", f"{U}{{20,}}+"),
    Class("google_oauth_token", "ya29.", f"{U}{{20,}}+"),
    Class("sendgrid_key", "SG.", rf"{U}{{16,}}+\.{U}{{16,}}+"),
    Class("twilio_key", "SK", f"{X}{{32}}{END}"),
    Class("mailgun_key", "key-", f"{X}{{32}}{END}"),
    Class("npm_token", "npm_", f"{A}{{36,}}+"),
    Class("pypi_token", "pypi-AgE", f"{U}{{30,}}+"),
    Class("docker_token", "dckr_pat_ dckr_oat_", f"{U}{{20,}}+"),
    Class("huggingface_token", "hf_", f"{A}{{30,}}+"),
    Class("replicate_token", "r8_", f"{A}{{30,}}+"),
    Class("groq_api_key", "gsk_", f"{A}{{30,}}+"),
    Class("xai_api_key", "xai-", f"{A}{{40,}}+"),
    Class("perplexity_api_key", "pplx-", f"{A}{{30,}}+"),
    Class("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", f"{X}{{40,}}+"),
    Class("databricks_token", "dapi", f"{X}{{32}}{END}"),
    Class("linear_key", "lin_api_", f"{A}{{30,}}+"),
    Class("notion_token", "ntn_", f"{A}{{40,}}+"),
    Class("shopify_token", "shpat_ shpca_ shppa_ shpss_", f"[0-9a-fA-F]{{32}}{END}"),
    Class("square_token", "sq0atp- sq0csp-", f"{U}{{20,}}+"),
    Class("vault_token", "hvs. hvb. hvr.", f"{U}{{20,}}+"),
    Class("grafana_token", "glsa_ glc_", "[A-Za-z0-9_+/=]{20,}+", random),
    Class("sentry_token", "sntrys_ sntryu_", "[A-Za-z0-9_+/=]{30,}+"),
    Class("newrelic_key", "NRAK-", f"[A-Z0-9]{{27}}{END}"),
    Class("postman_key", "PMAK-", f"{X}{{24}}-{X}{{34}}{END}"),
    Class("age_secret_key", "AGE-SECRET-KEY-1", "[A-Z0-9]{50,}+"),
)

#: Between the lines of a key: also in JSON, and in a quoted mail. What stands above them, and a last line.
_BREAK, _BREAK_BACK = r"(?:(?:\\){1,4}[nr]|[\s>])", r"(?:[nr](?:\\){1,4}|[\s>])"
_BACK = rf"(?:(?![nr]\\){B})"
_HEADS = rf"(?:{_BREAK}*+(?:Proc-Type|DEK-Info|Version|Comment|Hash): ?[^\n\\]{{0,200}}+)*+"
_LAST = (
    rf"(?:{_BREAK}++(?:{B}{{1,15}}={{1,2}}"
    rf"|(?=[A-Za-z+/]{{0,14}}[0-9+/])(?=[0-9+/]{{0,14}}[A-Za-z]){B}{{4,15}}(?![^\s\\])))?"
)
#: What its form gives away. A block of a key that was cut has no end, or no beginning: its lines are masked as far as
#: they go.
STRUCTURED = (
    Class(
        "private_key",
        "-----BEGIN~",
        r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
        r"(?:[^-]*+(?:-(?!----)[^-]*+)*+-----END [A-Z0-9 ]{0,50}-----"
        rf"|{_HEADS}(?:{_BREAK}*+{B}{{16,}}+=*+)*+{_LAST})",
        begins=False,
    ),
    Class(
        "private_key",
        "-----END~",
        r"[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----",
        begins=False,
        before=re.compile(
            rf"(?:{_BREAK_BACK}*+=*+{_BACK}{{1,15}}+(?={_BREAK_BACK}))?(?:{_BREAK_BACK}*+=*+{_BACK}{{16,}}+)++"
        ),
    ),
    Class("json_web_token", "eyJ", rf"(?<![_-]eyJ){U}{{8,}}+\.{U}{{8,}}+\.{U}*+"),
    Class("telegram_token", ":AA", rf"(?<=[0-9]:AA){U}{{33}}{END}", begins=False),
    Class(
        "url_password",
        "://",
        r"""[^\s:/?#@"'<>\\]{0,128}+:([^\s/"'<>\\]{1,256})@(?=[A-Za-z0-9\[])""",
        spelled_out,
        begins=False,
    ),
    Class("authorization", "bearer~", r"\s{0,2}([A-Za-z0-9._~+/-]{20,}+=*+)", random, folds=True),
    Class(
        "authorization",
        "authorization",
        r"""\\{0,2}["']?\s{0,3}[:=]\s{0,3}\\{0,2}["']?(?:bearer|basic|token|apikey|digest)"""
        r"""\s{1,3}([A-Za-z0-9._~+/=-]{8,}+)""",
        encoded,
        folds=True,
        begins=False,
    ),
    Class("azure_key", "AccountKey= SharedAccessKey=", "([A-Za-z0-9+/]{20,}+=*+)", begins=False),
)

_IS = r"""\\{0,7}["'`]?[ \t]{0,4}(?:=>|:=|[=:：＝])[ \t]{0,4}"""
#: A value in quotes, also in JSON inside JSON; and one without, up to the next field of a connection string or query.
_QUOTED = (
    r"""(?:\\{1,7}"([^"\\\s]{4,200}+)\\{1,7}"|"((?:[^"\\\s]|\\.){4,200}+)"|'((?:[^'\\\s]|\\.){4,200}+)')"""
)
_QUOTED_SECRET = _QUOTED.replace("{4,", "{6,")
_BARE = r"""((?:[^\s"'`\\<>;&，。；、！？]|&(?![A-Za-z_][A-Za-z0-9_]{0,30}=)){4,200}(?<![.,:!?)\]}]))"""
_PASSWORDS = (
    "password passwd passwort passphrase _pass -pass _pwd kennwort contraseña mot~de~passe senha wachtwoord hasło "
    "пароль parola şifre 密码 密碼 口令 パスワード 비밀번호 암호 كلمة~المرور סיסמה"
)
_SECRETS = (
    "secret secret_key secret-key secretkey token api_key api-key apikey access_key access-key accesskey private_key "
    "private-key auth_key auth-key account_key"
)
_ENV_NUMBER = r"(?:_[0-9]{1,2})?="

#: What stands behind a name that says what it is.
LABELLED = (
    Class("password", _PASSWORDS, _IS + _QUOTED, spelled_out, folds=True, begins=False),
    Class("password", _PASSWORDS, _IS + _BARE, password, folds=True, begins=False),
    Class("password", "pwd", _IS + f"(?:{_QUOTED}|{_BARE})", password, folds=True),
    Class("secret", _SECRETS, _IS + _QUOTED_SECRET, quoted_secret, folds=True, begins=False),
    Class(
        "secret",
        _SECRETS,
        _IS + r"""\\{0,2}["'`]?([A-Za-z0-9._~+/-]{12,200}+=*+)(?!:)""",
        random,
        folds=True,
        begins=False,
    ),
    Class(
        "password", "PASSWORD PASSWD PASSPHRASE _PASS _PWD", _ENV_NUMBER + _BARE, spelled_out, begins=False
    ),
    Class(
        "secret",
        "SECRET SECRET_KEY TOKEN API_KEY APIKEY ACCESS_KEY PRIVATE_KEY AUTH_KEY",
        _ENV_NUMBER + r"""(?=[^\s"'`\\<>;&]{0,200}[A-Za-z])([^\s"'`\\<>;&]{8,200}+)""",
        spelled_out,
        begins=False,
    ),
)

#: What is about a person: looked for where a bank's policy asks for it.
PERSONAL = (
    Class("credit_card", "", rf"(?<![-.])[3-6](?:[ -]?[0-9]){{12,18}}{END}", luhn),
    Class("us_ssn", "", r"(?<!-)(?!000|666|9)[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![A-Za-z0-9-])"),
    Class("iban", "", rf"[A-Z]{{2}}[0-9]{{2}}(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,3}})?{END}", mod_97),
)
