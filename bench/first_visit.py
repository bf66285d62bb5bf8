"""How much does the first visit of each page transfer, and how long does it take on a slow line?

    .venv/bin/python bench/first_visit.py [--page NAME …]

Every page is opened in Chromium with an empty cache, for a user who has data on each page. The
developer tools limit the connection to 1.6 Mbit/s with 150 ms latency. The time runs from the click
to the end of the page's `load` event; it is the median of three visits.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from playwright.sync_api import Browser, sync_playwright

from bench.product import print_result
from tests.browser import places
from tests.browser.screenshots import chromium
from tests.live import Person, Product, server

MOST_BYTES = 300_000
MOST_SECONDS = 2.0
_LINE = {
    "offline": False,
    "latency": 150,
    "downloadThroughput": 1_600_000 / 8,
    "uploadThroughput": 750_000 / 8,
}
_VISITS = 3
_OF_STAFF = {"admin": "/admin/", "admin list": "/admin/memories/memory/"}
_LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


@dataclass(frozen=True)
class Visit:
    """One visit of a page: bytes transferred, number of files, and seconds until it was loaded."""

    bytes: int
    files: int
    seconds: float

    @property
    def is_over(self) -> bool:
        return self.bytes > MOST_BYTES or self.seconds > MOST_SECONDS


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--page", action="append", default=[])
    wanted: list[str] = parser.parse_args().page
    with server() as live, sync_playwright() as playwright:
        product = live.start()
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-background-networking"]
        )
        person = product.person("visitor")
        pages = list(pages_of(product, person, wanted))
        visit(browser, product, pages[0][1], pages[0][2])  # the first request loads the models
        found = {name: typical(browser, product, path, who) for name, path, who in pages}
        browser.close()
    print_table(found)
    print_result(figures(found))


def pages_of(
    product: Product, person: Person, wanted: list[str]
) -> Iterator[tuple[str, str, Person | None]]:
    own = {**places.addresses_for(product, person), **_OF_STAFF}
    for addresses, who in ((places.VISITORS, None), (own, person)):
        for name, path in addresses.items():
            if not wanted or name in wanted:
                yield name, path, who


def typical(browser: Browser, product: Product, path: str, who: Person | None) -> Visit:
    visits = [visit(browser, product, path, who) for _ in range(_VISITS)]
    seconds = statistics.median(each.seconds for each in visits)
    return Visit(max(each.bytes for each in visits), visits[0].files, seconds)


def visit(browser: Browser, product: Product, path: str, who: Person | None) -> Visit:
    """Open the page with an empty cache."""
    context = browser.new_context(base_url=product.address, locale="en-GB")
    if who is not None:
        cookie = {"name": "sessionid", "value": who.session, "url": product.address}
        context.add_cookies([cookie])  # type: ignore[list-item]
    page = context.new_page()
    line = context.new_cdp_session(page)
    sizes: list[float] = []
    line.on("Network.loadingFinished", lambda one: sizes.append(one["encodedDataLength"]))
    line.send("Network.enable")
    line.send("Network.emulateNetworkConditions", _LINE)
    page.goto(path, wait_until="load")
    page.wait_for_function(f"{_LOADED} > 0")
    seconds = float(page.evaluate(_LOADED)) / 1000
    context.close()
    return Visit(round(sum(sizes)), len(sizes), seconds)


def print_table(found: Mapping[str, Visit]) -> None:
    print(f"{'page':32}{'kB':>8}{'files':>8}{'seconds':>10}")
    for name, one in sorted(found.items(), key=lambda pair: -pair[1].seconds):
        mark = "  over" if one.is_over else ""
        print(f"{name:32}{one.bytes / 1000:>8.1f}{one.files:>8}{one.seconds:>10.2f}{mark}")


def figures(found: Mapping[str, Visit]) -> dict[str, Any]:
    """Return the heaviest and the slowest page, and the pages that miss a target."""
    heaviest = max(found, key=lambda name: found[name].bytes)
    slowest = max(found, key=lambda name: found[name].seconds)
    return {
        "pages": len(found),
        "most_kb": round(found[heaviest].bytes / 1000, 1),
        "heaviest": heaviest,
        "most_seconds": round(found[slowest].seconds, 2),
        "slowest": slowest,
        "median_seconds": round(statistics.median(one.seconds for one in found.values()), 2),
        "over": sorted(name for name, one in found.items() if one.is_over),
    }


if __name__ == "__main__":
    main()
