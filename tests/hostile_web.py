"""The product as a web process of the tests serves it, with an address that hangs."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any

from memcenter.wsgi import application as product

_CATASTROPHIC = re.compile(r"(a|a)+$")


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"] == "/hang":
        _CATASTROPHIC.match("a" * 60 + "b")
    if environ["PATH_INFO"] == "/who":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(os.getpid()).encode()]
    return product(environ, start_response)
