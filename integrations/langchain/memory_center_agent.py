"""A LangChain middleware that recalls memories before a run and records the turn afterwards."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, NotRequired

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage, SystemMessage
from langgraph.runtime import Runtime
from memory_center_history import MemoryCenterHistory


class RecalledState(AgentState[Any]):
    """The agent's state with the memory block of this run."""

    memory_block: NotRequired[str]


class MemoryCenterMiddleware(AgentMiddleware[RecalledState, Any]):
    """Recalls memories and records turns in the history that `history_of(runtime)` returns.

    `history_of` usually finds the user and the conversation in `runtime.context`.
    """

    state_schema = RecalledState

    def __init__(self, history_of: Callable[[Runtime[Any]], MemoryCenterHistory]) -> None:
        super().__init__()
        self._history_of = history_of

    def before_agent(self, state: RecalledState, runtime: Runtime[Any]) -> dict[str, Any]:
        message = _last(state["messages"], "human")
        return {"memory_block": self._history_of(runtime).recall(message.text) if message else ""}

    def after_agent(self, state: RecalledState, runtime: Runtime[Any]) -> None:
        turn = [_last(state["messages"], kind) for kind in ("human", "ai")]
        self._history_of(runtime).add_messages([message for message in turn if message])

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        return handler(_with_block(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        return await handler(_with_block(request))


def _with_block(request: ModelRequest[Any]) -> ModelRequest[Any]:
    system_prompt = request.system_message.text if request.system_message else ""
    parts = [part for part in (system_prompt, request.state.get("memory_block")) if part]
    return request.override(system_message=SystemMessage("\n\n".join(parts))) if parts else request


def _last(messages: list[Any], kind: str) -> BaseMessage | None:
    return next(
        (
            message
            for message in reversed(messages)
            if message.type == kind and message.text.strip()
        ),
        None,
    )
