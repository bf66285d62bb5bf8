"""Memory Center as a LangChain message history, with a memory block for the prompt."""

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
    """One conversation of one user. All its messages are recorded and learned from.

    `center` is a client with the address and the key: `httpx.Client(base_url=…, headers=…)`.
    """

    def __init__(self, center: httpx.Client, *, user_id: str, conversation_id: str) -> None:
        self._center, self._user = center, {"user_id": user_id}
        self._conversation = {"conversation_id": conversation_id}
        self._path = f"/api/v1/conversations/{quote(conversation_id, safe='')}/messages"

    def recall(self, message: str) -> str:
        """Return the memory block for this message, or an empty text if nothing is known."""
        body = {**self._user, **self._conversation, "message": message, "include_window": False}
        try:
            answer = self._center.post("/api/v1/memory/context", json=body).raise_for_status()
        except httpx.HTTPError as error:  # the chat continues without memory
            logger.warning("Memory Center could not recall: %s", type(error).__name__)
            return ""
        return str(answer.json()["block"])

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]
        """The messages in the window. The memory block summarizes earlier messages."""
        rows: list[dict[str, Any]] = []
        answer = self._center.get(self._path, params={**self._user, "limit": 100})
        while answer.status_code != 404:  # before its first message a conversation doesn't exist
            page = answer.raise_for_status().json()
            rows += [row for row in page["results"] if row["in_window"]]
            if page["next"] is None:
                break
            answer = self._center.get(page["next"])
        return [_TYPES[row["role"]](row["content"], id=row["id"]) for row in rows]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Record the messages of the user and the model. Tool calls are not recorded."""
        for message in messages:
            role = _ROLES.get(message.type)
            if role and message.text.strip() and not getattr(message, "tool_calls", None):
                body = {
                    **self._user,
                    "role": role,
                    "content": message.text,
                    "message_id": message.id,
                }
                self._center.post(self._path, json=body).raise_for_status()

    def clear(self) -> None:
        """Forget the conversation and everything learned only from it."""
        body = {**self._user, **self._conversation}
        self._center.post("/api/v1/clear", json=body).raise_for_status()
