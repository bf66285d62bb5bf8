"""What is done far down a long list stays there, and so does what another tab has changed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import sign_in
from tests.live import Product

pytestmark = pytest.mark.browser

LIST = "/memory/long-term/"
expect.set_options(timeout=30_000)
_numbers = count(1)
_LONG = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_memory
with as_system():
    user = User.objects.get(username={name!r})
    for number in range(45):
        make_memory(user, f"Fact number {{number:02}}", pinned=number == 7)
"""
# In each language: disable, delete, pin, undo, put back, and what is said of one in the bin.
WORDS = {
    "en": ("Disable", "Delete", "Pin", "Undo", "Put it back", "It is in the recycle bin."),
    "zh-hans": ("停用", "删除", "置顶", "撤销", "放回来", "它在回收站里。"),
}
# What the page of a memory says once it is in the bin.
IN_BIN = {"en": "This is in the recycle bin. Restore it", "zh-hans": "它在回收站里，放回后才能修改"}


@pytest.fixture(params=list(WORDS))
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def center(page: Page, product: Product, language: str) -> Page:
    """The list of somebody with 45 memories, scrolled to its end."""
    name = f"keeper-{next(_numbers)}"
    person = product.person(name, language=language)
    product.shell(_LONG.format(name=name))
    sign_in(page, person, then=LIST)
    for shown in (20, 40, 45):
        expect(page.locator(".row")).to_have_count(shown)
        page.locator(".row").last.scroll_into_view_if_needed()
    return page


def row(page: Page, number: int) -> Locator:
    return page.locator(".row", has=page.get_by_role("link", name=f"Fact number {number:02}"))


def choose(page: Page, number: int, action: str) -> None:
    line = row(page, number)
    line.locator("summary").click()
    line.locator(".menu__item", has_text=re.compile(f"^{re.escape(action)}")).click()


def place_of(page: Page) -> tuple[int, int]:
    """How far the page is scrolled, and how many rows it has."""
    rows = page.locator(".row").count()
    return page.evaluate("Math.round(scrollY)"), rows


def test_an_act_and_its_undo_far_down_keep_the_place(center: Page, language: str) -> None:
    disable, _delete, pin, undo, *_ = WORDS[language]
    center.evaluate("window.isSamePage = true")
    row(center, 3).scroll_into_view_if_needed()
    before = place_of(center)
    assert before[0] > 1_000
    for action in (disable, pin):
        choose(center, 3, action)
        toast = center.locator(".toast").last
        if action == disable:
            expect(row(center, 3)).to_have_class(re.compile("row--off"))
        else:
            expect(row(center, 3).locator(".row__pin")).to_have_count(1)
        toast.get_by_role("button", name=undo).click()
        expect(row(center, 3)).not_to_have_class(re.compile("row--off"))
        expect(row(center, 3).locator(".row__pin")).to_have_count(0)
        expect(row(center, 3)).to_be_in_viewport()
        assert place_of(center)[1] == before[1]
        assert abs(place_of(center)[0] - before[0]) < 40
    assert center.evaluate("window.isSamePage")


@pytest.mark.parametrize("act", [0, 1, 2])
def test_a_bulk_act_far_down_and_its_undo_change_only_what_was_ticked(
    center: Page, language: str, act: int
) -> None:
    action, undo = WORDS[language][act], WORDS[language][3]
    center.evaluate("window.isSamePage = true")
    for number in (3, 4):
        row(center, number).locator(".row__check").check()
    row(center, 7).locator(".row__check").check()  # pinned before, so at the top
    row(center, 3).scroll_into_view_if_needed()
    before = place_of(center)
    center.locator(".bulk").get_by_role("button", name=action, exact=True).click()
    toast = center.locator(".toast").last
    expect(toast).to_contain_text("2" if act == 2 else "3")
    changed = {
        0: center.locator(".row--off"),
        1: center.locator(".row"),
        2: center.locator(".row__pin"),
    }[act]
    expect(changed).to_have_count({0: 3, 1: 42, 2: 3}[act])
    assert abs(place_of(center)[0] - before[0]) < 250  # what was deleted takes its height along
    toast.get_by_role("button", name=undo).click()
    expect(changed).to_have_count({0: 0, 1: 45, 2: 1}[act])
    for number in (3, 4, 7):
        expect(row(center, number)).to_have_count(1)
    assert center.evaluate("window.isSamePage")


