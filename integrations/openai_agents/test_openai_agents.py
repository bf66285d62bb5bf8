"""Tests of the integration with the OpenAI Agents SDK."""

from __future__ import annotations

import asyncio

import httpx
from agents import Agent, OpenAIChatCompletionsModel, RunConfig, Runner, set_tracing_disabled
from agents.memory import Session
from memory_center import MemoryCenterSession
from openai import AsyncOpenAI

from integrations.center import ASKED, TOLD, Center, prompt
from tests.chat_server import ChatServer

set_tracing_disabled(True)


def agent(url: str, **headers: str) -> Agent:
    client = AsyncOpenAI(api_key=headers.pop("key", "none"), base_url=url, default_headers=headers)
    model = OpenAIChatCompletionsModel(model="memcenter-demo", openai_client=client)
    return Agent(name="Cook", instructions="Be kind.", model=model)


class Talk:
    """The conversations of one user with one agent."""

    def __init__(self, center: Center, http: httpx.AsyncClient, model: ChatServer) -> None:
        self._center, self._http, self._agent = center, http, agent(model.url)

    def session(self, conversation: str) -> MemoryCenterSession:
        return MemoryCenterSession(conversation, user_id=self._center.user_id, center=self._http)

    async def say(self, text: str, conversation: str) -> str:
        session = self.session(conversation)
        config = RunConfig(call_model_input_filter=session.recall_into)
        result = await Runner.run(self._agent, text, session=session, run_config=config)
        return str(result.final_output)


async def tell_then_ask(center: Center, model: ChatServer) -> None:
    async with httpx.AsyncClient(base_url=center.url, headers=center.headers, timeout=60) as http:
        talk = Talk(center, http, model)
        assert isinstance(talk.session("monday"), Session)
        assert await talk.session("monday").get_items() == []
        assert await talk.say(TOLD, "monday") == "Noted."
        await asyncio.to_thread(center.wait_until_known, "nuts")

        await talk.say(ASKED, "friday")
        assert "allergic to nuts" in prompt(model) and TOLD not in prompt(model)
        assert model.asked[-1]["messages"][0]["content"].startswith("Be kind.")
        await talk.say("Thank you.", "monday")
        assert TOLD in prompt(model)  # the history of this conversation


async def change_what_was_said(center: Center) -> None:
    async with httpx.AsyncClient(base_url=center.url, headers=center.headers, timeout=60) as http:
        session = MemoryCenterSession("monday", user_id=center.user_id, center=http)
        said = [{"role": "user", "content": TOLD}, {"role": "assistant", "content": "Noted."}]
        await session.add_items(said)
        assert await session.get_items() == said
        assert await session.get_items(limit=1) == said[1:]
        assert await session.pop_item() == said[1]
        assert await session.get_items() == said[:1]
        await session.clear_session()
        assert await session.get_items() == [] and await session.pop_item() is None


def test_an_agent_recalls_in_another_session_what_was_said(
    center: Center, model: ChatServer
) -> None:
    asyncio.run(tell_then_ask(center, model))


def test_a_session_lists_pops_and_clears(center: Center) -> None:
    asyncio.run(change_what_was_said(center))


def test_a_changed_url_is_enough(center: Center) -> None:
    """The agent uses the product's URL; the demo assistant answers from recalled memories."""

    async def say(text: str, conversation: str) -> str:
        who = {"X-Memcenter-User": center.user_id, "X-Memcenter-Conversation": conversation}
        cook = agent(f"{center.url}/v1", key=center.key, **who)
        return str((await Runner.run(cook, text)).final_output)

    asyncio.run(say(TOLD, "monday"))
    center.wait_until_known("nuts")
    assert "nuts" in asyncio.run(say("What am I allergic to?", "friday"))
