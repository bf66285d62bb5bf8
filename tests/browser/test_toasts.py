"""No toast covers what an open dialog, card or notice asks to press."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.looks import Look, do_overlap, each_look, opened
from tests.browser.test_forget_card import WORDS, ask, tell
from tests.live import Person, Product

pytestmark = pytest.mark.browser
_REMEMBERS = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_memory
with as_system():
    user = User.objects.get(username={name!r})
    print(make_memory(user, "Keeps bees on the roof").public_id)
"""
_FRAME = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
_LONG = {
    "en": "This is a long message that takes several lines on a phone, for instance of an error. "
    * 2,
    "zh-hans": "这是一条很长的消息，在手机上要占好几行，比如说明出了什么错。" * 3,
}


def remembers(product: Product, person: Person) -> str:
    """The address of the page of the person's only memory."""
    printed = product.shell(_REMEMBERS.format(name=person.username))
    return f"/memory/long-term/{printed.split()[-1]}/"


# The clock of the toasts stands still, so that each can be looked at for as long as that takes.
_NO_CLOCK = """const real = window.setInterval;
window.setInterval = (act, pause) => (pause === 250 ? 0 : real(act, pause));"""


def show_toast(page: Page, words: str) -> None:
    page.evaluate("words => window.showToast(words, 'error')", words)
    expect(page.locator(".toast").last).to_be_visible()
    page.locator(".toast").last.evaluate(
        "one => Promise.all(one.getAnimations().map(each => each.finished))"
    )


def expect_free(page: Page, selector: str, look: Look) -> None:
    """The button is never covered, wherever in the window it is scrolled to."""
    button, toast = page.locator(selector).first, page.locator(".toast").last
    expect(button).to_be_visible()
    expect(toast).to_be_visible()
    height = page.viewport_size["height"] if page.viewport_size else 0
    for part in (0.9, 0.6, 0.3, 0.15):
        button.evaluate(
            """(one, top) => {
                const box = one.getBoundingClientRect();
                for (const place of [document.scrollingElement, one.closest(".chat__scroll")]) {
                    place?.scrollBy(0, box.top - top);
                }
            }""",
            part * height,
        )
        page.evaluate(_FRAME)
        assert not do_overlap(button, toast), (str(look), part)
        assert toast.evaluate(
            """one => {
                const box = one.getBoundingClientRect();
                return box.top >= 0 && box.bottom <= innerHeight;
            }"""
        ), (str(look), part)


@each_look
def test_yes_forget_it_is_free_after_the_rating_that_offers_it(
    browser: Browser, product: Product, look: Look
) -> None:
    person = look.person(product, "rater")
    with opened(browser, product, look, person, then=remembers(product, person)) as page:
        page.add_init_script(_NO_CLOCK)
        for height in (780, 560):
            page.set_viewport_size({"width": look.width, "height": height})
            page.locator("[name=rating][value=very_negative]").click()
            yes = page.locator("#offer .button--danger")
            expect(yes).to_be_visible()
            expect(page.locator(".toast")).to_be_visible()
            yes.scroll_into_view_if_needed()
            expect_free(page, "#offer .button--danger", look)
            show_toast(page, _LONG[look.language])
            expect_free(page, "#offer .button--danger", look)
            page.locator("[name=rating][aria-pressed=true]").click()
            expect(yes).to_have_count(0)
        page.goto("/memory/long-term/")
        show_toast(page, _LONG[look.language])
        page.locator(".row__check").first.check()
        expect_free(page, ".bulk .button--danger", look)


@each_look
def test_the_buttons_of_a_card_in_the_chat_are_free(
    browser: Browser, product: Product, look: Look
) -> None:
    words, person = WORDS[look.language], look.person(product, "rater")
    tell(product, person, words)
    with opened(browser, product, look, person) as page:
        card = ask(page, str(words["ask"]))
        show_toast(page, _LONG[look.language])
        expect_free(page, ".forget__chosen", look)
        card.locator("[name=all]").click()
        solid = ".forget .button--danger-solid:not(.forget__chosen)"
        expect(page.locator(solid)).to_be_visible()
        expect_free(page, solid, look)
