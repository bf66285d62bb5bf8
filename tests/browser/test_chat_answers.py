"""Answers of a model as they come: stopped, failing, asked for again, edited; in both languages."""

from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.chat_page import answers, composer, product_asking, send
from tests.browser.conftest import sign_in
from tests.chat_server import ChatServer, halting, refused, serving, streamed
from tests.live import Person, Product

pytestmark = pytest.mark.browser
SOON = 60_000
MARKDOWN = (
    "Here is **how**:\n- wash the rice\n- cook it\n\n```python\nprint('rice')\n```\n\n"
    "| Dish | Minutes |\n|---|---|\n| Rice | 12 |\n\nMore at https://example.com/rice."
)
_numbers = count(1)
_TALKED = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_turn
with as_system():
    talk = make_conversation(User.objects.get(username={name!r}), title="Long")
    turns = [make_turn(talk, f"Remark {{number}}.", "Noted.", extracted_at=talk.created_at)
             for number in range(30)]
    print(talk.public_id, turns[8].user_message.public_id)
"""


@pytest.fixture(scope="module")
def model() -> Iterator[ChatServer]:
    with serving(streamed("Rice.")) as one:
        yield one


@pytest.fixture(scope="module")
def product(model: ChatServer) -> Iterator[Product]:
    """A product of its own, whose chat asks a model."""
    with product_asking(model) as one:
        yield one


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


def begun(page: Page) -> None:
    """A conversation with one exchange."""
    send(page, "Hello")
    expect(answers(page)).to_have_count(1, timeout=SOON)


def test_an_answer_is_shown_as_it_comes_and_carries_out_its_markdown(
    chat: Page, model: ChatServer
) -> None:
    begun(chat)
    model.answers = [halting("Here is **how**", MARKDOWN.removeprefix("Here is **how**"))]
    send(chat, "How do I cook rice?")
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
    send(chat, "How do I cook rice?")
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


def test_while_an_answer_is_being_stopped_its_button_says_so(chat: Page, model: ChatServer) -> None:
    begun(chat)
    model.answers = [halting("First of all, ", "never mind.")]
    send(chat, "How do I cook rice?")
    expect(chat.locator(".bubble--streaming")).to_contain_text("First of all", timeout=SOON)
    held: list[Route] = []
    chat.route("**/stop/", lambda route: held.append(route))
    stop = chat.get_by_role("button", name="Stop")
    stop.click()
    expect(stop).to_have_accessible_name("Stopping…")
    expect(stop).to_contain_text("Stopping…")
    expect(stop).to_be_disabled()
    held[0].continue_()
    expect(answers(chat).last).to_contain_text("You stopped this answer here.")
    expect(stop).to_be_hidden()
    send(chat, "And beans?")
    expect(answers(chat)).to_have_count(3, timeout=SOON)
    expect(stop).to_have_count(0)


def test_what_is_sent_during_an_answer_waits_for_its_end(chat: Page, model: ChatServer) -> None:
    begun(chat)
    model.answers = [halting("First of all, ", "wash it."), streamed("Soak them.")]
    send(chat, "How do I cook rice?")
    expect(chat.locator(".bubble--streaming")).to_contain_text("First of all", timeout=SOON)
    send(chat, "And beans?")
    waits = chat.get_by_text("Will be sent when this answer is finished.")
    expect(waits).to_be_visible()
    expect(composer(chat)).to_have_value("And beans?")
    model.released.set()
    expect(answers(chat)).to_have_count(3, timeout=SOON)
    expect(answers(chat).last).to_contain_text("Soak them.")
    expect(waits).to_be_hidden()
    expect(composer(chat)).to_have_value("")
    chat.reload()
    said = chat.locator(".bubble--user .bubble__text")
    expect(said).to_have_text(["Hello", "How do I cook rice?", "And beans?"])


def test_typing_on_takes_a_waiting_message_back(chat: Page, model: ChatServer) -> None:
    begun(chat)
    model.answers = [halting("First of all, ", "wash it.")]
    send(chat, "How do I cook rice?")
    expect(chat.locator(".bubble--streaming")).to_contain_text("First of all", timeout=SOON)
    send(chat, "And beans?")
    composer(chat).press_sequentially(" Or")
    expect(chat.get_by_text("Will be sent when this answer is finished.")).to_be_hidden()
    model.released.set()
    expect(answers(chat)).to_have_count(2, timeout=SOON)
    expect(answers(chat).last).to_contain_text("wash it.")
    expect(composer(chat)).to_have_value("And beans? Or")


def test_a_message_that_is_refused_stands_in_the_field_again(chat: Page) -> None:
    begun(chat)
    page = chat.url
    refusal = '<ol class="chat__column messages" id="bubbles"></ol>'
    chat.route(page, lambda route: _answer_post(route, status=409, body=refusal))
    send(chat, "And beans?")
    expect(composer(chat)).to_have_value("And beans?")
    chat.unroute(page)
    composer(chat).press("Enter")
    expect(answers(chat).last).to_contain_text("Rice.", timeout=SOON)
    expect(chat.locator(".bubble--user").last).to_contain_text("And beans?")


def test_a_list_that_comes_during_an_answer_shows_no_message_twice(
    chat: Page, model: ChatServer
) -> None:
    begun(chat)
    model.answers = [halting("First of all, ", "wash it.")]
    send(chat, "How do I cook rice?")
    expect(chat.locator(".bubble--streaming")).to_contain_text("First of all", timeout=SOON)
    chat.evaluate("htmx.ajax('GET', location.pathname, {target: '#bubbles', swap: 'outerHTML'})")
    expect(chat.locator("#ending")).to_be_visible()
    model.released.set()
    expect(answers(chat).last).to_contain_text("wash it.", timeout=SOON)
    expect(chat.locator(".bubble--user .bubble__text")).to_have_text(
        ["Hello", "How do I cook rice?"]
    )


def test_what_is_typed_while_a_conversation_begins_is_still_there(
    chat: Page, model: ChatServer
) -> None:
    held: list[Route] = []
    chat.goto("/")
    chat.route("**/c/new/", lambda route: held.append(route))
    send(chat, "Hello")
    composer(chat).fill("And one more thing")
    held[0].continue_()
    chat.wait_for_url("**/c/conv_*/")
    expect(answers(chat)).to_have_count(1, timeout=SOON)
    expect(composer(chat)).to_have_value("And one more thing")


def test_a_draft_of_a_new_conversation_is_pointed_at_from_others(chat: Page) -> None:
    begun(chat)
    link = chat.get_by_role("link", name="New", exact=True)
    draft = chat.locator("[data-new-draft]")
    expect(draft).to_be_hidden()
    link.click()
    composer(chat).fill("Half a thought")
    chat.goto("/")
    expect(composer(chat)).to_have_value("")
    expect(draft).to_have_text("Draft")
    expect(draft).to_be_visible()
    draft.click()
    expect(composer(chat)).to_have_value("Half a thought")
    expect(draft).to_be_hidden()


def _answer_post(route: Route, *, status: int, body: str) -> None:
    if route.request.method == "POST":
        route.fulfill(status=status, body=body, content_type="text/html")
    else:
        route.continue_()


def test_a_model_that_fails_is_met_calmly_and_asked_again(chat: Page, model: ChatServer) -> None:
    begun(chat)
    model.answers = [refused(503)]
    send(chat, "How do I cook rice?")
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


WORDS = {
    "en": ("3 messages after it", "Send and forget the rest", "Edited."),
    "zh-hans": ("它之后的 3 条消息", "发送并忘记之后的内容", "已修改。"),
}


def begin_to_edit(page: Page, text: str) -> Locator:
    """Have the first message of the person asked about; gives the form."""
    first = page.locator(".bubble--user").first
    first.hover()
    first.locator("[data-edit]").click()
    form = page.locator("form.edit")
    field = form.locator("[data-edit-field]")
    expect(field).to_be_focused()
    expect(field).to_have_value("Hello")
    field.fill(text)
    field.press("Enter")
    expect(form.locator("[data-edit-confirm]")).to_be_focused()
    return form


@pytest.mark.parametrize("language", list(WORDS))
def test_an_earlier_message_is_edited_once_it_was_shown_what_goes(
    page: Page, product: Product, model: ChatServer, language: str
) -> None:
    sign_in(page, product.person(f"editor-{language}", language=language))
    later, confirm, edited = WORDS[language]
    begun(page)
    send(page, "How do I cook rice?")
    expect(answers(page)).to_have_count(2, timeout=SOON)
    form = begin_to_edit(page, "Good evening")
    asked, field = form.locator("[data-edit-confirm]"), form.locator("[data-edit-field]")
    expect(asked).to_be_in_viewport(ratio=1)
    expect(asked).to_contain_text(later)
    expect(field).to_have_value("Good evening")
    expect(page.locator(".bubble:visible")).to_have_count(4)  # nothing has gone
    field.press("End")
    field.press("Enter")  # breaks the line and sends nothing
    expect(field).to_have_value("Good evening\n")
    model.answers = [halting("Good evening", " to you.")]
    form.get_by_role("button", name=confirm).click()
    expect(page.locator(".bubble--streaming")).to_contain_text("Good evening", timeout=SOON)
    expect(page.locator(".bubble:visible")).to_have_count(2)
    model.released.set()
    expect(answers(page)).to_contain_text(["Good evening to you."])
    expect(page.locator(".toast")).to_contain_text(edited)
    expect(page.locator(".bubble__day")).to_have_count(1)
    for _ in range(2):
        expect(page.locator(".bubble")).to_have_count(2)
        expect(page.locator(".bubble--user")).to_contain_text(["Good evening"])
        page.reload()


def test_an_edit_that_is_left_off_takes_nothing_away(chat: Page) -> None:
    begun(chat)
    send(chat, "How do I cook rice?")
    expect(answers(chat)).to_have_count(2, timeout=SOON)
    begin_to_edit(chat, "Good evening").locator("[data-edit-field]").press("Escape")
    expect(chat.locator("form.edit")).to_have_count(0)
    expect(chat.locator(".bubble--user").first).to_contain_text("Hello")
    begin_to_edit(chat, "Good evening").get_by_role("link", name="Cancel").click()
    expect(chat.locator("form.edit")).to_have_count(0)
    expect(chat.locator(".bubble")).to_have_count(4)


def test_an_earlier_message_of_a_page_far_back_is_edited(
    chat: Page, product: Product, person: Person, model: ChatServer
) -> None:
    talk, message = product.shell(_TALKED.format(name=person.username)).split()
    chat.goto(f"/c/{talk}/?at={message}#{message}")
    expect(chat.get_by_role("link", name="Newest messages")).to_be_visible()
    bubble = chat.locator(f"#{message}")
    before = chat.locator(".bubble").count()
    bubble.hover()
    bubble.locator("[data-edit]").click()
    field = chat.locator("[data-edit-field]")
    field.fill("Something else.")
    field.press("Enter")
    chat.get_by_role("button", name="Send and forget the rest").click()
    expect(answers(chat).last).to_contain_text("Rice.", timeout=SOON)
    expect(chat.locator(".bubble--user").last).to_contain_text("Something else.")
    expect(chat.locator(f"#{message}")).to_have_count(0)
    expect(chat.get_by_role("link", name="Newest messages")).to_have_count(0)
    assert chat.locator(".bubble").count() < before


def test_an_earlier_message_is_not_sent_while_the_model_is_asked_elsewhere(
    chat: Page, model: ChatServer
) -> None:
    begun(chat)
    send(chat, "How do I cook rice?")
    expect(answers(chat)).to_have_count(2, timeout=SOON)
    other = chat.context.new_page()
    other.goto(chat.url)
    other.locator("[data-edit]").first.click()
    other.locator("[data-edit-field]").fill("Good evening")
    other.locator("[data-edit-field]").press("Enter")
    confirm = other.get_by_role("button", name="Send and forget the rest")
    expect(confirm).to_be_visible()
    model.answers = [halting("First of all, ", "never mind.")]
    send(chat, "And beans?")
    expect(chat.locator(".bubble--streaming")).to_contain_text("First of all", timeout=SOON)
    confirm.click()
    expect(other.locator("form.edit")).to_contain_text("still being written")
    expect(other.locator("[data-edit-field]")).to_have_value("Good evening")
    model.released.set()
    expect(answers(chat)).to_have_count(3)
    other.locator("[data-edit-field]").press("Enter")
    expect(other.locator("[data-edit-confirm]")).to_contain_text("5 messages after it")
    confirm.click()
    expect(answers(other)).to_have_count(1, timeout=SOON)
    other.close()


def test_a_message_that_another_tab_deleted_is_not_edited(chat: Page) -> None:
    # What asks whether something was learned could be under way when its turn is gone.
    chat.route("**/lessons/*", lambda route: route.fulfill(status=204))
    begun(chat)
    send(chat, "How do I cook rice?")
    expect(answers(chat)).to_have_count(2, timeout=SOON)
    other = chat.context.new_page()
    other.goto(chat.url)
    bubble = other.locator(".bubble--user").first
    bubble.get_by_label("More for your message").click()
    bubble.get_by_role("link", name="Delete and forget this exchange…").click()
    other.get_by_role("dialog").get_by_role("button", name="Delete and forget").click()
    expect(other.locator(".bubble")).to_have_count(2)
    other.close()
    chat.locator("[data-edit]").first.click()
    expect(chat.locator(".toast")).to_contain_text("This message isn’t here any more.")
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
    send(chat, "How do I cook rice?")
    expect(chat.locator(".bubble--streaming")).to_contain_text("First of all", timeout=SOON)
    other = chat.context.new_page()
    other.goto(chat.url)
    expect(other.locator("#ending")).to_contain_text("An answer is being written…")
    send(other, "And beans?")
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


def test_the_chat_speaks_chinese_too(page: Page, product: Product, model: ChatServer) -> None:
    sign_in(page, product.person("asker-zh", language="zh-hans"))
    begun(page)
    model.answers = [refused(503)]
    send(page, "米饭怎么做？")
    expect(page.locator("#ending")).to_contain_text("你的消息已保存", timeout=SOON)
    model.answers = [streamed("加水煮。")]
    page.get_by_role("button", name="重试").click()
    expect(answers(page).last).to_contain_text("加水煮。")


def test_without_javascript_answers_come_whole_and_can_be_asked_again(
    plain: Page, person: Person, model: ChatServer
) -> None:
    sign_in(plain, person)
    model.answers = [streamed(MARKDOWN)]
    composer(plain).fill("How do I cook rice?")
    plain.get_by_role("button", name="Send").click()
    expect(answers(plain).locator("td")).to_have_text(["Rice", "12"])
    model.answers = [streamed("With water.")]
    plain.get_by_role("button", name="Answer again").click()
    expect(answers(plain)).to_contain_text(["With water."])
    plain.get_by_role("link", name="Edit your message").click()
    plain.locator("textarea").fill("And beans?")
    model.answers = [refused(503)]
    plain.get_by_role("button", name="Send").click()
    expect(plain.locator(".bubble--user")).to_contain_text(["And beans?"])
    expect(plain.locator("#ending")).to_contain_text("This message has no answer yet.")
    model.answers = [streamed("With more water.")]
    plain.get_by_role("button", name="Get an answer").click()
    expect(answers(plain)).to_contain_text(["With more water."])


def test_without_javascript_an_earlier_message_is_edited(
    plain: Page, person: Person, model: ChatServer
) -> None:
    sign_in(plain, person)
    for text in ("Hello", "How do I cook rice?"):
        composer(plain).fill(text)
        plain.get_by_role("button", name="Send").click()
    expect(answers(plain)).to_have_count(2)
    plain.get_by_role("link", name="Edit your message").first.click()
    expect(plain.locator("#edit-goes")).to_contain_text("3 messages after it will be forgotten too")
    plain.locator("textarea").fill("Good evening")
    plain.get_by_role("button", name="Send…").click()
    expect(plain.locator("[data-edit-confirm]")).to_contain_text("3 messages after it")
    model.answers = [streamed("Good evening to you.")]
    plain.get_by_role("button", name="Send and forget the rest").click()
    expect(plain.locator(".bubble")).to_have_count(2)
    expect(plain.locator(".bubble--user")).to_contain_text(["Good evening"])
    expect(answers(plain)).to_contain_text(["Good evening to you."])
    expect(plain.locator(".toast")).to_contain_text("Edited.")
