"""Words around a statement show that it is asked, taken back, or cut out of a word."""

import pytest

from memories.extraction.message_reading.statement_checks import is_only_question
from memories.extraction.requests import commands
from tests.memories.extraction.bundled_reading import contents, extract, only
from tests.memories.extraction.readings import FakeReader, statement


def heard(text: str, *quotes: str, flags: tuple[str, ...] = ()) -> list[str]:
    """The memories of a message in which the reader finds the quotations as statements."""
    told = FakeReader()
    told.hears(text, *(statement(text, quote) for quote in quotes), flags=flags)
    return contents(extract(text, told=told))


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("我甲状腺咋样了", "我甲状"),
        ("我甲状腺结节怎么样了", "我甲状腺结节"),
        ("我爸生日好久", "我爸生日好久"),
        ("我前夫叫啥你晓得不", "我前夫叫啥"),
        ("我儿子上几年级 你还记得吗", "我儿子上几年级"),
        ("我爸喜欢喝哪种茶", "我爸喜欢喝哪种茶"),
        ("我妹在哪个城市上班。", "我妹在哪个城市上班"),
        ("我们家谁不吃辣", "我们家谁不吃辣"),
        ("乐乐读几年级了", "乐乐读几年级了"),
        ("小敏呢", "小敏"),
        ("我妈的生日呢？", "我妈的生日"),
        ("我外婆在哪儿住 好多岁了", "我外婆在哪儿住"),
        ("我外婆在哪儿住 好多岁了", "好多岁了"),
        ("好久生娃儿", "好久生娃儿"),
        ("我妈好久过生日", "我妈好久过生日"),
        ("我好久去成都", "我好久去成都"),
        ("我们几时结婚", "我们几时结婚"),
        ("我该咋个减肥", "我该咋个减肥"),
        ("我老婆係边度人", "我老婆係边度人"),
    ],
)
def test_a_chinese_question_without_a_question_mark_leaves_no_fact(text: str, quote: str) -> None:
    assert heard(text, quote) == []


@pytest.mark.parametrize(
    ("text", "quote"),
    [
        ("where does my brother live?", "my brother live"),
        ("where does my brother live", "where does my brother live"),
        ("hey, when is my wifes birthday?", "my wifes birthday"),
        ("I'm back. whats my sister called again?", "my sister called again"),
    ],
)
def test_the_rest_of_an_english_question_leaves_no_fact(text: str, quote: str) -> None:
    assert heard(text, quote) == []


@pytest.mark.parametrize(
    ("text", "quotes", "kept"),
    [
        ("开会的时候，我只喝茶。", ("开会的时候", "我只喝茶"), ["开会的时候，我只喝茶"]),
        ("开会的时候我只喝茶。", ("开会的时候", "我只喝茶"), ["开会的时候我只喝茶"]),
        ("我吃不了虾，一吃就起疹子", ("我吃不了虾", "一吃就起疹子"), ["我吃不了虾，一吃就起疹子"]),
        (
            "我牛奶过敏 喝一口就要跑厕所",
            ("我牛奶过敏", "喝一口就要跑厕所"),
            ["我牛奶过敏 喝一口就要跑厕所"],
        ),
        ("我养猫。一吃就起疹子", ("我养猫", "一吃就起疹子"), ["我养猫", "一吃就起疹子"]),
        ("我只喝茶，开会的时候。我养猫", ("开会的时候", "我养猫"), ["开会的时候", "我养猫"]),
    ],
)
def test_a_chinese_clause_that_says_when_or_what_follows_is_joined(
    text: str, quotes: tuple[str, ...], kept: list[str]
) -> None:
    assert [one.removeprefix("[我]") for one in heard(text, *quotes)] == kept


def test_what_a_question_mentions_by_the_way_is_kept() -> None:
    said = "what can I cook, my brother is coeliac?"
    assert heard(said, "my brother is coeliac") == ["my brother is coeliac"]


@pytest.mark.parametrize(
    ("text", "quote", "kept"),
    [
        ("丽丽发我的：我儿子对牛奶蛋白过敏 千万别给他吃", "我儿子对牛奶蛋白过敏", []),
        ("my sister texted me: I'm moving to Cork", "I'm moving to Cork", []),
        ("my sister texted me: dad is in hospital", "dad is in hospital", ["dad is in hospital"]),
        ("我儿子对牛奶蛋白过敏 丽丽发我的：哈哈", "我儿子对牛奶蛋白过敏", ["我儿子对牛奶蛋白过敏"]),
    ],
)
def test_the_first_person_of_a_forwarded_message_is_somebody_else(
    text: str, quote: str, kept: list[str]
) -> None:
    assert heard(text, quote) == kept


