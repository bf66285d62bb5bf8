"""The list of memories: in the order of the dates it shows, pinned first, one count everywhere."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import sign_in
from tests.live import Product

pytestmark = pytest.mark.browser
LIST = "/memory/long-term/"
expect.set_options(timeout=30_000)

_MANY = """
from datetime import timedelta
from django.utils import timezone
from memories.models import MemoryStatus
from ops.access import as_system
from ops.models import User
from tests.factories import make_memory
now = timezone.now()
with as_system():
    user = User.objects.get(username={name!r})
    for number in range(24):
        long_ago = timedelta(days=1 + number * 7 % 24)
        one = make_memory(user, f"Fact {{number:02}}", pinned=number in (5, 6))
        dates = {{"created_at": now - long_ago, "updated_at": now - long_ago}}
        type(one).objects.filter(pk=one.pk).update(**dates)
    make_memory(user, "No longer so", status=MemoryStatus.DISABLED)
    make_memory(user, "Perhaps so", status=MemoryStatus.CANDIDATE)
    make_memory(user, "Thrown away", deleted_at=now, purge_at=now + timedelta(days=7))
"""
WORDS = {
    "en": ("24 things remembered", "25 memories, 24 of them in use", "1 memory"),
    "zh-hans": ("已记住 24 件事", "25 条记忆，其中 24 条使用中", "1 条记忆"),
}


def scrolled_to_the_end(page: Page, count: int) -> Locator:
    rows = page.locator(".row")
    for shown in range(20, count, 20):
        expect(rows).to_have_count(shown)
        rows.last.scroll_into_view_if_needed()
    expect(rows).to_have_count(count)
    return rows


def expect_order(rows: Locator, *, newest_first: bool = True) -> None:
    """By the date that each row shows; the pinned ones before all others."""
    seen = rows.evaluate_all(
        "all => all.map(row => [Boolean(row.querySelector('.row__pin')),"
        " Date.parse(row.querySelector('.row__meta time').dateTime)])"
    )
    assert [pinned for pinned, _ in seen] == sorted((pinned for pinned, _ in seen), reverse=True)
    for kind in (True, False):
        dates = [date for pinned, date in seen if pinned is kind]
        assert len(dates) > 1 and dates == sorted(dates, reverse=newest_first)


@pytest.mark.parametrize("language", list(WORDS))
def test_rows_stand_by_the_date_they_show_and_are_counted_alike_everywhere(
    page: Page, product: Product, language: str
) -> None:
    standing, listed, disabled = WORDS[language]
    person = product.person(f"sorter-{language}", language=language)
    product.shell(_MANY.format(name=person.username))
    sign_in(page, person, then=LIST)
    total = page.locator("#found .list-total")
    expect(total).to_have_text(listed)
    expect_order(scrolled_to_the_end(page, 25))
    expect(total).to_have_text(listed)
    for address in (LIST, "/memory/", "/memory/data/", "/settings/"):
        page.goto(address)
        expect(page.locator(".page-header__lead")).to_contain_text(standing)
    page.goto("/memory/")
    expect(page.locator(".portrait__phrase")).to_have_count(24)
    page.goto(f"{LIST}?status=disabled")
    expect(page.locator(".row")).to_have_count(1)
    expect(page.locator("#found")).to_contain_text(disabled)
    page.goto(f"{LIST}?sort=old")
    expect_order(scrolled_to_the_end(page, 25), newest_first=False)

    oldest = page.locator(".row:not(:has(.row__pin))").first
    title = oldest.locator(".row__title").inner_text()
    oldest.locator("summary").click()
    oldest.locator(".menu__item").first.click()
    form = page.locator(".row--editing")
    form.locator("[name=content]").fill(f"{title}, corrected")
    form.locator(".button--primary").click()
    expect(page.get_by_role("link", name=f"{title}, corrected")).to_be_visible()
    page.goto(LIST)
    expect_order(scrolled_to_the_end(page, 25))
    changed = page.locator(".row", has_text=f"{title}, corrected").locator(".row__meta time")
    expect(changed).to_have_text(re.compile("changed|改"))
