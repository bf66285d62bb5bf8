"""Tests of the integration with LangChain and LangGraph."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import RunnableConfig, RunnablePassthrough
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_openai import ChatOpenAI
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import Item
from memory_center_agent import MemoryCenterMiddleware
from memory_center_history import MemoryCenterHistory
from memory_center_store import MemoryCenterStore

from integrations.center import ASKED, TOLD, Center, prompt
from tests.chat_server import ChatServer


@pytest.fixture
def http(center: Center) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=center.url, headers=center.headers, timeout=60) as client:
        yield client


def chat_model(model: ChatServer) -> ChatOpenAI:
    return ChatOpenAI(model="m", api_key="none", base_url=model.url)


def test_a_chain_recalls_in_another_conversation_what_was_said(
    center: Center, http: httpx.Client, model: ChatServer
) -> None:
    histories = {}

    def history(conversation_id: str) -> MemoryCenterHistory:
        return histories.setdefault(
            conversation_id,
            MemoryCenterHistory(http, user_id=center.user_id, conversation_id=conversation_id),
        )

    def block(asked: dict[str, str], config: RunnableConfig) -> str:
        return history(config["configurable"]["session_id"]).recall(asked["input"])

    template = ChatPromptTemplate.from_messages(
        [("system", "Be kind.\n{block}"), MessagesPlaceholder("history"), ("human", "{input}")]
    )
    chain = RunnableWithMessageHistory(
        RunnablePassthrough.assign(block=block) | template | chat_model(model),
        history,
        input_messages_key="input",
        history_messages_key="history",
    )
    monday = RunnableConfig(configurable={"session_id": "monday"})
    assert chain.invoke({"input": TOLD}, monday).content == "Noted."
    assert [message.content for message in history("monday").messages] == [TOLD, "Noted."]
    center.wait_until_known("nuts")

    chain.invoke({"input": ASKED}, RunnableConfig(configurable={"session_id": "friday"}))
    assert "allergic to nuts" in prompt(model) and TOLD not in prompt(model)
    chain.invoke({"input": "Thank you."}, monday)
    assert TOLD in prompt(model)  # the history of this conversation
    history("monday").clear()
    assert history("monday").messages == []


@pytest.mark.parametrize("is_async", [False, True], ids=["sync", "async"])
def test_an_agent_recalls_in_another_conversation_what_was_said(
    center: Center, http: httpx.Client, model: ChatServer, is_async: bool
) -> None:
    def history(runtime: Runtime[Any]) -> MemoryCenterHistory:
        return MemoryCenterHistory(http, user_id=center.user_id, **runtime.context)

    agent = create_agent(
        chat_model(model), system_prompt="Be kind.", middleware=[MemoryCenterMiddleware(history)]
    )

    def say(text: str, conversation: str) -> str:
        given = {"messages": [("human", text)]}
        context = {"conversation_id": conversation}
        run = asyncio.run(agent.ainvoke(given, context=context)) if is_async else None
        run = run or agent.invoke(given, context=context)
        return str(run["messages"][-1].content)

    assert say(TOLD, "monday") == "Noted."
    center.wait_until_known("nuts")
    say(ASKED, "friday")
    assert "Be kind." in prompt(model) and "allergic to nuts" in prompt(model)
    assert TOLD not in prompt(model)


def test_a_graph_finds_in_its_store_what_was_said(
    center: Center, http: httpx.Client, model: ChatServer
) -> None:
    told = MemoryCenterHistory(http, user_id=center.user_id, conversation_id="monday")
    told.add_user_message(TOLD)
    told.add_ai_message("Noted.")
    center.wait_until_known("nuts")

    def answer(state: MessagesState, runtime: Runtime[None]) -> dict[str, list]:
        [*_, asked] = state["messages"]
        found = runtime.store.search(("memories", center.user_id), query=asked.text)
        known = "\n".join(item.value["content"] for item in found)
        return {"messages": [chat_model(model).invoke([SystemMessage(known), asked])]}

    store = MemoryCenterStore(http)
    graph = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer")
    graph.compile(store=store).invoke({"messages": [HumanMessage("What am I allergic to?")]})
    assert "allergic to nuts" in prompt(model)


def test_a_store_keeps_changes_finds_and_forgets(center: Center, http: httpx.Client) -> None:
    store, space = MemoryCenterStore(http), ("prefs", center.user_id)
    store.put(space, "tea", {"content": "Likes green tea", "sure": True})
    store.put(space, "plan", {"city": "Lisbon", "nights": 3})
    assert store.get(space, "tea").value == {"content": "Likes green tea", "sure": True}
    assert store.get(space, "plan").value == {"city": "Lisbon", "nights": 3}
    assert store.get(space, "coffee") is None
    store.put(space, "tea", {"content": "Likes black tea", "sure": False})
    assert [item.value["content"] for item in store.search(space, query="tea")][:1] == [
        "Likes black tea"
    ]
    assert [item.key for item in store.search(space, filter={"sure": False})] == ["tea"]
    assert {item.key for item in store.search(space)} == {"tea", "plan"}
    assert len(store.search(space, limit=1, offset=1)) == 1
    assert store.search(("other", center.user_id), query="tea") == []
    assert store.get(("prefs", "somebody-else"), "tea") is None
    known = store.search(("memories", center.user_id), query="tea")
    assert "Likes black tea" in [item.value["content"] for item in known]
    store.delete(space, "tea")
    assert store.get(space, "tea") is None and "Likes black tea" not in center.memories()


def test_a_store_answers_asynchronously(center: Center, http: httpx.Client) -> None:
    store, space = MemoryCenterStore(http), ("prefs", center.user_id)

    async def put_and_get() -> Item | None:
        await store.aput(space, "tea", {"content": "Likes green tea"})
        return await store.aget(space, "tea")

    assert asyncio.run(put_and_get()).value == {"content": "Likes green tea"}
