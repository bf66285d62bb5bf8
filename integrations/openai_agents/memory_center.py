"""Memory Center as a session of the OpenAI Agents SDK, with a memory block for the prompt."""

from __future__ import annotations

import logging
from typing import Any
from urllib.parse import quote

import httpx
from agents import SessionSettings, TResponseInputItem
from agents.run import CallModelData, ModelInputData

logger = logging.getLogger(__name__)
_SPOKEN = ("user", "assistant")


class MemoryCenterSession:
    """One conversation of one user. All its messages are recorded and learned from.

    `center` is a client with the address and the key: `httpx.AsyncClient(base_url=…, headers=…)`.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, *, user_id: str, center: httpx.AsyncClient) -> None:
        self.session_id, self._center, self._user = session_id, center, {"user_id": user_id}
        self._path = f"/api/v1/conversations/{quote(session_id, safe='')}/messages"
        self._recalled = ("", "")  # last message and its block; a run calls the model several times

    async def recall_into(self, data: CallModelData[Any]) -> ModelInputData:
        """Append the memory block to the instructions.

        Pass this method to `RunConfig(call_model_input_filter=…)`.
        """
        given = data.model_data
        messages = [_text(item) for item in given.input if item.get("role") == "user"]
        block = await self._block(messages[-1]) if messages and messages[-1].strip() else ""
        instructions = "\n\n".join(part for part in (given.instructions, block) if part)
        return ModelInputData(input=given.input, instructions=instructions or None)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the messages in the window. The memory block summarizes earlier messages."""
        rows = [row for row in await self._rows() if row["in_window"]]
        rows = rows[max(len(rows) - limit, 0) :] if limit is not None else rows
        return [{"role": row["role"], "content": row["content"]} for row in rows]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Record the messages of the user and the model. Tool calls are not recorded."""
        for item in items:
            if item.get("role") in _SPOKEN and (text := _text(item)).strip():
                body = {**self._user, "role": item["role"], "content": text}
                (await self._center.post(self._path, json=body)).raise_for_status()

    async def pop_item(self) -> TResponseInputItem | None:
        """Forget the last message and everything learned from its turn.

        Return the message, or None if the session has no messages.
        """
        rows = await self._rows()
        if not rows:
            return None
        path = f"/api/v1/messages/{rows[-1]['id']}"
        (await self._center.delete(path, params=self._user)).raise_for_status()
        return {"role": rows[-1]["role"], "content": rows[-1]["content"]}

    async def clear_session(self) -> None:
        """Forget the conversation and everything learned only from it."""
        body = {**self._user, "conversation_id": self.session_id}
        (await self._center.post("/api/v1/clear", json=body)).raise_for_status()

    async def _block(self, message: str) -> str:
        if self._recalled[0] != message:
            body = {**self._user, "conversation_id": self.session_id, "include_window": False}
            try:
                answer = await self._center.post(
                    "/api/v1/memory/context", json={**body, "message": message}
                )
                answer.raise_for_status()
            except httpx.HTTPError as error:  # the chat continues without memory
                logger.warning("Memory Center could not recall: %s", type(error).__name__)
                return ""
            self._recalled = (message, answer.json()["block"])
        return self._recalled[1]

    async def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        answer = await self._center.get(self._path, params={**self._user, "limit": 100})
        while answer.status_code != 404:  # before its first message a conversation doesn't exist
            page = answer.raise_for_status().json()
            rows += page["results"]
            if page["next"] is None:
                break
            answer = await self._center.get(page["next"])
        return rows


def _text(item: TResponseInputItem) -> str:
    content = item.get("content") or ""
    parts = [{"text": content}] if isinstance(content, str) else content
    return "".join(part.get("text", "") for part in parts)
