"""Which secrets are found, in which scripts, and what is let be. Keys are put together: none stands in this file."""

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memorybank.model import EntityInput, RetainItem
from memorybank.retain.detectors import detectors
from memorybank.retain.screening import Screen, mask
from memorybank.settings import MemoryDefense

MIXED = "a8Kd93jfLq02ZmXc7VbN51TyRw64HsPe" * 4
HEX = "3f9a0c7be1d24586" * 6
UPPER = "Q7RT2ZK9XW4MB6LPVNE3" * 4
JWT = f"eyJ{MIXED[:17]}.eyJ{MIXED[5:40]}.{MIXED[9:52]}"
PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{MIXED[:64]}\n{MIXED[3:67]}\n-----END RSA PRIVATE KEY-----"
SSH = f"-----BEGIN OPENSSH PRIVATE KEY-----\\n{MIXED[:64]}\\n{MIXED[:20]}\\n-----END OPENSSH PRIVATE KEY-----"

#: Class, what stands before, the secret, what stands after.
CREDENTIALS = [
    ("openai_api_key", "my key is ", "sk-" + "test" + MIXED[:24], " ok?"),
    ("memorybank_key", "MEMORYBANK_API_KEY=", "mb_" + (MIXED + MIXED)[:43], "\n"),
    ("memorybank_key", "the key is ", "mb_" + (MIXED + MIXED)[:43], "."),
    ("openai_api_key", "OPENAI_API_KEY=", "sk-proj-" + MIXED[:40], "\n"),
    ("openai_api_key", '{"role":"user","content":"use ', "sk-" + MIXED[:48], ' please"}'),
    ("openai_api_key", "请使用", "sk-" + MIXED[:32], "这个密钥"),
    ("openai_api_key", "鍵は", "sk-svcacct-" + MIXED[:32], "です"),
    ("openai_api_key", "키는", "sk-" + MIXED[:32], "입니다"),
    ("openai_api_key", "ключ", "sk-" + MIXED[:32], "мой"),
    ("openai_api_key", "المفتاح ", "sk-" + MIXED[:32], " هنا"),
    ("anthropic_api_key", "(", "sk-ant-" + "api03-" + MIXED[:60], ")"),
    ("aws_access_key", "use ", "AKIA" + "IOSFODNN7EXAMPLE", "."),
    ("aws_access_key", "密钥", "AKIA" + UPPER[:16], "已过期"),
    ("aws_access_key", "aws_access_key_id=", "ASIA" + UPPER[:16], ""),
    ("secret", "aws_secret_access_key = ", MIXED[:20] + "/" + MIXED[:19], ""),
    ("github_token", "token ", "ghp_" + MIXED[:36], ","),
    ("github_token", "トークン", "gho_" + MIXED[:36], "を使う"),
    ("github_token", "", "github_pat_" + MIXED[:22] + "_" + MIXED[:30], ""),
    ("gitlab_token", "clone with ", "glpat-" + MIXED[:20], "!"),
    ("slack_token", "bot: ", "xoxb-" + "123456789012-" + MIXED[:24], ""),
    ("slack_token", "бот", "xoxp-" + "123456789012-" + MIXED[:24], "готов"),
    ("slack_webhook", "https://", "hooks.slack.com/services/" + "T0AB12CD/B0EF34GH/" + MIXED[:24], " posts"),
    ("discord_webhook", "https://", "discord.com/api/webhooks/" + "123456789012345678/" + MIXED[:60], ""),
    ("stripe_key", "charge with ", "sk_live_" + MIXED[:24], ""),
    ("stripe_key", "", "rk_test_" + MIXED[:24], ""),
    ("stripe_webhook_secret", "sign with ", "whsec_" + MIXED[:32], ""),
    ("google_api_key", "maps?key=", "AIza" + MIXED[:35], "&q=x"),
    ("google_oauth_secret", "", "GOCSPX-" + MIXED[:28], ""),
    ("google_oauth_token", "", "ya29." + MIXED[:60], ""),
    ("sendgrid_key", "", "SG." + MIXED[:22] + "." + MIXED[:43], ""),
    ("twilio_key", "sid ", "SK" + HEX[:32], ""),
    ("mailgun_key", "", "key-" + HEX[:32], ""),
    ("npm_token", "//registry/:_authToken ", "npm_" + MIXED[:36], ""),
    ("pypi_token", "", "pypi-AgE" + MIXED[:60], ""),
    ("docker_token", "", "dckr_pat_" + MIXED[:27], ""),
    ("huggingface_token", "login ", "hf_" + MIXED[:34], ""),
    ("replicate_token", "", "r8_" + MIXED[:37], ""),
    ("groq_api_key", "", "gsk_" + MIXED[:52], ""),
    ("xai_api_key", "", "xai-" + MIXED[:80], ""),
    ("perplexity_api_key", "", "pplx-" + MIXED[:48], ""),
    ("digitalocean_token", "", "dop_v1_" + HEX[:64], ""),
    ("databricks_token", "", "dapi" + HEX[:32], ""),
    ("linear_key", "", "lin_api_" + MIXED[:40], ""),
    ("notion_token", "", "ntn_" + MIXED[:46], ""),
    ("shopify_token", "", "shpat_" + HEX[:32], ""),
    ("square_token", "", "sq0atp-" + MIXED[:22], ""),
    ("vault_token", "", "hvs." + MIXED[:90], ""),
    ("grafana_token", "", "glsa_" + MIXED[:32] + "_" + HEX[:8], ""),
    ("sentry_token", "", "sntrys_" + MIXED[:60], ""),
    ("newrelic_key", "", "NRAK-" + UPPER[:27], ""),
    ("postman_key", "", "PMAK-" + HEX[:24] + "-" + HEX[:34], ""),
    ("age_secret_key", "", "AGE-SECRET-KEY-1" + UPPER[:58], ""),
    ("telegram_token", "bot 123456789", ":AA" + MIXED[:33], " runs"),
    ("json_web_token", "session ", JWT, " expired"),
    ("json_web_token", "令牌", JWT, "已过期"),
    ("private_key", "here:\n", PEM, "\nbye - and thanks"),
    ("private_key", '{"key":"', SSH, '"}'),
    (
        "private_key",
        "cut: ",
        f"-----BEGIN PRIVATE KEY-----\n{MIXED[:64]}\n{MIXED[:64]}",
        "\nand then we had lunch",
    ),
    ("url_password", "postgres://u:", "p", "@h/db"),
    ("url_password", "see https://ana:", "s3cr3t!pw", "@intern.example/x"),
    ("url_password", "amqp://guest:", "pa@ss", "@10.0.0.7:5672"),
    ("url_password", "redis://:", "f00barbaz", "@cache:6379/0"),
    ("authorization", "Authorization: Basic ", "YW5hOmh1bnRlcjI=", ""),
    ("authorization", "-H 'authorization: Token ", HEX[:40], "'"),
    ("authorization", "curl with Bearer ", MIXED[:40], " works"),
    ("azure_key", "DefaultEndpointsProtocol=https;AccountKey=", MIXED[:86] + "==", ";EndpointSuffix=x"),
    ("password", "PASSWORD=", "hunter2", "\nHOST=db"),
    ("password", "DB_PASS=", "swordfish", ""),
    ("password", "export PGPASSWORD=", "swordfish", ""),
    ("password", '{"user":"ana","password":"', "swordfish", '"}'),
    ("password", '{\\"password\\": \\"', "swordfish", '\\"}'),
    ("password", "Password: ", "Tr0ub4dor&3", ", she said"),
    ("password", "password = '", "correct-horse", "'"),
    ("password", "Server=db;Password=", "x9$kQ", ";User Id=sa"),
    ("password", "https://x.example/login?password=", "abc123", "&next=/home"),
    ("password", "密码：", "abc12345", "，别告诉别人"),
    ("password", "パスワード: ", "sakura2024", ""),
    ("password", "비밀번호: ", "nabi!77", ""),
    ("password", "Пароль: ", "кот12345", ""),
    ("password", "Contraseña: ", "gato#2024", ""),
    ("password", "Mot de passe : ", "chat-2024", ""),
    ("password", "Kennwort: ", "Katze!9", ""),
    ("secret", "CLIENT_SECRET=", "abcdEFGH", ""),
    ("secret", "api_key: ", MIXED[:32], ""),
    ("secret", '"X-API-Key": "', HEX[:32], '"'),
    ("secret", "access_token=", MIXED[:30], "&scope=all"),
    ("secret", 'api_key="', "hunter2Zx9Q", '"'),
    ("secret", '{"api_key":"', "hunter2Zx9Q", '"}'),
    ("secret", '{\\"secret\\": \\"', "hunter2Zx9Q", '\\"}'),
    ("secret", '{\\\\\\"secret\\\\\\": \\\\\\"', "hunter2Zx9Q", '\\\\\\"}'),
    ("secret", "client_secret: '", "zXqPvBnM", "'"),
    ("secret", "token = '", "hunter2", "'"),
    ("github_token", "ZWSP ", "ghp_" + MIXED[:9] + "\u200b" + MIXED[9:36], " end\u200b"),
    ("openai_api_key", "\u200d", "s\u200bk-" + "\u2060".join(MIXED[:32]), "\u200d"),
    ("private_key", "a\n", f"{MIXED[:64]}\n{MIXED[:64]}\nab9x==\n-----END RSA PRIVATE KEY-----", "\nb"),
    ("private_key", "> x\n> ", f"{MIXED[:64]}\n> {MIXED[:64]}\n> -----END PRIVATE KEY-----", "\nb"),
    ("private_key", '"cut ', f"{MIXED[:64]}\\n{MIXED[:64]}\\n-----END PRIVATE KEY-----", '\\n"'),
    ("private_key", "a ", f"-----BEGIN RSA PRIVATE KEY-----\n{MIXED[:64]}\n{MIXED[:9]}==", "\nand lunch"),
    (
        "private_key",
        "a ",
        f"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,{UPPER[:32]}\n\n{MIXED[:64]}",
        "\nand lunch",
    ),
]

