"""Memory Center as a message history of LangChain, with the memory block for the prompt."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import httpx
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage

logger = logging.getLogger(__name__)
_TYPES = {"user": HumanMessage, "assistant": AIMessage}
_ROLES = {"human": "user", "ai": "assistant"}


class MemoryCenterHistory(BaseChatMessageHistory):
    """One conversation of one person. Everything said in it is recorded and learned from.

    `center` has the address and the key: `httpx.Client(base_url=…, headers=…)`.
    """

    def __init__(self, center: httpx.Client, *, user_id: str, conversation_id: str) -> None:
        self._center, self._user = center, {"user_id": user_id}
        self._conversation = {"conversation_id": conversation_id}
        self._path = f"/api/v1/conversations/{quote(conversation_id, safe='')}/messages"

    def recall(self, message: str) -> str:
        """The memory block for the prompt that answers this message; empty if nothing is known."""
        body = {**self._user, **self._conversation, "message": message, "include_window": False}
        try:
            answer = self._center.post("/api/v1/memory/context", json=body).raise_for_status()
        except httpx.HTTPError as error:  # the chat goes on without its memory
            logger.warning("Memory Center could not recall: %s", type(error).__name__)
            return ""
        return str(answer.json()["block"])

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages in the window; the block has a summary of those that left it."""
        rows: list[dict[str, Any]] = []
        answer = self._center.get(self._path, params={**self._user, "limit": 100})
        while answer.status_code != 404:  # a conversation appears with its first message
            page = answer.raise_for_status().json()
            rows += [row for row in page["results"] if row["in_window"]]
            if page["next"] is None:
                break
            answer = self._center.get(page["next"])
        return [_TYPES[row["role"]](row["content"], id=row["id"]) for row in rows]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Record what the person and the model said; calls of tools are not kept."""
        for one in messages:
            role = _ROLES.get(one.type)
            if role and one.text.strip() and not getattr(one, "tool_calls", None):
                body = {**self._user, "role": role, "content": one.text, "message_id": one.id}
                self._center.post(self._path, json=body).raise_for_status()

    def clear(self) -> None:
        """Forget the conversation and what only it told."""
        body = {**self._user, **self._conversation}
        self._center.post("/api/v1/clear", json=body).raise_for_status()
