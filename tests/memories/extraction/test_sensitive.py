"""Secrets are found, blanked out and named by their kind only."""

from collections.abc import Callable

import pytest

from memories.extraction.masking import MARK_EN, MARK_ZH, screen
from memories.screening.secret_forms import is_card, is_chinese_identity, is_iban

# (text, the secret in it, its category)
SECRETS = [
    ("my password is hunter2", "hunter2", "password"),
    ("Password: Tr0ub4dor&3", "Tr0ub4dor&3", "password"),
    ("the wifi password at the cabin is blue horse nine", "blue horse nine", "password"),
    ('our passphrase is "open the pod bay doors"', "open the pod bay doors", "password"),
    ("S3cretSauce! is my password for the bank", "S3cretSauce!", "password"),
    ("the alarm code is 4821", "4821", "password"),
    ("my PIN is 9042 by the way", "9042", "password"),
    ("postgres://app:p4ssw0rd@db.internal:5432/app", "p4ssw0rd", "password"),
    ("我的密码是 qwe789!", "qwe789!", "password"),
    ("密码：Abc@2026", "Abc@2026", "password"),
    ("家里wifi密码改成了tiger2019", "tiger2019", "password"),
    ("支付宝密码是“春暖花开”", "春暖花开", "password"),
    ("验证码是 582913", "582913", "password"),
    ("abc12345是我的邮箱密码", "abc12345", "password"),
    ("use sk-proj-Zx81kQp0LmN4vR7tYb2WcD9e", "sk-proj-Zx81kQp0LmN4vR7tYb2WcD9e", "api_key"),
    ("token ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8", "ghp_a1B2c3D4e5F6g7H8i9J0", "api_key"),
    ("AKIAQX7VJ5MZR8WKPDNT is the key", "AKIAIOSFODNN7EXAMPLE", "api_key"),
    ("Authorization: Bearer abcdef123456ghijkl", "abcdef123456ghijkl", "api_key"),
    ("my api key is 9f8e7d6c5b4a3210", "9f8e7d6c5b4a3210", "api_key"),
    ("密钥是 a8f5f167f44f4964e6c998de", "a8f5f167f44f4964e6c998de", "api_key"),
    ("card 4111 1111 1111 1111", "4111 1111 1111 1111", "card"),
    ("５５５５５５５５５５５５４４４４", "５５５５５５５５５５５５４４４４", "card"),
    ("卡号6222021234567890123", "6222021234567890123", "card"),
    ("the CVV is 123", "123", "card"),
    ("我的身份证号是11010519491231002X", "11010519491231002X", "identity_number"),
    ("身份證號碼 440308199901101512", "440308199901101512", "identity_number"),
    ("SSN 078-05-1120", "078-05-1120", "identity_number"),
    ("my social security number is 219099999", "219099999", "identity_number"),
    ("passport number X1234567", "X1234567", "identity_number"),
    ("护照号是E12345678", "E12345678", "identity_number"),
    ("pay to DE89 3704 0044 0532 0130 00", "DE89 3704 0044 0532 0130 00", "bank_account"),
    ("my account number is 00123456789", "00123456789", "bank_account"),
    ("银行账号：622202 1234 5678", "622202 1234 5678", "bank_account"),
    ("at the keypad press B, 4, 9, 2 and wait", "B, 4, 9, 2", "password"),
    ("the barrier: 7-3-0-5", "7-3-0-5", "password"),
    ("for the gate it wants C4 then 5530", "C4 then 5530", "password"),
    ("kenwort? no: Passwort: Regen#81", "Regen#81", "password"),
    ("my Emirates ID is 784199012345678", "784199012345678", "identity_number"),
    ("my UTR: 73518 20946", "73518 20946", "identity_number"),
    (
        "wallet words: river, stone, paper, mango, cloud, tiger, broom, salad, fence, glove",
        "river, stone, paper, mango, cloud, tiger, broom, salad, fence, glove",
        "api_key",
    ),
]

HARMLESS = [
    "I forgot my password again",
    "my password is too long",
    "the password is wrong",
    "How do I reset my password?",
    "a good password is hard to remember",
    "密码学很有意思",
    "我的密码是什么",
    "我忘了密码",
    "order 12345678901234567 shipped",
    "-----BEGIN CERTIFICATE-----\nMIIDXTCCAkWgAwIBAgIJAL\n-----END CERTIFICATE-----",
    "the fingerprint is SHA256:uNiVztksCsDhcc0u9e8BgrJX",
    "call me at 415-555-0134",
    "my phone is 13812345678",
    "born 1990-05-17",
    "commit 9fceb02d0ae598e95dc970b74767f19372d6",
    "the key is to practise every day",
    "tokens are expensive",
    "the mountain pass is closed",
    "room 4821 on the third floor",
    "我每天跑10000步",
    "https://example.org/articles/2026/how-to-bake-sourdough-bread-at-home",
]


