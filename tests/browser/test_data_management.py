"""Registering, switching memory off, and deleting everything, as a newcomer would."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import sign_in
from tests.live import PASSWORD, Product

pytestmark = pytest.mark.browser
ERASED_WITHIN = 60_000  # milliseconds: the worker may have other things to do
SAID = "I am allergic to peanuts."


def register(page: Page, username: str) -> None:
    page.goto("/register/")
    page.fill("[name=username]", username)
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url(lambda url: "/register/" not in url)


def test_a_newcomer_registers_and_can_begin_to_chat(page: Page, product: Product) -> None:
    register(page, "newcomer")
    expect(page).to_have_url(f"{product.address}/")
    expect(page.locator("textarea[name=text]")).to_be_visible()


def test_the_wrong_password_keeps_the_name_and_the_right_one_opens(
    page: Page, product: Product
) -> None:
    person = product.person("forgetful")
    page.goto("/signin/")
    page.fill("[name=username]", person.username)
    page.fill("[name=password]", "not this one")
    page.press("[name=password]", "Enter")
    expect(page.get_by_role("alert")).to_contain_text("don’t match")
    expect(page.locator("[name=username]")).to_have_value("forgetful")
    page.fill("[name=password]", person.password)
    page.press("[name=password]", "Enter")
    expect(page).to_have_url(f"{product.address}/")


def test_switching_memory_off_says_so_at_once_and_survives_a_reload(
    page: Page, product: Product
) -> None:
    sign_in(page, product.person("private-one"), then="/memory/long-term/add/")
    page.fill("[name=content]", SAID)
    page.get_by_role("button", name="Remember").click()
    page.wait_for_url("**/memory/long-term/**")
    page.goto("/settings/")
    switch = page.get_by_role("switch", name="Long-term memory")
    expect(switch).to_be_checked()
    switch.press("Space")
    expect(page.get_by_text("Long-term memory is off.")).to_be_visible()
    expect(page.get_by_text("Delete what is stored…")).to_be_visible()
    expect(switch).to_be_focused()
    page.reload()
    expect(switch).not_to_be_checked()
    page.get_by_text("Delete what is stored…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1 memory")
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("Nothing is remembered yet.")).to_be_visible()


def test_the_time_zone_of_the_browser_is_offered_and_taken(
    browser: Browser, product: Product
) -> None:
    context = browser.new_context(
        base_url=product.address, locale="en-GB", timezone_id="Asia/Shanghai"
    )
    page = context.new_page()
    sign_in(page, product.person("far-east"), then="/memory/")
    page.goto("/memory/")
    expect(page.get_by_text("Your clock seems to be set to China Standard Time.")).to_be_visible()
    page.get_by_role("button", name="Use it").click()
    expect(page.get_by_role("button", name="Use it")).to_have_count(0)
    expect(page).to_have_url(f"{product.address}/memory/")
    page.goto("/settings/")
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Shanghai")
    context.close()


def test_whoever_keeps_utc_is_not_asked_again(browser: Browser, product: Product) -> None:
    context = browser.new_context(base_url=product.address, timezone_id="Asia/Shanghai")
    page = context.new_page()
    sign_in(page, product.person("keeps-utc"), then="/settings/")
    page.goto("/settings/")
    page.get_by_role("button", name="Don’t change").click()
    expect(page.locator("[data-time-zone-offer]")).to_have_count(0)
    expect(page.get_by_label("Time zone")).to_have_value("UTC")
    context.close()


def test_a_new_key_is_shown_once(page: Page, product: Product) -> None:
    sign_in(page, product.person("programmer"), then="/settings/keys/")
    page.goto("/settings/keys/")
    page.get_by_label("What is it for?").fill("My notebook")
    page.get_by_role("button", name="Create a key").click()
    key = page.locator("#made-key").inner_text()
    assert key.startswith("mc_")
    page.goto("/settings/keys/")
    expect(page.get_by_role("link", name="Revoke… My notebook")).to_be_visible()
    assert key not in page.content()


def test_everything_is_deleted_and_the_receipt_is_reached(page: Page, product: Product) -> None:
    register(page, "leaving")
    product.says("leaving", SAID)
    page.goto("/memory/data/")
    page.get_by_role("link", name="Delete everything…").click()
    expect(page.get_by_text("2 messages")).to_be_visible()
    button = page.get_by_role("button", name="Delete everything, for good")
    expect(button).to_be_disabled()
    page.get_by_label("To confirm, type “delete everything”").fill("delete everything")
    page.get_by_label("Your password").fill(PASSWORD)
    button.click()
    page.wait_for_url("**/forgotten/**")
    done = page.get_by_role("heading", name="Everything is forgotten")
    expect(done).to_be_visible(timeout=ERASED_WITHIN)
    receipt = page.locator(".receipt")
    expect(receipt).to_contain_text("Messages")
    expect(receipt).to_contain_text("rcpt_")
    page.goto("/signin/")
    page.fill("[name=username]", "leaving")
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    expect(page.get_by_role("alert")).to_contain_text("don’t match")


def test_the_whole_path_in_chinese(page: Page, product: Product) -> None:
    page.goto("/register/")
    page.get_by_label("Language").click()
    page.get_by_role("button", name="简体中文").click()
    expect(page.get_by_role("heading", name="注册账号")).to_be_visible()
    page.fill("[name=username]", "林小满")
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.wait_for_url(lambda url: "/register/" not in url)
    page.goto("/settings/")
    page.get_by_role("switch", name="长期记忆").press("Space")
    expect(page.get_by_text("记忆已关闭")).to_be_visible()
    page.get_by_role("link", name="数据管理").click()
    page.get_by_role("link", name="删除全部…").click()
    page.get_by_label("请输入“删除全部”以确认").fill("删除全部")
    page.get_by_label("你的密码").fill(PASSWORD)
    page.get_by_role("button", name="永久删除全部").click()
    page.wait_for_url("**/forgotten/**")
    done = page.get_by_role("heading", name="已全部彻底忘记")
    expect(done).to_be_visible(timeout=ERASED_WITHIN)
    expect(page.locator(".receipt")).to_contain_text("编号")


def test_what_is_wrong_with_a_registration_is_said_in_chinese(
    browser: Browser, product: Product
) -> None:
    product.person("taken")
    context = browser.new_context(base_url=product.address, locale="zh-CN")
    page = context.new_page()
    page.goto("/register/")
    for name, password, where in (
        ("", "", "username"),
        ("somebody", "short", "password"),
        ("somebody", "12345678", "password"),
        ("Taken", PASSWORD, "username"),
        ("some\tbody", PASSWORD, "username"),
    ):
        page.fill("[name=username]", name)
        page.fill("[name=password]", password)
        page.locator("form .button--primary").click()
        field = page.locator(f"[name={where}]")
        expect(field).to_have_attribute("aria-invalid", "true")
        told = page.locator(".field", has=field).locator(".field__errors")
        expect(told.first).to_have_text(re.compile(r"^[^A-Za-z]*[\u4e00-\u9fff][^A-Za-z]*$"))
        expect(page.locator("[name=username]")).to_have_value(name)
    context.close()
