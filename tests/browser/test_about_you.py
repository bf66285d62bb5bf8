"""About you in a real Chromium: read the portrait, correct it in a sentence, open a phrase."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import remembering, sign_in
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


def test_a_preview_stands_in_view_and_is_saved_only_with_something_ticked(
    page: Page, product: Product
) -> None:
    sign_in(page, product.person("zuri"), then="/memory/")
    page.set_viewport_size({"width": 390, "height": 600})
    page.get_by_label("One thing about you").fill("My daughter Zuri is 9")
    page.get_by_role("button", name="Remember").click()
    page.goto(f"{product.address}/memory/")
    tell(page, "Zuri is 10, not 9")
    save = page.locator(".tell__changes").get_by_role("button", name="Save")
    expect(save).to_be_in_viewport()
    expect(save).to_be_enabled()
    page.locator(".tell__change input").uncheck()
    expect(save).to_be_disabled()
    page.locator(".tell__change input").check()
    save.click()
    expect(page.locator(".portrait")).to_contain_text("My daughter Zuri is 10")


def test_the_keys_of_the_pages_are_named_by_the_question_mark(page: Page, product: Product) -> None:
    sign_in(page, product.person("keys"), then="/memory/long-term/")
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+/")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()


def test_a_correction_typed_under_a_phrase_replaces_it_as_typed(
    page: Page, product: Product
) -> None:
    person = remembering(product, "ines", "The lessons cost 260", "Theo plays the piano")
    sign_in(page, person, then="/memory/")
    page.get_by_role("link", name="Correct “The lessons cost 260”").click()
    expect(page.locator(".tell__about")).to_contain_text("The lessons cost 260")
    field = page.get_by_label("Your correction").bounding_box()
    button = page.get_by_role("button", name="Preview changes").bounding_box()
    assert field and button and field["y"] == button["y"] and field["width"] > 450
    tell(page, "They're Theo's piano lessons, 260 each")
    change = page.locator(".tell__change")
    expect(change.locator(".tell__old")).to_contain_text("The lessons cost 260")
    expect(change.locator("input")).to_be_checked()
    page.locator(".tell__changes").get_by_role("button", name="Save").click()
    portrait = page.locator(".portrait")
    expect(portrait).to_contain_text("They're Theo's piano lessons, 260 each")
    expect(portrait).not_to_contain_text("The lessons cost 260")
