"""`POST /v1/chat/completions`: recall, forward, record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase

from conversations.models import ConversationKind
from memcenter.compat.openai_chat import demo_answers, memory
from memcenter.compat.openai_chat.answer_stream import AnswerReader, Streamed, Whole
from memcenter.compat.openai_chat.base import OpenAIView, body_of, person, streaming
from memcenter.compat.openai_chat.chat_request import (
    messages_of,
    said_in,
    with_block,
    without_first,
)
from memcenter.compat.openai_chat.memory import Exchange, Recalled
from memcenter.lib.errors import Invalid, ProviderError
from memcenter.providers.forwarding import Forwarded, forward
from memcenter.rest.endpoint import Asked, endpoint
from memcenter.rest.thread_limits import Place, long_answers
from memories import language_steps
from ops.accounts import users

CONVERSATION_HEADER = "X-Memcenter-Conversation"
KIND_HEADER = "X-Memcenter-Conversation-Kind"
TEMPORARY_HEADER = "X-Memcenter-Temporary"
COMPACTED_HEADER = "X-Memcenter-Compacted"  # how many messages the summary stood for
_TRUE = ("1", "true", "yes")
_share = long_answers()


class ChatCompletionsView(OpenAIView):
    @endpoint(summary="OpenAI's chat completions, with memory", answers={}, idempotent=False)
    def post(self, asked: Asked) -> HttpResponseBase:
        raw, body = body_of(asked)
        messages = messages_of(body)
        exchange = _exchange(asked, body)
        if not settings.MODEL_BASE_URL:
            return demo_answers.answer(exchange, body)
        place = _share.take()
        try:
            known = memory.recalled(exchange) if exchange is not None else Recalled()
            if known.block:
                rest = without_first(messages, known.covered)
                body = {**body, "messages": with_block(rest, known.block)}
                raw = orjson.dumps(body)
            raw = raw if body.get("model") else orjson.dumps({**body, "model": settings.MODEL_NAME})
            answer = forward("chat/completions", endpoint=language_steps.endpoint(), body=raw)
        except BaseException:
            place.close()
            raise
        response = _passed_on(answer, exchange, place)
        if known.covered:
            response[COMPACTED_HEADER] = str(known.covered)
        return response


def _exchange(asked: Asked, body: Mapping[str, Any]) -> Exchange | None:
    """Return None if there is no user text: then there is nothing to recall or record."""
    headers = asked.request.headers
    brief = headers.get(TEMPORARY_HEADER, "").lower() in _TRUE
    kept = body.get("store") is not False
    user = person(asked, dict(body), brief=brief or not kept)
    users.check_not_being_forgotten(user)
    said = said_in(body["messages"])
    if said is None:
        return None
    thread = headers.get(CONVERSATION_HEADER) or memory.thread_id(said, user=user)
    kind = headers.get(KIND_HEADER) or ConversationKind.MAIN
    if kind not in ConversationKind.values:
        raise Invalid.field(KIND_HEADER, "Must be main or group.")
    return Exchange(user, thread, said, brief=brief, kept=kept, kind=kind)


def _passed_on(answer: Forwarded, exchange: Exchange | None, place: Place) -> HttpResponseBase:
    if answer.streams:
        stream = ForwardedStream(answer, exchange, place)
        return streaming(stream, content_type=answer.content_type)
    heard = Whole()
    try:
        for chunk in answer.chunks():
            heard.feed(chunk)
    finally:
        answer.close()
        place.close()
    _keep(answer, exchange, heard)
    return HttpResponse(heard.raw, status=answer.status, content_type=answer.content_type)


class ForwardedStream:
    """A stream that is passed on unchanged; when it ends for any reason, the turn is recorded.

    If the client disconnects, even before the first chunk, the answer is still read to its end.
    """

    def __init__(self, answer: Forwarded, exchange: Exchange | None, place: Place) -> None:
        self._answer, self._exchange, self._place = answer, exchange, place
        self._chunks: Iterator[bytes] | None = answer.chunks()
        self._heard = Streamed()

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        if self._chunks is None:
            raise StopIteration
        try:
            chunk = next(self._chunks)
        except StopIteration:
            self.close()
            raise
        except ProviderError as error:
            self._chunks = iter(())
            self.close()
            return _broke_off(error)
        self._heard.feed(chunk)
        return chunk

    def close(self) -> None:
        chunks, self._chunks = self._chunks, None
        if chunks is None:
            return
        with suppress(ProviderError):
            for chunk in chunks:
                self._heard.feed(chunk)
        self._answer.close()
        self._place.close()
        _keep(self._answer, self._exchange, self._heard)


def _keep(answer: Forwarded, exchange: Exchange | None, heard: AnswerReader) -> None:
    if exchange is not None and answer.status == 200:
        memory.record(exchange, answer=heard.text, finished=heard.finished)


def _broke_off(error: ProviderError) -> bytes:
    told = {"message": str(error), "type": "api_error", "code": "unavailable", "param": None}
    return b"\n\ndata: " + orjson.dumps({"error": told}) + b"\n\n"
