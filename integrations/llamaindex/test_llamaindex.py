"""Tests of the integration with LlamaIndex."""

from __future__ import annotations

import asyncio

import httpx
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.llms.openai_like import OpenAILike
from memory_center import MemoryCenterBlock, RecordingMemory

from integrations.center import ASKED, TOLD, Center, prompt
from tests.chat_server import ChatServer, streamed


def llm(url: str, key: str = "none", **headers: str) -> OpenAILike:
    return OpenAILike(
        model="memcenter-demo",
        api_base=url,
        api_key=key,
        default_headers=headers,
        is_chat_model=True,
        is_function_calling_model=True,
    )


def memory(center: Center, http: httpx.AsyncClient, conversation: str) -> RecordingMemory:
    block = MemoryCenterBlock(center=http, user_id=center.user_id, conversation_id=conversation)
    return RecordingMemory.from_defaults(session_id=conversation, memory_blocks=[block])


def test_an_agent_recalls_in_another_conversation_what_was_said(
    center: Center, model: ChatServer
) -> None:
    model.answers = [streamed("Noted.")]  # agents stream

    async def talk() -> None:
        async with httpx.AsyncClient(base_url=center.url, headers=center.headers) as http:
            agent = FunctionAgent(llm=llm(model.url), tools=[], system_prompt="Be kind.")
            monday = memory(center, http, "monday")
            assert str(await agent.run(TOLD, memory=monday)) == "Noted."
            await asyncio.to_thread(center.wait_until_known, "nuts")

            await agent.run(ASKED, memory=memory(center, http, "friday"))
            assert "Be kind." in prompt(model) and "allergic to nuts" in prompt(model)
            assert TOLD not in prompt(model)
            await agent.run("Thank you.", memory=monday)
            assert TOLD in prompt(model)

    asyncio.run(talk())
    [friday, monday] = center.get("/conversations")["results"]
    assert (friday["message_count"], monday["message_count"]) in {(2, 4), (4, 2)}


def test_a_memory_lives_on_without_its_block(center: Center, model: ChatServer) -> None:
    async def talk() -> str:
        async with httpx.AsyncClient(base_url="http://127.0.0.1:9") as http:
            engine = SimpleChatEngine.from_defaults(
                llm=llm(model.url), memory=memory(center, http, "monday")
            )
            return str(await engine.achat(TOLD))

    assert asyncio.run(talk()) == "Noted."


def test_a_changed_url_is_enough(center: Center) -> None:
    """The agent uses the product's URL; the demo assistant answers from recalled memories."""

    def say(text: str, conversation: str) -> str:
        who = {"X-Memcenter-User": center.user_id, "X-Memcenter-Conversation": conversation}
        engine = SimpleChatEngine.from_defaults(llm=llm(f"{center.url}/v1", center.key, **who))
        return str(engine.chat(text))

    say(TOLD, "monday")
    center.wait_until_known("nuts")
    assert "nuts" in say("What am I allergic to?", "friday")
