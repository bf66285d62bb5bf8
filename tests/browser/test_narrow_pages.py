"""What a phone shows: tabs in one line, in both languages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import remembering, sign_in
from tests.browser.looks import Look, do_overlap, each_look, opened
from tests.live import Person, Product

pytestmark = pytest.mark.browser

PAGES = ("/memory/", "/memory/conversation/", "/memory/long-term/", "/memory/data/")
LINES = """() => [...document.querySelectorAll('.tabs .tab')].filter(one => {
    const style = getComputedStyle(one), range = document.createRange();
    range.selectNodeContents(one);
    return range.getBoundingClientRect().height > 1.9 * parseFloat(style.lineHeight);
}).map(one => one.textContent.trim())"""
CUT = "() => [...document.querySelectorAll('.tabs')].some(one => one.scrollWidth > one.clientWidth)"


OUTSIDE = """() => [...document.querySelectorAll('.chat__bar > *, .chat__word')].filter(one => {
    const box = one.getBoundingClientRect();
    return box.left < 0 || box.right > document.documentElement.clientWidth
        || (box.width > 1 && one.scrollWidth > one.clientWidth && one.clientWidth);
}).map(one => one.textContent.trim())"""


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


@each_look
def test_the_bar_of_an_empty_chat_is_cut_nowhere(
    browser: Browser, product: Product, look: Look
) -> None:
    with opened(browser, product, look, look.person(product, "empty")) as page:
        words = "Memory Center" if look.language == "en" else "记忆中心"
        for width in (look.width, 360):
            page.set_viewport_size({"width": width, "height": 780})
            expect(page.locator(".chat__center")).to_have_text(words)
            assert page.evaluate(OUTSIDE) == []
            assert not do_overlap(page.locator(".chat__center"), page.locator(".chat__temporary"))
        page.locator(".chat__temporary").click()
        expect(page.locator(".chat__temporary[aria-current]")).to_be_visible()
        assert page.evaluate(OUTSIDE) == []
