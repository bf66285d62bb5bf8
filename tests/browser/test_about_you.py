"""About you in a real Chromium: read the portrait, correct it in a sentence, open a phrase."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import sign_in
from tests.live import Product

pytestmark = pytest.mark.browser
# The first text that a fresh web process reads waits for the models to load.
expect.set_options(timeout=30_000)


def tell(page: Page, text: str) -> None:
    page.get_by_label("Your correction").fill(text)
    page.get_by_role("button", name="Preview changes").click()


def test_a_sentence_shows_what_changes_and_is_kept(page: Page, product: Product) -> None:
    sign_in(page, product.person("nora"), then="/memory/")
    page.get_by_label("One thing about you").fill("I live in Ghent")
    page.get_by_role("button", name="Remember").click()
    page.get_by_role("link", name="About you").click()
    expect(page.locator(".portrait")).to_contain_text("I live in Ghent")

    tell(page, "I moved from Ghent to Bruges.")
    shown = page.locator(".tell__changes")
    expect(shown).to_contain_text("Bruges")
    expect(page.locator(".portrait")).not_to_contain_text("Bruges")
    shown.get_by_role("button", name="Save").click()
    expect(page.locator(".portrait")).to_contain_text("Bruges")

    page.locator(".portrait").get_by_role("link", name="Bruges").first.click()
    expect(page.locator("h1")).to_contain_text("Bruges")


def test_nothing_is_kept_before_it_was_shown(page: Page, product: Product) -> None:
    sign_in(page, product.person("olaf"), then="/memory/")
    page.get_by_label("One thing about you").fill("I keep bees")
    page.get_by_role("button", name="Remember").click()
    page.goto(f"{product.address}/memory/")
    tell(page, "I play the cello.")
    page.locator(".tell__changes").get_by_role("link", name="Cancel").click()
    expect(page.locator(".portrait")).not_to_contain_text("cello")
