"""In the chat: have a message remembered, forget with a receipt, search, shortcuts."""

import re
from itertools import count

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import sign_in
from tests.browser.test_forget_card import forget_chosen
from tests.live import Person, Product

pytestmark = pytest.mark.browser

SOON = 60_000
_numbers = count(1)
_SAID = "Hello 👋 you two. I keep bees on the roof. My sister Marta lives in Lyon."
_TALKS = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn
with as_system():
    user = User.objects.get(username={name!r})
    for number in range(45):
        make_conversation(user, title=f"Talk {{number}}")
    talk = make_conversation(user, title="Long")
    for number in range(40):
        make_turn(talk, f"Remark {{number}}.", f"Noted {{number}}.", extracted_at=talk.created_at)
    said = make_turn(talk, {said!r}, extracted_at=talk.created_at)
    make_memory(user, "Keeps bees on the roof", turns=[said])
    print(talk.public_id)
"""


@pytest.fixture
def person(product: Product) -> Person:
    return product.person(f"rememberer-{next(_numbers)}")


@pytest.fixture
def talk(product: Product, person: Person) -> str:
    """A long conversation, among many, whose last message says several things."""
    return product.shell(_TALKS.format(name=person.username, said=_SAID)).split()[-1]


@pytest.fixture
def chat(page: Page, person: Person, talk: str) -> Page:
    sign_in(page, person, then=f"/c/{talk}/")
    return page


def last_said(page: Page) -> Locator:
    return page.locator(".bubble--user").last


def select(page: Page, words: str) -> None:
    """Select these words in the last message of the person, as with the mouse."""
    last_said(page).locator(".bubble__text").evaluate(
        """(text, words) => {
          const node = text.firstChild, at = node.data.indexOf(words);
          getSelection().setBaseAndExtent(node, at, node, at + words.length);
        }""",
        words,
    )


def ask_to_remember(page: Page) -> Locator:
    bubble = last_said(page)
    bubble.hover()
    bubble.get_by_label("More for your message").click()
    bubble.get_by_role("link", name="Remember this…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_be_visible()
    return dialog


def test_another_tab_that_switches_memory_off_and_on_is_noticed(chat: Page) -> None:
    banner = chat.locator(".chat__off")
    expect(banner).to_have_count(0)
    memories = chat.context.new_page()
    memories.goto("/memory/long-term/")
    line = memories.locator("#standing-line")
    other = chat.context.new_page()
    other.goto("/settings/")
    switch = other.get_by_role("switch", name="Long-term memory")
    for is_off in (True, False):
        switch.press("Space")
        expect(other.get_by_text("Long-term memory is off.")).to_have_count(int(is_off))
        # Two tabs of a headless browser are both visible, so the event is sent here.
        for seen in (chat, memories):
            seen.evaluate("setTimeout(() => window.dispatchEvent(new Event('focus')), 1100)")
        expect(banner).to_have_count(int(is_off))
        expect(line).to_contain_text("memory is off" if is_off else "Memory is on")


def test_a_selected_part_is_remembered_with_its_source(chat: Page) -> None:
    select(chat, "My sister Marta lives in Lyon.")
    dialog = ask_to_remember(chat)
    field = dialog.get_by_label("What should be remembered?")
    expect(field).to_have_value("My sister Marta lives in Lyon.")
    expect(dialog).to_contain_text("The part that you selected")
    dialog.get_by_role("button", name="Remember").click()
    expect(dialog).to_have_count(0)
    expect(chat.locator(".toast")).to_contain_text("Remembered.")
    chip = chat.locator(".bubble--assistant").last.locator(".learned")
    chip.get_by_text("1 memory learned").click()
    chip.get_by_role("link", name="My sister Marta lives in Lyon.").click()
    expect(chat.get_by_role("heading", level=1)).to_contain_text("My sister Marta lives in Lyon.")
    expect(chat.locator("blockquote mark")).to_have_text("My sister Marta lives in Lyon.")
    chat.go_back()
    chat.reload()
    chip.get_by_text("1 memory learned").click()
    chip.get_by_role("button", name="Undo").click()
    expect(chip).to_have_count(0)
    expect(chat.locator(".toast")).to_contain_text("recycle bin")
    chat.goto("/memory/long-term/")
    expect(chat.locator(".row__title")).to_have_text(["Keeps bees on the roof"])


def test_without_a_selection_it_is_the_whole_text_and_what_is_refused_is_said(chat: Page) -> None:
    dialog = ask_to_remember(chat)
    field = dialog.get_by_label("What should be remembered?")
    expect(field).to_have_value(_SAID)
    field.fill("My password is hunter2horse77.")
    dialog.get_by_role("button", name="Remember").click()
    expect(chat.get_by_role("dialog")).to_contain_text("looks like a secret")
    chat.keyboard.press("Escape")
    expect(chat.get_by_role("dialog")).to_have_count(0)


def test_it_is_done_by_the_keyboard_alone(chat: Page) -> None:
    select(chat, "I keep bees on the roof.")
    last_said(chat).get_by_label("More for your message").focus()
    for key in ("Enter", "ArrowDown", "Enter"):
        chat.keyboard.press(key)
    field = chat.get_by_role("dialog").get_by_label("What should be remembered?")
    expect(field).to_have_value("I keep bees on the roof.")
    field.focus()
    for _ in range(6):
        chat.keyboard.press("Tab")
        if chat.evaluate("document.activeElement.textContent.trim()") == "Remember":
            break
    chat.keyboard.press("Enter")
    expect(chat.locator(".toast")).to_contain_text("I already knew this")


def test_on_a_phone_the_dialog_fits(chat: Page) -> None:
    chat.set_viewport_size({"width": 390, "height": 780})
    dialog = ask_to_remember(chat)
    box = dialog.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert chat.evaluate("document.documentElement.scrollWidth") == 390


def test_without_javascript_the_whole_text_is_remembered(
    plain: Page, person: Person, talk: str
) -> None:
    sign_in(plain, person, then=f"/c/{talk}/")
    last_said(plain).get_by_label("More for your message").click()
    last_said(plain).get_by_role("link", name="Remember this…").click()
    field = plain.get_by_label("What should be remembered?")
    expect(field).to_have_value(_SAID)
    field.fill("My sister Marta lives in Lyon.")
    plain.get_by_role("button", name="Remember").click()
    expect(plain.locator(".toast")).to_contain_text("Remembered.")
    expect(plain.get_by_text("1 memory learned")).to_be_visible()


WORDS = {
    "en": (
        ("My password is hunter2horse77.", "Not kept: looks like a password or code"),
        ("I'm allergic to peanuts.", "1 memory learned"),
        ("Please don't keep this: I was at the dentist today.", "Not kept, as you asked"),
        "Good morning!",
    ),
    "zh-hans": (
        ("我的密码是 hunter2horse77。", "没有记住：像是密码或验证码"),
        ("我对花生过敏。", "新记住 1 条"),
        ("这件事别记下来：我今天去看了牙医。", "按你的要求没有记住"),
        "早上好！",
    ),
}


@pytest.mark.parametrize("language", list(WORDS))
def test_each_reply_says_what_was_learned_or_why_not_or_nothing(
    page: Page, product: Product, language: str
) -> None:
    sign_in(page, product.person(f"told-{language}", language=language))
    *telling, greeting = WORDS[language]
    for number, (text, chip) in enumerate(telling, start=1):
        answer = said(page, text, number)
        expect(answer.locator(".lessons .chip")).to_have_text([chip], timeout=SOON)
    answer = said(page, greeting, len(telling) + 1)
    expect(answer.locator(".lessons[hx-get]")).to_have_count(0, timeout=SOON)
    expect(answer.locator(".lessons .chip")).to_have_count(0)
    page.reload()
    shown = page.locator(".bubble--assistant .lessons .chip")
    expect(shown).to_have_text([chip for _, chip in telling])
    page.get_by_role("link", name=telling[0][1]).click()
    expect(page.locator("main")).not_to_contain_text("hunter2")


def said(page: Page, text: str, number: int) -> Locator:
    """The answer to what is said, which is the `number`th here."""
    composer = page.locator("[data-composer]")
    composer.fill(text)
    composer.press("Enter")
    answers = page.locator(".bubble--assistant:not(.bubble--pending)")
    expect(answers).to_have_count(number, timeout=SOON)
    return answers.last


@pytest.mark.parametrize(
    ("language", "text", "ask", "kind"),
    [
        ("en", "I'm allergic to peanuts.", "Remember this…", "constraint"),
        ("zh-hans", "我对花生过敏。", "记住这个…", "constraint"),
    ],
)
def test_kind_and_topic_are_proposed(
    page: Page, product: Product, language: str, text: str, ask: str, kind: str
) -> None:
    sign_in(page, product.person(f"proposed-{language}", language=language))
    said(page, text, 1)
    last_said(page).hover()
    last_said(page).locator("details.menu summary").click()
    last_said(page).get_by_role("link", name=ask).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.locator("[name=content]")).to_have_value(text)
    expect(dialog.locator("[name=kind]")).to_have_value(kind)
    expect(dialog.locator("[name=tags]")).not_to_have_value("")


FORGOTTEN = {
    "en": {
        "said": "I keep bees on the roof.",
        "greeting": "Good morning!",
        "ask": "Forget that I keep bees on the roof.",
        "gone": "0 traces left",
        "subject": "bees",
    },
    "zh-hans": {
        "said": "我在屋顶上养蜂。",
        "greeting": "早上好！",
        "ask": "忘掉我在屋顶上养蜂。",
        "gone": "没有残留",
        "subject": "养蜂",
    },
}


@pytest.mark.parametrize("language", list(FORGOTTEN))
def test_what_is_forgotten_leaves_its_receipt_there(
    page: Page, product: Product, language: str
) -> None:
    """In a conversation that is named by what is forgotten."""
    words = FORGOTTEN[language]
    sign_in(page, product.person(f"beekeeper-{language}", language=language))
    title = page.get_by_role("heading", level=1)
    answer = said(page, words["said"], 1)
    expect(answer.locator(".learned")).to_be_visible(timeout=SOON)
    expect(title).to_contain_text(words["subject"])
    said(page, words["greeting"], 2)
    said(page, words["ask"], 3)
    card = page.locator(".card.forget")
    expect(card).to_be_visible(timeout=SOON)
    for box in card.get_by_role("checkbox").all():
        box.check()
    forget_chosen(card)
    expect(card).to_have_count(0)
    receipt = page.locator(".receipt")
    expect(receipt.last).to_contain_text(words["gone"], timeout=SOON)
    expect(page.locator("#bubbles")).not_to_contain_text(words["subject"])
    expect(title).not_to_contain_text(words["subject"])
    expect(page.locator("#conversation-list")).not_to_contain_text(words["subject"])
    expect(page).not_to_have_title(re.compile(words["subject"]))
    page.set_viewport_size({"width": 390, "height": 780})
    assert page.evaluate("document.documentElement.scrollWidth") == 390


_HENS = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_memory
with as_system():
    user = User.objects.get(username={name!r})
    for number in range(18):
        make_memory(user, f"Has a hen called Berta {{number}}, who lives in the garden")
"""


