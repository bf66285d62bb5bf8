"""Answers of a model as they come: stopped, failing, asked for again, edited; in both languages."""

from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import sign_in
from tests.chat_server import ChatServer, halting, refused, serving, streamed
from tests.live import Person, Product, server

pytestmark = pytest.mark.browser
SOON = 60_000
MARKDOWN = (
    "Here is **how**:\n- wash the rice\n- cook it\n\n```python\nprint('rice')\n```\n\n"
    "| Dish | Minutes |\n|---|---|\n| Rice | 12 |\n\nMore at https://example.com/rice."
)
_numbers = count(1)


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with serving(streamed("Rice.")) as one:
        yield one


@pytest.fixture(scope="module")
def product(model: ChatServer) -> Iterator[Product]:
    """A product of its own, whose chat asks a model."""
    settings = {"MEMCENTER_MODEL_BASE_URL": model.url, "MEMCENTER_MODEL_NAME": "tiny"}
    with server(**settings, MEMCENTER_MODEL_RETRIES="0") as one:
        yield one.start()


@pytest.fixture(autouse=True)
def calm(model: ChatServer) -> Iterator[None]:
    model.released.clear()
    model.answers = [streamed("Rice.")]
    yield
    model.released.set()


@pytest.fixture
def person(product: Product) -> Person:
    return product.person(f"asker-{next(_numbers)}")


@pytest.fixture
def chat(page: Page, person: Person) -> Page:
    sign_in(page, person)
    return page


def composer(page: Page) -> Locator:
    return page.locator("[data-composer]")


def answers(page: Page) -> Locator:
    return page.locator(".bubble--assistant:not(.bubble--pending)")


def say(page: Page, text: str) -> None:
    composer(page).fill(text)
    composer(page).press("Enter")


def begun(page: Page) -> None:
    """A conversation with one exchange."""
    say(page, "Hello")
    expect(answers(page)).to_have_count(1, timeout=SOON)


def test_an_answer_is_shown_as_it_comes_and_carries_out_its_markdown(
    chat: Page, model: ChatServer
) -> None:
    begun(chat)
    model.answers = [halting("Here is **how**", MARKDOWN.removeprefix("Here is **how**"))]
    say(chat, "How do I cook rice?")
    pending = chat.locator(".bubble--assistant.bubble--streaming")
    expect(pending.locator("strong")).to_have_text("how", timeout=SOON)
    expect(chat.get_by_role("button", name="Stop")).to_be_visible()
    model.released.set()
    answer = answers(chat).last
    expect(answer.locator("li")).to_have_count(2)
    expect(answer.locator("td")).to_have_text(["Rice", "12"])
    expect(answer.locator("pre")).to_contain_text("print('rice')")
    link = answer.get_by_role("link", name="https://example.com/rice")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(chat.get_by_role("button", name="Stop")).to_be_hidden()
    expect(composer(chat)).to_be_focused()


@pytest.mark.parametrize("by", ["button", "key"])
def test_an_answer_is_stopped_and_what_was_shown_stays(
    chat: Page, model: ChatServer, by: str
) -> None:
    begun(chat)
    model.answers = [halting("First of all, ", "never mind.")]
    say(chat, "How do I cook rice?")
    expect(chat.locator(".bubble--streaming")).to_contain_text("First of all", timeout=SOON)
    if by == "key":
        chat.keyboard.press("Escape")
    else:
        chat.get_by_role("button", name="Stop").click()
    expect(answers(chat).last).to_contain_text("You stopped this answer here.")
    expect(answers(chat).last.locator(".bubble__text")).to_have_text("First of all,")
    chat.reload()
    expect(answers(chat).last.locator(".bubble__text")).to_have_text("First of all,")
    expect(answers(chat).last).to_contain_text("You stopped this answer here.")


def test_a_model_that_fails_is_met_calmly_and_asked_again(chat: Page, model: ChatServer) -> None:
    begun(chat)
    model.answers = [refused(503)]
    say(chat, "How do I cook rice?")
    expect(chat.locator("#ending")).to_contain_text("Your message was saved.", timeout=SOON)
    expect(chat.locator(".bubble--user").last).to_contain_text("How do I cook rice?")
    model.answers = [streamed("With water.")]
    chat.get_by_role("button", name="Try again").click()
    expect(answers(chat).last).to_contain_text("With water.")
    expect(chat.locator(".bubble")).to_have_count(4)
    expect(chat.locator("#ending")).to_have_count(0)