PERSONAL = [
    ("credit_card", "card ", "4111 1111 1111 1111", " please"),
    ("credit_card", "卡号", "5500005555555559", "到期"),
    ("credit_card", "amex ", "3782-822463-10005", ""),
    ("us_ssn", "SSN ", "219-09-9999", "."),
    ("us_ssn", "番号", "219-09-9999", "です"),
    ("iban", "pay to ", "DE89 3704 0044 0532 0130 00", ", thanks"),
    ("iban", "", "GB29NWBK60161331926819", ""),
]

#: What only looks like a secret. None may be touched, whatever the policy.
CONTROLS = [
    "She works desk-based, a risk-averse task-oriented person.",
    "The fix is in 9e2dfc8e669914fe99bece9bd87f2a109c3b3672 (sha 9e2dfc8).",
    "sha256:" + HEX[:64],
    "operation 0192f3a4-7b1c-7def-8a90-1234567890ab ended",
    "Door code marker ZX-48211-Q.",
    "Call +43 660 123 45 67 or (555) 010-9999.",
    "order 4711-0815-2026, invoice RE-2026-000123, ticket ABC-12345",
    "data:image/png;base64," + MIXED + MIXED + "==",
    "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQ" + MIXED + " ana@laptop",
    "-----BEGIN PUBLIC KEY-----\n" + MIXED[:64] + "\n-----END PUBLIC KEY-----",
    "-----BEGIN CERTIFICATE-----\n" + MIXED[:64] + "\n-----END CERTIFICATE-----",
    "password: required",
    "The password policy: at least 12 characters, one digit.",
    "Password: 8+ characters",
    "password: 12-16 characters",
    "Password changed: 2026-03-01",
    "password = get_password(user)",
    "password=os.environ['DB_PASSWORD']",
    "password: str = Field(min_length=8)",
    "password=${DB_PASSWORD}",
    "PASSWORD=<your password>",
    "PASSWORD=********",
    "password: null",
    '{"password": null, "token": "Hello"}',
    "connect with password=settings.database.password",
    "I forgot my password again, she sighed.",
    "The passphrase is: see the vault",
    "token: the smallest unit of a text",
    "max_tokens=2500, batch_tokens: 10_000",
    "MAX_TOKENS=64000",
    "TOKEN=1048576000",
    "The secret: practise every day.",
    "secret santa: 12 people draw a name",
    "PWD=/home/ana/project",
    "pwd: /srv/data/releases",
    "keys: api_key, access_key and private_key are columns",
    "api_key: str | None = None",
    "Authorization: required for all calls",
    "Authorization: Basic knowledge of Python is enough",
    "a bearer of bad news and internationalization",
    "https://example.com:8443/path?x=a:b@c",
    "http://localhost:8080/@scope/name",
    "git clone ssh://git@host:22/team/repo.git",
    "mail ana:bert@example.com about it",
    "postgres://user:${PASSWORD}@db/app",
    "postgres://user:<password>@db/app",
    "postgres://user@db/app",
    "sk-learn-compatible-estimators and sk-8-foot-surfboards",
    "sk-SK is the locale of Slovakia, sk-sk-sk-sk-sk-sk-sk",
    "the sk_live_ prefix, the ghp_ prefix and the AKIA prefix",
    "AKIAIOSFODNN7EXAMPLETOOLONGTOBEAKEY",
    "MAKIAIOSFODNN7EXAMPLE",
    "xoxo, yours truly; xoxo-hugs",
    "key-value stores; keyboard-driven",
    "SKU SK3f9a and SK-2026-77",
    "eyJust a thought.eyJust another",
    "The flight KL644 leaves at 10:25 from gate B12.",
    "Einkaufsliste: 2 kg Mehl, 500 g Zucker, 3 Eier",
    "密码学是一门学科：研究加密。",
    "パスワード管理の方法について話した。",
    "우리 팀은 화요일마다 회고를 한다",
    "пароль: обязательно",
    "用 pgvector 做检索，版本 0.8.6",
    "ISBN 978-3-16-148410-0, EAN 4006381333931",
    "IBAN DE00 1234 5678 9012 3456 78 is not one",
    "2026-03-01 10:00:00 1234567890123456 is no card",
    "SSN 000-12-3456 and 666-12-3456 do not exist, nor 123-45-67890",
    "version 1.2.3-45-6789, range 100-20-3000-4",
    "lat 48.2081743, lon 16.3738189",
    "ya29 is a bus line; hf_ is a prefix; r8_v2",
    '"api_key": "optional"',
    'secret="name"',
    'token: "v1.2.30"',
    '"next_token": "page_12", "token": "2026-03-01", "secret": "myClientSecret"',
    'api_key = "YOUR_API_KEY", secret = "client-secret", token="getToken(3)"',
    '{"token": "Donaudampfschiff", "secret": "https://vault.example/v1"}',
    "the line -----END PRIVATE KEY----- ends it",
    "a zero\u200bwidth \u202epassword\u202c: required",
    "[REDACTED:password] stays as it is: password=[REDACTED:password]",
]

