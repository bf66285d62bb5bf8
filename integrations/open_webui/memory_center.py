"""
title: Memory Center
description: Recalls what is known about the person before the model answers, and records the turn.
requirements: httpx
"""

from __future__ import annotations

import logging
import re
from typing import Any, Literal

import httpx
from pydantic import BaseModel, Field

logger = logging.getLogger(__name__)
_DETAILS = re.compile(r"<details\b.*?</details>\s*", re.DOTALL)  # reasoning and tool calls


class Filter:
    """Maps each user of Open WebUI to a user of Memory Center, and each chat to a conversation."""

    class Valves(BaseModel):
        url: str = Field("http://127.0.0.1:8000", description="Address of Memory Center")
        key: str = Field("", description="API key of Memory Center, not bound to a user: mc_…")
        person: Literal["id", "email"] = Field(
            "id", description="Which field of a user is the user id in Memory Center"
        )
        priority: int = 0

    class UserValves(BaseModel):
        enabled: bool = Field(True, description="Remember my chats")

    def __init__(self) -> None:
        self.valves = self.Valves()
        self._http = httpx.AsyncClient(timeout=10)

    async def inlet(
        self, body: dict[str, Any], __user__: dict[str, Any], __metadata__: dict[str, Any]
    ) -> dict[str, Any]:
        """Append the memory block to the system prompt."""
        message = _last(body["messages"], "user")
        if not message or not _is_enabled(__user__):
            return body
        asked = {"message": message["text"], "include_window": False}
        found = await self._send("memory/context", __user__, _chat(__metadata__) | asked)
        if block := found.get("block"):
            [first, *rest] = body["messages"]
            if first["role"] == "system" and isinstance(first["content"], str):
                first = {**first, "content": f"{first['content']}\n\n{block}"}
                body["messages"] = [first, *rest]
            else:
                body["messages"] = [{"role": "system", "content": block}, first, *rest]
        return body

    async def outlet(
        self, body: dict[str, Any], __user__: dict[str, Any], __metadata__: dict[str, Any]
    ) -> dict[str, Any]:
        """Record the last turn. A regenerated answer doesn't replace the first one."""
        message, reply = (_last(body["messages"], role) for role in ("user", "assistant"))
        if message and reply and _is_enabled(__user__):
            turn = {"user_message": message["text"], "assistant_message": reply["text"]}
            if message["id"]:  # a stored chat, not an API call
                turn |= {"user_message_id": message["id"], "assistant_message_id": reply["id"]}
            await self._send("turns", __user__, _chat(__metadata__) | turn)
        return body

    async def _send(self, path: str, user: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
        try:
            answer = await self._http.post(
                f"{self.valves.url}/api/v1/{path}",
                json={"user_id": user[self.valves.person], **body},
                headers={"Authorization": f"Bearer {self.valves.key}"},
            )
            return dict(answer.raise_for_status().json())
        except httpx.HTTPError as error:  # the chat continues without memory
            logger.warning("Memory Center did not take %s: %s", path, type(error).__name__)
            return {}


def _is_enabled(user: dict[str, Any]) -> bool:
    return "valves" not in user or bool(user["valves"].enabled)


def _chat(metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that name the conversation and mark it as a group or temporary chat."""
    chat = metadata.get("chat_id") or "api"
    kind = {"conversation_kind": "group"} if chat.startswith("channel:") else {}
    brief = {"temporary": True} if chat.startswith(("temporary:", "local:")) else {}
    return {"conversation_id": chat, **kind, **brief}


def _last(messages: list[dict[str, Any]], role: str) -> dict[str, Any] | None:
    """Return the id and the text of the last message of a role, or None if it has no text."""
    found = next((message for message in reversed(messages) if message["role"] == role), {})
    content = found.get("content") or ""
    parts = [{"text": content}] if isinstance(content, str) else content
    text = _DETAILS.sub("", "".join(part.get("text", "") for part in parts)).strip()
    return {"id": found.get("id"), "text": text} if text else None
