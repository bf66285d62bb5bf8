"""`GET /v1/models` and `POST /v1/embeddings`."""

from __future__ import annotations

import base64
from typing import Any

from django.conf import settings
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from rest_framework.response import Response

from memcenter.compat.openai_chat import demo_answers
from memcenter.compat.openai_chat.base import OpenAIView, body_of
from memcenter.lib.errors import Invalid, ProviderError
from memcenter.lib.text import tokens
from memcenter.providers.forwarding import forward
from memcenter.rest.endpoint import Asked, endpoint
from memories import language_steps
from memories.indexing import search_index

_MOST_TEXTS = 256


class ModelsView(OpenAIView):
    @endpoint(summary="The models that can be asked", answers={}, idempotent=False)
    def get(self, asked: Asked) -> HttpResponseBase:
        """Return the model server's list, or the configured model if it has none."""
        if not settings.MODEL_BASE_URL:
            return Response(_listed(demo_answers.MODEL))
        try:
            answer = forward("models", endpoint=language_steps.endpoint())
            try:
                body = b"".join(answer.chunks())
            finally:
                answer.close()
        except ProviderError:
            return Response(_listed(settings.MODEL_NAME))
        if answer.status != 200:
            return Response(_listed(settings.MODEL_NAME))
        return HttpResponse(body, content_type=answer.content_type)


class EmbeddingsView(OpenAIView):
    @endpoint(summary="The vectors of texts, by our embedder", answers={}, idempotent=False)
    def post(self, asked: Asked) -> Response:
        _, body = body_of(asked)
        texts = _texts(body.get("input"))
        embedder = search_index.embedder()
        _check_dimensions(body.get("dimensions"), embedder.dimensions)
        vectors = embedder.embed(texts)
        packed = body.get("encoding_format") == "base64"
        data = [
            {
                "object": "embedding",
                "index": number,
                "embedding": base64.b64encode(one.astype("<f4").tobytes()).decode()
                if packed
                else one.tolist(),
            }
            for number, one in enumerate(vectors)
        ]
        used = sum(tokens.count(text) for text in texts)
        usage = {"prompt_tokens": used, "total_tokens": used}
        return Response({"object": "list", "data": data, "model": embedder.model, "usage": usage})


def _listed(name: str) -> dict[str, Any]:
    model = {"id": name, "object": "model", "created": 0, "owned_by": "memory-center"}
    return {"object": "list", "data": [model]}


def _texts(given: Any) -> list[str]:
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not all(isinstance(one, str) and one for one in texts):
        raise Invalid.field("input", "Give a text or a list of texts; token numbers are not read.")
    if not 1 <= len(texts) <= _MOST_TEXTS:
        raise Invalid.field("input", f"Give 1 to {_MOST_TEXTS} texts.")
    if any(len(one) > settings.MAX_MESSAGE_CHARS for one in texts):
        raise Invalid.field(
            "input", f"A text has at most {settings.MAX_MESSAGE_CHARS:,} characters."
        )
    return texts


def _check_dimensions(asked: Any, given: int) -> None:
    if asked not in (None, given):
        raise Invalid.field("dimensions", f"This embedder gives {given}.")
