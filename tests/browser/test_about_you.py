"""About you in a real Chromium: read the portrait, correct it in a sentence, open a phrase."""

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import remembering, sign_in
from tests.live import Person, Product

pytestmark = pytest.mark.browser
# The first text that a fresh web process reads waits for the models to load.
expect.set_options(timeout=30_000)


def tell(page: Page, text: str) -> None:
    page.get_by_label("Your correction").fill(text)
    page.get_by_role("button", name="Preview changes").click()


def test_a_sentence_shows_what_changes_and_is_kept(page: Page, product: Product) -> None:
    sign_in(page, product.person("nora"), then="/memory/")
    page.get_by_label("One thing about you").fill("I live in Ghent")
    page.get_by_role("button", name="Remember").click()
    page.get_by_role("link", name="About you").click()
    expect(page.locator(".portrait")).to_contain_text("I live in Ghent")

    tell(page, "I moved from Ghent to Bruges.")
    shown = page.locator(".tell__changes")
    expect(shown).to_contain_text("Bruges")
    expect(page.locator(".portrait")).not_to_contain_text("Bruges")
    shown.get_by_role("button", name="Save").click()
    expect(page.locator(".portrait")).to_contain_text("Bruges")

    page.locator(".portrait").get_by_role("link", name="Bruges").first.click()
    expect(page.locator("h1")).to_contain_text("Bruges")


def test_nothing_is_kept_before_it_was_shown(page: Page, product: Product) -> None:
    sign_in(page, product.person("olaf"), then="/memory/")
    page.get_by_label("One thing about you").fill("I keep bees")
    page.get_by_role("button", name="Remember").click()
    page.goto(f"{product.address}/memory/")
    tell(page, "I play the cello.")
    page.locator(".tell__changes").get_by_role("link", name="Cancel").click()
    expect(page.locator(".portrait")).not_to_contain_text("cello")


def test_a_preview_stands_in_view_and_is_saved_only_with_something_ticked(
    page: Page, product: Product
) -> None:
    sign_in(page, product.person("zuri"), then="/memory/")
    page.set_viewport_size({"width": 390, "height": 600})
    page.get_by_label("One thing about you").fill("My daughter Zuri is 9")
    page.get_by_role("button", name="Remember").click()
    page.goto(f"{product.address}/memory/")
    tell(page, "Zuri is 10, not 9")
    save = page.locator(".tell__changes").get_by_role("button", name="Save")
    expect(save).to_be_in_viewport()
    expect(save).to_be_enabled()
    page.locator(".tell__change input").uncheck()
    expect(save).to_be_disabled()
    page.locator(".tell__change input").check()
    save.click()
    expect(page.locator(".portrait")).to_contain_text("My daughter Zuri is 10")


def test_the_keys_of_the_pages_are_named_by_the_question_mark(page: Page, product: Product) -> None:
    sign_in(page, product.person("keys"), then="/memory/long-term/")
    page.locator("h1").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+/")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()


def test_a_correction_typed_under_a_phrase_replaces_it_as_typed(
    page: Page, product: Product
) -> None:
    person = remembering(product, "ines", "The lessons cost 260", "Theo plays the piano")
    sign_in(page, person, then="/memory/")
    phrase = page.locator(".portrait__phrase", has_text="The lessons cost 260")
    pencil = phrase.get_by_role("link", name="Correct “The lessons cost 260”")
    pencil.click()
    field = phrase.get_by_label("Your correction")
    expect(field).to_be_focused()
    expect(page.get_by_label("Your correction")).to_have_count(1)
    expect(phrase.locator(".tell__about")).to_contain_text("The lessons cost 260")
    above, below = pencil.bounding_box(), field.bounding_box()
    assert above and below and 0 < below["y"] - above["y"] < 200
    tell(page, "They're Theo's piano lessons, 260 each")
    change = page.locator(".tell__change")
    expect(change.locator(".tell__old")).to_contain_text("The lessons cost 260")
    expect(change.locator("input")).to_be_checked()
    page.locator(".tell__changes").get_by_role("button", name="Save").click()
    portrait = page.locator(".portrait")
    expect(portrait).to_contain_text("They're Theo's piano lessons, 260 each")
    expect(portrait).not_to_contain_text("The lessons cost 260")


