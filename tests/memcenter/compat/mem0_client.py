"""The real mem0 client against this process, without its telemetry and its folder in the home."""

from __future__ import annotations

import atexit
import importlib
import os
import shutil
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import httpx
from django.core.wsgi import get_wsgi_application

os.environ["MEM0_TELEMETRY"] = "False"
os.environ["MEM0_DIR"] = tempfile.mkdtemp(prefix="mc-mem0-")
atexit.register(shutil.rmtree, os.environ["MEM0_DIR"], ignore_errors=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    mem0: Any = importlib.import_module("mem0.client.main")
    mem0_types: Any = importlib.import_module("mem0.client.types")
    mem0_errors: Any = importlib.import_module("mem0.exceptions")

HOST = "http://testserver"


def app() -> Callable[..., Any]:
    """Ours, with the path as servers give it: its bytes as Latin-1, which httpx leaves out."""
    inner = get_wsgi_application()

    def handle(environ: dict[str, Any], start_response: Any) -> Any:
        path = environ["PATH_INFO"].encode().decode("latin-1")
        return inner({**environ, "PATH_INFO": path}, start_response)

    return handle


def client(key: str) -> Any:
    transport = httpx.WSGITransport(app=app())
    return mem0.MemoryClient(api_key=key, host=HOST, client=httpx.Client(transport=transport))
