"""The chat as people use it: a real Chromium against the running product."""

from itertools import count

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.chat_page import answers
from tests.browser.conftest import sign_in
from tests.live import Person, Product

pytestmark = pytest.mark.browser

# The first answer loads the embedder, and learning happens in the background.
SOON = 60_000
_numbers = count(1)


@pytest.fixture
def person(product: Product) -> Person:
    """Somebody of whom nothing is remembered."""
    return product.person(f"chatter-{next(_numbers)}")


@pytest.fixture
def chat(page: Page, person: Person) -> Page:
    """Signed in, nothing said yet."""
    sign_in(page, person)
    return page


@pytest.fixture
def plain(plain: Page, person: Person) -> Page:
    """The same without JavaScript."""
    sign_in(plain, person)
    return plain


_LONG = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_summary, make_turn
with as_system():
    talk = make_conversation(User.objects.get(username={name!r}), title="Long")
    for number in range(13):
        make_turn(talk, f"Remark {{number}}.", f"Noted {{number}}.")
    make_summary(talk, "They remarked on things.", through=6)
    print(talk.public_id)
"""


def composer(page: Page) -> Locator:
    return page.get_by_label("Your message", exact=True)


LIST = "conversation-list"


def say(page: Page, text: str) -> Locator:
    """Send by Enter; gives the answer."""
    before = answers(page).count()
    composer(page).fill(text)
    composer(page).press("Enter")
    expect(answers(page)).to_have_count(before + 1, timeout=SOON)
    return answers(page).last


def learned(answer: Locator) -> Locator:
    """The chip that comes when the turn has been learned from."""
    chip = answer.locator(".learned > summary", has_text="1 memory learned")
    expect(chip).to_be_visible(timeout=SOON)
    return chip


@pytest.mark.parametrize(
    ("text", "memory"),
    [("I'm allergic to penicillin.", "penicillin"), ("我对花生过敏。", "花生")],
)
def test_what_is_told_is_learned_and_its_chip_unfolds_to_the_memory(
    chat: Page, text: str, memory: str
) -> None:
    answer = say(chat, text)
    expect(chat.locator(".bubble__day")).to_have_count(1)
    expect(composer(chat)).to_have_value("")
    learned(answer).click()
    here = answer.locator(".learned")
    expect(here.get_by_role("button", name="Undo")).to_be_visible()
    here.get_by_role("link", name=memory).click()
    expect(chat.get_by_role("heading", level=1)).to_contain_text(memory)
    expect(chat.get_by_text(text).first).to_be_visible()


def test_an_answer_shows_what_it_used_beside_it(chat: Page) -> None:
    learned(say(chat, "I'm allergic to penicillin."))
    answer = say(chat, "What am I allergic to?")
    expect(answer).to_contain_text("penicillin")
    panel = chat.get_by_role("complementary", name="Used in this answer")
    expect(panel).to_contain_text("penicillin")
    expect(panel).to_contain_text("I'm allergic to penicillin")
    answers(chat).first.locator(".bubble__chips").hover()
    expect(answer.get_by_role("link", name="1 memory used")).to_have_attribute(
        "aria-current", "true"
    )


def test_a_draft_outlives_its_tab_but_no_sign_out(chat: Page) -> None:
    chat.locator("[data-composer]").fill("Half a thought")
    here = chat.url
    other = chat.context.new_page()
    chat.close()
    other.goto(here)
    expect(other.locator("[data-composer]")).to_have_value("Half a thought")
    other.get_by_label("Your account").click()
    other.get_by_role("button", name="Sign out").click()
    other.wait_for_url("**/signin/**")
    assert other.evaluate("Object.keys(localStorage).filter(one => one.startsWith('draft '))") == []


def test_a_deleted_turn_goes_with_what_it_taught(chat: Page) -> None:
    answer = say(chat, "I'm allergic to penicillin.")
    learned(answer)
    say(chat, "Thanks!")
    answer = answers(chat).first
    answer.get_by_label("More for this answer").click()
    answer.get_by_role("link", name="Delete and forget this exchange…").click()
    dialog = chat.get_by_role("dialog")
    expect(dialog).to_contain_text("the message “I'm allergic to penicillin.” and its reply")
    expect(dialog).to_contain_text("1 memory based only on it")
    dialog.get_by_role("button", name="Delete and forget").click()
    expect(dialog).to_have_count(0)
    expect(chat.locator(".toast")).to_contain_text("Forgotten")
    expect(chat.locator(".bubble")).to_have_count(2)
    expect(chat.locator("#bubbles")).not_to_contain_text("penicillin")
    chat.goto("/memory/long-term/")
    expect(chat.get_by_text("Nothing is remembered yet", exact=True)).to_be_visible()


def test_a_conversation_is_renamed_where_it_stands(chat: Page) -> None:
    say(chat, "Hello there")
    line = chat.locator(".conversation").first
    line.hover()
    line.locator("summary").click()
    line.get_by_role("link", name="Rename").click()
    field = chat.get_by_label("Name of the conversation")
    expect(field).to_be_focused()
    field.fill("杭州之行")
    field.press("Enter")
    expect(chat.locator(".conversation").first).to_contain_text("杭州之行")
    expect(chat.get_by_role("heading", level=1)).to_have_text("杭州之行")


def refreshed(chat: Page) -> None:
    """The list of conversations is fetched again, as after every answer."""
    with chat.expect_response(lambda answer: answer.request.headers.get("hx-target") == LIST):
        chat.evaluate("htmx.trigger(document.body, 'conversation-changed')")


def test_the_list_waits_while_it_is_being_used(chat: Page) -> None:
    say(chat, "Hello there")
    line = chat.locator(".conversation").first
    line.hover()
    line.locator("summary").click()
    refreshed(chat)
    line.get_by_role("link", name="Rename").click()
    field = chat.get_by_label("Name of the conversation")
    field.fill("Half a na")
    refreshed(chat)
    expect(field).to_have_value("Half a na")
    with chat.expect_response(lambda answer: answer.request.headers.get("hx-target") == LIST):
        field.fill("A whole name")
        field.press("Enter")
    expect(line).to_contain_text("A whole name")
    expect(field).not_to_be_attached()


def test_renaming_is_left_off_by_escape(chat: Page) -> None:
    say(chat, "Repotting the ferns")
    chat.locator(".chat__bar > .menu summary").click()
    chat.locator(".chat__bar").get_by_role("link", name="Rename").click()
    field = chat.get_by_label("Name of the conversation")
    field.fill("Something else")
    field.press("Escape")
    expect(chat.get_by_role("heading", level=1)).to_have_text("Repotting the ferns")


def test_a_conversation_is_deleted_and_what_it_taught_is_kept_if_wished(chat: Page) -> None:
    learned(say(chat, "I'm allergic to penicillin."))
    line = chat.locator(".conversation").first
    line.hover()
    line.locator("summary").click()
    line.get_by_role("link", name="Delete…").click()
    dialog = chat.get_by_role("dialog")
    choice = dialog.get_by_label("Also forget the 1 memory learned only here")
    expect(choice).to_be_checked()
    choice.uncheck()
    dialog.get_by_role("button", name="Delete and forget").click()
    expect(chat.get_by_text("Tell me something about yourself")).to_be_visible()
    chat.goto("/memory/long-term/")
    expect(chat.locator(".row")).to_have_count(1)


def test_the_keyboard_is_enough(chat: Page) -> None:
    expect(composer(chat)).to_be_focused()
    chat.keyboard.type("One line")
    chat.keyboard.press("Shift+Enter")
    chat.keyboard.type("and another")
    chat.keyboard.press("Enter")
    expect(answers(chat)).to_have_count(1, timeout=SOON)
    expect(chat.locator(".bubble--user .bubble__text")).to_have_text("One line\nand another")
    expect(composer(chat)).to_be_focused()
    chat.keyboard.press("Escape")
    chat.keyboard.press("/")
    expect(chat.get_by_label("Search conversations")).to_be_focused()
    answers(chat).last.get_by_label("Good answer").focus()
    chat.keyboard.press("Enter")
    expect(answers(chat).last.get_by_label("Good answer")).to_have_attribute("aria-pressed", "true")
    expect(answers(chat).last.get_by_label("Good answer")).to_be_focused()
    chat.keyboard.press("Tab")
    chat.keyboard.press("Tab")
    chat.keyboard.press("Enter")
    chat.keyboard.press("ArrowDown")
    chat.keyboard.press("ArrowDown")
    chat.keyboard.press("Enter")
    expect(chat.get_by_role("dialog")).to_be_visible()
    chat.keyboard.press("Escape")
    expect(chat.get_by_role("dialog")).to_have_count(0)


def test_a_very_bad_answer_goes_with_one_tap(chat: Page) -> None:
    say(chat, "Hello there")
    expect(answers(chat)).to_have_count(1, timeout=SOON)
    answers(chat).last.hover()
    answers(chat).last.get_by_label("Bad answer").click()
    answers(chat).last.get_by_role("button", name="This was really bad").click()
    expect(answers(chat).last).to_contain_text(
        "Forget this exchange and everything learned from it?"
    )
    answers(chat).last.get_by_role("button", name="Yes, forget this exchange").click()
    expect(answers(chat)).to_have_count(0)


def test_a_conversation_is_cleared_and_goes_on(chat: Page) -> None:
    say(chat, "Hello there")
    chat.locator(".chat__bar > .menu summary").click()
    chat.locator(".chat__bar").get_by_role("link", name="Clear…").click()
    dialog = chat.get_by_role("dialog")
    expect(dialog).to_contain_text("1 message and 1 reply")
    dialog.get_by_role("button", name="Clear and forget").click()
    expect(chat.get_by_text("Nothing has been said here")).to_be_visible()
    say(chat, "A new beginning")
    expect(chat.get_by_role("heading", level=1)).to_have_text("A new beginning")


def test_a_suggestion_fills_the_composer_and_sends_nothing(chat: Page) -> None:
    chat.get_by_role("link", name="Remember that I prefer short, direct answers.").click()
    expect(composer(chat)).to_have_value("Remember that I prefer short, direct answers.")
    expect(composer(chat)).to_be_focused()
    expect(chat.locator(".bubble")).to_have_count(0)


def test_an_enter_that_only_picks_a_chinese_word_sends_nothing(chat: Page) -> None:
    composer(chat).fill("我住在杭州")
    composer(chat).dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    expect(composer(chat)).to_have_value("我住在杭州")
    expect(chat.locator(".bubble")).to_have_count(0)


@pytest.mark.parametrize("text", ["x" * 32_001])
def test_what_is_refused_comes_back_to_the_composer(chat: Page, text: str) -> None:
    say(chat, "Hello there")
    composer(chat).fill(text)
    composer(chat).press("Enter")
    expect(chat.locator("#composer-error")).to_contain_text("at most 32,000")
    expect(composer(chat)).to_have_value(text)
    expect(chat.locator(".bubble")).to_have_count(2)


def test_what_was_typed_comes_back_when_the_server_does_not_answer(
    browser: Browser, product: Product, person: Person
) -> None:
    """In a context of its own: the browser notes the lost request as an error, and rightly."""
    context = browser.new_context(base_url=product.address, locale="en-GB")
    page = context.new_page()
    sign_in(page, person)
    page.route("**/c/new/", _lose)
    composer(page).fill("I keep bees.")
    composer(page).press("Enter")
    expect(page.locator(".toast")).to_contain_text("The server didn’t answer.")
    expect(composer(page)).to_have_value("I keep bees.")
    expect(composer(page)).to_be_editable()
    expect(page.locator(".bubble")).to_have_count(0)
    context.close()


def test_without_a_network_the_message_is_said_not_to_be_sent(
    browser: Browser, product: Product, person: Person
) -> None:
    context = browser.new_context(base_url=product.address, locale="en-GB")
    page = context.new_page()
    sign_in(page, person)
    expect(composer(page)).to_be_editable()
    context.set_offline(True)
    composer(page).fill("I keep bees.")
    composer(page).press("Enter")
    expect(page.locator(".toast")).to_contain_text("Not sent: you seem to be offline.")
    expect(composer(page)).to_have_value("I keep bees.")
    context.close()


def _lose(route: Route) -> None:
    route.abort("connectionfailed")


def test_a_temporary_chat_leaves_nothing_behind(chat: Page) -> None:
    chat.get_by_role("link", name="Temporary").click()
    expect(chat.get_by_text("A chat that leaves nothing behind")).to_be_visible()
    say(chat, "I'm allergic to penicillin.")
    chat.locator(".chat__bar").get_by_role("link", name="End now…").click()
    chat.get_by_role("dialog").get_by_role("button", name="End now").click()
    expect(chat.locator(".toast")).to_contain_text("The temporary chat is over.")
    expect(chat.locator(".conversation")).to_have_count(0)
    chat.goto("/memory/long-term/")
    expect(chat.get_by_text("Nothing is remembered yet", exact=True)).to_be_visible()


def test_on_a_phone_the_list_and_the_panel_are_sheets(chat: Page) -> None:
    chat.set_viewport_size({"width": 390, "height": 844})
    learned(say(chat, "I'm allergic to penicillin."))
    used = say(chat, "What am I allergic to?").get_by_role("link", name="1 memory used")
    expect(chat.locator("#used")).to_be_hidden()
    used.click()
    expect(chat.locator("#used")).to_be_visible()
    chat.locator("#used").get_by_label("Close").click()
    chat.locator(".toggle-start").click()
    expect(chat.locator("#conversations")).to_be_visible()
    chat.locator("#conversations summary").first.click()
    chat.locator("#conversations").get_by_role("link", name="Rename").click()
    expect(chat.get_by_label("Name of the conversation")).to_be_visible()
    assert chat.evaluate("document.documentElement.scrollWidth") == 390


def test_a_tap_beside_a_sheet_only_closes_it(chat: Page) -> None:
    chat.set_viewport_size({"width": 390, "height": 844})
    say(chat, "A long title for this conversation, which takes all the room that there is")
    for place in (".toggle-start", ".toggle-end"):
        box = chat.locator(place).bounding_box()
        assert box is not None and box["width"] >= box["height"]
    beneath = chat.locator(".site-header .menu summary").last.bounding_box()
    assert beneath is not None
    chat.locator(".toggle-start").click()
    chat.mouse.click(beneath["x"] + 15, beneath["y"] + 15)
    expect(chat.locator("#conversations")).to_be_hidden()
    expect(chat.locator("details.menu[open]")).to_have_count(0)
    chat.locator(".toggle-start").click()
    expect(chat.locator("#conversations")).to_be_visible()


def test_a_tab_that_comes_to_the_front_shows_what_was_said_in_another(chat: Page) -> None:
    say(chat, "The first words")
    other = chat.context.new_page()
    other.goto(chat.url)
    say(other, "Said in the other tab")
    chat.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(answers(chat)).to_have_count(2)
    expect(chat.locator("#bubbles")).to_contain_text("Said in the other tab")


def test_everything_said_and_done_works_without_javascript(plain: Page) -> None:
    plain.goto("/")
    plain.get_by_role("link", name="What do you know about me?").click()
    expect(composer(plain)).to_have_value("What do you know about me?")
    plain.get_by_role("button", name="Send").click()
    expect(plain.locator(".bubble")).to_have_count(2)
    plain.get_by_label("Good answer").click()
    expect(plain.get_by_label("Good answer")).to_have_attribute("aria-pressed", "true")
    plain.get_by_label("More for your message").click()
    plain.get_by_role("link", name="Delete and forget this exchange…").click()
    plain.get_by_role("button", name="Delete and forget").click()
    expect(plain.get_by_text("Nothing has been said here")).to_be_visible()


def test_a_chip_whose_turn_went_meanwhile_looks_no_more_and_says_nothing(chat: Page) -> None:
    chat.route("**/lessons/*", lambda route: route.fulfill(status=404))
    say(chat, "Good morning!")
    expect(chat.locator(".lessons[hx-get]")).to_have_count(0, timeout=SOON)
    expect(chat.locator(".toast")).to_have_count(0)


def test_a_line_says_where_a_long_talk_was_summarized_and_moves_on_with_it(
    chat: Page, product: Product, person: Person
) -> None:
    talk = product.shell(_LONG.format(name=person.username)).split()[-1]
    chat.goto(f"/c/{talk}/")
    line, below = chat.locator("#summarized"), chat.locator("#summarized ~ .bubble")
    expect(line).to_contain_text("Earlier messages were summarized")
    expect(below.first).to_contain_text("Remark 3.")
    say(chat, "And another remark.")
    expect(below.first).to_contain_text("Remark 4.")
    expect(line).to_have_count(1)
    line.get_by_role("link").click()
    expect(chat.locator("#layer-summary")).to_contain_text("They remarked on things.")
