"""`POST /v1/chat/completions`: recall, forward, record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase

from conversations.models import ConversationKind
from memcenter.compat.openai_chat import demo, memory
from memcenter.compat.openai_chat.base import OpenAIView, body_of, person, streaming
from memcenter.compat.openai_chat.hearing import Hearing, Streamed, Whole
from memcenter.compat.openai_chat.memory import Exchange
from memcenter.compat.openai_chat.reading import messages_of, said_in, with_block
from memcenter.lib.errors import Invalid, ProviderError
from memcenter.providers.forwarding import Forwarded, forward
from memcenter.rest.endpoint import Asked, endpoint
from memcenter.rest.sharing import Place, Share
from memories.services import providers
from ops.services import users

CONVERSATION_HEADER = "X-Memcenter-Conversation"
KIND_HEADER = "X-Memcenter-Conversation-Kind"
TEMPORARY_HEADER = "X-Memcenter-Temporary"
_TRUE = ("1", "true", "yes")
_share = Share(settings.LONG_ANSWERS)


class ChatCompletionsView(OpenAIView):
    @endpoint(summary="OpenAI's chat completions, with memory", answers={}, idempotent=False)
    def post(self, asked: Asked) -> HttpResponseBase:
        raw, body = body_of(asked)
        messages = messages_of(body)
        exchange = _exchange(asked, body)
        if not settings.MODEL_BASE_URL:
            return demo.answer(exchange, body)
        place = _share.take()
        try:
            if exchange is not None and (block := memory.recalled(exchange)):
                body = {**body, "messages": with_block(messages, block)}
                raw = orjson.dumps(body)
            raw = raw if body.get("model") else orjson.dumps({**body, "model": settings.MODEL_NAME})
            answer = forward("chat/completions", endpoint=providers.endpoint(), body=raw)
        except BaseException:
            place.close()
            raise
        return _passed_on(answer, exchange, place)


def _exchange(asked: Asked, body: Mapping[str, Any]) -> Exchange | None:
    """None where no person says anything in words: then there is nothing to recall or keep."""
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
        events = Streamed()
        stream = _stream(answer, events, _keeper(answer, exchange, events))
        return streaming(place.during(stream), content_type=answer.content_type)
    heard = Whole()
    try:
        for chunk in answer.chunks():
            heard.feed(chunk)
    finally:
        answer.close()
        place.close()
    _keeper(answer, exchange, heard)()
    return HttpResponse(heard.raw, status=answer.status, content_type=answer.content_type)


def _stream(answer: Forwarded, heard: Hearing, keep: Callable[[], None]) -> Iterator[bytes]:
    """What comes, as it comes. Whoever hangs up early still has the turn kept whole."""
    chunks = answer.chunks()
    try:
        for chunk in chunks:
            heard.feed(chunk)
            yield chunk
    except GeneratorExit:
        _listen_on(chunks, heard)
        raise
    except ProviderError as error:
        yield _broke_off(error)
    finally:
        answer.close()
        keep()


def _listen_on(chunks: Iterator[bytes], heard: Hearing) -> None:
    try:
        for chunk in chunks:
            heard.feed(chunk)
    except ProviderError:
        return


def _broke_off(error: ProviderError) -> bytes:
    told = {"message": str(error), "type": "api_error", "code": "unavailable", "param": None}
    return b"\n\ndata: " + orjson.dumps({"error": told}) + b"\n\n"


def _keeper(answer: Forwarded, exchange: Exchange | None, heard: Hearing) -> Callable[[], None]:
    def keep() -> None:
        if exchange is not None and answer.status == 200:
            memory.record(exchange, answer=heard.text, finished=heard.finished)

    return keep