@pytest.mark.parametrize("act", [0, 2])
def test_what_another_tab_deleted_is_offered_back_where_it_stood(
    center: Page, language: str, act: int
) -> None:
    *_, back, told = WORDS[language]
    delete_elsewhere(center, 3, WORDS[language][1])
    choose(center, 3, WORDS[language][act])
    left = center.locator(".row", has_text=told)
    expect(left).to_be_in_viewport()
    left.get_by_role("button", name=back).click()
    expect(row(center, 3)).to_be_in_viewport()
    expect(center.locator(".row")).to_have_count(45)


GONE = {
    "en": ("Forget now", "It no longer exists: it was forgotten or deleted"),
    "zh-hans": ("彻底忘记", "它已不存在"),
}


@pytest.mark.parametrize("act", ["Pin", "Forget now"])
def test_what_another_tab_forgot_says_so_where_it_stood(
    center: Page, language: str, act: str
) -> None:
    forget, told = GONE[language]
    other = center.context.new_page()
    other.goto(f"{LIST}?sort=old")
    choose(other, 3, forget)
    other.locator("dialog form.confirm button:not([type=button])").last.click()
    expect(row(other, 3)).to_have_count(0)
    other.close()
    choose(center, 3, WORDS[language][2] if act == "Pin" else forget)
    expect(center.locator(".row--gone", has_text=told)).to_be_in_viewport()
    expect(row(center, 3)).to_have_count(0)
    expect(center.locator(".row")).to_have_count(45)


def delete_elsewhere(page: Page, number: int, action: str) -> None:
    other = page.context.new_page()
    other.goto(f"{LIST}?sort=old")
    choose(other, number, action)
    expect(row(other, number)).to_have_count(0)
    other.close()


@pytest.mark.parametrize("act", [0, 2])
def test_the_page_of_a_memory_offers_back_what_another_tab_deleted(
    center: Page, language: str, act: int
) -> None:
    row(center, 3).get_by_role("link").first.click()
    title = center.get_by_role("heading", level=1)
    expect(title).to_have_text("Fact number 03")
    here = center.url
    delete_elsewhere(center, 3, WORDS[language][1])
    center.locator(".detail__actions details summary").click()
    menu = center.locator(".detail__actions .menu__item")
    menu.filter(has_text=re.compile(f"^\\s*{WORDS[language][act]}")).click()
    expect(center.locator(".toast")).to_contain_text(IN_BIN[language])
    expect(title).to_have_text("Fact number 03")
    center.locator(".detail form[action$='/restore/'] button").first.click()
    expect(center.locator(".detail form[action$='/restore/']")).to_have_count(0)
    assert center.url == here
    center.goto(f"{LIST}?sort=old")
    expect(row(center, 3)).to_have_count(1)


def test_an_edit_on_the_page_of_a_memory_that_another_tab_deleted_keeps_what_was_typed(
    center: Page, language: str
) -> None:
    *_, told = WORDS[language]
    row(center, 3).get_by_role("link").first.click()
    center.locator(".detail__actions a[href*='/edit/']").click()
    dialog = center.get_by_role("dialog")
    dialog.locator("[name=content]").fill("Fact number 03 and more")
    delete_elsewhere(center, 3, WORDS[language][1])
    dialog.locator("button:not([type=button])").last.click()
    expect(dialog.get_by_role("alert")).to_contain_text(told)
    expect(dialog.locator("[name=content]")).to_have_value("Fact number 03 and more")
    dialog.locator("button:not([type=button])").last.click()
    expect(dialog).to_have_count(0)
    expect(center.get_by_role("heading", level=1)).to_have_text("Fact number 03 and more")


@pytest.fixture
def plain(browser: Browser, product: Product, language: str) -> Iterator[Page]:
    """The list without JavaScript."""
    name = f"plain-keeper-{next(_numbers)}"
    person = product.person(name, language=language)
    product.shell(_LONG.format(name=name))
    context = browser.new_context(base_url=product.address, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, person, then=f"{LIST}?sort=old")
    yield page
    context.close()


def test_without_javascript_what_another_tab_deleted_is_offered_back(
    plain: Page, language: str
) -> None:
    delete_elsewhere(plain, 3, WORDS[language][1])
    choose(plain, 3, WORDS[language][2])
    expect(plain.get_by_role("heading", level=1)).not_to_contain_text("404")
    restore = plain.locator("form[action$='/restore/'] button").first
    expect(restore).to_be_visible()
    restore.click()
    plain.goto(f"{LIST}?sort=old")
    expect(row(plain, 3)).to_have_count(1)
