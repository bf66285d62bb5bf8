"""On a phone of 390 px nothing covers what a person needs, and no icon stands alone."""

from itertools import count

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import remembering, sign_in
from tests.browser.looks import do_overlap
from tests.live import Product

pytestmark = pytest.mark.browser

_numbers = count(1)
_TALK = """
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_decision, make_memory, make_turn
with as_system():
    talk = make_conversation(User.objects.get(username={name!r}), title="Long")
    for number in range(20):
        said = make_turn(talk, f"Remark {{number}}.", "Noted.", extracted_at=talk.created_at)
    make_decision(said, make_memory(talk.user, "Keeps bees on the roof", turns=[said]), "add")
    print(talk.public_id)
"""
_ALONE = """all => all.filter(phrase => {
  const lines = phrase.querySelector("a").getClientRects(), last = lines[lines.length - 1];
  const icon = phrase.querySelector(".portrait__correct .icon").getBoundingClientRect();
  const middle = (icon.top + icon.bottom) / 2;
  return middle < last.top || middle > last.bottom;
}).map(phrase => phrase.textContent)"""

_LAST_AT_THE_END = """one => {
  one.scrollTop = one.scrollHeight;
  return [...one.querySelectorAll(".bubble")].at(-1).getBoundingClientRect().top;
}"""


@pytest.fixture
def phone(page: Page) -> Page:
    page.set_viewport_size({"width": 390, "height": 780})
    return page


@pytest.fixture
def talk(phone: Page, product: Product) -> Page:
    """A long conversation, at its end."""
    person = product.person(f"phone-{next(_numbers)}")
    made = product.shell(_TALK.format(name=person.username)).split()[-1]
    sign_in(phone, person, then=f"/c/{made}/")
    return phone


def test_a_toast_covers_neither_the_navigation_nor_the_composer(talk: Page) -> None:
    copy = talk.locator(".bubble--user").last.get_by_label("Copy", exact=True)
    copy.click()
    toast = talk.locator(".toast").first
    expect(toast).to_be_visible()
    for place in (".site-header", ".chat__bar", ".chat__foot"):
        assert not do_overlap(toast, talk.locator(place)), place


def test_a_toast_of_the_memory_list_leaves_the_navigation_free(
    phone: Page, product: Product
) -> None:
    sign_in(phone, remembering(product, f"phone-{next(_numbers)}", "Keeps bees", "Has a cat"))
    phone.goto("/memory/long-term/")
    row = phone.locator(".row").first
    row.locator(".row__menu summary").click()
    row.locator(".menu__item", has_text="Disable").click()
    toast = phone.locator(".toast").first
    expect(toast).to_be_visible()
    for place in (".site-header", "h1", ".tabs"):
        assert not do_overlap(toast, phone.locator(place).first), place


def test_a_toast_of_a_page_leaves_the_way_back_and_the_title_free(
    phone: Page, product: Product
) -> None:
    sign_in(phone, remembering(product, f"phone-{next(_numbers)}", "Keeps bees"))
    phone.goto("/memory/data/conversations/")
    phone.evaluate("window.showToast('Said.')")
    toast = phone.locator(".toast").first
    expect(toast).to_be_visible()
    for place in (".site-header", ".page-header"):
        assert not do_overlap(toast, phone.locator(place).first), place


def test_what_was_learned_scrolls_into_view_when_it_opens(talk: Page) -> None:
    chip = talk.locator(".bubble--assistant").last.locator(".learned")
    chip.locator("summary").click()
    card = chip.locator(".card")
    expect(card).to_be_in_viewport(ratio=0.99)
    assert not do_overlap(card, talk.locator(".chat__foot"))
    expect(chip.locator("summary")).to_be_in_viewport()


def test_the_button_to_the_end_covers_no_message(talk: Page) -> None:
    button = talk.locator("#to-end")
    expect(button).to_be_hidden()
    talk.locator(".chat__scroll").evaluate("one => one.scrollTo(0, 0)")
    expect(button).to_be_visible()
    for place in (".chat__scroll", ".chat__foot"):
        assert not do_overlap(button, talk.locator(place)), place
    button.click()
    expect(button).to_be_hidden()


