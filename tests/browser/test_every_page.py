"""Every page, in both themes: nothing that axe finds, nothing that runs out of the window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import LANGUAGES, SPEAKS, obstacles, what_axe_finds
from tests.browser.conftest import sign_in
from tests.browser.places import (
    INVITED,
    NEWCOMER,
    VISITORS,
    addresses_for,
    arrive_by_link,
    states,
)
from tests.live import Person, Product

pytestmark = pytest.mark.browser

# The rules on the words of a page; colours and structure are the same in both languages.
OF_WORDS = (
    *("html-has-lang", "html-lang-valid", "valid-lang", "document-title", "empty-heading"),
    *("heading-order", "page-has-heading-one", "button-name", "link-name", "input-button-name"),
    *("label", "select-name", "summary-name", "image-alt", "svg-img-alt", "aria-dialog-name"),
    *("aria-command-name", "aria-input-field-name", "aria-toggle-field-name", "region"),
    *("label-content-name-mismatch", "form-field-multiple-labels", "landmark-unique"),
)
WIDTHS = (320, 390, 1280, 1920)


@pytest.fixture(scope="module")
def reader(product: Product) -> Person:
    return product.person("reader")


@pytest.fixture(scope="module")
def addresses(product: Product, reader: Person) -> dict[str, str]:
    return addresses_for(product, reader)


def problems_on(page: Page, name: str, address: str) -> Iterator[str]:
    page.goto(address)
    yield from obstacles(page, name)
    yield from too_wide(page, name)


def too_wide(page: Page, name: str) -> Iterator[str]:
    size = page.viewport_size
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if page.evaluate("document.documentElement.scrollWidth") > width:
            yield f"{name}: wider than {width}"
    assert size is not None
    page.set_viewport_size(size)


def all_problems(page: Page, addresses: Mapping[str, str]) -> list[str]:
    return [
        problem
        for name, address in addresses.items()
        for problem in problems_on(page, name, address)
    ]


def test_no_page_has_an_obstacle_that_axe_knows_in_either_theme(
    open_page: Page, product: Product, reader: Person, addresses: dict[str, str]
) -> None:
    assert all_problems(open_page, VISITORS) == []
    arrive_by_link(open_page, product)
    assert all_problems(open_page, INVITED) == []
    open_page.context.clear_cookies()
    sign_in(open_page, reader)
    assert all_problems(open_page, addresses) == []


def problems_of_words(page: Page, addresses: Mapping[str, str]) -> Iterator[str]:
    for name, address in addresses.items():
        page.goto(address)
        expect(page.locator("html")).to_have_attribute("lang", "zh-hans")
        yield from (f"{name}: {one}" for one in what_axe_finds(page, rules=OF_WORDS).violations)
        yield from too_wide(page, name)


def test_no_page_has_an_obstacle_of_words_in_chinese_or_is_too_wide_for_them(
    browser: Browser, product: Product, reader: Person, addresses: dict[str, str]
) -> None:
    context = browser.new_context(base_url=product.address, locale="zh-CN", bypass_csp=True)
    page = context.new_page()
    problems = [*problems_of_words(page, VISITORS)]
    product.shell(SPEAKS.format(name=reader.username, language="zh-hans"))
    sign_in(page, reader)
    problems += problems_of_words(page, addresses)
    product.shell(SPEAKS.format(name=reader.username, language="en"))
    context.close()
    assert problems == []


@pytest.mark.parametrize(("language", "locale"), LANGUAGES.items())
def test_empty_pages_dialogs_and_pages_of_trouble_have_no_obstacle(
    browser: Browser, product: Product, language: str, locale: str
) -> None:
    person = product.person(f"nothing-yet-{language}", language=language)
    context = browser.new_context(base_url=product.address, locale=locale, bypass_csp=True)
    page = context.new_page()
    sign_in(page, person)
    expect(page.locator("html")).to_have_attribute("lang", language)
    problems = all_problems(page, NEWCOMER)
    names = []
    for name in states(page, product, person, language=language):
        names.append(name)
        expect(page.locator("html")).to_have_attribute("lang", language)
        problems += obstacles(page, name)
    context.close()
    assert len(names) == 8
    assert problems == []


def test_pages_hold_in_forced_colours_and_on_paper(
    browser: Browser, product: Product, reader: Person, addresses: dict[str, str]
) -> None:
    context = browser.new_context(base_url=product.address, forced_colors="active")
    page = context.new_page()
    sign_in(page, reader)
    page.goto(addresses["settings_page"])
    expect(page.get_by_role("switch").first).to_be_visible()
    page.goto(addresses["memory_pictures"])
    expect(page.locator(".curve").first).to_be_visible()
    page.emulate_media(media="print")
    page.goto(addresses["receipt_page"])
    expect(page.locator(".receipt")).to_be_visible()
    expect(page.locator(".site-header")).to_be_hidden()
    context.close()
