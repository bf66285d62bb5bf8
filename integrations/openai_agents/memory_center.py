"""Memory Center as a session of the OpenAI Agents SDK, with the memory block for the prompt."""

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
    """One conversation of one person. Everything said in it is recorded and learned from.

    `center` has the address and the key: `httpx.AsyncClient(base_url=…, headers=…)`.
    """

    session_settings: SessionSettings | None = None

    def __init__(self, session_id: str, *, user_id: str, center: httpx.AsyncClient) -> None:
        self.session_id, self._center, self._user = session_id, center, {"user_id": user_id}
        self._path = f"/api/v1/conversations/{quote(session_id, safe='')}/messages"
        self._recalled = ("", "")  # a message and its block: a run asks the model several times

    async def recall_into(self, data: CallModelData[Any]) -> ModelInputData:
        """For `RunConfig(call_model_input_filter=…)`: the memory block follows the instructions."""
        given = data.model_data
        said = [_text(item) for item in given.input if item.get("role") == "user"]
        block = await self._block(said[-1]) if said and said[-1].strip() else ""
        instructions = "\n\n".join(part for part in (given.instructions, block) if part)
        return ModelInputData(input=given.input, instructions=instructions or None)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The messages in the window; the block has a summary of those that left it."""
        rows = [row for row in await self._rows() if row["in_window"]]
        rows = rows[max(len(rows) - limit, 0) :] if limit is not None else rows
        return [{"role": row["role"], "content": row["content"]} for row in rows]

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Record what the person and the model said; calls of tools are not kept."""
        for item in items:
            if item.get("role") in _SPOKEN and (text := _text(item)).strip():
                body = {**self._user, "role": item["role"], "content": text}
                (await self._center.post(self._path, json=body)).raise_for_status()

    async def pop_item(self) -> TResponseInputItem | None:
        """Forget the last message, and what was learned from its turn."""
        rows = await self._rows()
        if not rows:
            return None
        path = f"/api/v1/messages/{rows[-1]['id']}"
        (await self._center.delete(path, params=self._user)).raise_for_status()
        return {"role": rows[-1]["role"], "content": rows[-1]["content"]}

    async def clear_session(self) -> None:
        """Forget the conversation and what only it told."""
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
            except httpx.HTTPError as error:  # the chat goes on without its memory
                logger.warning("Memory Center could not recall: %s", type(error).__name__)
                return ""
            self._recalled = (message, answer.json()["block"])
        return self._recalled[1]

    async def _rows(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = []
        answer = await self._center.get(self._path, params={**self._user, "limit": 100})
        while answer.status_code != 404:  # a conversation appears with its first message
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