def test_an_answer_is_given_again_in_its_place(chat: Page, model: ChatServer) -> None:
    begun(chat)
    model.answers = [streamed("Good day!")]
    chat.get_by_role("button", name="Answer again").click()
    expect(answers(chat)).to_contain_text(["Good day!"])
    expect(chat.locator(".bubble")).to_have_count(2)
    chat.reload()
    expect(answers(chat)).to_contain_text(["Good day!"])
    expect(chat.locator(".bubble")).to_have_count(2)


def test_the_last_message_is_edited_in_its_bubble(chat: Page, model: ChatServer) -> None:
    begun(chat)
    chat.get_by_role("link", name="Edit your message").click()
    field = chat.locator("[data-edit-field]")
    expect(field).to_be_focused()
    expect(field).to_have_value("Hello")
    field.press("Escape")
    expect(field).to_have_count(0)
    chat.get_by_role("link", name="Edit your message").click()
    model.answers = [streamed("Good evening to you.")]
    field.fill("Good evening")
    field.press("Enter")
    expect(answers(chat)).to_contain_text(["Good evening to you."], timeout=SOON)
    expect(chat.locator(".bubble--user")).to_contain_text(["Good evening"])
    expect(chat.locator(".toast")).to_contain_text("Edited.")
    expect(chat.locator(".bubble")).to_have_count(2)


def test_what_was_typed_outlives_a_session_that_ended(chat: Page, person: Person) -> None:
    begun(chat)
    here = chat.url
    # What asks whether something was learned would be told that nobody is signed in.
    chat.route("**/lessons/*", lambda route: route.fulfill(status=204))
    chat.context.clear_cookies()
    chat.route("**/c/conv_*/", lambda route: route.continue_())
    composer(chat).fill("Where was I?")
    sign_in_elsewhere(chat, person)
    chat.goto(here)
    expect(composer(chat)).to_have_value("Where was I?")


def sign_in_elsewhere(page: Page, person: Person) -> None:
    other = page.context.new_page()
    sign_in(other, person)
    other.close()


def test_a_second_window_sees_the_answer_under_way_and_may_stop_it(
    chat: Page, model: ChatServer
) -> None:
    begun(chat)
    model.answers = [halting("First of all, ", "never mind.")]
    say(chat, "How do I cook rice?")
    expect(chat.locator(".bubble--streaming")).to_contain_text("First of all", timeout=SOON)
    other = chat.context.new_page()
    other.goto(chat.url)
    expect(other.locator("#ending")).to_contain_text("An answer is being written…")
    say(other, "And beans?")
    expect(other.locator("#composer-error")).to_contain_text("still being written")
    expect(composer(other)).to_have_value("And beans?")
    other.locator("#ending").get_by_role("button", name="Stop").click()
    for window in (chat, other):
        expect(answers(window)).to_have_count(2)
        expect(answers(window).last).to_contain_text("You stopped this answer here.")
        expect(window.locator(".bubble")).to_have_count(4)
        expect(window.locator("#ending")).to_have_count(0)
    expect(chat.locator("#said")).to_be_empty()  # read aloud, and not left below the list
    other.close()


def test_the_chat_speaks_chinese_too(chat: Page, model: ChatServer) -> None:
    chat.context.add_cookies([{"name": "django_language", "value": "zh-hans", "url": chat.url}])
    begun(chat)
    model.answers = [refused(503)]
    say(chat, "米饭怎么做？")
    expect(chat.locator("#ending")).to_be_visible(timeout=SOON)
    model.answers = [streamed("加水煮。")]
    chat.locator("#ending button").click()
    expect(answers(chat).last).to_contain_text("加水煮。")


def test_without_javascript_answers_come_whole_and_can_be_asked_again(
    browser: Browser, product: Product, person: Person, model: ChatServer
) -> None:
    context = browser.new_context(
        base_url=product.address, locale="en-GB", java_script_enabled=False
    )
    page = context.new_page()
    sign_in(page, person)
    model.answers = [streamed(MARKDOWN)]
    composer(page).fill("How do I cook rice?")
    page.get_by_role("button", name="Send").click()
    expect(answers(page).locator("td")).to_have_text(["Rice", "12"])
    model.answers = [streamed("With water.")]
    page.get_by_role("button", name="Answer again").click()
    expect(answers(page)).to_contain_text(["With water."])
    page.get_by_role("link", name="Edit your message").click()
    page.locator("textarea").fill("And beans?")
    model.answers = [refused(503)]
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".bubble--user")).to_contain_text(["And beans?"])
    expect(page.locator("#ending")).to_contain_text("This message has no answer yet.")
    model.answers = [streamed("With more water.")]
    page.get_by_role("button", name="Answer it").click()
    expect(answers(page)).to_contain_text(["With more water."])
    context.close()