ALL = detectors(personal=True)
INSTALLATION = detectors(personal=False)


@pytest.mark.parametrize(("kind", "before", "secret", "after"), CREDENTIALS)
def test_credentials_are_masked_in_place(kind: str, before: str, secret: str, after: str) -> None:
    masked, found = mask(before + secret + after, INSTALLATION)
    assert (masked, found[0]) == (f"{before}[REDACTED:{kind}]{after}", kind)
    assert mask(masked, ALL)[0] == masked


@pytest.mark.parametrize(("kind", "before", "secret", "after"), PERSONAL)
def test_what_is_about_a_person_needs_a_policy(kind: str, before: str, secret: str, after: str) -> None:
    text = before + secret + after
    assert mask(text, INSTALLATION) == (text, ())
    assert mask(text, ALL) == (f"{before}[REDACTED:{kind}]{after}", (kind,))


@pytest.mark.parametrize("text", CONTROLS)
def test_what_only_looks_like_a_secret_is_let_be(text: str) -> None:
    assert mask(text, ALL) == (text, ())


def test_all_secrets_of_a_text_are_found_and_json_stays_json() -> None:
    secrets = {secret for _, _, secret, _ in CREDENTIALS if len(secret) > 12}
    text = " ;\n".join(before + secret + after for _, before, secret, after in CREDENTIALS)
    masked, found = mask(text, INSTALLATION)
    assert not [secret for secret in secrets if secret in masked]
    assert set(found) == {kind for kind, *_ in CREDENTIALS}


