"""Secrets are found, blanked out and named by their kind only."""

from collections.abc import Callable

import pytest

from memories.extraction.masking import MARK_EN, MARK_ZH, ScreenedText, screen
from memories.screening.secret_forms import is_card, is_chinese_identity, is_iban
from tests.memories.extraction.bundled_reading import contents, extract
from tests.memories.extraction.readings import FakeReader, statement
from tests.memories.extraction.scored import Row, table

# (message, its category, what is kept beside the secret)
KEPT = [
    ("支付密码是 739 105，另外我对虾过敏", "password", "对虾过敏"),
    ("身份证号是512501197203035172，我在泸州开茶馆", "identity_number", "泸州"),
    ("卡号6222021234567890128，我下周一去三亚出差", "card", "三亚"),
    ("我家门锁密码四六零九二七，养了一只柯基", "password", "柯基"),
    ("我住在丰台区方庄芳古园二区7号楼4单元501室，养了两只猫", "address", "猫"),
]


def _is_missed(row: Row) -> bool:
    screened, extracted = screen(row["text"]), extract(row["text"])
    named = {refused.category for refused in screened.refused}
    masked = MARK_EN in screened.text or MARK_ZH in screened.text
    kept = _bare(repr((screened, extracted.candidates, extracted.forget)))
    is_found = masked and named and extracted.refused and row["category"] in (*named, "")
    return not is_found or _bare(row["secret"]) in kept


def _bare(text: str) -> str:
    return text.replace(" ", "").replace("-", "")


def test_every_secret_is_blanked_and_its_kind_reported() -> None:
    assert not [row for row in table("secrets", "secret") if _is_missed(row)]


def test_what_only_looks_like_a_secret_stays() -> None:
    texts = [row["text"].replace("\\n", "\n") for row in table("secrets", "harmless")]
    assert not [text for text in texts if screen(text) != ScreenedText(text, (), drop=False)]


def test_the_statement_beside_a_secret_is_kept() -> None:
    for message, category, kept in KEPT:
        told = FakeReader()
        told.hears(message, statement(message, message))
        found = extract(message, told=told)

        assert [refused.category for refused in found.refused] == [category], message
        assert any(kept in content for content in contents(found)), message


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
