"""Get answers from the model server, or from the demo assistant if no server is configured.

This module changes neither the requests to the model server nor its responses.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpx2
import orjson
from django.http import HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from conversations.chat import answer_text, chat_messages, demo_assistant
from conversations.models import Conversation, Role
from conversations.recording import conversation_names, conversation_titles, temporary
from conversations.recording.temporary import TemporaryConversation
from conversations.recording.turns import MessageInput
from foundation import ids, telemetry
from foundation.errors import Conflict, NotFound, ProviderError
from foundation.providers.openai_compatible import Endpoint
from foundation.text import tokens
from memcenter.compat.openai_chat.memory import Exchange
from ops.access import as_user

MODEL = "memcenter-demo"


def demo_answer(exchange: Exchange | None, body: Mapping[str, Any]) -> HttpResponseBase:
    """Answer with the built-in demo assistant, and record the turn.

    Nothing is recorded if `exchange` is None, its user isn't stored, or its `kept` is false.
    """
    text = demo_assistant.answer("", remembered=[]) if exchange is None else _exchanged(exchange)
    said = exchange.said.text if exchange else ""
    asked, answered = tokens.count(said), tokens.count(text)
    usage = {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
    }
    if body.get("stream"):
        options = body.get("stream_options")
        wanted = isinstance(options, dict) and bool(options.get("include_usage"))
        events = _events(text, usage=usage if wanted else None)
        return stream_response(events, content_type="text/event-stream")
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = _head("chat.completion") | {"choices": [choice], "usage": usage}
    return HttpResponse(orjson.dumps(whole), content_type="application/json")


def _exchanged(exchange: Exchange) -> str:
    """Answer as the chat page does; return the answer even if it can't be recorded."""
    user, text = exchange.user, exchange.said.text
    if user.pk is None:
        return demo_assistant.answer(text, remembered=[], remembering=False)
    conversation = _conversation(exchange)
    thread = chat_messages.ask(text, user=user, conversation=conversation)
    prepared = thread.prepare()
    reply = answer_text.demo_answer(prepared)
    with suppress(NotFound, Conflict):  # forgotten in the meantime, or another request was first
        thread.keep(prepared, MessageInput(reply, role=Role.ASSISTANT))
    if isinstance(conversation, TemporaryConversation) and not exchange.kept:
        temporary.erase(conversation)
    return reply


def _conversation(exchange: Exchange) -> Conversation | TemporaryConversation:
    if exchange.brief or not exchange.kept:
        return temporary.create(
            user=exchange.user,
            external_id=exchange.thread,
            title=conversation_titles.title_of(exchange.said.text),
            kind=exchange.kind,
        )
    with as_user(exchange.user):
        return conversation_names.find_or_create(
            user=exchange.user, reference=exchange.thread, kind=exchange.kind
        )


def _events(text: str, *, usage: Mapping[str, int] | None) -> Iterator[bytes]:
    head = _head("chat.completion.chunk")
    for piece in text.splitlines(keepends=True):
        yield _event(head | {"choices": [_delta({"role": "assistant", "content": piece})]})
    yield _event(head | {"choices": [_delta({}, "stop")]})
    if usage is not None:
        yield _event(head | {"choices": [], "usage": usage})
    yield b"data: [DONE]\n\n"


def _delta(delta: Mapping[str, str], finish: str | None = None) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "finish_reason": finish}


def _event(value: Mapping[str, Any]) -> bytes:
    return b"data: " + orjson.dumps(value) + b"\n\n"


def _head(kind: str) -> dict[str, Any]:
    name = ids.message_id().replace("msg_", "chatcmpl-")
    return {"id": name, "object": kind, "created": int(time.time()), "model": MODEL}


_CONNECT_SECONDS = 10.0


@dataclass
class Forwarded:
    """The model server's response. Iterate over `chunks` once, then call `close`.

    Iterating raises `ProviderError` if the response is cut off.
    """

    status: int
    content_type: str
    _response: httpx2.Response
    _open: ExitStack = field(repr=False)

    @property
    def streams(self) -> bool:
        return self.content_type.startswith("text/event-stream")

    def chunks(self) -> Iterator[bytes]:
        try:
            yield from self._response.iter_bytes()
        except httpx2.HTTPError:
            raise ProviderError("The model’s answer was cut off.", retryable=True) from None

    def close(self) -> None:
        self._open.close()


def forward(path: str, *, endpoint: Endpoint, body: bytes | None = None) -> Forwarded:
    """Send a POST with `body`, or a GET if `body` is None, to `path` on the model server.

    Raise `ProviderError` if the server can't be reached or is too slow.
    """
    opened = ExitStack()
    url = f"{endpoint.base_url.rstrip('/')}/{path}"
    call = _client(endpoint.timeout).stream(
        "GET" if body is None else "POST", url, content=body, headers=_headers(endpoint)
    )
    try:
        response = opened.enter_context(call)
    except httpx2.TimeoutException:
        raise ProviderError("The model did not answer in time.", retryable=True) from None
    except (httpx2.HTTPError, httpx2.InvalidURL):
        raise ProviderError("The model’s server can’t be reached.", retryable=True) from None
    return Forwarded(
        response.status_code, response.headers.get("content-type", ""), response, opened
    )


def _headers(endpoint: Endpoint) -> dict[str, str]:
    return {
        "Authorization": f"Bearer {endpoint.api_key or 'none'}",
        "Content-Type": "application/json",
        **telemetry.outgoing_headers(),
    }


@cache
def _client(timeout: float) -> httpx2.Client:
    """Return an HTTP client that keeps connections open.

    The client follows no redirects, since a redirect could send the messages to another server.
    """
    return httpx2.Client(timeout=httpx2.Timeout(timeout, connect=min(timeout, _CONNECT_SECONDS)))


def stream_response(chunks: Iterator[bytes], *, content_type: str) -> StreamingHttpResponse:
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingHttpResponse(chunks, content_type=content_type, headers=headers)
