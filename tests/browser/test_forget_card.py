"""The card of a request to forget: choose, keep everything, or all with a second question."""

from __future__ import annotations

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import sign_in
from tests.live import Product

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
WORDS = {
    "en": {
        "said": ("I keep bees on the roof", "My bees live in two green hives"),
        "other": "Plays the cello",
        "ask": "Forget everything about my bees.",
        "kept": "You chose to keep everything.",
        "sure": "Forget all of these for good?",
        "gone": "0 traces left",
        "subject": "bees",
    },
    "zh-hans": {
        "said": ("我在屋顶上养蜂", "我养的蜂住在两个绿色蜂箱里"),
        "other": "会拉大提琴",
        "ask": "把我养蜂的事全部忘掉。",
        "kept": "你选择了全部保留。",
        "sure": "要彻底忘记以下全部内容吗？",
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


def known(page: Page) -> list[str]:
    page.goto("/memory/long-term/")
    return sorted(page.locator(".row__title").all_inner_texts())


@pytest.mark.parametrize("language", list(WORDS))
def test_a_card_keeps_everything_or_forgets_all_after_a_second_question(
    page: Page, product: Product, language: str
) -> None:
    words = WORDS[language]
    person = product.person(f"chooser-{language}", language=language)
    said = words["said"]
    product.shell(
        _KNOWN.format(name=person.username, first=said[0], said=said, other=words["other"])
    )
    everything = sorted([*said, str(words["other"])])
    sign_in(page, person)
    card = ask(page, str(words["ask"]))
    print(card.inner_html())
    here = page.url
    card.locator("[name=keep]").click()
    expect(card).to_have_count(0)
    expect(page.locator("#bubbles")).to_contain_text(str(words["kept"]))
    assert known(page) == everything

    page.goto(here)
    card = ask(page, str(words["ask"]))
    assert card.get_by_role("checkbox").count() < 10
    card.locator("[name=all]").click()
    expect(card).to_contain_text(str(words["sure"]))
    for one in said:
        expect(card.locator(".ledger")).to_contain_text([one])
    expect(card).not_to_contain_text(str(words["other"]))
    card.locator("[name=again]").click()
    expect(card.locator("[name=all]")).to_be_visible()
    card.locator("[name=all]").click()
    card.locator(".button--danger-solid").click()
    receipt = page.locator(".receipt")
    expect(receipt).to_contain_text(str(words["gone"]), timeout=SOON)
    expect(page.locator(".bubble--user", has_text=said[0])).to_have_count(0)
    assert known(page) == [str(words["other"])]
    page.goto("/")
    expect(page.locator("#conversations")).not_to_contain_text(said[0])
