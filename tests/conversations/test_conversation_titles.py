"""Titles of conversations: what they leave out, and how a conversation without one is named."""

from datetime import UTC, datetime

import pytest
from django.utils import timezone, translation

from conversations.recording.conversation_titles import title_of
from ops.models import User
from tests.factories import make_conversation


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("Which lake is near Leeds?", "Which lake is near Leeds?"),
        (
            "I was diagnosed with bipolar disorder. What should I cook tonight?",
            "What should I cook tonight?",
        ),
        ("My thyroid is acting up again", "Health"),
        ("i owe beth 40 quid", "Money"),
        ("my ex didnt pay child support again", "Money"),
        ("Never bring up my weight", "How to answer"),
        ("my wifi password is Tr0ub4dor&3", ""),
        ("don't keep this: Beth is expecting", ""),
        ("我手机号换了，新的是13912345678，帮我写条通知", ""),
        ("call me on 07700 900123 please", ""),
        ("forget what I said about the wine", ""),
        ("不要再提我前夫了", "回答方式"),
        ("我甲状腺有个结节，下周复查", "健康"),
        ("我离婚三年了。周末去哪儿玩好？", "周末去哪儿玩好？"),
        ("我每个月房贷六千", "钱财"),
        ("帮我看看这个项目多少提成合适", "看看这个项目多少提成合适"),
        ("会议不要提前", "会议不要提前"),
    ],
)
def test_a_title_leaves_out_what_is_private(said: str, title: str) -> None:
    assert title_of(said) == title


@pytest.mark.parametrize(
    "greeting",
    [
        *(
            "哈喽哈喽",
            "哈喽哈喽，在不在",
            "哈啰哈啰！",
            "你好你好呀",
            "嗨嗨",
            "早呀早呀",
            "在吗在吗？",
        ),
        *("hey", "Hello hello", "hey hey there", "hiya", "hi, good morning!", "thanks a lot", "👋"),
    ],
)
def test_a_mere_greeting_gives_no_title(greeting: str) -> None:
    assert title_of(greeting) == ""


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("哈喽哈喽，杭州哪里好玩", "杭州哪里好玩"),
        ("哈喽哈喽！杭州哪里好玩", "杭州哪里好玩"),
        ("哈喽哈，杭州哪里好玩", "杭州哪里好玩"),
        ("你好你好，哈尔滨冷吗", "哈尔滨冷吗"),
        ("Hiya, which lake is near Leeds?", "Which lake is near Leeds?"),
        ("Hello hello. Which lake is near Leeds?", "Which lake is near Leeds?"),
    ],
)
def test_a_greeting_is_left_out_whole_before_the_subject(said: str, title: str) -> None:
    assert title_of(said) == title


def test_a_conversation_without_a_title_is_named_by_its_beginning(alice: User) -> None:
    begun = datetime(2024, 3, 5, 12, 4, tzinfo=UTC)
    talk = make_conversation(alice)
    talk.title, talk.created_at = "", begun
    with timezone.override("UTC"):
        with translation.override("en"):
            assert talk.shown_title == "Conversation of 5 Mar 2024, 12:04"
        with translation.override("zh-hans"):
            assert talk.shown_title == "2024年3月5日 12:04 的会话"
    talk.title = "Rice"
    assert talk.shown_title == "Rice"
