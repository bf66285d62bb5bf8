"""Memory Center as a LlamaIndex memory block, and a LlamaIndex memory that records messages."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import quote

import httpx
from llama_index.core.bridge.pydantic import Field
from llama_index.core.llms import ChatMessage, MessageRole
from llama_index.core.memory import BaseMemoryBlock, Memory

logger = logging.getLogger(__name__)
_SPOKEN = (MessageRole.USER, MessageRole.ASSISTANT)


class MemoryCenterBlock(BaseMemoryBlock[str]):
    """The memory block of one user, chosen for the user's last message.

    `center` is a client with the address and the key: `httpx.AsyncClient(base_url=…, headers=…)`.
    """

    name: str = "memory_center"
    accept_short_term_memory: bool = False  # RecordingMemory sends each message immediately
    center: httpx.AsyncClient = Field(exclude=True)
    user_id: str
    conversation_id: str

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        texts = [
            message.content or "" for message in messages or [] if message.role == MessageRole.USER
        ]
        if not texts or not texts[-1].strip():
            return ""
        asked = {"conversation_id": self.conversation_id, "include_window": False}
        body = {"user_id": self.user_id, "message": texts[-1], **asked}
        try:
            answer = await self.center.post("/api/v1/memory/context", json=body)
            return str(answer.raise_for_status().json()["block"])
        except httpx.HTTPError as error:  # the chat continues without memory
            logger.warning("Memory Center could not recall: %s", type(error).__name__)
            return ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        """Record the messages of the user and the model. Tool calls are not recorded."""
        path = f"/api/v1/conversations/{quote(self.conversation_id, safe='')}/messages"
        for message in messages:
            text = message.content or ""
            if (
                message.role in _SPOKEN
                and text.strip()
                and not message.additional_kwargs.get("tool_calls")
            ):
                body = {"user_id": self.user_id, "role": message.role.value, "content": text}
                try:
                    (await self.center.post(path, json=body)).raise_for_status()
                except httpx.HTTPError as error:
                    logger.warning("Memory Center did not record: %s", type(error).__name__)


class RecordingMemory(Memory):
    """A LlamaIndex memory that passes each message to its `MemoryCenterBlock`s immediately."""

    async def aput(self, message: ChatMessage) -> None:
        await super().aput(message)
        await self._record([message])

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        await super().aput_messages(messages)
        await self._record(messages)

    async def _record(self, messages: list[ChatMessage]) -> None:
        for block in self.memory_blocks:
            if isinstance(block, MemoryCenterBlock):
                await block.aput(messages)
