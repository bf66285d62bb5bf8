"""Secrets in any spelling: found where they stand, masked to their last sign."""

import pytest

from bench import secret_screening
from memories.extraction import masking
from memories.screening import learned_secrets
from memories.screening.secret_search import find
from memories.screening.spelling import close_up, fold, spell_out

# Shares of the sets in bench/data/secrets: kept out at least, touched at most.
FLOORS = {
    ("en", "builder"): (0.98, 0.02),
    ("zh", "builder"): (0.98, 0.02),
    ("en", "blind"): (0.98, 0.02),
    ("zh", "blind"): (0.98, 0.02),
    ("en", "blind2"): (0.98, 0.02),
    ("zh", "blind2"): (0.98, 0.02),
}


@pytest.mark.parametrize(("language", "author"), FLOORS)
def test_secrets_stay_out_and_harmless_statements_stay(language: str, author: str) -> None:
    chosen = [r for r in secret_screening.rows() if (r.language, r.author) == (language, author)]
    found = secret_screening.score(chosen)
    least, most = FLOORS[language, author]

    assert found.secrets >= (60 if author == "blind2" else 110)
    assert found.harmless >= (60 if author == "blind2" else 200)
    assert found.share_kept_out >= least, found.failures
    assert found.share_touched <= most, found.failures


@pytest.mark.parametrize("name", ["qzgorehotefu", "Bifedoka", "RIKUFILAHI", "quokkafern17"])
@pytest.mark.parametrize(
    "said",
    ["Deploys {}", "I play the {}.", "My cat is called {}.", "Uses {} for notes", "{}", "喜欢{}"],
)
def test_an_unusual_name_is_no_secret(said: str, name: str) -> None:
    assert not learned_secrets.find(said.format(name))


@pytest.mark.parametrize("name", ["qzgorehotefu", "sunflowerhill", "quokkafern17"])
@pytest.mark.parametrize(
    "said",
    ["Our wifi password is {}", "the alarm company asks the panic word, it is {}", "电脑密码：{}"],
)
def test_an_unusual_word_is_a_secret_where_its_sentence_says_so(said: str, name: str) -> None:
    assert name not in masking.masked_by_reading(said.format(name))


@pytest.mark.parametrize(
    ("typed", "read"),
    [
        ("раsswоrd ｈｕｎｔｅｒ２", "password hunter2"),
        ("p a s s w o r d  i s  h u n t e r 2", "password  is  hunter2"),
        ("pass\u200bwo\u2060rd", "password"),
        ("pin 4 . 9 . 1 . 7", "pin 4917"),
        ("four seven double one", "4711"),
        ("幺三洞拐", "1307"),
        ("八个八", "88888888"),
        ("密碼", "密码"),
    ],
)
def test_spellings_are_read_as_one(typed: str, read: str) -> None:
    plain = spell_out(close_up(fold(typed)))

    assert plain.text == read
    assert plain.original(0, len(plain.text)) == (0, len(typed))


@pytest.mark.parametrize(
    "text",
    [
        "My password is abc#12;def(3)",
        "密码是 Ａｂｃ！２３４５ 就这样",
        "the pw is n-i-g-h-t-o-w-l",
        "wifi password: purple lives of Tom345",
    ],
)
def test_no_part_of_a_secret_is_left(text: str) -> None:
    assert find(text)
    masked = masking.masked(text)
    for part in ("abc#", "def", "Ａｂｃ", "２３４５", "n-i-g", "lives", "Tom345"):
        assert part not in masked


def test_masking_what_is_masked_changes_nothing() -> None:
    for text in ("my password is hunter2", "密码是 qwzt5813ab", "pin 9042, and I live in Porto"):
        once = masking.masked(text)
        assert masking.masked(once) == once


def test_a_reply_that_repeats_the_secret_is_masked_as_well() -> None:
    said, reply = masking.masked_together(["我的密码是 qwzt5813ab", "好的，qwzt5813ab 我记下了。"])

    assert "qwzt5813ab" not in said + reply


def test_values_in_json_are_masked_by_what_they_are_called() -> None:
    masked = masking.masked_values({"password": "Sunny42x", "city": "Porto", "n": [1, "ok"]})

    assert "Sunny42x" not in str(masked)
    assert masked["city"] == "Porto" and masked["n"] == [1, "ok"]


@pytest.mark.parametrize(
    ("said", "left"),
    [
        ("mm是abc7788", "mm是[已隐去]"),
        ("kl: sesame42", "kl: [redacted]"),
        ("DL pw abc123", "DL pw [redacted]"),
        ("Sicherheitscode 4471", "Sicherheitscode [redacted]"),
        ("付款码 134567890123456789", "付款码 [已隐去]"),
        ("安全问题的答案是大白兔", "安全问题的答案是[已隐去]"),
        ("密保问题的答案是春田小学", "密保问题的答案是[已隐去]"),
        ("the password is (def)", "the password is [redacted]"),
        ("pw: abc(def)", "pw: [redacted]"),
    ],
)
def test_a_secret_is_masked_from_its_first_sign_to_its_last(said: str, left: str) -> None:
    assert masking.masked_by_reading(said) == left


@pytest.mark.parametrize(
    "said",
    [
        "pin for firstname.lastname-team@subsidiary.example.co.uk hangs",
        "pin for bob.smith@example.com is wrong",
        "mm是多少",
        "这个mm是毫米还是妹妹的意思？图纸上写 φ30mm±0.05",
        "kl: 3 nights",
        "付款码怎么用",
        "安全问题的答案是什么",
        "Was ist ein Sicherheitscode?",
    ],
)
def test_what_only_looks_alike_stays_whole(said: str) -> None:
    assert masking.masked_by_reading(said) == said


@pytest.mark.parametrize(
    ("said", "category"),
    [
        ("Please pay to account 20-11-33 / 44556677 by 15 December.", "bank_account"),
        ("Sort code: 20-11-33\nAccount number: 44556677", "bank_account"),
        ("my IBAN is DE89 3704 0044 0532 0130 00", "bank_account"),
        ("the pin of my bank account is 44556677", "password"),
        ("bank account password 12345678", "password"),
    ],
)
def test_an_account_number_is_called_what_it_is(said: str, category: str) -> None:
    assert {one.category for one in learned_secrets.find(said)} == {category}
