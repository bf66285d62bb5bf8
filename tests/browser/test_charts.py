"""The charts without JavaScript, as they are seen and as a screen reader tells them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import sign_in
from tests.live import Product

pytestmark = pytest.mark.browser

LOCALES = {"en": "en-GB", "zh-hans": "zh-CN"}
_numbers = count(1)
_KNOWN = """
from datetime import timedelta
from django.utils import timezone
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn
with as_system():
    user = User.objects.get(username={name!r})
    now = timezone.now()
    make_turn(make_conversation(user, title="Bees"), "I keep bees.")
    for days, text, tag, used in (
        (40, "Allergic to peanuts", "health", 12),
        (20, "Runs every morning", "health", 3),
        (2, "Works as a carpenter", "work", 0),
    ):
        make_memory(user, text, tags=[tag], access_count=used, last_accessed_at=now,
                    created_at=now - timedelta(days=days))
"""
Told = dict[str, str]
WORDS: dict[str, Told] = {
    "en": {
        "charts": "Charts",
        "growth": "Memories over time",
        "grew": "It grew to 3 between",
        "as a table": "As a table",
        "topics": "Memories by topic",
        "health": "Health",
        "uses": "Used most often",
        "used": "2 of 3 memories were used in answers.",
        "storage": "Storage",
        "messages": "What you said",
    },
    "zh-hans": {
        "charts": "图表",
        "growth": "记忆的增长",
        "grew": "累计 3 条",
        "as a table": "用表格查看",
        "topics": "按主题看记忆",
        "health": "健康",
        "uses": "用得最多的记忆",
        "used": "3 条记忆中有 2 条在回答里用过",
        "storage": "占用空间",
        "messages": "你说过的话",
    },
}


@pytest.fixture(params=list(WORDS))
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def told(language: str) -> Told:
    return WORDS[language]


@pytest.fixture
def charts(browser: Browser, product: Product, language: str) -> Iterator[Page]:
    """The page of somebody with three memories, of whom two were used."""
    name = f"charted-{next(_numbers)}"
    person = product.person(name, language=language)
    product.shell(_KNOWN.format(name=name))
    context = browser.new_context(
        base_url=product.address, locale=LOCALES[language], java_script_enabled=False
    )
    page = context.new_page()
    sign_in(page, person, then="/memory/pictures/")
    yield page
    context.close()


def figure(page: Page, title: str) -> Locator:
    heading = page.get_by_role("heading", name=title, exact=True)
    return page.get_by_role("figure").filter(has=heading)


def test_the_growth_is_drawn_told_in_a_sentence_and_listed_day_by_day(
    charts: Page, told: Told
) -> None:
    growth = figure(charts, told["growth"])
    expect(growth.get_by_role("img", name=told["grew"])).to_be_visible()
    expect(growth.get_by_role("table")).to_be_hidden()
    growth.get_by_text(told["as a table"]).click()
    days = growth.get_by_role("row").filter(has=charts.get_by_role("rowheader"))
    expect(days).to_have_count(41)
    expect(days.first.get_by_role("cell")).to_have_text("1")
    expect(days.last.get_by_role("cell")).to_have_text("3")


def test_topics_uses_and_storage_are_tables_with_names_and_numbers(
    charts: Page, told: Told
) -> None:
    topics = charts.get_by_role("table", name=told["topics"], exact=True)
    health = topics.get_by_role("row").filter(has_text=told["health"])
    expect(health.get_by_role("rowheader")).to_have_text(told["health"])
    expect(health.get_by_role("cell")).to_have_text("2")
    expect(topics.get_by_role("columnheader")).to_have_count(2)
    uses = charts.get_by_role("table", name=told["uses"], exact=True)
    expect(uses).to_have_accessible_description(re.compile(re.escape(told["used"])))
    numbers = uses.get_by_role("row").filter(has=charts.get_by_role("cell"))
    expect(numbers).to_have_count(2)
    expect(numbers.first).to_contain_text("Allergic to peanuts")
    expect(numbers.first.get_by_role("cell")).to_have_text("12")
    storage = charts.get_by_role("table", name=told["storage"], exact=True)
    said = storage.get_by_role("row").filter(has_text=told["messages"])
    expect(said.get_by_role("cell")).to_have_text(re.compile(r"\d"))
    uses.get_by_role("link", name="Allergic to peanuts").click()
    expect(charts.get_by_role("heading", level=1)).to_contain_text("Allergic to peanuts")


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("address", ["/memory/", "/memory/long-term/"])
def test_the_charts_are_linked_where_people_look(
    charts: Page, told: Told, address: str, width: int
) -> None:
    charts.set_viewport_size({"width": width, "height": 780})
    charts.goto(address)
    link = charts.locator("main header").get_by_role("link", name=told["charts"], exact=True)
    expect(link).to_be_in_viewport(ratio=1)
    assert charts.evaluate("document.documentElement.scrollWidth") == width
    link.click()
    expect(charts.get_by_role("heading", name=told["charts"], level=1)).to_be_visible()
    expect(figure(charts, told["growth"])).to_be_visible()


@pytest.mark.parametrize("width", [390, 1280])
def test_each_bar_is_as_long_as_its_number_says(charts: Page, told: Told, width: int) -> None:
    charts.set_viewport_size({"width": width, "height": 800})
    bars = charts.get_by_role("table", name=told["uses"], exact=True).locator("rect")
    first, second = (box["width"] for one in bars.all() if (box := one.bounding_box()))
    assert first == pytest.approx(4 * second, rel=0.05)
    assert charts.evaluate("document.documentElement.scrollWidth") == width
    for drawing in charts.locator("main svg:visible").all():
        is_told = drawing.get_attribute("aria-labelledby") or drawing.get_attribute("aria-hidden")
        assert is_told, drawing.evaluate("one => one.outerHTML")