def test_the_beginning_of_an_answer_with_a_long_list_is_in_view(
    chat: Page, product: Product, person: Person
) -> None:
    product.shell(_HENS.format(name=person.username))
    box = chat.get_by_label("Your message", exact=True)
    box.fill("Forget everything about my hens called Berta.")
    box.press("Enter")
    expect(chat.locator(".card.forget")).to_be_visible(timeout=SOON)
    words = chat.locator(".bubble--assistant .bubble__text").last
    expect(words).to_be_in_viewport()
    chat.reload()
    expect(chat.locator(".bubble--assistant .bubble__text").last).to_be_in_viewport()


def test_a_deleted_turn_leaves_its_receipt_too(chat: Page) -> None:
    last_said(chat).hover()
    last_said(chat).get_by_label("More for your message").click()
    last_said(chat).get_by_role("link", name="Delete and forget this exchange…").click()
    chat.get_by_role("dialog").get_by_role("button", name="Delete and forget").click()
    expect(chat.get_by_role("dialog")).to_have_count(0)
    expect(chat.locator(".receipt")).to_contain_text("0 traces left", timeout=SOON)


def test_a_search_jumps_to_the_place(chat: Page) -> None:
    chat.get_by_label("Search conversations").fill("Remark 7")
    found = chat.locator(".conversation")
    expect(found).to_have_count(1)
    expect(found.locator("mark")).to_have_text("Remark 7")
    found.get_by_role("link", name="Long").click()
    place = chat.locator(".bubble:target")
    expect(place).to_contain_text("Remark 7.")
    expect(place).to_be_in_viewport()
    expect(chat.get_by_label("Search conversations")).to_have_value("Remark 7")


