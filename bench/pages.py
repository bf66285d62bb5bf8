"""Is the long-term page as fast with 100,000 memories as with 100?

    .venv/bin/python bench/pages.py [--big 100000] [--calls 50]

The page `/memory/long-term/` of one signed-in user is requested over HTTP, first with 100 memories
and then with `--big`. The rows are copied into the tables as in bench/scale.py.
"""

from __future__ import annotations

import argparse
import http.cookiejar
import json
import re
import sys
import time
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import psycopg

from bench.product import Product, percentile, print_result, print_times, running
from bench.scale import Filler, make_base
from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres

_FEW = 100
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')


class Visitor:
    """An HTTP client with cookies, signed in with the credentials of the first start."""

    def __init__(self, product: Product) -> None:
        self._address = f"http://127.0.0.1:{product.port}"
        jar = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), jar)
        folder = Path(product.environment["MEMCENTER_DATA_DIR"])
        first = json.loads((folder / "first-login.json").read_text())
        token = _TOKEN.search(self.read("/signin/"))
        form = {
            "username": first["login"],
            "password": first["password"],
            "csrfmiddlewaretoken": token[1] if token else "",
        }
        self.read("/signin/", urlencode(form).encode())

    def read(self, path: str, body: bytes | None = None) -> str:
        with self._opener.open(self._address + path, body, timeout=120) as answer:
            if body is None and path != "/signin/" and "/signin/" in answer.url:
                raise SystemExit("The sign-in did not work.")
            return str(answer.read().decode())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--big", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=50)
    wanted = parser.parse_args()
    with running() as product:
        few, many = measure(product, big=wanted.big, count=wanted.calls)
    print_times({f"{_FEW} memories": few, f"{wanted.big:,} memories": many})
    figures = {
        "many_over_few": round(percentile(many, 0.5) / percentile(few, 0.5), 2),
        "few_p50_ms": round(percentile(few, 0.5) * 1000, 2),
        "big": wanted.big,
        "calls": wanted.calls,
    }
    print_result(figures)


def measure(product: Product, *, big: int, count: int) -> tuple[list[float], list[float]]:
    # The first account is the owner, and a backend key has no access to the owner's data.
    reached = "update(is_staff=False, is_superuser=False, external_id='demo')"
    product.manage("shell", "--command", f"User.objects.filter(username='demo').{reached}")
    product.post("/memory/long_term", {"user_id": "demo", "content": "Likes maps in Leeds"})
    visitor = Visitor(product)
    folder = DataFolder(product.environment["MEMCENTER_DATA_DIR"])
    with psycopg.connect(EmbeddedPostgres(folder).url("owner"), autocommit=True) as owner:
        filler = Filler(owner, make_base())
        filler.fill("demo", _FEW - 1)
        few = visits(visitor, count)
        filler.fill("demo", big - _FEW)
        return few, visits(visitor, count)


def visits(visitor: Visitor, count: int) -> list[float]:
    times: list[float] = []
    for number in range(count + 10):
        began = time.perf_counter()
        visitor.read("/memory/long-term/")
        if number >= 10:
            times.append(time.perf_counter() - began)
    return times


if __name__ == "__main__":
    main()
