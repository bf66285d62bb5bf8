"""OpenAI's endpoints for chat completions (with memory added), models and embeddings.

For a chat completion, memories are recalled, the request is forwarded, and the turn is recorded.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, suppress
from typing import Any

import orjson
from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.response import Response

from conversations.models import ConversationKind
from foundation.errors import ApplicationError, Invalid, ProviderError
from foundation.text import tokens
from memcenter.compat.openai_chat import answers, memory
from memcenter.compat.openai_chat.answers import Forwarded, forward, stream_response
from memcenter.compat.openai_chat.memory import Exchange, Recalled
from memcenter.compat.openai_chat.protocol import (
    Streamed,
    WholeAnswer,
    drop_first_messages,
    insert_block,
    messages_of,
    newest_user_message,
)
from memcenter.rest import people, throttling
from memcenter.rest.base import MemcenterView, routes
from memcenter.rest.endpoint import CREATE, PRETEND, Endpoint, ParsedRequest, endpoint
from memcenter.rest.parsers import parse_object
from memcenter.rest.throttling import long_answers
from memories import language_steps
from memories.indexing import search_index
from ops.accounts import users
from ops.models import ApiKey, Scope, User

USER_HEADER = "X-Memcenter-User"
CONVERSATION_HEADER = "X-Memcenter-Conversation"
KIND_HEADER = "X-Memcenter-Conversation-Kind"
TEMPORARY_HEADER = "X-Memcenter-Temporary"
COMPACTED_HEADER = "X-Memcenter-Compacted"  # number of messages that the summary replaced
_TRUE = ("1", "true", "yes")
_share = long_answers()
_TYPE_OF = {400: "invalid_request_error", 401: "authentication_error", 429: "rate_limit_error"}
_MOST_TEXTS = 256


class OpenAIView(MemcenterView):
    """A view whose handlers are called as `post(parsed)`, outside any transaction.

    A transaction would stay open too long, since the handlers wait for models.
    """

    schema = None  # documented by OpenAI
    surface = "openai"

    def _answer(self, handler: Any, endpoint: Endpoint) -> Response:
        key = self.request.auth if isinstance(self.request.auth, ApiKey) else None
        parsed = ParsedRequest(self.request, key, self.kwargs, {}, None)
        response: Response = handler(parsed)
        return response

    def handle_exception(self, exc: Exception) -> Response:
        response = super().handle_exception(exc)
        error = response.data["error"]
        error["type"] = _TYPE_OF.get(response.status_code, "api_error")
        error["param"] = next(iter(error["fields"]), None)
        return response


class ChatCompletionsView(OpenAIView):
    @endpoint(summary="OpenAI's chat completions, with memory", answers={}, idempotent=False)
    def post(self, parsed: ParsedRequest) -> HttpResponseBase:
        raw, body = body_of(parsed)
        messages = messages_of(body)
        exchange = _exchange(parsed, body)
        if not settings.MODEL_BASE_URL:
            return answers.demo_answer(exchange, body)
        place = _share.acquire()
        try:
            known = memory.recall_block(exchange) if exchange is not None else Recalled()
            if known.block:
                rest = drop_first_messages(messages, known.covered)
                body = {**body, "messages": insert_block(rest, known.block)}
                raw = orjson.dumps(body)
            raw = raw if body.get("model") else orjson.dumps({**body, "model": settings.MODEL_NAME})
            answer = forward("chat/completions", endpoint=language_steps.endpoint(), body=raw)
        except BaseException:
            place.close()
            raise
        response = _forward_answer(answer, exchange, place)
        if known.covered:
            response[COMPACTED_HEADER] = str(known.covered)
        return response


class ModelsView(OpenAIView):
    @endpoint(summary="List the available models", answers={}, idempotent=False)
    def get(self, parsed: ParsedRequest) -> HttpResponseBase:
        """Return the model server's list of models.

        If the call fails, return only the configured model. If no server is configured, return the
        demo model.
        """
        if not settings.MODEL_BASE_URL:
            return Response(_listed(answers.MODEL))
        try:
            with closing(forward("models", endpoint=language_steps.endpoint())) as answer:
                body = b"".join(answer.chunks())
        except ProviderError:
            return Response(_listed(settings.MODEL_NAME))
        if answer.status != 200:
            return Response(_listed(settings.MODEL_NAME))
        return HttpResponse(body, content_type=answer.content_type)


class EmbeddingsView(OpenAIView):
    @endpoint(summary="Embed texts with the configured embedder", answers={}, idempotent=False)
    def post(self, parsed: ParsedRequest) -> Response:
        _, body = body_of(parsed)
        texts = _texts(body.get("input"))
        embedder = search_index.embedder()
        if body.get("dimensions") not in (None, embedder.dimensions):
            raise Invalid.field("dimensions", f"This embedder gives {embedder.dimensions}.")
        vectors = embedder.embed(texts)
        packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": number,
                "embedding": base64.b64encode(vector.astype("<f4").tobytes()).decode()
                if packed
                else vector.tolist(),
            }
            for number, vector in enumerate(vectors)
        ]
        used = sum(tokens.count(text) for text in texts)
        usage = {"prompt_tokens": used, "total_tokens": used}
        return Response({"object": "list", "data": data, "model": embedder.model, "usage": usage})


def body_of(parsed: ParsedRequest) -> tuple[bytes, dict[str, Any]]:
    """Return the request body, raw and parsed.

    Raise `ApplicationError` if the body is too large, and `Invalid` if it isn't a JSON object. The
    limit is higher than for other calls, since a chat may contain images.
    """
    limit = settings.MAX_CHAT_BODY_BYTES
    raw = parsed.request._request.read(limit + 1)
    if len(raw) > limit:
        raise ApplicationError(f"The body is larger than {limit:,} bytes.", code="too_large")
    return raw, parse_object(raw)


def person(parsed: ParsedRequest, body: dict[str, Any], *, brief: bool) -> User:
    """Return the user named in the header or in the body, or the user to whom the key is bound.

    An unknown user is created or, with `brief` (a temporary or unrecorded chat), returned without
    being stored. Raise `Invalid` if the key isn't bound and no user is named.
    """
    named = parsed.request.headers.get(USER_HEADER, body.get("user"))
    if named == "":
        raise Invalid.field("user", "The text must not be empty.")
    data = {"user_id": named} if isinstance(named, str) else {}
    called = ParsedRequest(parsed.request, parsed.key, parsed.ids, data, None)
    unknown = PRETEND if brief else CREATE
    user = people.resolve_person(called, Endpoint(scope="write", unknown_user=lambda _: unknown))
    if user is None:
        raise AssertionError("only endpoints with `all_users_for` have no person")
    throttling.count_person(parsed.key, user, scope=Scope.WRITE)
    return user


def _exchange(parsed: ParsedRequest, body: Mapping[str, Any]) -> Exchange | None:
    headers = parsed.request.headers
    brief = headers.get(TEMPORARY_HEADER, "").lower() in _TRUE
    kept = body.get("store") is not False
    user = person(parsed, dict(body), brief=brief or not kept)
    users.check_not_being_forgotten(user)
    said = newest_user_message(body["messages"])
    if said is None:
        return None
    thread = headers.get(CONVERSATION_HEADER) or memory.thread_id(said, user=user)
    kind = headers.get(KIND_HEADER) or ConversationKind.MAIN
    if kind not in ConversationKind.values:
        raise Invalid.field(KIND_HEADER, "Must be main or group.")
    return Exchange(user, thread, said, brief=brief, kept=kept, kind=kind)


def _forward_answer(
    answer: Forwarded, exchange: Exchange | None, place: ExitStack
) -> HttpResponseBase:
    if answer.streams:
        stream = ForwardedStream(answer, exchange, place)
        return stream_response(stream, content_type=answer.content_type)
    reader = WholeAnswer()
    try:
        for chunk in answer.chunks():
            reader.feed(chunk)
    finally:
        answer.close()
        place.close()
    _keep(answer, exchange, reader)
    return HttpResponse(reader.raw, status=answer.status, content_type=answer.content_type)


class ForwardedStream:
    """A streamed answer that is passed on unchanged and recorded when it ends.

    If the client disconnects, even before the first chunk, the rest of the answer is still read
    and recorded.
    """

    def __init__(self, answer: Forwarded, exchange: Exchange | None, place: ExitStack) -> None:
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
            details = {
                "message": str(error),
                "type": "api_error",
                "code": "unavailable",
                "param": None,
            }
            return b"\n\ndata: " + orjson.dumps({"error": details}) + b"\n\n"
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


def _keep(answer: Forwarded, exchange: Exchange | None, reader: WholeAnswer | Streamed) -> None:
    if exchange is not None and answer.status == 200:
        memory.record(exchange, answer=reader.text, finished=reader.finished)


def _listed(name: str) -> dict[str, Any]:
    model = {"id": name, "object": "model", "created": 0, "owned_by": "memory-center"}
    return {"object": "list", "data": [model]}


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise Invalid.field("input", "Give a text or a list of texts; token numbers are not read.")
    if not 1 <= len(texts) <= _MOST_TEXTS:
        raise Invalid.field("input", f"Give 1 to {_MOST_TEXTS} texts.")
    if any(len(text) > settings.MAX_MESSAGE_CHARS for text in texts):
        raise Invalid.field(
            "input", f"A text has at most {settings.MAX_MESSAGE_CHARS:,} characters."
        )
    return texts


urlpatterns = routes(
    ("chat/completions", ChatCompletionsView),
    ("models", ModelsView),
    ("embeddings", EmbeddingsView),
)
