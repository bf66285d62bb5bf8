"""Tests of the integration with Pydantic AI."""

from __future__ import annotations

import asyncio

import httpx
from memory_center import MemoryCenter
from openai import AsyncOpenAI
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from integrations.center import ASKED, TOLD, Center, prompt
from tests.chat_server import ChatServer, streamed


def cook(url: str, key: str = "none", **headers: str) -> Agent:
    client = AsyncOpenAI(base_url=url, api_key=key, default_headers=headers)
    provider = OpenAIProvider(openai_client=client)
    return Agent(OpenAIChatModel("memcenter-demo", provider=provider), instructions="Be kind.")


def test_an_agent_recalls_in_another_conversation_what_was_said(
    center: Center, model: ChatServer
) -> None:
    async def talk() -> None:
        async with httpx.AsyncClient(base_url=center.url, headers=center.headers) as http:
            agent, memory = cook(model.url), MemoryCenter(http, center.user_id)
            told = await agent.run(TOLD, conversation_id="monday", capabilities=[memory])
            assert told.output == "Noted."
            await asyncio.to_thread(center.wait_until_known, "nuts")

            await agent.run(ASKED, conversation_id="friday", capabilities=[memory])
            assert "Be kind." in prompt(model) and "allergic to nuts" in prompt(model)
            assert TOLD not in prompt(model)
            await agent.run(
                "Thank you.",
                conversation_id="monday",
                capabilities=[memory],
                message_history=await memory.history("monday"),
            )
            assert TOLD in prompt(model)
            assert await memory.history("sunday") == []

    asyncio.run(talk())


def test_a_streamed_answer_is_recorded(center: Center, model: ChatServer) -> None:
    model.answers = [streamed("Not", "ed.")]

    async def talk() -> list[str]:
        async with httpx.AsyncClient(base_url=center.url, headers=center.headers) as http:
            memory = MemoryCenter(http, center.user_id)
            run = cook(model.url).run_stream(TOLD, conversation_id="monday", capabilities=[memory])
            async with run as result:
                return [text async for text in result.stream_text(delta=True)]

    assert "".join(asyncio.run(talk())) == "Noted."
    center.wait_until_known("nuts")


def test_a_run_goes_on_without_its_memory(center: Center, model: ChatServer) -> None:
    async def talk() -> str:
        async with httpx.AsyncClient(base_url="http://127.0.0.1:9") as http:
            memory = MemoryCenter(http, center.user_id)
            return (await cook(model.url).run(TOLD, capabilities=[memory])).output

    assert asyncio.run(talk()) == "Noted."


def test_a_changed_url_is_enough(center: Center) -> None:
    """The agent uses the product's URL; the demo assistant answers from recalled memories."""

    def say(text: str, conversation: str) -> str:
        who = {"X-Memcenter-User": center.user_id, "X-Memcenter-Conversation": conversation}
        return asyncio.run(cook(f"{center.url}/v1", center.key, **who).run(text)).output

    say(TOLD, "monday")
    center.wait_until_known("nuts")
    assert "nuts" in say("What am I allergic to?", "friday")
