"""What lies behind an open card, dialog or sheet stays where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.looks import Look, each_look, opened
from tests.browser.screenshots import chromium
from tests.browser.test_forget_card import WORDS, ask, tell
from tests.live import Product

pytestmark = pytest.mark.browser
_MANY = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn
with as_system():
    user = User.objects.get(username={name!r})
    talk = make_conversation(user, title="Hives")
    for number in range(40):
        said = make_turn(talk, f"Hive {{number}} is green.", "I see.", extracted_at=talk.created_at)
        make_memory(user, f"Keeps hive {{number}} on the roof", turns=[said])
    print(talk.public_id)
"""
_PLACES = """() => [scrollY, ...[...document.querySelectorAll(".chat, .chat__main, .chat__scroll")]
    .flatMap(one => [one.scrollTop, Math.round(one.getBoundingClientRect().top)])]"""
_FRAMES = """() => new Promise(done =>
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 120))))"""


def turn_wheel(page: Page, over: Locator | tuple[int, int]) -> None:
    """Turn the wheel down and up over the upper end of something, or over a point."""
    if isinstance(over, Locator):
        expect(over).to_be_visible()
        box = over.bounding_box()
        assert box
        over = int(box["x"] + box["width"] / 2), int(box["y"] + 5)
    page.mouse.move(*over)
    for distance in (300, -200):
        page.mouse.wheel(0, distance)
        page.evaluate(_FRAMES)


def places(page: Page) -> Any:
    return page.evaluate(_PLACES)


def sides(page: Page) -> Any:
    return page.locator("main").evaluate(
        "one => [one.getBoundingClientRect().left, one.getBoundingClientRect().right]"
    )


@each_look
def test_nothing_slides_behind_a_dialog(browser: Browser, product: Product, look: Look) -> None:
    person = look.person(product, "behind")
    talk = product.shell(_MANY.format(name=person.username)).split()[-1]
    with opened(browser, product, look, person, then="/memory/long-term/") as page:
        page.locator(".row__menu summary").first.click()
        page.locator(".row__menu .menu__item[href*='/forget/']").first.click()
        title = page.locator("dialog .confirm__title")
        expect(title).to_be_visible()
        before = places(page)
        for over in (title, (3, 300)):
            turn_wheel(page, over)
            assert places(page) == before
        page.keyboard.press("Escape")
        page.goto(f"/c/{talk}/")
        page.locator(".chat__scroll").evaluate("one => one.scrollTo(0, 500)")
        page.locator(".chat__bar .menu summary").click()
        page.locator(".chat__bar .menu__item[href*='/delete/']").click()
        expect(title).to_be_visible()
        before = places(page)
        for over in (title, (3, 300)):
            turn_wheel(page, over)
            assert places(page) == before


@pytest.fixture(scope="module")
def with_scrollbars(browser: Browser) -> Iterator[Browser]:
    """The same browser with scrollbars that take room, as on a desktop."""
    kind = browser.browser_type
    one = kind.launch(
        executable_path=chromium(),
        args=["--no-sandbox", "--disable-background-networking"],
        ignore_default_args=["--hide-scrollbars"],
    )
    yield one
    one.close()


@pytest.mark.parametrize("has_scrollbars", [False, True])
@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_does_not_move_sideways_when_a_dialog_or_a_popover_opens(
    has_scrollbars: bool, width: int, product: Product, request: pytest.FixtureRequest
) -> None:
    used = request.getfixturevalue("with_scrollbars" if has_scrollbars else "browser")
    look = Look("en", "light", width)
    person = look.person(product, "aside")
    product.shell(_MANY.format(name=person.username))
    with opened(used, product, look, person, then="/memory/long-term/") as page:
        takes_room = page.evaluate("innerWidth > document.documentElement.clientWidth")
        assert takes_room == has_scrollbars
        before = sides(page)
        if width == 390:
            page.locator("#filters-more").click()
            expect(page.locator(".memory-filters__choices")).to_be_in_viewport()
            assert sides(page) == before
            page.keyboard.press("Escape")
            assert sides(page) == before
        page.locator(".row__menu summary").first.click()
        page.locator(".row__menu .menu__item[href*='/forget/']").first.click()
        expect(page.locator("dialog .confirm__title")).to_be_visible()
        assert sides(page) == before


@each_look
def test_nothing_slides_behind_an_open_sheet(
    browser: Browser, product: Product, look: Look
) -> None:
    person = look.person(product, "behind")
    talk = product.shell(_MANY.format(name=person.username)).split()[-1]
    with opened(browser, product, look, person, then=f"/c/{talk}/") as page:
        page.locator(".chat__scroll").evaluate("one => one.scrollTo(0, 500)")
        for name, beside in (("conversations", (380, 300)), ("used", (3, 300))):
            if look.width == 390:
                page.locator(f".chat__bar [popovertarget={name}]").click()
            before = places(page)
            turn_wheel(page, page.locator(f"#{name} .sheet__head"))
            if look.width == 390:
                turn_wheel(page, beside)
            assert places(page) == before, name
            page.keyboard.press("Escape")
        if look.width == 390:
            page.goto("/memory/long-term/")
            page.locator("#filters-more").click()
            turn_wheel(page, page.locator(".memory-filters__head"))
            turn_wheel(page, (200, 100))
            assert page.evaluate("scrollY") == 0


@each_look
def test_the_chat_itself_never_scrolls_under_its_card(
    browser: Browser, product: Product, look: Look
) -> None:
    words, person = WORDS[look.language], look.person(product, "behind")
    tell(product, person, words)
    with opened(browser, product, look, person) as page:
        page.set_viewport_size({"width": look.width, "height": 500})
        card = ask(page, str(words["ask"]))
        card.locator("[name=all]").click()
        title = card.locator(".card__title[tabindex]")
        expect(title).to_be_focused()
        # A script or a focused field could still scroll what only hides its overflow.
        page.evaluate("document.querySelectorAll('html, .chat').forEach(one => one.scrollTop = 99)")
        page.locator(".chat").evaluate("one => one.append(document.createElement('p'))")
        page.evaluate("document.querySelectorAll('html, .chat').forEach(one => one.scrollTop = 99)")
        assert page.evaluate("[scrollY, document.querySelector('.chat').scrollTop]") == [0, 0]
        title.scroll_into_view_if_needed()
        before = places(page)
        page.locator("[data-composer]").focus()
        title.click()
        page.evaluate(_FRAMES)
        assert places(page) == before
