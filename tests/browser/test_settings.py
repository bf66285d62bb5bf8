"""The settings as people change them: name, appearance, language, password, second step, keys."""

from __future__ import annotations

import pyotp
import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import sign_in
from tests.live import PASSWORD, Person, Product

pytestmark = pytest.mark.browser
NEW = "another-long-password"


def save_preferences(page: Page, **chosen: str) -> None:
    form = page.locator("#preferences form")
    for name, value in chosen.items():
        field = form.locator(f"[name={name}]")
        if name == "display_name":
            field.fill(value)
        else:
            field.select_option(value)
    form.locator("button:not([type=button])").last.click()


def sign_in_by_hand(page: Page, person: Person, password: str) -> None:
    page.goto("/signin/")
    page.fill("[name=username]", person.username)
    page.fill("[name=password]", password)
    page.press("[name=password]", "Enter")


def change_password(page: Page, current: str) -> None:
    page.get_by_label("Your current password").fill(current)
    page.get_by_label("New password").fill(NEW)
    page.get_by_role("button", name="Change password").click()


def sign_out(page: Page) -> None:
    page.get_by_label("Your account").click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url("**/signin/**")


def test_name_appearance_and_language_are_chosen_and_shown_at_once(
    page: Page, product: Product
) -> None:
    sign_in(page, product.person("settler"), then="/settings/")
    root = page.locator("html")
    save_preferences(page, display_name="Dana Petrova", theme="dark")
    expect(root).to_have_attribute("data-theme", "dark")
    assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
    page.get_by_label("Your account").click()
    expect(page.locator(".menu__title", has_text="Dana Petrova")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_label("Appearance").first.click()
    with page.expect_response("**/theme/**"):
        page.get_by_role("button", name="Light", exact=True).click()
    expect(root).to_have_attribute("data-theme", "light")
    page.reload()
    expect(root).to_have_attribute("data-theme", "light")
    expect(page.locator("#preferences [name=theme]")).to_have_value("light")

    save_preferences(page, language="zh-hans")
    expect(page.locator("h1")).to_have_text("设置")
    expect(root).to_have_attribute("lang", "zh-hans")
    page.goto("/memory/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Dana Petrova")
    page.goto("/settings/")
    save_preferences(page, language="en")
    expect(page.locator("h1")).to_have_text("Settings")


def test_a_new_password_ends_the_other_sessions_and_a_second_step_is_asked_for(
    page: Page, browser: Browser, product: Product
) -> None:
    person = product.person("careful")
    elsewhere = browser.new_context(base_url=product.address, locale="en-GB").new_page()
    sign_in_by_hand(elsewhere, person, PASSWORD)
    expect(elsewhere).to_have_url(f"{product.address}/")

    sign_in(page, person, then="/settings/")
    page.get_by_role("link", name="Change password").click()
    change_password(page, "not this one")
    expect(page.get_by_role("main")).to_contain_text("That isn’t your password.")
    change_password(page, PASSWORD)
    expect(page.locator(".toast")).to_contain_text("Your new password works from now on.")
    elsewhere.goto("/settings/")
    expect(elsewhere.locator("h1")).to_have_text("Sign in")
    elsewhere.context.close()

    page.get_by_role("link", name="How you sign in: two-step verification").click()
    key = page.locator("#app-key").inner_text().replace(" ", "")
    page.get_by_label("The six digits that the app shows").fill(pyotp.TOTP(key).now())
    page.get_by_label("Your password").fill(NEW)
    page.get_by_role("button", name="Turn on").click()
    codes = page.locator("#recovery-codes code")
    expect(codes.first).to_be_visible()
    spare = codes.first.inner_text()
    page.goto("/settings/")
    expect(page.locator(".more-settings", has_text="Two-step verification")).to_contain_text("On")

    sign_out(page)
    sign_in_by_hand(page, person, PASSWORD)
    expect(page.get_by_role("alert")).to_contain_text("don’t match")
    sign_in_by_hand(page, person, NEW)
    expect(page.get_by_role("heading", name="One more step")).to_be_visible()
    page.get_by_label("Code").fill("000000")
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_contain_text("This code doesn’t work.")
    page.get_by_label("Code").fill(spare)
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{product.address}/")

    page.goto("/settings/signin/")
    expect(page.locator(".notice--success")).to_contain_text("each sign-in asks for a code")
    page.get_by_label("Your password").fill(NEW)
    page.get_by_role("button", name="Turn off").click()
    expect(page.locator(".toast")).to_contain_text("Two-step verification is off.")


def test_the_switches_of_summaries_moments_and_asking_first_do_what_they_say(
    page: Page, product: Product
) -> None:
    sign_in(page, product.person("switcher"), then="/settings/")
    named = ("Summaries of conversations", "Earlier moments", "Ask before remembering")
    for name in named:
        page.get_by_role("switch", name=name).press("Space")
        is_on = name == "Ask before remembering"
        words = f"Turned {'on' if is_on else 'off'}: {name}."
        expect(page.locator(".toast", has_text=words)).to_be_visible()
    page.reload()
    states = [page.get_by_role("switch", name=name).is_checked() for name in named]
    assert states == [False, False, True]

    page.goto("/")
    page.locator("[data-composer]").fill("I'm allergic to peanuts.")
    page.locator("[data-composer]").press("Enter")
    expect(page.locator(".lessons .chip")).to_have_text(["1 to review"], timeout=60_000)
    page.goto("/memory/conversation/")
    expect(page.get_by_role("main")).to_contain_text("Summaries are turned off.")
    expect(page.get_by_role("main")).to_contain_text("Earlier moments are turned off.")


def test_a_revoked_key_opens_nothing_any_more(page: Page, product: Product) -> None:
    sign_in(page, product.person("revoker"), then="/settings/keys/")
    page.get_by_label("What is it for?").fill("My notebook")
    page.get_by_role("button", name="Create a key").click()
    key = page.locator("#made-key").inner_text()

    def answer_to_the_key() -> int:
        # Without the cookies of the page, which would sign in as well.
        headers = {"Authorization": f"Bearer {key}", "Cookie": ""}
        return page.request.get("/api/v1/conversations", headers=headers).status

    assert answer_to_the_key() == 200
    page.get_by_role("link", name="Revoke… My notebook").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("My notebook")
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    assert answer_to_the_key() == 200
    page.get_by_role("link", name="Revoke… My notebook").click()
    dialog.get_by_role("button", name="Revoke").click()
    expect(page.locator(".key", has_text="My notebook")).to_contain_text("revoked")
    expect(page.get_by_role("link", name="Revoke… My notebook")).to_have_count(0)
    assert answer_to_the_key() == 401
