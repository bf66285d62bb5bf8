"""Every page, in both themes: nothing that axe finds, nothing that runs out of the window."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import SPEAKS, look, what_axe_finds
from tests.browser.conftest import note, sign_in
from tests.browser.places import INVITED, VISITORS, addresses_for, arrive_by_link, joining
from tests.live import PASSWORD, Person, Product

pytestmark = pytest.mark.browser

OF_COLOURS = ("color-contrast", "link-in-text-block")
WIDTHS = (320, 390, 1280, 1920)


@pytest.fixture(scope="module")
def reader(product: Product) -> Person:
    return product.person("reader")


@pytest.fixture(scope="module")
def addresses(product: Product, reader: Person) -> dict[str, str]:
    return addresses_for(product, reader)


@pytest.fixture
def open_page(browser: Browser, product: Product) -> Iterator[Page]:
    """As `page`, but axe's own inline styles are let in, which the product refuses."""
    context = browser.new_context(
        base_url=product.address,
        locale="en-GB",
        viewport={"width": 1280, "height": 900},
        bypass_csp=True,
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: note(message, problems))
    page.on("pageerror", lambda error: problems.append(str(error)))
    yield page
    context.close()
    assert not problems, problems


# Links change at once and what is behind them a frame later.
COLOURS_HAVE_CHANGED = """async () => {
    await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));
    await Promise.all(document.getAnimations().map(one => one.finished.catch(() => null)));
}"""


def problems_on(page: Page, name: str, address: str) -> Iterator[str]:
    page.emulate_media(color_scheme="light", reduced_motion="reduce")
    for one in look(page, address).violations:
        yield f"{name}: {one}"
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.evaluate(COLOURS_HAVE_CHANGED)
    for one in what_axe_finds(page, rules=OF_COLOURS).violations:  # nothing else differs
        yield f"{name}, dark: {one}"
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


# What depends on words.
OF_WORDS = (
    *("html-has-lang", "html-lang-valid", "document-title", "heading-order", "empty-heading"),
    *("button-name", "link-name", "label", "summary-name", "image-alt", "aria-dialog-name"),
)


def test_no_page_has_an_obstacle_of_words_in_chinese(
    open_page: Page, product: Product, reader: Person, addresses: dict[str, str]
) -> None:
    """Of the same pages, read by somebody who reads Chinese."""
    product.shell(SPEAKS.format(name="reader", language="zh-hans"))
    sign_in(open_page, reader)
    found: list[tuple[str, str]] = []
    for name, address in addresses.items():
        open_page.goto(address)
        expect(open_page.locator("html")).to_have_attribute("lang", "zh-hans")
        found += [(name, one) for one in what_axe_finds(open_page, rules=OF_WORDS).violations]
    product.shell(SPEAKS.format(name="reader", language="en"))
    assert found == []


def test_what_opens_on_a_page_has_no_obstacle_either(
    open_page: Page, product: Product, reader: Person, addresses: dict[str, str]
) -> None:
    page = open_page
    found: list[tuple[str, str]] = []

    def look_at(what: str) -> None:
        page.evaluate(COLOURS_HAVE_CHANGED)
        found.extend((what, one) for one in what_axe_finds(page).violations)

    page.goto(joining(product, reader))
    look_at("joining")
    sign_in(page, reader, then="/memory/long-term/")
    row = page.locator(".row").first
    row.locator("summary").click()
    look_at("menu of a row")
    row.locator(".menu__item").last.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    look_at("dialog that forgets")
    page.keyboard.press("Escape")
    page.get_by_role("link", name="Add", exact=True).click()
    expect(page.get_by_role("dialog")).to_be_visible()
    look_at("dialog that adds")
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    look_at("keyboard help")
    page.goto("/")
    page.locator("[data-composer]").fill("Forget everything that matters.")
    page.locator("[data-composer]").press("Enter")
    expect(page.locator(".card.forget")).to_be_visible(timeout=60_000)
    look_at("card that forgets")
    assert found == []


def test_the_code_step_has_no_obstacle(open_page: Page, product: Product) -> None:
    person = product.person("two-steps")
    product.shell(
        "from ops.access import as_system\n"
        "from ops.accounts import sign_ins\n"
        "from ops.models import SecondFactor, User\n"
        "with as_system():\n"
        "    user = User.objects.get(username='two-steps')\n"
        "    SecondFactor.objects.create(user=user, secret=sign_ins.new_secret(), recovery=[])"
    )
    sign_in(open_page, Person(person.username, PASSWORD))
    assert list(problems_on(open_page, "code step", open_page.url)) == []


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
