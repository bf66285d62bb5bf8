"""The reader on the sentences of the design documents (`docs/rows.md`) and their English."""

from datetime import UTC, datetime

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Said, TurnText
from memories.reader import reader

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
LEARNED = [
    ("我正在实现 AgentX 记忆 MVP。", ["AgentX 记忆 MVP"]),
    ("我的公司名称是TechCorp，主营AI产品。", ["TechCorp", "AI产品"]),
    ("我的公司是科技行业的。", ["科技行业"]),
    ("我通常在周一上午9-11点做周报。", ["周一上午9-11点做周报"]),
    ("我们团队使用 Jira 管理需求。", ["Jira"]),
    ("项目用 Django 和 PostgreSQL，禁止使用 SQLite", ["Django 和 PostgreSQL", "禁止使用 SQLite"]),
    ("我更喜欢简洁直接的回答。", ["简洁直接的回答"]),
    ("我偏好蓝色配色方案。", ["蓝色配色方案"]),
    ("我之前做过类似的竞品分析。", ["竞品分析"]),
    (
        "做Deep Research的时候，我一般先web_search，再read_url，最后summarize。",
        ["先web_search，再read_url，最后summarize"],
    ),
    ("I'm implementing the AgentX memory MVP.", ["AgentX memory MVP"]),
    ("My company is called TechCorp and builds AI products.", ["TechCorp", "AI products"]),
    ("I usually write my weekly report on Monday mornings from 9 to 11.", ["weekly report"]),
    ("Our team uses Jira for requirements.", ["Jira"]),
    ("The project uses Django and PostgreSQL, SQLite is forbidden.", ["Django", "SQLite"]),
    ("I prefer short, direct answers.", ["short, direct answers"]),
    ("I like blue colour schemes.", ["blue colour schemes"]),
]


def told(text: str) -> list[str]:
    turn = TurnText(Said(text, NOW), Said("", NOW))
    return [one.content for one in BundledExtractor(reader()).extract(turn).candidates]


@pytest.mark.parametrize(("said", "kept"), LEARNED)
def test_all_of_it_is_learned(said: str, kept: list[str]) -> None:
    memories = "\n".join(told(said))

    assert all(words in memories for words in kept), memories


@pytest.mark.parametrize(
    "said", ["帮我生成一份市场分析PPT", "今天天气怎么样？", "为什么用 pgvector？"]
)
def test_a_task_of_the_moment_is_not(said: str) -> None:
    assert told(said) == []