@pytest.mark.parametrize(("text", "secret", "category"), SECRETS)
def test_a_secret_is_blanked_and_its_kind_reported(text: str, secret: str, category: str) -> None:
    screened = screen(text)

    assert secret not in screened.text
    assert MARK_EN in screened.text or MARK_ZH in screened.text
    assert category in {refused.category for refused in screened.refused}
    assert all(secret not in repr(refused) for refused in screened.refused)


@pytest.mark.parametrize("text", HARMLESS)
def test_what_only_looks_like_a_secret_stays(text: str) -> None:
    screened = screen(text)

    assert screened.text == text
    assert screened.refused == ()
    assert not screened.drop


def test_a_text_that_only_holds_a_secret_is_dropped() -> None:
    for text in ("my password is hunter2", "银行卡号 4111111111111111", "记住我的密码是abc123"):
        screened = screen(text)
        assert screened.drop
        assert not screened.refused[0].redacted


def test_a_text_that_also_says_something_is_kept_without_its_secret() -> None:
    english = screen("My Visa 4111 1111 1111 1111 is for groceries and holidays")
    chinese = screen("我住在杭州，门禁密码是8842#")

    assert english.text == "My Visa [redacted] is for groceries and holidays"
    assert chinese.text == "我住在杭州，门禁密码是[已隐去]"
    assert not english.drop and not chinese.drop
    assert english.refused[0].redacted and chinese.refused[0].redacted


def test_each_kind_of_secret_is_reported_once() -> None:
    screened = screen("passwords: my pin is 1234, my passcode is 9876 and SSN 078-05-1120")

    assert sorted(refused.category for refused in screened.refused) == [
        "identity_number",
        "password",
    ]


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (is_card, "4111111111111111", "4111111111111112"),
        (is_card, "378282246310005", "000000000000000"),
        (is_iban, "GB29NWBK60161331926819", "GB29NWBK60161331926818"),
        (is_chinese_identity, "11010519491231002X", "110105194912310021"),
        (is_chinese_identity, "440308199901101512", "440308199913101512"),
        (is_chinese_identity, "110901199003071237", "110901199003071238"),  # no such county
    ],
)
def test_check_digits_tell_numbers_from_lookalikes(
    check: Callable[[str], bool],
    good: str,
    bad: str,
) -> None:
    assert check(good)
    assert not check(bad)


def test_screening_a_long_hostile_text_finishes() -> None:
    for unit in (
        "password ",
        "a",
        "1",
        "4111 ",
        "eyJ",
        "密码",
        "is my ",
        "-----BEGIN ",
        "a:b@",
        "A1b",
    ):
        screened = screen(unit * (32_000 // len(unit)))
        assert isinstance(screened.text, str)


@pytest.mark.parametrize(
    "text",
    [
        "My netflix password is Hunter22!x so i stop losing it",
        "the alarm code at the office is 493022, I always blank on it",
        "公司后台的密码是Kx9#mm21，省得我老忘",
        "记住我的wifi密码：hello8899，别再问我了",
        "the key safe code at the cabin is 7734, just in case",
    ],
)
def test_nothing_is_left_of_a_secret_and_the_reason_to_keep_it(text: str) -> None:
    assert screen(text).drop


@pytest.mark.parametrize(
    "text",
    [
        "the cabin key safe code is 7734 and it hangs by the back door",
        "I bank with Monzo, card 4111 1111 1111 1111, since 2019",
        "门禁密码8842#，从左边的大门进",
    ],
)
def test_a_good_statement_stays_beside_its_secret(text: str) -> None:
    screened = screen(text)

    assert not screened.drop
    assert MARK_EN in screened.text or MARK_ZH in screened.text


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Passport number for the trip: K7654321X, name Ida Holm", "K7654321X"),
        ("login for the shop: user ida22, pass Green$owl7", "Green$owl7"),
        ("My work password? it's the cat plus a year, so Misha1999", "Misha1999"),
        ("the guest network is HOME and the password there is moonlight42", "moonlight42"),
        ("我個微信密碼係banana3051", "banana3051"),
    ],
)
def test_secrets_told_in_passing_are_found(text: str, secret: str) -> None:
    screened = screen(text)

    assert secret not in screened.text
    assert screened.refused