def test_the_list_and_the_messages_go_on_by_scrolling(chat: Page) -> None:
    rows, messages = chat.locator(".conversation"), chat.locator(".bubble")
    chat.set_viewport_size({"width": 1280, "height": 500})  # the list is longer than the window
    chat.reload()
    expect(rows).to_have_count(20)
    chat.locator("#conversation-list .more").scroll_into_view_if_needed()
    expect(rows).to_have_count(40)
    before = messages.count()
    chat.locator(".chat__scroll").evaluate("one => one.scrollTo(0, 0)")
    expect(messages).not_to_have_count(before)
    assert chat.locator(".chat__scroll").evaluate("one => one.scrollTop") > 0


def test_the_help_shows_what_the_keyboard_does(chat: Page) -> None:
    composer = chat.get_by_label("Your message", exact=True)
    expect(composer).to_be_focused()
    chat.keyboard.press("Control+/")
    expect(chat.get_by_role("dialog", name="Keyboard")).to_be_visible()
    chat.keyboard.press("Escape")
    chat.keyboard.press("Escape")
    expect(composer).not_to_be_focused()
    chat.keyboard.press("?")
    expect(chat.get_by_role("dialog", name="Keyboard")).to_be_visible()
    chat.keyboard.press("Escape")
    chat.keyboard.press("i")
    expect(composer).to_be_focused()
    expect(composer).to_have_value("")
    chat.keyboard.press("ArrowUp")
    expect(chat.locator("[data-edit-field]")).to_have_value(_SAID)
    expect(chat.locator("[data-edit-field]")).to_be_focused()


