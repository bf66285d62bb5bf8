"""The demo assistant behind OpenAI's protocol, used while no model is connected."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

import orjson
from django.http import HttpResponse
from django.http.response import HttpResponseBase

from conversations.chat import demo_assistant, single_exchange
from conversations.recording import conversation_names, temporary
from memcenter.compat.openai_chat.base import streaming
from memcenter.compat.openai_chat.memory import Exchange
from memcenter.lib import ids
from memcenter.lib.text import tokens
from ops.access import as_user

MODEL = "memcenter-demo"


def answer(exchange: Exchange | None, body: Mapping[str, Any]) -> HttpResponseBase:
    """Answer from memory and record the turn like any chat; `model` names the demo assistant."""
    text = demo_assistant.answer("", remembered=[]) if exchange is None else _exchanged(exchange)
    usage = _usage(exchange.said.text if exchange else "", text)
    if body.get("stream"):
        options = body.get("stream_options")
        wanted = isinstance(options, dict) and bool(options.get("include_usage"))
        events = _events(text, usage=usage if wanted else None)
        return streaming(events, content_type="text/event-stream")
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = _head("chat.completion") | {"choices": [choice], "usage": usage}
    return HttpResponse(orjson.dumps(whole), content_type="application/json")


def _exchanged(exchange: Exchange) -> str:
    user, text = exchange.user, exchange.said.text
    if exchange.brief or not exchange.kept:
        return _in_passing(exchange)
    with as_user(user):
        conversation = conversation_names.find_or_create(
            user=user, reference=exchange.thread, kind=exchange.kind
        )
    done = single_exchange.exchange(text, user=user, conversation=conversation)
    return done.turn.assistant_message.content


def _in_passing(exchange: Exchange) -> str:
    if exchange.user.pk is None:
        return demo_assistant.answer(exchange.said.text, remembered=[], remembering=False)
    thread = temporary.create(user=exchange.user, external_id=exchange.thread, kind=exchange.kind)
    single_exchange.exchange_in_passing(exchange.said.text, user=exchange.user, conversation=thread)
    reply = temporary.read(thread)[-1].content
    if not exchange.kept:
        temporary.erase(thread)
    return reply


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


def _usage(said: str, text: str) -> dict[str, int]:
    asked, answered = tokens.count(said), tokens.count(text)
    return {
        "prompt_tokens": asked,
        "completion_tokens": answered,
        "total_tokens": asked + answered,
    }
