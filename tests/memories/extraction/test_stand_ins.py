"""What stands where a secret would be is left alone, and numbers of things are no secrets."""

from __future__ import annotations

import pytest

from memories.reader import Secret
from memories.screening import learned_secrets, secret_search
from memories.screening.secret_forms import is_spelled_out_secret
from memories.screening.stand_ins import is_in_masked, is_stand_in
from tests.memories.extraction.readings import FakeReader


@pytest.mark.parametrize(
    "value",
    [
        "YOUR_API_KEY", "<token>", "********", "changeme", "${DB_PASSWORD}",
        "postgres://user:password@localhost:5432/db",
        "password@localhost:5432/db", "mongodb://<username>:<password>@db.example/test",
        "DB_PASSWORD=<your-password-here>.", "DB_PASSWORD=your_password_here", "sk-your-key-here",
        "你的金鑰", "xxxx",
    ],
)  # fmt: skip
def test_a_stand_in_reveals_nothing(value: str) -> None:
    assert is_stand_in(value)


@pytest.mark.parametrize(
    "value", ["Thunderpug!19", "4111 1111 1111 1112", "letmein@home", "AKIAQ7EXAMPL3KEY9ZZZ"]
)
def test_a_real_value_is_none(value: str) -> None:
    assert not is_stand_in(value)


def test_what_a_mask_shows_is_no_secret() -> None:
    text = "储蓄卡622848******8148是哪个银行"
    start = text.index("622848")
    assert is_in_masked(text, start, start + 6)
    assert secret_search.find(text) == ()


def test_a_number_of_a_thing_is_no_secret_whatever_a_rule_says() -> None:
    for text in ("frame number on the bike is WBK20417H", "date code 2318 on the warranty"):
        assert secret_search.find(text)
        assert learned_secrets.find(text) == ()
    assert learned_secrets.find("the suitcase code is 4471")


@pytest.mark.parametrize(
    "text",
    [
        "test card 4242 4242 4242 4242 gives 'card_declined' in stripe",
        "token = tokens[i+1] throws index out of range",
        "card ends in 6625, is that enough for the shop?",
        "尾号是6625的卡怎么查余额",
        "token = jieba.lcut(text) 这里的token是一回事吗",
        "secret = random.randint(1, 100) for a guessing game",
        "git reset --hard 7d3a9c1 之后我写的全没了",
        "弱口令排行榜 123456、admin、888888 做个海报",
        "docker run -e MYSQL_ROOT_PASSWORD=changeme -p 3306:3306 mysql:8 exits",
        "AWS docs example has AKIAIOSFODNN7EXAMPLE as the key",
        "jwt.io 首页那个 eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9 解出来就是个header",
        "the sheet formula =VLOOKUP(A2,Prices!B:D,3,FALSE) gives #N/A",
        "ubuntu 22.04 apt 报 NO_PUBKEY 871920D1991BC93C，怎么导入",
        "路由器背面写的默认admin/admin，买回来要改吗",
        "Bank example IBAN on Wikipedia is GB82 WEST 1234 5698 7654 32",
        "localhost:3000/login?redirect=%2Fhome 登录后跳不回去",
        "https://www.bbc.example/food/recipes/lentil_soup_21 can i freeze this one",
    ],
)
def test_what_anybody_may_know_is_no_secret(text: str) -> None:
    assert learned_secrets.find(text) == ()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("heres my .env\nPORT=3000\nDB_PASS=stilts&mud\nDEBUG=1", "stilts&mud"),
        ('export REDIS_PASSWORD="fern"', "fern"),
        ("the default password is bluebell, root user", "bluebell"),
        ("默认密码是海棠花88，admin账户", "海棠花88"),
        ("my password is $Kd8x2QmVt4z$", "$Kd8x2QmVt4z$"),
        ("stripe tutorial, my password is Kite77bow, card 4242 4242 4242 4242", "Kite77bow"),
        ("docker run -e MYSQL_ROOT_PASSWORD=hunter22 -p 80:80", "MYSQL_ROOT_PASSWORD=hunter22"),
        ("webhook posts to https://hooks.chatter.example/T02/B77/kLm93nQzP but",
         "https://hooks.chatter.example/T02/B77/kLm93nQzP"),
        ("my calender ical is https://cal.example/private-3f09ac71e8d5/basic.ics",
         "https://cal.example/private-3f09ac71e8d5/basic.ics"),
        ('bot = telebot.TeleBot("6138820475:AAHk3vWq-TzR8nLx0PbYcM2dUeFg7JsQi5o") from a video',
         'telebot.TeleBot("6138820475:AAHk3vWq-TzR8nLx0PbYcM2dUeFg7JsQi5o'),
        ("企微机器人 qy.example/webhook/send?key=4f0a-b7e2-19cd 每天九点发提醒",
         "qy.example/webhook/send?key=4f0a-b7e2-19cd"),
        ("My Sibelius serial is SB8-440-19372-AAKQ-07. New Mac.", "SB8-440-19372-AAKQ-07"),
        ("he needs it: capital R, e, e, d, dash, six, six, zero, little m. How do I say it?",
         "capital R, e, e, d, dash, six, six, zero, little m"),
    ],
)  # fmt: skip
def test_the_whole_of_a_line_or_link_is_secret(text: str, secret: str) -> None:
    assert [text[span.start : span.end] for span in learned_secrets.find(text)] == [secret]


def test_small_words_between_two_parts_of_a_passphrase_are_secret() -> None:
    text = "it opens with Oldmoor rain is the best drizzle and no sign"
    reader = FakeReader()
    parts = [
        (text.index(part), text.index(part) + len(part))
        for part in ("Oldmoor rain", "best drizzle")
    ]
    reader.hears(text, secrets=[Secret(*part, 0.9) for part in parts])
    spans = learned_secrets.of_reading(text, reader.read(text), reader.read)
    assert [text[span.start : span.end] for span in spans] == ["Oldmoor rain is the best drizzle"]


def test_a_spelled_name_is_no_password() -> None:
    assert not is_spelled_out_secret("s, m, i, t, h, e, r, s")
    assert is_spelled_out_secret("big r, e, e, d, dash, six, six, zero")