def test_r_answers_again_and_n_begins_a_new_chat(chat: Page, product: Product) -> None:
    answer = chat.locator(".bubble--assistant .bubble__text").last
    expect(answer).to_have_text("I see.")
    composer = chat.get_by_label("Your message", exact=True)
    composer.press("r")  # while typing, it is a letter
    composer.press("n")
    expect(composer).to_have_value("rn")
    composer.fill("")
    chat.keyboard.press("Escape")
    expect(composer).not_to_be_focused()
    chat.keyboard.press("r")
    expect(answer).not_to_have_text("I see.", timeout=SOON)
    expect(chat.locator(".bubble--user").last).to_contain_text(_SAID)
    chat.locator("h1").click()
    chat.keyboard.press("n")
    expect(chat).to_have_url(f"{product.address}/c/new/")
    expect(chat.locator(".bubble")).to_have_count(0)


def test_a_double_click_on_remember_makes_one_memory(chat: Page) -> None:
    select(chat, "My sister Marta lives in Lyon.")
    dialog = ask_to_remember(chat)
    dialog.get_by_role("button", name="Remember").dblclick()
    expect(dialog).to_have_count(0)
    expect(chat.locator(".toast")).to_have_count(1)
    expect(chat.locator(".toast")).to_contain_text("Remembered.")
    chat.goto("/memory/long-term/")
    found = ["My sister Marta lives in Lyon.", "Keeps bees on the roof"]
    expect(chat.locator(".row__title")).to_have_text(found)


def test_an_answer_is_copied_with_one_click(chat: Page) -> None:
    chat.context.grant_permissions(["clipboard-read", "clipboard-write"])
    answer = chat.locator(".bubble--assistant").last
    answer.hover()
    answer.get_by_role("button", name="Copy").click()
    expect(chat.locator(".toast")).to_contain_text("Copied.")
    assert chat.evaluate("navigator.clipboard.readText()") == "I see."
