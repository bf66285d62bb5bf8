"""What a phone shows: tabs in one line, in both languages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import remembering, sign_in
from tests.live import Person, Product

pytestmark = pytest.mark.browser

PAGES = ("/memory/", "/memory/conversation/", "/memory/long-term/", "/memory/data/")
LINES = """() => [...document.querySelectorAll('.tabs .tab')].filter(one => {
    const style = getComputedStyle(one), range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect().height > 1.9 * parseFloat(style.lineHeight);
}).map(one => one.textContent.trim())"""
CUT = "() => [...document.querySelectorAll('.tabs')].some(one => one.scrollWidth > one.clientWidth)"


@pytest.fixture(scope="module")
def person(product: Product) -> Person:
    return remembering(product, "narrow", "Keeps bees")


@pytest.mark.parametrize("locale", ["en-GB", "zh-CN"])
def test_the_tabs_stand_in_one_line_on_a_phone(
    browser: Browser, product: Product, person: Person, locale: str
) -> None:
    context = browser.new_context(
        base_url=product.address, locale=locale, viewport={"width": 390, "height": 780}
    )
    page = context.new_page()
    sign_in(page, person)
    for address in PAGES:
        page.goto(address)
        assert page.evaluate(LINES) == [], address
        assert not page.evaluate(CUT), address
    context.close()
