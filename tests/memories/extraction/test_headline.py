"""Titles of conversations: what a message is about."""

import pytest

from foundation.text import shingles
from memories.extraction.wording.digest import LONGEST_HEADLINE, headline


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Hello there", "Hello there"),
        ("Hi! I'm allergic to peanuts. What can I cook?", "I'm allergic to peanuts"),
        ("Hey, can you help me with my tax return?", "My tax return?"),
        ("Could you tell me where the nearest lake is?", "Where the nearest lake is?"),
        ("Please remember that I prefer short answers.", "I prefer short answers"),
        ("remember: the plumber comes on Friday", "The plumber comes on Friday"),
        ("Remember me?", "Remember me?"),
        ("Hi there, I'm Orla, a nurse.", "I'm Orla, a nurse"),
        ("Good morning! I keep bees.", "I keep bees"),
        ("你好，请问杭州有什么好吃的？", "杭州有什么好吃的？"),
        ("请记住：我喜欢简短直接的回答。", "我喜欢简短直接的回答"),
        ("帮我写一封请假邮件", "写一封请假邮件"),
        ("你好啊我是李秀兰", "我是李秀兰"),
        ("嗨呀，我养了一只猫。", "我养了一只猫"),
        ("晚上好！我想学做红烧肉。", "我想学做红烧肉"),
        (
            "我孙子小宝今年七岁了，他对虾过敏，上次吃了虾嘴巴肿起来",
            "我孙子小宝今年七岁了，他对虾过敏…",
        ),
        ("谢谢！\n我养了一只叫豆豆的猫。", "我养了一只叫豆豆的猫"),
        ("…", "…"),
        ("", ""),
    ],
)
def test_a_title_says_what_the_message_is_about(text: str, title: str) -> None:
    assert headline(text) == title


@pytest.mark.parametrize("text", ["The boat that we painted blue " * 5, "我们把小船漆成了蓝色" * 9])
def test_a_long_one_is_cut_and_still_found_in_its_message(text: str) -> None:
    title = headline(text)
    assert len(title) <= LONGEST_HEADLINE + 1 and title.endswith("…")
    assert shingles.blank_title_if_contained(title, [text]) == ""


def test_it_is_cut_at_a_word() -> None:
    assert headline("The boat that we painted blue " * 5).endswith(" we painted blue…")