def test_a_day_is_named_once_when_earlier_messages_are_loaded(talk: Page) -> None:
    talk.locator(".chat__scroll").evaluate("one => one.scrollTo(0, 0)")
    expect(talk.locator("#bubbles > .bubble")).to_have_count(40)
    expect(talk.locator("#bubbles > .bubble__day")).to_have_count(1)


def test_no_message_moves_when_the_button_to_the_end_goes(talk: Page) -> None:
    talk.set_viewport_size({"width": 390, "height": 400})
    button, scroll = talk.locator("#to-end"), talk.locator(".chat__scroll")
    scroll.evaluate("one => one.scrollTo(0, 0)")
    expect(button).to_be_visible()
    before = scroll.evaluate(_LAST_AT_THE_END)
    expect(button).to_be_hidden()
    after = talk.locator(".bubble").last.bounding_box()
    assert after and abs(after["y"] - before) < 1


def test_the_icon_that_corrects_stands_on_the_line_of_its_words(
    phone: Page, product: Product
) -> None:
    words = "Likes to walk along the river with her sister every single Sunday morning in May"
    told = [words[:length].rstrip() for length in range(28, len(words), 3)]
    sign_in(phone, remembering(product, f"phone-{next(_numbers)}", *told), then="/memory/")
    phrases = phone.locator(".portrait__phrase")
    expect(phrases.first).to_be_visible()
    assert phrases.evaluate_all(_ALONE) == []


def test_the_menu_of_a_memory_opens_on_the_screen(phone: Page, product: Product) -> None:
    person = remembering(product, f"phone-{next(_numbers)}", "Keeps bees on the roof")
    sign_in(phone, person, then="/memory/long-term/")
    phone.locator(".row__title").click()
    actions = phone.locator(".detail__actions")
    expect(actions.locator("> a, > form")).to_have_text(["Edit"])
    items, more = actions.locator(".menu__item"), actions.get_by_label("More for this memory")
    more.click()
    expect(items.first).to_be_visible()
    for item in items.all():
        expect(item).to_be_in_viewport(ratio=1)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390
    items.filter(has_text="Pin").click()
    expect(phone.locator(".chip", has_text="pinned")).to_be_visible()
    more.click()
    items.filter(has_text="Forget now…").click()
    button = phone.get_by_role("dialog").get_by_role("button", name="Forget now")
    expect(button).to_be_in_viewport(ratio=1)


_WAITS = """
from memories.models import MemoryStatus
from ops.access import as_system
from ops.models import User
from tests.factories import make_conversation, make_memory, make_turn
with as_system():
    user = User.objects.get(username={name!r})
    said = make_turn(make_conversation(user, title="Talk"), {said!r})
    make_memory(user, {said!r}, turns=[said], tags=["garden", "animals"])
    make_memory(user, "Perhaps so", status=MemoryStatus.CANDIDATE)
"""
SAID = {
    "en": "Keeps two hives of bees on the roof of the house in the old town",
    "zh-hans": "在老城区那栋房子的屋顶上养了两箱蜜蜂，每天早上都去看看",
}


@pytest.mark.parametrize("language", list(SAID))
def test_the_first_memory_is_on_the_first_screen_below_every_notice(
    browser: Browser, product: Product, language: str
) -> None:
    name = f"phone-notices-{language}"
    person = product.person(name, language=language)
    product.shell(_WAITS.format(name=name, said=SAID[language]))
    # Its clock differs from the person's, so that a time zone is offered too.
    context = browser.new_context(
        base_url=product.address,
        locale="en-GB" if language == "en" else "zh-CN",
        timezone_id="America/Lima",
        viewport={"width": 390, "height": 780},
    )
    page = context.new_page()
    sign_in(page, person, then="/memory/long-term/")
    page.goto("/memory/long-term/")
    expect(page.locator(".waiting")).to_be_visible()
    expect(page.locator(".row__title").first).to_have_text(SAID[language])
    expect(page.locator(".row__title").first).to_be_in_viewport(ratio=1)
    assert page.evaluate("scrollY") == 0
    expect(page.locator("[data-time-zone-offer]")).to_be_visible()
    context.close()
