"""A kept memory stays when its message is forgotten, and the receipt says what is left."""

from itertools import count

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.chat_page import send
from tests.browser.conftest import sign_in
from tests.browser.test_forget_card import forget_chosen
from tests.live import Person, Product

pytestmark = pytest.mark.browser
SOON = 60_000
_numbers = count(1)
_KNOWN = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn
with as_system():
    user = User.objects.get(username={name!r})
    talk = make_conversation(user, title="Clinic")
    told = make_turn(talk, {said!r}, "I see.", extracted_at=talk.created_at)
    for text in {texts!r}:
        make_memory(user, text, turns=[told])
"""
WORDS = {
    "en": {
        "said": "My hip was xrayed and ibuprofen gives me hives",
        "texts": ("My hip was xrayed", "Ibuprofen gives me hives"),
        "ask": "Forget everything about my hip.",
        "left": "No trace left, except what was kept",
        "none": "0 traces left",
        "kept": "You kept it when its message was forgotten",
    },
    "zh-hans": {
        "said": "我的髋部拍了片子，布洛芬让我起疹子",
        "texts": ("我的髋部拍了片子", "布洛芬让我起疹子"),
        "ask": "把我髋部拍片子的事全部忘掉。",
        "left": "没有残留，保留的除外",
        "none": "检查完毕，没有残留",
        "kept": "忘记它的那条消息时，你选择保留它",
    },
}


def keeper(product: Product, language: str) -> Person:
    """Somebody with a message, and the two memories learned from it."""
    words, person = (
        WORDS[language],
        product.person(f"cardholder-{next(_numbers)}", language=language),
    )
    product.shell(_KNOWN.format(name=person.username, said=words["said"], texts=words["texts"]))
    return person


def tick(card: Locator, text: str, name: str) -> None:
    details = card.locator("details.forget__others")
    if details.count() and details.get_attribute("open") is None:
        details.locator("summary").click()
    line = card.locator(".forget__line", has_text=text).filter(
        has=card.page.locator(f"[name={name}]")
    )
    line.first.locator("input").check()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("language", list(WORDS))
def test_what_is_kept_on_the_card_stays_without_its_message(
    page: Page, product: Product, language: str, width: int
) -> None:
    words = WORDS[language]
    page.set_viewport_size({"width": width, "height": 844})
    gone, stays = words["texts"]
    sign_in(page, keeper(product, language))
    send(page, str(words["ask"]))
    card = page.locator(".card.forget")
    expect(card).to_be_visible(timeout=SOON)
    if card.locator("[name=memory]").count() > 1:
        tick(card, gone, "memory")
    for box in card.locator("[name=memory]:checked").all():
        if stays in box.locator("xpath=..").inner_text():
            box.uncheck()
    tick(card, str(words["said"]), "message")
    forget_chosen(card)
    toast = page.locator(".toast").first
    expect(toast).to_be_visible(timeout=SOON)
    receipt = page.locator(".receipt").last
    expect(receipt).to_be_visible(timeout=SOON)
    expect(receipt).to_contain_text(str(words["left"]))  # the request itself is kept
    for line in receipt.locator(".receipt__lines > div").all():
        label, value = line.locator("dt").bounding_box(), line.locator("dd").bounding_box()
        whole = line.bounding_box()
        assert label and value and whole
        is_beside = value["y"] < label["y"] + label["height"] - 2
        assert not is_beside or value["height"] < 30 or value["width"] > whole["width"] / 2
    page.goto("/memory/long-term/")
    assert page.locator(".row__title").all_inner_texts() == [stays]
    page.locator(".row__title").click()
    expect(page.locator("main")).to_contain_text(str(words["kept"]))


def test_the_phones_bar_leads_on_and_a_toast_covers_no_message(
    page: Page, product: Product
) -> None:
    page.set_viewport_size({"width": 390, "height": 780})
    sign_in(page, keeper(product, "en"))
    page.goto(page.url)
    page.locator(".toggle-start").click()
    page.locator(".conversation__link").first.click()
    for place in (".chat__temporary", ".chat__center", ".chat__title", ".toggle-end"):
        box = page.locator(place).bounding_box()
        assert box and box["width"] >= 36 and box["x"] + box["width"] <= 390, place
    page.locator(".bubble--user").last.get_by_label("Copy", exact=True).click()
    toast, scroll = page.locator(".toast").first, page.locator(".chat__scroll")
    expect(toast).to_be_visible()
    above, below = toast.bounding_box(), scroll.bounding_box()
    assert above and below and above["y"] + above["height"] <= below["y"]