@pytest.mark.parametrize("width", [390, 1280])
def test_the_field_opens_under_a_phrase_and_goes_back_by_the_keyboard(
    page: Page, product: Product, width: int
) -> None:
    person = remembering(product, f"pencil-{width}", "I keep bees", "I live in Ghent")
    page.set_viewport_size({"width": width, "height": 700})
    sign_in(page, person, then="/memory/")
    bees, ghent = (page.locator(".portrait__phrase", has_text=text) for text in ("bees", "Ghent"))
    foot = page.locator("#tell-home")
    expect(foot.get_by_label("Your correction")).to_have_count(1)
    for phrase in (bees, ghent):  # the second takes the field from the first
        phrase.locator(".portrait__correct").focus()
        page.keyboard.press("Enter")
        expect(phrase.get_by_label("Your correction")).to_be_focused()
        expect(phrase.get_by_label("Your correction")).to_be_in_viewport(ratio=1)
        expect(page.locator("#tell")).to_have_count(1)
        assert page.evaluate("document.documentElement.scrollWidth") == width
    page.keyboard.press("Escape")
    expect(foot.get_by_label("Your correction")).to_have_count(1)
    expect(foot.locator(".tell__about")).to_have_count(0)
    expect(ghent.locator(".portrait__correct")).to_be_focused()
    page.keyboard.press("Enter")
    expect(ghent.get_by_label("Your correction")).to_be_focused()
    tell(page, "I moved from Ghent to Bruges.")
    expect(ghent.locator(".tell__changes ins")).to_contain_text("Bruges")
    ghent.locator(".tell__changes").get_by_role("link", name="Cancel").click()
    expect(ghent.locator(".portrait__correct")).to_be_focused()
    expect(foot.locator(".tell__changes")).to_have_count(0)
    expect(foot.get_by_label("Your correction")).to_have_value("")


def test_without_javascript_the_pencil_leads_to_the_form(
    browser: Browser, product: Product
) -> None:
    person = remembering(product, "pencil-plain", "I keep bees", "I live in Ghent")
    context = browser.new_context(base_url=product.address, java_script_enabled=False)
    page = context.new_page()
    sign_in(page, person, then="/memory/")
    page.get_by_role("link", name="Correct “I keep bees”").click()
    expect(page.locator("#tell .tell__about")).to_contain_text("I keep bees")
    page.locator("#tell").get_by_role("link", name="Cancel").click()
    expect(page.locator("#tell .tell__about")).to_have_count(0)
    expect(page.locator("#tell").get_by_label("Your correction")).to_be_visible()
    context.close()


def test_what_is_disabled_or_forgotten_leaves_the_portrait(page: Page, product: Product) -> None:
    person = remembering(product, "leaver", "I keep bees", "I live in Ghent", "I play the cello")
    sign_in(page, person, then="/memory/")
    phrases, toast = page.locator(".portrait__phrase"), page.locator(".toast")
    expect(phrases).to_have_count(3)
    phrases.get_by_role("link", name="I keep bees", exact=True).click()
    page.get_by_label("More for this memory").click()
    page.locator(".detail__actions .menu__item", has_text="Disable").click()
    expect(toast).to_contain_text("Disabled.")
    about = page.context.new_page()
    about.goto("/memory/")
    shown = about.locator(".portrait__phrase")
    expect(shown).to_have_count(2)
    expect(about.locator(".portrait")).not_to_contain_text("bees")
    toast.get_by_role("button", name="Undo").click()
    expect(page.locator(".detail .chip", has_text="disabled")).to_have_count(0)
    about.reload()
    expect(shown).to_have_count(3)
    about.close()

    page.goto("/memory/")
    tell(page, "Forget that I live in Ghent.")
    meant = page.locator(".tell__changes .row", has_text="Ghent").first
    meant.get_by_role("link", name="Forget now…").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("I live in Ghent")
    dialog.get_by_role("button", name="Forget now").click()
    expect(dialog).to_have_count(0)
    expect(phrases).to_have_count(2)
    expect(page.locator(".portrait")).not_to_contain_text("Ghent")


_HAS_ENDED = """
from django.utils import timezone
from memories.models import Memory
from ops.access import as_system
with as_system():
    found = Memory.objects.filter(user__username={name!r}, content={content!r})
    assert found.update(valid_until=timezone.now()) == 1
"""


def test_what_has_expired_leaves_the_portrait(page: Page, product: Product) -> None:
    person = remembering(product, "tenant", "I rent a room in Ghent", "I keep bees")
    sign_in(page, person, then="/memory/")
    phrases = page.locator(".portrait__phrase")
    expect(phrases).to_have_count(2)
    product.shell(_HAS_ENDED.format(name=person.username, content="I rent a room in Ghent"))
    page.reload()
    expect(phrases).to_have_count(1)
    expect(phrases).to_contain_text("I keep bees")
    expect(page.locator("main")).not_to_contain_text("Ghent")
    page.goto("/memory/long-term/")
    expect(page.locator(".row", has_text="Ghent")).to_contain_text("expired")


WRONG_PERSON = {
    "en": {
        "known": "Dan can't eat nuts",
        "said": "no, Marta is the one who can't eat nuts",
        "wrong": "Dan",
        "right": "Marta can't eat nuts",
    },
    "zh-hans": {
        "known": "妹妹对花生过敏",
        "said": "不对，是姐姐对花生过敏",
        "wrong": "妹妹",
        "right": "姐姐对花生过敏",
    },
}


