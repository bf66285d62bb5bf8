"""Each thing forgotten by a scope of its own: the person stays, and no word of it does."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from typing import Any

import pytest

from tests.live import Product
from tests.scenarios.planted import Words, analyze
from tests.scenarios.planting import Planting, settle


def by_turn(api: Planting) -> str:
    told = api.ana.tell(f"I'm allergic to {api.word('message')}.", conversation="c")
    api.ana.post(
        "/feedback",
        message_id=told["user_message_id"],
        rating="negative",
        comment=api.word("comment"),
    )
    recall(api, "allergic")
    body = {"scope": "message", "message_id": told["assistant_message_id"], "cascade": True}
    return str(api.ana.post("/memory/forget", **body)["op_id"])


def by_conversation(api: Planting) -> str:
    word = api.word
    name = word("conversation id")
    made = api.ana.post("/conversations", conversation_id=name, title=word("title"))
    for number in range(12):
        api.ana.tell(f"On day {number} we saw a {word(f'said {number}')}.", conversation=name)
    recall(api, "day", conversation_id=name)
    exported = api.ana.post("/memory/export", format="zip", conversation_id=name)
    api.ana.finished([exported["op_id"]])
    return str(
        api.ana.post("/memory/forget", scope="conversation", conversation_id=made["id"])["op_id"]
    )


def by_clearing(api: Planting) -> str:
    api.ana.tell(f"I'm allergic to {api.word('message')}.", conversation="c")
    recall(api, "allergic")
    return str(api.ana.post("/clear", conversation_id="c")["op_id"])


def by_memory(api: Planting) -> str:
    word, ana = api.word, api.ana
    made = ana.post(
        "/memory/long_term",
        content=f"Keeps {word('memory')} in the cellar",
        tags=[word("tag")],
        data={"k": word("data")},
        metadata={"k": word("metadata")},
    )
    path = f"/memory/long_term/{made['id']}"
    ana.patch(path, content=f"Keeps {word('second version')} in the cellar")
    ana.post("/feedback", memory_id=made["id"], rating="negative", comment=word("reason"))
    plain = {"user_id": ana.user_id, "content": f"Likes {word('repeated')}"}
    again = {"Idempotency-Key": uuid.uuid4().hex}
    other = api.call("POST", "/api/v1/memory/long_term", json=plain, headers=again)
    recall(api, "cellar")
    exported = ana.post("/memory/export", format="json")
    ana.finished([exported["op_id"]])
    bulk = {"ids": [made["id"], other["id"]], "action": "forget"}
    return str(ana.post("/memory/long_term/bulk", **bulk)["op_id"])


def by_project(api: Planting) -> str:
    word, ana = api.word, api.ana
    key = word("project key")
    ana.post("/memory/long_term", content=f"Deploys {word('project memory')}", project_key=key)
    recall(api, "deploys", project_key=key)
    return str(ana.post("/memory/forget", scope="project", project_key=key)["op_id"])


def by_mem0(api: Planting) -> str:
    word, user = api.word, {"user_id": api.ana.user_id}
    said = [{"role": "user", "content": f"I collect {word('mem0 message')}."}]
    body = {"messages": said, **user, "run_id": word("mem0 run"), "metadata": {"k": word("label")}}
    event = api.call("POST", "/v3/memories/add/", json=body)["event_id"]
    api.ana.finished([event])
    plain = {**user, "infer": False, "metadata": {"k": word("plain label")}}
    stored = [{"role": "user", "content": f"Likes {word('mem0 memory')}"}]
    api.call("POST", "/v3/memories/add/", json={**plain, "messages": stored})
    gone = api.call("DELETE", "/v1/memories/", params=user)
    settle(api)
    return str(gone["event_id"])


def by_chat(api: Planting) -> str:
    """Said in a conversation, with an answer that says what was forgotten."""
    word = api.word("memory")
    api.ana.post("/memory/long_term", content=f"I have an allergy to {word} nuts")
    return _first_forget(api, f"Forget that I have an allergy to {word} nuts.")


def _first_forget(api: Planting, text: str) -> str:
    api.ana.tell(text, conversation="asking")
    settle(api)
    rows = api.ana.get("/memory/ops", kind="forget_memory", limit=1)["results"]
    # What was asked for names it as well, and is a message of its own.
    return str(api.ana.post("/clear", conversation_id="asking")["op_id"]) if rows else ""


def recall(api: Planting, about: str, **more: Any) -> None:
    """So that there are traces, caches and counts of it."""
    api.ana.post("/memory/context", message=f"What about {about}?", **more)
    api.ana.get("/search", query=about)


@pytest.mark.parametrize(
    "by", [by_turn, by_conversation, by_clearing, by_memory, by_project, by_mem0, by_chat]
)
def test_no_word_is_left_of_what_was_forgotten_by_its_own_scope(
    plain: Planting, product: Product, word: Words, by: Callable[[Planting], str]
) -> None:
    op_id = by(plain)
    assert op_id
    analyze(product)
    plain.ana.finished([op_id])
    settle(plain)
    assert word.left(product) == {}
