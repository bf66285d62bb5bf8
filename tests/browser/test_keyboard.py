"""The three main paths by the keyboard alone: why is it known, correct it, forget it."""

from __future__ import annotations

from itertools import count

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import remembering, sign_in
from tests.live import Product

pytestmark = pytest.mark.browser

LIST = "/memory/long-term/"
expect.set_options(timeout=30_000)
_numbers = count(1)


@pytest.fixture
def center(page: Page, product: Product) -> Page:
    """A list with two memories, nothing focused yet."""
    person = remembering(product, f"typist-{next(_numbers)}", "Plays the cello", "Grows tomatoes")
    sign_in(page, person, then=LIST)
    return page


def tab_to(page: Page, name: str, *, role: str = "") -> None:
    """Press Tab until what has this name is focused."""
    for _ in range(80):
        page.keyboard.press("Tab")
        found = page.evaluate(
            "() => [document.activeElement.ariaLabel || document.activeElement.textContent.trim(),"
            " document.activeElement.tagName.toLowerCase()]"
        )
        if found[0].startswith(name) and role in ("", found[1]):
            return
    raise AssertionError(f"Tab never came to {name!r}.")


def test_why_something_is_known_is_found_by_the_keyboard(center: Page) -> None:
    center.keyboard.press("/")
    center.keyboard.type("cello")
    expect(center.locator(".row")).to_have_count(1)
    tab_to(center, "Plays the cello", role="a")
    center.keyboard.press("Enter")
    expect(center.get_by_role("heading", name="Why do I know this?")).to_be_visible()
    expect(center.get_by_text("You wrote it here yourself.")).to_be_visible()


def test_a_memory_is_corrected_by_the_keyboard(center: Page) -> None:
    tab_to(center, "Plays the cello", role="summary")
    center.keyboard.press("Enter")
    center.keyboard.press("ArrowDown")
    center.keyboard.press("Enter")
    field = center.get_by_label("What should be remembered?")
    expect(field).to_be_focused()
    center.keyboard.press("Control+A")
    center.keyboard.type("Plays the viola")
    tab_to(center, "Save", role="button")
    center.keyboard.press("Enter")
    expect(center.get_by_role("link", name="Plays the viola")).to_be_focused()
    expect(field).to_have_count(0)


def test_leaving_the_form_by_escape_changes_nothing(center: Page) -> None:
    tab_to(center, "Plays the cello", role="summary")
    for key in ("Enter", "ArrowDown", "Enter"):
        center.keyboard.press(key)
    expect(center.get_by_label("What should be remembered?")).to_be_focused()
    center.keyboard.type("Something else")
    center.keyboard.press("Escape")
    expect(center.get_by_role("link", name="Plays the cello")).to_be_focused()


def test_a_memory_is_forgotten_by_the_keyboard(center: Page) -> None:
    tab_to(center, "Grows tomatoes", role="summary")
    center.keyboard.press("Enter")
    center.keyboard.press("ArrowUp")
    center.keyboard.press("Enter")
    expect(center.get_by_role("dialog")).to_contain_text("Forget this now?")
    tab_to(center, "Forget now", role="button")
    center.keyboard.press("Enter")
    expect(center.locator(".row")).to_have_count(1)
    expect(center.locator(".toast")).to_contain_text("Forgotten")


MENUS = "document.querySelectorAll('details.menu').length"


def open_menu(page: Page, number: int) -> None:
    page.locator("details.menu > summary").nth(number).focus()
    page.keyboard.press("Enter")
    expect(page.locator("details.menu").nth(number)).to_have_attribute("open", "")


@pytest.mark.parametrize("address", [LIST, "/memory/", "/settings/"])
def test_every_menu_works_by_keyboard_and_returns_the_focus(center: Page, address: str) -> None:
    center.goto(address)
    for number in range(center.evaluate(MENUS)):
        menu = center.locator("details.menu").nth(number)
        summary = menu.locator("summary")
        if not summary.is_visible():
            continue
        for key in ("ArrowDown", "ArrowUp"):
            open_menu(center, number)
            center.keyboard.press(key)
            expect(menu.locator(".menu__item:focus, input:focus")).to_have_count(1)
            center.keyboard.press("Escape")
            expect(menu).not_to_have_attribute("open", "")
            expect(summary).to_be_focused()


def test_a_menu_that_tab_leaves_is_closed(center: Page) -> None:
    open_menu(center, 0)
    tab_to(center, "Plays the cello")
    expect(center.locator("details.menu[open]")).to_have_count(0)


def test_escape_closes_a_menu_that_lost_the_focus(center: Page) -> None:
    open_menu(center, 0)
    center.evaluate("document.activeElement.blur()")
    center.keyboard.press("Escape")
    expect(center.locator("details.menu[open]")).to_have_count(0)


def test_a_dialog_from_a_menu_gives_the_focus_back_to_the_menu(center: Page) -> None:
    tab_to(center, "Grows tomatoes", role="summary")
    for key in ("Enter", "ArrowUp", "Enter"):
        center.keyboard.press(key)
    expect(center.get_by_role("dialog")).to_contain_text("Forget this now?")
    center.keyboard.press("Escape")
    expect(center.get_by_role("dialog")).to_have_count(0)
    row = center.locator(".row", has_text="Grows tomatoes")
    expect(row.locator("summary")).to_be_focused()


def test_the_next_row_has_the_focus_after_a_row_was_deleted(center: Page) -> None:
    row = center.locator(".row").first
    row.locator("summary").focus()
    for key in ("Enter", "ArrowUp", "ArrowUp", "Enter"):
        center.keyboard.press(key)
    expect(center.locator(".row:not([hidden])")).to_have_count(1)
    expect(center.locator(".row:focus-within")).to_have_count(1)


@pytest.mark.parametrize(("address", "searches"), [(LIST, True), ("/memory/", False)])
def test_the_help_lists_what_works_on_the_page(
    center: Page, address: str, *, searches: bool
) -> None:
    center.goto(address)
    center.keyboard.press("?")
    help_text = center.get_by_role("dialog")
    expect(help_text).to_contain_text("Open a menu and move in it")
    search = help_text.get_by_text("Search on this page")
    expect(search).to_be_visible() if searches else expect(search).to_be_hidden()
    expect(help_text.get_by_text("Decide in the review inbox")).to_be_hidden()
    center.keyboard.press("Escape")
    expect(help_text).to_have_count(0)
