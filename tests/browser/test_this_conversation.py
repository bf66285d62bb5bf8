"""“This conversation” and its “Try it”: what is in mind now, and what would be."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import sign_in
from tests.live import Product

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)

_LIVED = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_memory, make_summary, make_turn
with as_system():
    user = User.objects.get(username={name!r})
    make_turn(make_conversation(user, title="Another"), "What is my bicycle called?", "Bess.")
    talk = make_conversation(user, title="The long one")
    for number in range(13):
        make_turn(talk, f"Remark {{number}}.", f"Noted {{number}}.")
    make_summary(talk, "They remarked on things.", through=6)
    make_memory(user, {allergy!r}, kind="constraint")
    make_memory(user, {cat!r})
    make_memory(user, {garden!r})
    print(talk.public_id)
"""
WORDS = {
    "en": {
        "allergy": "Allergic to peanuts",
        "cat": "Has a cat named Biscuit",
        "garden": "Grows tomatoes in the garden",
        "ask": "What is my cat called?",
        "always": "always included",
        "if": "If you asked “What is my cat called?” now",
        "preview": "Just a preview: it changes nothing",
        "try": "Try",
        "uses": "used in",
        "tokens": "Tokens",
    },
    "zh-hans": {
        "allergy": "对花生过敏",
        "cat": "养了一只叫豆豆的猫",
        "garden": "在院子里种番茄",
        "ask": "我的猫叫什么？",
        "always": "每次都会参考",
        "if": "我的猫叫什么？",
        "preview": "只是预览",
        "try": "试一试",
        "uses": "用于",
        "tokens": "词元数",
    },
}


@pytest.mark.parametrize("language", list(WORDS))
def test_what_is_in_mind_is_shown_and_a_question_is_tried_without_using_anything(
    page: Page, product: Product, language: str
) -> None:
    words = WORDS[language]
    name = f"thinker-{language}"
    person = product.person(name, language=language)
    told = {one: words[one] for one in ("allergy", "cat", "garden")}
    talk = product.shell(_LIVED.format(name=name, **told)).split()[-1]
    sign_in(page, person, then=f"/memory/conversation/?conversation={talk}")
    stack = page.locator("#stack")
    expect(stack).to_contain_text("Remark 12.")
    expect(page.locator("#layer-window .is-out").first).to_contain_text("Remark")
    expect(page.locator("#layer-summary")).to_contain_text("They remarked on things.")
    constraints = page.locator("#layer-constraints")
    expect(constraints).to_contain_text(words["allergy"])
    expect(constraints).to_contain_text(words["always"])
    expect(page.locator("#layer-memories .stack-item:not(.stack-item--missed)")).to_have_count(0)

    expect(page.locator(".try")).to_contain_text(words["preview"])
    page.locator("#try").fill(words["ask"])
    page.locator(".try").get_by_role("button", name=words["try"], exact=True).click()
    expect(page.locator(".stack-for")).to_contain_text(words["if"])
    used = page.locator("#layer-memories .stack-item:not(.stack-item--missed)")
    expect(used).to_have_count(1)
    expect(used).to_contain_text(words["cat"])
    expect(constraints).to_contain_text(words["allergy"])
    page.locator("#for-developers > summary").click()
    figures = page.locator("#for-developers .stack-figures")
    expect(figures).to_contain_text(words["tokens"], use_inner_text=True)
    used.locator("summary").first.click()
    expect(used.locator(".stack-item__why")).to_be_visible()
    used.locator(".stack-item__why a").click()
    expect(page.locator("h1")).to_contain_text(words["cat"])
    page.go_back()
    expect(page.locator("#try")).to_have_value(words["ask"])
    page.goto("/memory/long-term/")
    expect(page.locator(".row")).to_have_count(3)
    expect(page.locator(".row__meta", has_text=words["uses"])).to_have_count(0)

    page.goto("/memory/conversation/")
    page.locator("#conversation").select_option(
        label=page.locator("#conversation option", has_text="Another").inner_text()
    )
    expect(stack).to_contain_text("What is my bicycle called?")
    expect(stack).not_to_contain_text("Remark 12.")
    page.set_viewport_size({"width": 390, "height": 780})
    assert page.evaluate("document.documentElement.scrollWidth") == 390
