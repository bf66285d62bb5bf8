"""What is sent is sent once and leaves the composer; code in an answer is highlighted."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.chat_page import answers, composer, product_asking, send
from tests.browser.conftest import sign_in
from tests.chat_server import ChatServer, halting, serving, streamed
from tests.live import Person, Product

pytestmark = pytest.mark.browser
SOON = 60_000
CODE = "Here you are:\n\n```python\ndef greet():  # politely\n    return 'hello'\n```\n"
_numbers = count(1)


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with serving(streamed("Rice.")) as one:
        yield one


@pytest.fixture(scope="module")
def product(model: ChatServer) -> Iterator[Product]:
    with product_asking(model) as one:
        yield one


@pytest.fixture
def person(product: Product, model: ChatServer) -> Iterator[Person]:
    model.released.clear()
    model.answers = [streamed("Rice.")]
    yield product.person(f"sender-{next(_numbers)}")
    model.released.set()


def said(page: Page) -> Locator:
    return page.locator(".bubble--user .bubble__text")


def test_a_double_click_sends_once_and_leaves_an_empty_composer(
    page: Page, person: Person, model: ChatServer
) -> None:
    sign_in(page, person)
    model.answers, before = [streamed(CODE)], len(model.asked)
    for sent in (["How do I greet?"], ["How do I greet?", "And in French?"]):
        composer(page).fill(sent[-1])
        page.get_by_role("button", name="Send").dblclick()
        expect(answers(page)).to_have_count(len(sent), timeout=SOON)
        expect(said(page)).to_have_text(sent)
        expect(composer(page)).to_have_value("")
        for _ in range(2):
            page.reload()
            expect(said(page)).to_have_text(sent)
            expect(composer(page)).to_have_value("")
    assert len(model.asked) == before + 2
    page.goto("/memory/")
    page.go_back()
    expect(said(page)).to_have_count(2)
    expect(composer(page)).to_have_value("")

    code = answers(page).last.locator("pre code")
    expect(code).to_contain_text("return 'hello'")
    expect(code.locator(".tok-keyword").first).to_have_text("def")
    expect(code.locator(".tok-string").first).to_have_text("'hello'")
    expect(code.locator(".tok-comment")).to_have_text("# politely")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        shades = code.evaluate(
            "all => [all, ...all.querySelectorAll('.tok-keyword, .tok-string, .tok-comment')]"
            ".map(one => getComputedStyle(one).color)"
        )
        assert len(set(shades)) == 4, shades
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.locator(".code [data-copy-code]").last.click()
    expect(page.locator(".toast")).to_contain_text("Copied.")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "def greet():  # politely\n    return 'hello'\n"


def test_in_chinese_an_answer_is_copied_given_again_and_stopped_after_an_edit(
    page: Page, product: Product, person: Person, model: ChatServer
) -> None:
    sign_in(page, product.person(f"{person.username}-zh", language="zh-hans"))
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    send(page, "米饭怎么做？")
    expect(answers(page)).to_have_count(1, timeout=SOON)
    answers(page).last.hover()
    answers(page).last.get_by_role("button", name="复制", exact=True).click()
    expect(page.locator(".toast")).to_contain_text("已复制。")
    assert page.evaluate("navigator.clipboard.readText()") == "Rice."
    model.answers = [streamed("加水煮。")]
    page.get_by_role("button", name="重新回答").click()
    expect(answers(page)).to_contain_text(["加水煮。"])
    page.get_by_role("link", name="修改消息").click()
    model.answers = [halting("先烧水，", "再下面。")]
    page.locator("[data-edit-field]").fill("面条怎么做？")
    page.locator("[data-edit-field]").press("Enter")
    expect(page.locator(".bubble--streaming")).to_contain_text("先烧水", timeout=SOON)
    page.get_by_role("button", name="停止").click()
    expect(answers(page).last).to_contain_text("你在这里停止了回答。")
    expect(said(page)).to_have_text(["面条怎么做？"])


def test_a_draft_is_kept_where_it_was_typed_and_nowhere_else(page: Page, person: Person) -> None:
    sign_in(page, person)
    send(page, "Hello")
    expect(answers(page)).to_have_count(1, timeout=SOON)
    first = page.url
    page.get_by_role("link", name="New", exact=True).click()
    send(page, "Something else")
    page.wait_for_url("**/c/conv_*/")
    expect(answers(page)).to_have_count(1, timeout=SOON)
    composer(page).fill("Half a thought")
    second = page.url
    page.goto(first)
    expect(composer(page)).to_have_value("")
    page.goto(second)
    expect(composer(page)).to_have_value("Half a thought")
    composer(page).press("Enter")
    expect(answers(page)).to_have_count(2, timeout=SOON)
    page.reload()
    expect(composer(page)).to_have_value("")


def test_what_arrived_unheard_is_no_draft_when_the_page_comes_back(
    browser: Browser, product: Product, person: Person
) -> None:
    """In a context of its own: the browser notes the lost answer as an error."""
    context = browser.new_context(base_url=product.address, locale="en-GB")
    page = context.new_page()
    sign_in(page, person)
    send(page, "Hello")
    expect(answers(page)).to_have_count(1, timeout=SOON)

    def arrive_unheard(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()  # the server has it; the page never hears so
            route.abort()
        else:
            route.continue_()

    page.route(page.url, arrive_unheard)
    send(page, "And beans?")
    expect(page.locator(".toast")).to_contain_text("The server didn’t answer.", timeout=SOON)
    expect(composer(page)).to_have_value("And beans?")
    page.unroute(page.url)
    page.reload()
    expect(said(page)).to_have_text(["Hello", "And beans?"])
    expect(composer(page)).to_have_value("")
    context.close()


def test_a_connection_that_breaks_during_an_answer_gives_no_sent_text_back(
    browser: Browser, product: Product, person: Person, model: ChatServer
) -> None:
    """In a context of its own: the browser notes the broken connection as an error."""
    context = browser.new_context(base_url=product.address, locale="en-GB")
    page = context.new_page()
    sign_in(page, person)
    send(page, "Hello")
    expect(answers(page)).to_have_count(1, timeout=SOON)
    broken = 'event: begun\ndata: {"gone": []}\n\nevent: shown\ndata: {"html": "<p>First\n\n'

    def break_off(route: Route) -> None:
        if route.request.method == "POST":
            route.fetch()
            route.fulfill(body=broken, content_type="text/event-stream")
        else:
            route.continue_()

    model.answers = [streamed("First of all, wash them.")]
    page.route(page.url, break_off)
    send(page, "And beans?")
    expect(answers(page).last).to_contain_text("First of all, wash them.", timeout=SOON)
    expect(said(page)).to_have_text(["Hello", "And beans?"])
    expect(composer(page)).to_have_value("")
    page.unroute(page.url)
    page.reload()
    expect(composer(page)).to_have_value("")
    context.close()
