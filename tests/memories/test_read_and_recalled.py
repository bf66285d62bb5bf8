"""The block holds what the bundled reader and pair head understood, from the API to the prompt."""

from __future__ import annotations

import pytest

from conversations.models import Conversation
from memories.models import Memory, MemoryStatus
from memories.retrieval.weights import RELEVANCE_FLOOR
from ops.models import User
from ops.queue import worker
from tests.memcenter.rest.client import Api, answer
from tests.memories.extraction.readings import statement
from tests.memories.plain_reader import PlainReader
from tests.memories.test_ingest import say
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db

PROMPTS = ("Explain TCP to me", "写一个快速排序", "帮我生成一份市场分析PPT")


def remember(key: str, content: str, kind: str = "preference") -> None:
    answer(Api(key).post("/memory/long_term", {"content": content, "kind": kind}), 201)


def block(key: str, message: str) -> str:
    found = answer(Api(key).post("/memory/context", {"message": message}))
    text: str = found["block"]
    return text


@pytest.mark.parametrize(
    "wish",
    [
        "希望助手用中文回答自己",
        "更喜欢简洁直接的回答",
        "称呼我林老师",
        "说重量用公斤，温度用摄氏度",
        "别给我用表情符号",
        "call me Mr. Thapa",
        "Call me Mr. Thapa",
        "Fahrenheit and pounds",
        "Prefers short answers without preamble",
        "Kilometres, not miles",
        "No emojis",
    ],
)
def test_a_wish_on_how_to_be_answered_stands_in_every_block(
    alice: User, alice_key: str, wish: str
) -> None:
    remember(alice_key, wish)
    blocks = {prompt: block(alice_key, prompt) for prompt in PROMPTS}
    assert [prompt for prompt, told in blocks.items() if wish not in told] == []


@pytest.mark.parametrize(
    "fact",
    [
        "偏好使用蓝色配色方案",
        "My boss is called Mr. Thapa",
        "Weighs 180 pounds",
        "It was 90 Fahrenheit in Phoenix",
        "同事叫我老王",
        "叫我起床的闹钟是六点半",
        "Call me back after six, I'm in meetings until then",
        "英语六级，能看原版书",
        "Writes Rust for a living",
        "Would rather take the train than fly",
    ],
)
def test_another_memory_comes_only_where_it_is_relevant(
    alice: User, alice_key: str, fact: str
) -> None:
    remember(alice_key, fact)
    assert fact not in block(alice_key, "Explain TCP to me")


def test_a_limit_that_a_contradiction_parked_protects_and_is_marked(
    conversation: Conversation, alice_key: str, pairs: FakePairs
) -> None:
    known, limit = "平时爱喝酸奶", "不要给我推荐含乳糖的食物"
    remember(alice_key, known)
    pairs.says(known, limit, "contradicts")
    say(conversation, f"{limit}。")
    worker.drain()
    assert Memory.objects.get(content=limit).status == MemoryStatus.CANDIDATE

    assert f"- {limit}（待确认）" in block(alice_key, "早餐吃什么好？")


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("No peanuts in the house.", "- No peanuts in the house (to be confirmed)"),
        ("家里不能有花生。", "- 家里不能有花生（待确认）"),
    ],
)
def test_a_limit_whose_owner_is_unsure_names_nobody(
    conversation: Conversation, alice_key: str, plain_reader: PlainReader, said: str, shown: str
) -> None:
    limit = said.rstrip(".。")
    read = statement(said, limit, kind="constraint")
    read.shares["whose"] = {"self": 0.4, "related": 0.35, "others": 0.25}
    plain_reader.hears(said, read)
    say(conversation, said)
    worker.drain()

    told = block(alice_key, "早餐吃什么好？" if said.endswith("。") else "What's for breakfast?")

    assert shown in told
    assert "Alice" not in told


@pytest.mark.parametrize(
    ("prompt", "wanted", "others"),
    [
        (
            "帮我生成一份市场分析PPT",
            ["偏好使用蓝色配色方案", "之前做过类似的竞品分析", "公司是科技行业的"],
            ["养了一只猫", "周末喜欢爬山", "女儿上小学三年级"],
        ),
        (
            "Make me slides for a market analysis",
            ["Prefers blue colour schemes", "Has done a similar competitor analysis"],
            ["Has a cat", "Hikes at the weekend", "Has a daughter in third grade"],
        ),
        (
            "帮我生成一份市场分析PPT",
            ["用户偏好蓝色配色方案", "我偏好蓝色配色", "喜欢蓝色配色方案"],
            ["对猫毛过敏", "周末喜欢爬山", "喜欢蓝色的衣服"],
        ),
        (
            "给店里设计一张开业海报",
            ["排版喜欢留白多一点", "偏爱复古的风格"],
            ["爱吃辣", "女儿上小学三年级"],
        ),
        (
            "Design a flyer for our opening night",
            ["Likes pastel colours", "Prefers handwritten lettering"],
            ["Has a cat", "Hikes at the weekend"],
        ),
    ],
)
def test_a_presentation_needs_its_look_the_company_and_earlier_work(
    alice_key: str, prompt: str, wanted: list[str], others: list[str]
) -> None:
    """The example of document 002, section 2.3; what counts is the relevance alone."""
    for content in (*wanted, *others):
        remember(alice_key, content, kind="fact")
    found = answer(Api(alice_key).post("/memory/context", {"message": prompt}))["items"]
    relevant = {
        one["text"] for one in found if one["components"]["raw_relevance"] >= RELEVANCE_FLOOR
    }
    assert relevant == set(wanted)


@pytest.mark.parametrize(
    ("before", "change", "questions", "wanted"),
    [
        (
            "我在华为工作。",
            "我上周从华为离职，加入了腾讯。",
            ("我在哪里工作？", "我在哪家公司上班？"),
            "腾讯",
        ),
        (
            "I work at Acme.",
            "I quit Acme last week and joined Initech.",
            ("Where do I work?", "Who is my employer?"),
            "Initech",
        ),
    ],
)
def test_what_was_changed_reaches_the_block(
    conversation: Conversation,
    alice_key: str,
    learned_pairs: None,
    before: str,
    change: str,
    questions: tuple[str, ...],
    wanted: str,
) -> None:
    for text in (before, change):
        say(conversation, text)
        worker.drain()

    for question in questions:
        assert wanted in block(alice_key, question)