LONG = 1_000_000
ORDINARY = [
    "She moved the release to Friday because the tests failed, and told the team. ",
    "def password(token): return secret == api_key or 'Bearer ' + token\n",
    "我们把库存系统迁移到了东京机房，密码另存。",
    "İstanbul'da güzel bir gün. ",
    '{"role": "user", "content": "What did we decide in March?"}\n',
]
#: What makes a careless pattern run for ever: then even a fifth of that takes minutes.
HOSTILE = [
    "sk-",
    "sk-a-",
    "eyJ",
    "eyJaaaaaaaa.",
    "-eyJaaaaaaaaa_",
    "://a:",
    "://a:b@",
    "-----BEGIN PRIVATE KEY-----",
    "-----BEGIN PRIVATE KEY-----\naaaaaaaaaaaaaaaaaaaaaa\n",
    "-",
    "password=",
    'password="',
    "password=\\",
    "password=&a",
    "password=.....",
    "token=aaaaaaaaaaaa:",
    "SECRET=",
    "authorization: basic ",
    "bearer ",
    "4",
    "4 1",
    "4111-",
    "DE89",
    "DE89 3704 0044 ",
    "a",
    " ",
    ":AA",
    "1:AA",
    "AKIA",
    "aaaaaaaaaaaaaaaaaaaaaaaa\n-----END PRIVATE KEY-----",
    "aaaaaaaaaaaaaaaaaaaaaaaa\n",
    "-----BEGIN PRIVATE KEY-----\n> \\n",
    'token="aA',
    'token="a-',
    'token=\\\\"a1',
    "\u200b",
    "SG.aaaaaaaaaaaaaaaa.",
]


