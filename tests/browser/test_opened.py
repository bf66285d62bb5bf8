"""What opens on a page, joining and the second step of signing in: nothing that axe finds."""

from __future__ import annotations

from itertools import count

import pytest
from playwright.sync_api import Page, expect

from tests.browser.axe import obstacles
from tests.browser.chat_page import send
from tests.browser.conftest import sign_in
from tests.browser.places import code_step, joining
from tests.live import Person, Product

pytestmark = pytest.mark.browser
SOON = 60_000
_numbers = count(1)
_KNOWN = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn
from memories.models import MemoryStatus
with as_system():
    user = User.objects.get(username={name!r})
    talk = make_conversation(user, title="Bees")
    for said in {said!r}:
        turn = make_turn(talk, said, "I see.", extracted_at=talk.created_at)
        memory = make_memory(user, said, turns=[turn])
    make_memory(user, {heard!r}, status=MemoryStatus.CANDIDATE, conflicts_with=memory)
    print(talk.public_id)
"""
WORDS = {
    "en": {
        "said": ("I keep bees on the roof", "My bees live in two green hives"),
        "heard": "My bees live in four green hives",
        "forget": "Forget everything about my bees.",
        "correct": "My bees live in three green hives.",
    },
    "zh-hans": {
        "said": ("我在屋顶上养蜂", "我养的蜂住在两个绿色蜂箱里"),
        "heard": "我养的蜂住在四个绿色蜂箱里",
        "forget": "把我养蜂的事全部忘掉。",
        "correct": "我养的蜂住在三个绿色蜂箱里。",
    },
}


@pytest.fixture(params=list(WORDS))
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def keeper(product: Product, language: str) -> Person:
    return product.person(f"opener-{next(_numbers)}", language=language)


@pytest.fixture
def talk(product: Product, keeper: Person, language: str) -> str:
    words = WORDS[language]
    code = _KNOWN.format(name=keeper.username, said=words["said"], heard=words["heard"])
    return product.shell(code).split()[-1]


def test_what_opens_among_the_memories_has_no_obstacle(
    open_page: Page, keeper: Person, talk: str, language: str
) -> None:
    page, dialog = open_page, open_page.get_by_role("dialog")
    sign_in(page, keeper, then="/memory/long-term/")
    row = page.locator(".row").first
    row.locator(".menu summary").click()
    found = obstacles(page, "menu of a row")
    row.locator(".menu__item").last.click()
    expect(dialog).to_be_visible()
    found += obstacles(page, "dialog that forgets")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 390, "height": 800})
    page.locator("#filters-more").click()
    expect(page.locator("#choices")).to_be_visible()
    found += obstacles(page, "filters on a phone")
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator(".row__check").first.check()
    found += obstacles(page, "bar of the selected")
    page.locator("#filters .button--primary").click()
    expect(dialog).to_be_visible()
    found += obstacles(page, "dialog that adds")
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(dialog).to_be_visible()
    found += obstacles(page, "keyboard help")
    page.goto("/memory/review/")
    expect(page.locator(".review__choices button")).to_have_count(4)
    found += obstacles(page, "question of the review")
    page.goto("/memory/")
    page.locator(".portrait__correct").first.click()
    expect(page.locator("#tell [name=said]")).to_be_focused()
    page.locator("#tell [name=said]").fill(str(WORDS[language]["correct"]))
    page.locator("#tell .tell__form button").click()
    expect(page.locator(".tell__changes")).to_be_visible(timeout=SOON)
    found += obstacles(page, "preview of a correction")
    assert found == []


def test_what_opens_in_the_chat_has_no_obstacle(
    open_page: Page, keeper: Person, talk: str, language: str
) -> None:
    page, dialog = open_page, open_page.get_by_role("dialog")
    sign_in(page, keeper, then=f"/c/{talk}/")
    said = page.locator(".bubble--user").last
    said.hover()
    said.locator("details.menu summary").click()
    found = obstacles(page, "menu of a message")
    for number, name in enumerate(("dialog that remembers", "dialog that forgets a message")):
        if not said.locator(".menu__panel").is_visible():
            said.hover()
            said.locator("details.menu summary").click()
        said.locator(".menu__item").nth(number).click()
        expect(dialog).to_be_visible()
        found += obstacles(page, name)
        page.keyboard.press("Escape")
        expect(dialog).to_have_count(0)
    send(page, str(WORDS[language]["forget"]))
    card = page.locator(".card.forget")
    expect(card).to_be_visible(timeout=SOON)
    found += obstacles(page, "card that forgets")
    card.locator("[name=all]").click()
    expect(card.locator(".button--danger-solid")).to_be_visible()
    found += obstacles(page, "second question of the card")
    card.locator(".button--danger-solid").click()
    expect(page.locator(".receipt")).to_be_visible(timeout=SOON)
    found += obstacles(page, "receipt in the chat")
    assert found == []


def test_joining_and_the_code_step_have_no_obstacle(
    open_page: Page, product: Product, keeper: Person, language: str
) -> None:
    page = open_page
    page.set_extra_http_headers({"Accept-Language": language})
    page.goto(joining(product))
    expect(page.locator("[name=password]")).to_be_visible()
    found = obstacles(page, "joining")
    code_step(page, product, keeper)
    found += obstacles(page, "code step")
    assert found == []
