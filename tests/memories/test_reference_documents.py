"""The examples of the design documents, said or written over the API, with the bundled models."""

from __future__ import annotations

import pytest

from ops.models import User
from ops.queue import worker
from tests.memcenter.rest.client import Api, answer
from tests.memories.extraction.test_reference_sentences import LEARNED

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("learned_pairs")]

# The memories that documents 001 and 002 give as examples, with their types.
WRITTEN = [
    ("更喜欢简洁直接的回答", "PROFILE", "preference"),
    ("正在实现 AgentX 记忆 MVP", "TASK", "task"),
    ("用户偏好使用蓝色配色方案", "preference", "preference"),
    ("用户的公司名称是'TechCorp'，主营AI产品", "fact", "fact"),
    ("用户通常在周一上午9-11点使用Agent做周报", "pattern", "pattern"),
    ("Deep Research任务：先web_search → read_url → summarize", "skill", "skill"),
    ("用户之前做过类似的竞品分析", "FACT", "fact"),
]


@pytest.mark.parametrize(("said", "kept"), LEARNED)
def test_what_is_said_is_remembered(
    alice: User, alice_key: str, said: str, kept: dict[str, str]
) -> None:
    """A constraint that waits for review counts: it is in each prompt until it is decided on."""
    api = Api(alice_key)
    body = {"conversation_id": "c", "user_message": said, "assistant_message": "OK."}
    answer(api.post("/turns", body), 201)
    worker.drain()

    known = [one["content"] for one in answer(api.get("/memory/long_term"))["results"]]
    known.append(answer(api.post("/memory/context", {"message": "Explain TCP to me"}))["block"])

    assert [words for words in kept if words not in "\n".join(known)] == []


def test_what_is_written_stays_side_by_side_with_its_type(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    memories = [{"content": content, "kind": named} for content, named, _ in WRITTEN]

    results = answer(api.post("/memory/long_term/batch", {"memories": memories}))["results"]

    assert {one["status"] for one in results} == {"created"}
    known = answer(api.get("/memory/long_term", limit=100))["results"]
    assert {(one["content"], one["kind"]) for one in known} == {
        (content, kind) for content, _, kind in WRITTEN
    }


@pytest.mark.parametrize(
    ("prompt", "needed"),
    [
        ("帮我写这周的周报", "用户通常在周一上午9-11点使用Agent做周报"),
        ("我正在实现什么？", "正在实现 AgentX 记忆 MVP"),
        ("我公司叫什么？", "用户的公司名称是'TechCorp'，主营AI产品"),
        ("帮我做一次Deep Research", "Deep Research任务：先web_search → read_url → summarize"),
        ("帮我做一份竞品分析", "用户之前做过类似的竞品分析"),
        ("Explain TCP to me", "更喜欢简洁直接的回答"),
    ],
)
def test_what_is_written_is_in_the_prompt_that_needs_it(
    alice: User, alice_key: str, prompt: str, needed: str
) -> None:
    api = Api(alice_key)
    memories = [{"content": content, "kind": named} for content, named, _ in WRITTEN]
    answer(api.post("/memory/long_term/batch", {"memories": memories}))

    assert needed in answer(api.post("/memory/context", {"message": prompt}))["block"]
