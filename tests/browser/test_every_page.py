"""Every page, in both themes: nothing that axe finds, nothing that runs out of the window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import look, what_axe_finds
from tests.browser.conftest import note, sign_in
from tests.browser.places import INVITED, VISITORS, addresses_for, arrive_by_link
from tests.live import Person, Product

pytestmark = pytest.mark.browser

OF_COLOURS = ("color-contrast", "link-in-text-block")
WIDTHS = (320, 390, 1280, 1920)


@pytest.fixture(scope="module")
def reader(product: Product) -> Person:
    return product.person("reader")


@pytest.fixture(scope="module")
def addresses(product: Product, reader: Person) -> dict[str, str]:
    return addresses_for(product, reader)


@pytest.fixture
def open_page(browser: Browser, product: Product) -> Iterator[Page]:
    """As `page`, but axe's own inline styles are let in, which the product refuses."""
    context = browser.new_context(
        base_url=product.address,
        locale="en-GB",
        viewport={"width": 1280, "height": 900},
        bypass_csp=True,
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: note(message, problems))
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert not problems, problems


# Links change at once and what is behind them a frame later.
COLOURS_HAVE_CHANGED = """async () => {
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    await Promise.all(document.getAnimations().map(one => one.finished.catch(() => null)));
}"""


def problems_on(page: Page, name: str, address: str) -> Iterator[str]:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    for one in look(page, address).violations:
        yield f"{name}: {one}"
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.evaluate(COLOURS_HAVE_CHANGED)
    for one in what_axe_finds(page, rules=OF_COLOURS).violations:  # nothing else differs
        yield f"{name}, dark: {one}"
    size = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            yield f"{name}: wider than {width}"
    assert size is not None
    page.set_viewport_size(size)


def all_problems(page: Page, addresses: Mapping[str, str]) -> list[str]:
    return [
        problem
        for name, address in addresses.items()
        for problem in problems_on(page, name, address)
    ]


def test_no_page_has_an_obstacle_that_axe_knows_in_either_theme(
    open_page: Page, product: Product, reader: Person, addresses: dict[str, str]
) -> None:
    assert all_problems(open_page, VISITORS) == []
    arrive_by_link(open_page, product)
    assert all_problems(open_page, INVITED) == []
    open_page.context.clear_cookies()
    sign_in(open_page, reader)
    assert all_problems(open_page, addresses) == []


def test_pages_hold_in_forced_colours_and_on_paper(
    browser: Browser, product: Product, reader: Person, addresses: dict[str, str]
) -> None:
    context = browser.new_context(base_url=product.address, forced_colors="active")
    page = context.new_page()
    sign_in(page, reader)
    page.goto(addresses["settings_page"])
    expect(page.get_by_role("switch").first).to_be_visible()
    page.goto(addresses["memory_pictures"])
    expect(page.locator(".curve").first).to_be_visible()
    page.emulate_media(media="print")
    page.goto(addresses["receipt_page"])
    expect(page.locator(".receipt")).to_be_visible()
    expect(page.locator(".site-header")).to_be_hidden()
    context.close()