@pytest.mark.parametrize(
    ("pieces", "characters"), [(ORDINARY, LONG), (HOSTILE, LONG // 5)], ids=["ordinary", "hostile"]
)
def test_a_long_text_takes_a_moment(pieces: list[str], characters: int) -> None:
    for piece in pieces:
        text = piece * (characters // len(piece))
        assert min(_spent(text) for _ in range(2)) < 0.6, piece


def _spent(text: str) -> float:
    start = time.process_time()
    mask(text, ALL)
    return time.process_time() - start


@given(
    st.lists(
        st.sampled_from([*CONTROLS, *(before + secret for _, before, secret, _ in CREDENTIALS), "\n", "İ"])
    )
)
def test_masking_again_changes_nothing(parts: list[str]) -> None:
    once = mask(" ".join(parts), ALL)[0]
    assert mask(once, ALL)[0] == once


# --- policies ---

ITEM = RetainItem("The key is " + "ghp_" + MIXED[:36] + ".", datetime(2026, 3, 1, tzinfo=UTC))


def policy(*rules: tuple[str, str], enabled: bool = True) -> MemoryDefense:
    return MemoryDefense.model_validate(
        {"enabled": enabled, "rules": [{"on": on, "action": action} for on, action in rules]}
    )


CARD = replace(ITEM, content="card 4111 1111 1111 1111")


@pytest.mark.parametrize(
    ("own", "masks_keys", "masks_cards", "blocks"),
    [
        (None, True, False, False),
        (policy(enabled=False), False, False, False),
        (policy(("sensitive_data", "redact"), enabled=False), False, False, False),
        (policy(), True, False, False),
        (policy(("pii", "block")), True, False, False),
        (policy(("sensitive_data", "redact")), True, True, False),
        (policy(("sensitive_data", "allow"), ("sensitive_data", "block")), False, False, False),
        (
            policy(("pii", "block"), ("sensitive_data", "redact"), ("sensitive_data", "block")),
            True,
            True,
            False,
        ),
        (policy(("sensitive_data", "block")), True, True, True),
    ],
)
def test_the_first_rule_decides(
    own: MemoryDefense | None, masks_keys: bool, masks_cards: bool, blocks: bool
) -> None:
    screen = Screen.of(own, mask_secrets=True)
    assert (bool(screen.item(ITEM)[1]), bool(screen.item(CARD)[1]), screen.blocks) == (
        masks_keys,
        masks_cards,
        blocks,
    )


def test_an_installation_may_mask_nothing() -> None:
    assert Screen.of(None, mask_secrets=False).item(ITEM) == (ITEM, ())
    assert Screen.of(policy(("sensitive_data", "redact")), mask_secrets=False).item(ITEM)[1] == (
        "github_token",
    )


def test_every_text_of_an_item_is_screened() -> None:
    key = "ghp_" + MIXED[:36]
    item = replace(ITEM, context=key, metadata={key: key}, tags=(key, "t"), entities=(EntityInput(key, key),))
    item = replace(item, observation_scopes=((key, "t"),))
    cleaned, found = Screen.of(None, mask_secrets=True).item(item)
    assert key not in repr(cleaned) and repr(cleaned).count("[REDACTED:github_token]") == 8
    assert found == ("github_token",)
