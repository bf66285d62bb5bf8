"""A Pydantic AI capability that recalls memories before a run and records the run afterwards."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx
from pydantic_ai import (
    AgentRunResult,
    ModelMessage,
    ModelRequest,
    ModelResponse,
    RunContext,
    TextPart,
    UserPromptPart,
)
from pydantic_ai.capabilities import AbstractCapability
from pydantic_core import to_json

logger = logging.getLogger(__name__)


@dataclass
class MemoryCenter(AbstractCapability[Any]):
    """The memory of one user, as a capability of runs with a `conversation_id`.

    `center` is a client with the address and the key: `httpx.AsyncClient(base_url=…, headers=…)`.
    """

    center: httpx.AsyncClient
    user_id: str
    _recalled: dict[str, str] = field(default_factory=dict, init=False, repr=False)

    def get_instructions(self) -> Any:
        return self._block

    async def after_run(
        self, ctx: RunContext[Any], *, result: AgentRunResult[Any]
    ) -> AgentRunResult[Any]:
        """Record the user's message and the output of the run."""
        output = result.output
        turn = {
            "user_message": _text(ctx.prompt),
            "assistant_message": output if isinstance(output, str) else to_json(output).decode(),
            "user_message_id": f"{ctx.run_id}-user",
            "assistant_message_id": f"{ctx.run_id}-assistant",
        }
        if turn["user_message"].strip() and turn["assistant_message"].strip():
            await self._send("turns", conversation_id=ctx.conversation_id, **turn)
        return result

    async def history(self, conversation_id: str) -> list[ModelMessage]:
        """Return the messages in the window. The memory block summarizes earlier messages."""
        path = f"/api/v1/conversations/{quote(conversation_id, safe='')}/messages"
        messages: list[ModelMessage] = []
        answer = await self.center.get(path, params={"user_id": self.user_id, "limit": 100})
        while answer.status_code != 404:  # before its first turn a conversation doesn't exist
            page = answer.raise_for_status().json()
            messages += [_message(row) for row in page["results"] if row["in_window"]]
            if page["next"] is None:
                break
            answer = await self.center.get(page["next"])
        return messages

    async def _block(self, ctx: RunContext[Any]) -> str:
        """Return the memory block of the run, cached because a run calls the model repeatedly."""
        run, message = ctx.run_id or "", _text(ctx.prompt)
        if run not in self._recalled and message.strip():
            asked = {"conversation_id": ctx.conversation_id, "message": message}
            found = await self._send("memory/context", include_window=False, **asked)
            self._recalled = {run: found.get("block", "")}
        return self._recalled.get(run, "")

    async def _send(self, path: str, **body: Any) -> dict[str, Any]:
        try:
            answer = await self.center.post(
                f"/api/v1/{path}", json={"user_id": self.user_id, **body}
            )
            return dict(answer.raise_for_status().json())
        except httpx.HTTPError as error:  # the run continues without memory
            logger.warning("Memory Center did not take %s: %s", path, type(error).__name__)
            return {}


def _text(prompt: Any) -> str:
    parts = [prompt] if isinstance(prompt, str) else prompt or []
    return "\n".join(part for part in parts if isinstance(part, str))


def _message(row: dict[str, Any]) -> ModelMessage:
    if row["role"] == "user":
        return ModelRequest(parts=[UserPromptPart(row["content"])])
    return ModelResponse(parts=[TextPart(row["content"])])