@pytest.mark.parametrize(
    "text",
    [
        *("我腰疼了好久", "我家里没什么亲戚", "我等了你好久", "我什么辣都能吃", "我不知道的不多"),
        *("我爱看书什么的", "我有好几个侄子", "那个什么药我吃了五年"),
        *("我好久不吃肉了", "好久以前我住在昆明", "我好久没回老家", "我好久去一次上海"),
        *("我屋头养了好多猫", "我边度都去过", "我好中意饮茶", "我练好久钢琴"),
    ],
)
def test_a_statement_with_a_question_word_is_kept(text: str) -> None:
    assert heard(text, text) == [text]


def test_a_statement_that_ends_with_a_particle_is_kept() -> None:
    assert heard("我还在学游泳呢", "我还在学游泳") == ["我还在学游泳"]


@pytest.mark.parametrize(
    ("text", "asks"),
    [
        ("我甲状腺咋样了", True),
        ("我爸生日好久", True),
        ("我前夫叫啥你晓得不", True),
        ("How is my thyroid doing", True),
        ("我住在成都。我爸住哪里？", False),
        ("I live in Leeds", False),
        ("", False),
    ],
)
def test_a_message_is_only_a_question(text: str, asks: bool) -> None:
    assert is_only_question(text) is asks


@pytest.mark.parametrize(
    ("text", "joke"),
    [
        ("我对猫毛过敏 哈哈开玩笑的", "我对猫毛过敏"),
        ("我男朋友...没有啦 逗你的", "我男朋友...没有"),
        ("I'm allergic to cats haha just kidding", "I'm allergic to cats"),
        ("I quit my job, jk", "I quit my job"),
    ],
)
def test_a_joke_takes_back_the_statement_before_it(text: str, joke: str) -> None:
    told = FakeReader()
    told.hears(text, statement(text, joke))
    found = extract(text, told=told)
    assert contents(found) == []
    assert len(found.outside_real_life) == 1


def test_a_joke_takes_back_nothing_else() -> None:
    text = "我住在成都。我对猫毛过敏 开玩笑的"
    assert heard(text, "我住在成都", "我对猫毛过敏") == ["我住在成都"]
    assert heard("我同事很爱开玩笑", "我同事很爱开玩笑") == ["我同事很爱开玩笑"]


@pytest.mark.parametrize(
    ("text", "quotes", "kept"),
    [
        ("不对豆豆钢琴课是周日", ("课是周日",), ["豆豆钢琴课是周日"]),
        ("大理算了不去了", ("了不去了",), ["大理算了不去了"]),
        ("call me Lan", ("call me",), ["call me Lan"]),
        ("我住在成都", ("我住在成都",), ["我住在成都"]),
    ],
)
def test_a_statement_that_is_cut_in_a_word_is_made_whole(
    text: str, quotes: tuple[str, ...], kept: list[str]
) -> None:
    assert heard(text, *quotes) == kept


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("忘了跟你说 我要出差去西安", "我要出差去西安"),
        ("对了 忘记告诉你了 我妈对海鲜过敏", "我妈对海鲜过敏"),
        ("Oh, I forgot to mention, my sister is vegetarian", "my sister is vegetarian"),
        ("forgot to tell you I'm flying to Oslo", "I'm flying to Oslo"),
    ],
)
def test_forgot_to_tell_you_opens_what_is_learned(text: str, said: str) -> None:
    told, seen = FakeReader(), commands.without_openers(text)
    assert (len(seen), seen.strip()) == (len(text), said)
    told.hears(text, flags=["forget"])
    told.hears(seen, statement(seen, said))
    found = extract(text, told=told)
    assert (only(found).content, only(found).quote, found.forget) == (said, said, ())


@pytest.mark.parametrize(
    "text",
    ["忘了告诉你的那件事", "忘了跟老师说", "别忘了告诉我妈", "I forget to tell people"],
)
def test_other_words_of_forgetting_open_nothing(text: str) -> None:
    assert commands.without_openers(text) == text


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("不要再提我前夫了", "不要再提我前夫了"),
        ("不要再提那个项目了", "不要再提那个项目了"),
        ("stop bringing up my ex", "stop bringing up my ex"),
        ("Please don't mention my old job again.", "Please don't mention my old job again"),
    ],
)
def test_a_wish_not_to_mention_something_is_a_standing_preference(text: str, wish: str) -> None:
    told = FakeReader()
    told.hears(text, flags=["forget", "dont_keep_topic", "dont_keep_before"])
    found = extract(text, told=told)
    assert (found.forget, found.not_to_keep) == ((), False)
    assert (only(found).content, only(found).kind) == (wish, "preference")


@pytest.mark.parametrize(
    "text", ["别提了", "别提醒我", "别提多开心了", "Don't mention it", "I don't talk about my ex"]
)
def test_other_words_of_mentioning_are_no_wish(text: str) -> None:
    assert commands.mention_wish(text) is None


@pytest.mark.parametrize("text", ["算了当我没说", "算了，就当我没说"])
def test_as_if_i_had_not_said_it_means_the_last_message(text: str) -> None:
    assert [one.what for one in commands.commands(text)] == [""]
