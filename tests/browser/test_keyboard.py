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