@pytest.mark.parametrize("language", list(WRONG_PERSON))
def test_the_wrong_person_is_corrected_under_the_phrase_after_a_preview(
    page: Page, product: Product, language: str
) -> None:
    words = WRONG_PERSON[language]
    person = remembering(product, f"corrector-{language}", words["known"], language=language)
    sign_in(page, person, then="/memory/")
    phrases = page.locator(".portrait__phrase")
    phrases.locator(".portrait__correct").click()
    told = phrases.locator("#tell")
    told.locator("[name=said]").fill(words["said"])
    told.get_by_role("button", name=str(WORDS[language]["preview"])).click()
    change = told.locator(".tell__change")
    expect(change).to_have_count(1)
    expect(change.locator(".tell__old")).to_contain_text(words["wrong"])
    expect(change.locator("input")).to_be_checked()
    other = page.context.new_page()
    other.goto("/memory/")
    expect(other.locator(".portrait__phrase")).to_contain_text([words["known"]])
    other.close()
    told.get_by_role("button", name=str(WORDS[language]["save"])).click()
    expect(phrases).to_contain_text([words["right"]])
    expect(page.locator(".portrait")).not_to_contain_text(words["wrong"])


_CAME_BACK = """
from datetime import timedelta
from django.utils import timezone
from memories.models import Memory, MemoryVersion
from ops.access import as_system
from ops.models import User, UserSettings
from tests.factories import make_memory
with as_system():
    user = User.objects.get(username={name!r})
    seen = timezone.now() - timedelta(hours=5)
    UserSettings.objects.filter(user=user).update(portrait_seen_at=seen)
    for kind in (Memory, MemoryVersion):
        kind.objects.filter(user=user).update(created_at=seen - timedelta(days=1))
    make_memory(user, {new!r})
"""
WORDS = {
    "en": {
        "known": ("I live in Ghent", "I keep bees"),
        "new": "I have a cat called Biscuit",
        "mark": "New",
        "told": "I moved from Ghent to Bruges.",
        "was": "Ghent",
        "is": "Bruges",
        "preview": "Preview changes",
        "save": "Save",
    },
    "zh-hans": {
        "known": ("我住在杭州", "我在家里养蜂"),
        "new": "我养了一只叫豆豆的猫",
        "mark": "新",
        "told": "我从杭州搬到苏州了。",
        "was": "杭州",
        "is": "苏州",
        "preview": "看看会怎么改",
        "save": "保存",
    },
}


def visit_again(product: Product, person: Person, *, new: str) -> None:
    """Five hours pass, in which something new becomes known."""
    product.shell(_CAME_BACK.format(name=person.username, new=new))


@pytest.mark.parametrize("language", list(WORDS))
def test_what_is_new_is_marked_and_a_correction_shows_its_change_first(
    page: Page, product: Product, language: str
) -> None:
    words = WORDS[language]
    person = product.person(f"returning-{language}", language=language)
    sign_in(page, person, then="/memory/long-term/")
    for content in words["known"]:
        page.goto("/memory/long-term/add/")
        page.fill("[name=content]", content)
        page.locator("form[action$='/add/'] .button--primary").click()
        page.wait_for_url(lambda url: "/add/" not in url)
    marks = page.locator(".portrait__new")
    page.goto("/memory/")
    expect(page.locator(".portrait__phrase")).to_have_count(2)
    expect(marks).to_have_count(0)
    visit_again(product, person, new=str(words["new"]))
    for _ in range(2):  # a look at it doesn't end the visit
        page.goto("/memory/")
        expect(marks).to_have_text([str(words["mark"])])
        new = page.locator(".portrait__phrase", has=marks)
        expect(new).to_contain_text(str(words["new"]))

    portrait, told = page.locator(".portrait"), page.locator("#tell")
    told.locator("[name=said]").fill(str(words["told"]))
    told.get_by_role("button", name=str(words["preview"])).click()
    change = told.locator(".tell__change")
    expect(change.locator("del")).to_contain_text(str(words["was"]))
    expect(change.locator("ins")).to_contain_text(str(words["is"]))
    expect(portrait).not_to_contain_text(str(words["is"]))
    page.reload()
    expect(portrait).not_to_contain_text(str(words["is"]))
    told.locator("[name=said]").fill(str(words["told"]))
    told.get_by_role("button", name=str(words["preview"])).click()
    told.get_by_role("button", name=str(words["save"])).click()
    changed = page.locator(".portrait__phrase", has_text=str(words["is"]))
    expect(changed.locator(".portrait__new")).to_have_count(1)
