"""Chromium, beside the live product that `tests.live` starts. A console error or an uncaught
exception in a page fails its test.
"""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright

from tests.live import ROOT, Person, Product

__all__ = ["Person", "Product", "note", "remembering", "sign_in"]

# The browser notes every such answer as an error; the pages mean them.
_EXPECTED = (
    *("status of 422", "status of 404", "status of 409", "status of 410"),
    "Response Status Error Code 404",  # of htmx, which then puts the answer where the row stood
)


# Per module, so that no event loop is left running where the next module uses the database.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    finder = ["sh", str(ROOT / "tests/browser/chromium.sh")]
    chromium = subprocess.run(finder, capture_output=True, text=True, check=True).stdout.strip()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-background-networking"]
        )
        yield browser
        browser.close()


@pytest.fixture
def page(browser: Browser, product: Product) -> Iterator[Page]:
    """A page in a context of its own, signed out, in English, 1280 px wide."""
    with _page_of(browser, product) as page:
        yield page


@pytest.fixture
def open_page(browser: Browser, product: Product) -> Iterator[Page]:
    """As `page`, but axe's own inline styles are let in, which the product refuses."""
    with _page_of(browser, product, bypass_csp=True) as page:
        yield page


@contextmanager
def _page_of(browser: Browser, product: Product, *, bypass_csp: bool = False) -> Iterator[Page]:
    context = browser.new_context(
        base_url=product.address,
        locale="en-GB",
        viewport={"width": 1280, "height": 900},
        bypass_csp=bypass_csp,
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: note(message, problems))
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert not problems, problems


@pytest.fixture
def plain(browser: Browser, product: Product) -> Iterator[Page]:
    """A page without JavaScript, signed out, in English."""
    context = browser.new_context(
        base_url=product.address, locale="en-GB", java_script_enabled=False
    )
    yield context.new_page()
    context.close()


def remembering(product: Product, username: str, *contents: str, language: str = "en") -> Person:
    """A newly registered person who has written these memories."""
    person = product.person(username, language=language)
    product.shell(
        "from ops.access import as_system\n"
        "from ops.models import User\n"
        "from tests.factories import make_memory\n"
        "with as_system():\n"
        f"    user = User.objects.get(username={username!r})\n"
        f"    for content in {contents!r}:\n"
        "        make_memory(user, content)"
    )
    return person


def sign_in(page: Page, person: Person, *, then: str = "/") -> None:
    """Go on in the session that the person has, else by the real page."""
    if person.session:
        page.context.add_cookies(
            [{"name": "sessionid", "value": person.session, "domain": "127.0.0.1", "path": "/"}]
        )
        page.goto(then)
        return
    page.goto(f"/signin/?next={then}")
    page.fill("[name=username]", person.username)
    page.fill("[name=password]", person.password)
    page.press("[name=password]", "Enter")
    page.wait_for_url(lambda url: "/signin/" not in url)


def note(message: ConsoleMessage, problems: list[str]) -> None:
    """Keep what the console complains of, but for what the pages mean."""
    if message.type == "error" and not any(text in message.text for text in _EXPECTED):
        problems.append(message.text)
