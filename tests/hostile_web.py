"""The product as a web process of the tests serves it, with an address and a text that hang."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from foundation.providers.base import Vectors
from memcenter.wsgi import application as product
from memories.indexing import search_index

_CATASTROPHIC = re.compile(r"(a|a)+$")
_embed = search_index.embed


def embed(texts: Sequence[str]) -> Vectors:
    """A step of every write, which takes for ever for one text."""
    if any("hangs" in text for text in texts):
        _CATASTROPHIC.match("a" * 60 + "b")
    return _embed(texts)


search_index.embed = embed


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"] == "/hang":
        _CATASTROPHIC.match("a" * 60 + "b")
    if environ["PATH_INFO"] == "/who":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(os.getpid()).encode()]
    return product(environ, start_response)
