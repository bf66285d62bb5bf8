"""The reader on the sentences of the design documents (`docs/rows.md`) and their English."""

from datetime import UTC, datetime

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import TurnText, Utterance
from memories.reader import reader

NOW = datetime(2026, 11, 23, 9, tzinfo=UTC)
# What is said, the words of each memory with the kinds that are right for it.
LEARNED = [
    ("我正在实现 AgentX 记忆 MVP。", {"AgentX 记忆 MVP": "task fact"}),
    ("我的公司名称是TechCorp，主营AI产品。", {"TechCorp": "fact", "AI产品": "fact"}),
    ("我的公司名称是'TechCorp'，主营AI产品", {"TechCorp": "fact", "AI产品": "fact"}),
    ("我的公司是科技行业的。", {"科技行业": "fact"}),
    ("我通常在周一上午9-11点做周报。", {"周一上午9-11点做周报": "pattern"}),
    ("我通常在周一上午9-11点使用Agent做周报。", {"周一上午9-11点使用Agent做周报": "pattern"}),
    ("我们团队使用 Jira 管理需求。", {"Jira": "fact"}),
    (
        "项目用 Django 和 PostgreSQL，禁止使用 SQLite",
        {"Django 和 PostgreSQL": "fact constraint", "禁止使用 SQLite": "constraint"},
    ),
    ("我更喜欢简洁直接的回答。", {"简洁直接的回答": "preference"}),
    ("更喜欢简洁直接的回答", {"简洁直接的回答": "preference"}),
    ("我偏好蓝色配色方案。", {"蓝色配色方案": "preference"}),
    ("我偏好使用蓝色配色方案。", {"蓝色配色方案": "preference"}),
    ("I'm implementing the AgentX memory MVP.", {"AgentX memory MVP": "task"}),
    (
        "My company is called TechCorp and builds AI products.",
        {"TechCorp": "fact", "AI products": "fact"},
    ),
    (
        "I usually write my weekly report on Monday mornings from 9 to 11.",
        {"weekly report": "pattern"},
    ),
    ("Our team uses Jira for requirements.", {"Jira": "fact"}),
    (
        "The project uses Django and PostgreSQL, SQLite is forbidden.",
        {"Django": "fact constraint", "SQLite": "constraint"},
    ),
    ("I prefer short, direct answers.", {"short, direct answers": "preference"}),
    ("I like blue colour schemes.", {"blue colour schemes": "preference"}),
    ("我之前做过类似的竞品分析。", {"竞品分析": "fact event skill"}),
    (
        "做Deep Research的时候，我一般先web_search，再read_url，最后summarize。",
        {"先web_search，再read_url，最后summarize": "pattern skill"},
    ),
]


def told(text: str) -> dict[str, str]:
    """Return the memories with their kinds."""
    turn = TurnText(Utterance(text, NOW), Utterance("", NOW))
    candidates = BundledExtractor(reader()).extract(turn).candidates
    return {one.content: one.kind for one in candidates}


@pytest.mark.parametrize(("said", "kept"), LEARNED)
def test_all_of_it_is_learned(said: str, kept: dict[str, str]) -> None:
    memories = "\n".join(told(said))

    assert all(words in memories for words in kept), memories


@pytest.mark.parametrize(("said", "kept"), LEARNED)
def test_each_memory_is_of_its_kind(said: str, kept: dict[str, str]) -> None:
    memories = told(said)

    for words, right in kept.items():
        kinds = [kind for content, kind in memories.items() if words in content]
        assert kinds and set(kinds) <= set(right.split()), memories


@pytest.mark.parametrize(
    "said", ["帮我生成一份市场分析PPT", "今天天气怎么样？", "为什么用 pgvector？"]
)
def test_a_task_of_the_moment_is_not(said: str) -> None:
    assert told(said) == {}
