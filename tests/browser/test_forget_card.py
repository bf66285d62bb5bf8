"""The card of a request to forget: choose, keep everything, or all with a second question."""

from __future__ import annotations

import time

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.chat_page import send
from tests.browser.conftest import remembering, sign_in
from tests.browser.looks import Look, each_look, opened
from tests.live import Person, Product

pytestmark = pytest.mark.browser
SOON = 60_000
_KNOWN = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn
with as_system():
    user = User.objects.get(username={name!r})
    talk = make_conversation(user, title={first!r})
    for said in {said!r}:
        turn = make_turn(talk, said, "I see.", extracted_at=talk.created_at)
        make_memory(user, said, turns=[turn])
    make_memory(user, {other!r})
"""
Words = dict[str, str | tuple[str, str]]
WORDS: dict[str, Words] = {
    "en": {
        "said": ("I keep bees on the roof", "My bees live in two green hives"),
        "other": "Plays the cello",
        "ask": "Forget everything about my bees.",
        "kept": "You chose to keep everything.",
        "sure": "Forget 2 memories",
        "gone": "0 traces left",
        "subject": "bees",
    },
    "zh-hans": {
        "said": ("我在屋顶上养蜂", "我养的蜂住在两个绿色蜂箱里"),
        "other": "会拉大提琴",
        "ask": "把我养蜂的事全部忘掉。",
        "kept": "你选择了全部保留。",
        "sure": "要彻底忘记 2 条记忆",
        "gone": "没有残留",
        "subject": "蜂",
    },
}


def ask(page: Page, text: str) -> Locator:
    """Give the card that a request to forget brings."""
    page.locator("[data-composer]").fill(text)
    page.locator("[data-composer]").press("Enter")
    card = page.locator(".card.forget")
    expect(card).to_be_visible(timeout=SOON)
    return card


def tell(product: Product, person: Person, words: Words) -> None:
    """Let the person have told what the card is about, and something else."""
    said, other = words["said"], words["other"]
    product.shell(_KNOWN.format(name=person.username, first=said[0], said=said, other=other))


def forget_chosen(card: Locator) -> None:
    """Press the button for what is ticked; where more goes with it, answer that with yes."""
    card.locator(".forget__chosen").click()
    sure = card.locator(".button--danger-solid:not(.forget__chosen)")
    expect(sure.or_(card.page.locator(".receipt, .toast")).first).to_be_visible()
    if sure.is_visible():
        sure.click()


def known(page: Page) -> list[str]:
    page.goto("/memory/long-term/")
    return sorted(page.locator(".row__title").all_inner_texts())


def expect_forgotten(page: Page, words: Words) -> None:
    expect(page.locator(".receipt")).to_contain_text(str(words["gone"]), timeout=SOON)
    expect(page.locator(".card.forget")).to_have_count(0)
    assert known(page) == [str(words["other"])]


@pytest.mark.parametrize("language", list(WORDS))
def test_a_card_keeps_everything_or_forgets_all_after_a_second_question(
    page: Page, product: Product, language: str
) -> None:
    words = WORDS[language]
    page.set_viewport_size({"width": 390, "height": 844})
    person = product.person(f"chooser-{language}", language=language)
    tell(product, person, words)
    everything = sorted([*words["said"], str(words["other"])])
    sign_in(page, person)
    card = ask(page, str(words["ask"]))
    here = page.url
    card.locator("[name=keep]").click()
    expect(card).to_have_count(0)
    expect(page.locator("#bubbles")).to_contain_text(str(words["kept"]))
    assert known(page) == everything

    page.goto(here)
    card = ask(page, str(words["ask"]))
    assert card.get_by_role("checkbox").count() < 10
    expect(card.locator("[name=all]")).to_be_visible()
    card.locator("[name=all]").click()
    expect(card).to_contain_text(str(words["sure"]))
    for told in words["said"]:
        expect(card.locator("li", has_text=told).first).to_be_visible()
    expect(card).not_to_contain_text(str(words["other"]))
    card.locator("[name=again]").click()
    expect(card.locator("[name=all]")).to_be_visible()
    card.locator("[name=all]").click()
    expect(card).to_contain_text(str(words["sure"]))
    expect(card.locator(".button--danger-solid")).to_be_in_viewport(ratio=1)
    expect(card.locator(".card__title")).to_be_focused()
    card.locator(".button--danger-solid").click()
    expect_forgotten(page, words)


def test_without_javascript_what_is_chosen_is_forgotten(plain: Page, product: Product) -> None:
    words, person = WORDS["en"], product.person("plain-chooser")
    tell(product, person, words)
    sign_in(plain, person)
    plain.locator("[data-composer]").fill(str(words["ask"]))
    plain.get_by_role("button", name="Send").click()
    card, receipt = plain.locator(".card.forget"), plain.locator(".receipt")
    expect(card).to_be_visible(timeout=SOON)
    for one in card.get_by_role("checkbox").all():
        if one.is_visible():
            one.check()
    forget_chosen(card)
    expect(card).to_have_count(0)
    until = time.monotonic() + SOON / 1000
    while receipt.count() == 0 and time.monotonic() < until:
        plain.reload()
    expect_forgotten(plain, words)


def test_a_long_card_stays_where_the_reader_scrolled_it(page: Page, product: Product) -> None:
    words, person = WORDS["en"], product.person("scrolling-chooser")
    tell(product, person, words)
    page.set_viewport_size({"width": 390, "height": 500})
    sign_in(page, person)
    card = ask(page, str(words["ask"]))
    keep, bubbles = card.locator("[name=keep]"), page.locator("#bubbles")
    expect(bubbles.locator(".bubble:last-of-type")).to_be_in_viewport()
    expect(keep).not_to_be_in_viewport()  # the beginning is shown, which says what was done
    keep.scroll_into_view_if_needed()
    before = keep.bounding_box()
    # What was learned is asked for every two seconds and put into the bubble.
    bubbles.locator(".bubble").last.evaluate(
        """async (bubble) => {
            bubble.append(document.createElement("i"));
            for (let i = 0; i < 3; i++) await new Promise(requestAnimationFrame);
        }"""
    )
    assert keep.bounding_box() == before


PLAIN = {
    "en": {
        "known": "My boat is called Pelican",
        "other": "Plays the cello",
        "ask": "Forget that my boat is called Pelican.",
        "only": "Automatic: the only match",
        "folded": "Forgotten: show the receipt",
        "gone": "0 traces left",
        "subject": "Pelican",
    },
    "zh-hans": {
        "known": "我的小船叫鹈鹕号",
        "other": "会拉大提琴",
        "ask": "忘掉我的小船叫鹈鹕号。",
        "only": "自动（只找到这一条）",
        "folded": "已忘记：查看回执",
        "gone": "没有残留",
        "subject": "鹈鹕",
    },
}


@pytest.mark.parametrize("language", list(PLAIN))
def test_the_one_plain_match_is_forgotten_at_once_and_its_receipt_unfolds_there(
    page: Page, product: Product, language: str
) -> None:
    words = PLAIN[language]
    told = words["known"], words["other"]
    person = remembering(product, f"skipper-{language}", *told, language=language)
    sign_in(page, person)
    send(page, words["ask"])
    receipts = page.locator("#bubbles .receipt")
    expect(receipts).to_contain_text(words["only"], timeout=SOON)
    expect(receipts).not_to_contain_text(words["subject"])
    card = page.locator(".card.forget")
    expect(card.locator("[name=memory]")).to_have_count(0)
    page.reload()
    here = page.url
    page.locator("#bubbles").get_by_role("link", name=words["folded"]).click()
    expect(receipts).to_contain_text(words["only"])
    assert page.url == here
    for box in card.get_by_role("checkbox").all():
        box.check()
    forget_chosen(card)
    expect(card).to_have_count(0)
    expect(receipts.last).to_contain_text(words["gone"], timeout=SOON)
    expect(page.locator("#bubbles")).not_to_contain_text(words["subject"])
    assert known(page) == [words["other"]]


_KEPT = """() => Object.entries(sessionStorage).filter(([key]) => key.startsWith("ticks "))
    .map(one => one.join(" "))"""


def ticked(card: Locator) -> list[str]:
    boxes = card.get_by_role("checkbox", checked=True, include_hidden=True)
    return [str(one.get_attribute("value")) for one in boxes.all()]


@each_look
def test_the_ticks_of_a_card_are_kept_until_it_is_answered(
    browser: Browser, product: Product, look: Look
) -> None:
    words, person = WORDS[look.language], look.person(product, "ticker")
    tell(product, person, words)
    with opened(browser, product, look, person) as page:
        card = ask(page, str(words["ask"]))
        here, at_first = page.url, ticked(card)
        card.locator("[name=memory]").first.uncheck()
        card.locator("[name=message]").first.check()
        chosen = ticked(card)
        assert chosen != at_first and len(chosen) == 2
        page.locator(".chat__center").click()
        page.wait_for_url("**/memory/")
        page.goto(here)
        assert ticked(card) == chosen
        [kept] = page.evaluate(_KEPT)
        assert all(one in kept for one in chosen) and str(words["subject"]) not in kept
        expect(card.locator(".forget__chosen")).to_be_enabled()
        page.reload()
        assert ticked(card) == chosen
        forget_chosen(card)
        expect(card).to_have_count(0)
        assert page.evaluate(_KEPT) == []
        expect(page.locator(".receipt")).to_be_visible(timeout=SOON)


@each_look
def test_the_ticks_leave_the_browser_with_the_person(
    browser: Browser, product: Product, look: Look
) -> None:
    words, person = WORDS[look.language], look.person(product, "ticker")
    tell(product, person, words)
    with opened(browser, product, look, person) as page:
        card = ask(page, str(words["ask"]))
        here = page.url
        card.locator("[name=memory]").first.uncheck()
        card.locator("[name=keep]").click()
        expect(card).to_have_count(0)
        assert page.evaluate(_KEPT) == []
        page.goto(here)
        card = ask(page, str(words["ask"]))
        card.locator("[name=memory]").first.uncheck()
        assert len(page.evaluate(_KEPT)) == 1
        page.locator("form[action^='/signout/'] button").evaluate("one => one.click()")
        page.wait_for_url("**/signin/**")
        assert page.evaluate(_KEPT) == []
