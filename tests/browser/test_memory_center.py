"""The Memory Center as people use it: a real Chromium against the running product."""

import re
from itertools import count

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import sign_in
from tests.live import Person, Product

pytestmark = pytest.mark.browser

LIST = "/memory/long-term/"
# The first text that a fresh web process embeds waits for the embedder to load.
expect.set_options(timeout=30_000)


_numbers = count(1)


@pytest.fixture
def maya(product: Product) -> Person:
    """Somebody of whom no other test has written anything that a new memory might replace."""
    return product.person(f"maya-{next(_numbers)}")


@pytest.fixture
def center(page: Page, maya: Person) -> Page:
    """Signed in, on the long-term tab."""
    sign_in(page, maya, then=LIST)
    return page


def add(page: Page, content: str) -> None:
    page.get_by_role("link", name="Add", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("What should be remembered?").fill(content)
    dialog.get_by_role("button", name="Remember").click()
    expect(row(page, content)).to_be_visible()


def row(page: Page, content: str):  # type: ignore[no-untyped-def]  # noqa: ANN201
    return page.locator(".row", has=page.get_by_role("link", name=content, exact=True))


def choose(page: Page, content: str, action: str) -> None:
    """Open a row's menu and take one of its lines."""
    line = row(page, content)
    line.locator("summary").click()
    line.locator(".menu__item", has_text=re.compile(f"^{re.escape(action)}")).click()


def test_a_memory_is_added_in_a_dialog(center: Page) -> None:
    add(center, "Allergic to penicillin")
    expect(row(center, "Allergic to penicillin")).to_contain_text("must know")
    expect(center.locator(".toast")).to_contain_text("Remembered.")


def test_an_empty_memory_is_refused_inside_the_dialog(center: Page) -> None:
    center.get_by_role("link", name="Add", exact=True).click()
    dialog = center.get_by_role("dialog")
    dialog.get_by_role("button", name="Remember").click()
    expect(dialog).to_contain_text("Write what should be remembered.")
    dialog.get_by_role("link", name="Cancel").click()
    expect(dialog).to_have_count(0)


def test_a_memory_is_edited_in_its_place(center: Page) -> None:
    add(center, "Plays the cello in a quartet")
    choose(center, "Plays the cello in a quartet", "Edit")
    form = center.locator(".row--editing")
    form.get_by_label("What should be remembered?").fill("Plays the viola in a quartet")
    form.get_by_role("button", name="Save").click()
    expect(row(center, "Plays the viola in a quartet")).to_be_visible()
    expect(form).to_have_count(0)
    row(center, "Plays the viola in a quartet").get_by_role("link").first.click()
    expect(center.locator(".diff del").first).to_have_text("cello")
    center.get_by_role("button", name="Restore this text").click()
    expect(center.locator("h1")).to_have_text("Plays the cello in a quartet")


def test_a_deleted_memory_comes_back_by_undo(center: Page) -> None:
    add(center, "Grows tomatoes on the balcony")
    choose(center, "Grows tomatoes on the balcony", "Delete")
    expect(row(center, "Grows tomatoes on the balcony")).to_have_count(0)
    toast = center.locator(".toast", has_text="Moved to the recycle bin.")
    toast.get_by_role("button", name="Undo").click()
    expect(row(center, "Grows tomatoes on the balcony")).to_be_visible()


def test_a_double_click_deletes_one_memory_and_opens_nothing(center: Page) -> None:
    for content in ("Knits socks on trains", "Breeds alpine newts", "Sews curtains"):
        add(center, content)
    line = row(center, "Breeds alpine newts")
    before = center.locator(".row").count()
    line.locator("summary").click()
    line.locator(".menu__item", has_text="Delete").dblclick()
    expect(line).to_have_count(0)
    toast = center.locator(".toast", has_text="Moved to the recycle bin.")
    expect(toast).to_have_count(1)
    expect(center.locator(".row")).to_have_count(before - 1)
    assert center.url.endswith(LIST)
    toast.get_by_role("button", name="Undo").dblclick()
    expect(line).to_have_count(1)
    expect(center.locator(".toast", has_text="Restored")).to_have_count(1)
    expect(center.locator(".row")).to_have_count(before)
    choose(center, "Breeds alpine newts", "Forget now")
    dialog = center.get_by_role("dialog")
    dialog.get_by_role("button", name="Forget now").dblclick()
    expect(center.locator(".toast", has_text="Forgotten")).to_have_count(1)
    expect(dialog).to_have_count(0)
    expect(line).to_have_count(0)
    expect(center.locator(".toast")).not_to_contain_text(["no longer"])


def test_a_form_is_submitted_once_however_often_its_button_is_pressed(center: Page) -> None:
    add(center, "Breeds alpine newts")
    choose(center, "Breeds alpine newts", "Forget now")
    submit = "new SubmitEvent('submit', { bubbles: true, cancelable: true })"
    twice = f"(form) => [form.dispatchEvent({submit}), form.dispatchEvent({submit})]"
    assert center.get_by_role("dialog").locator("form").evaluate(twice) == [True, False]


def test_a_double_click_adds_one_memory(center: Page) -> None:
    center.get_by_role("link", name="Add", exact=True).click()
    dialog = center.get_by_role("dialog")
    dialog.get_by_label("What should be remembered?").fill("Swims in the lake at dawn")
    dialog.get_by_role("button", name="Remember").dblclick()
    expect(dialog).to_have_count(0)
    expect(row(center, "Swims in the lake at dawn")).to_have_count(1)
    center.reload()
    expect(row(center, "Swims in the lake at dawn")).to_have_count(1)


def test_a_memory_is_disabled_in_its_row(center: Page) -> None:
    add(center, "Reads crime novels at night")
    choose(center, "Reads crime novels at night", "Disable")
    expect(row(center, "Reads crime novels at night")).to_have_class(re.compile("row--off"))


def test_what_is_very_wrong_is_forgotten_with_one_tap(center: Page) -> None:
    add(center, "Collects beer mats")
    center.get_by_role("link", name="Collects beer mats", exact=True).click()
    center.get_by_role("button", name="Very wrong").click()
    expect(center.get_by_role("button", name="Very wrong")).to_have_attribute(
        "aria-pressed", "true"
    )
    center.get_by_role("button", name="Yes, forget it").click()
    center.wait_for_url(f"**{LIST}")
    expect(row(center, "Collects beer mats")).to_have_count(0)


def test_search_finds_as_you_type(center: Page) -> None:
    add(center, "Walks the dog along the canal")
    add(center, "Owns a red bicycle")
    search = center.get_by_role("searchbox", name="Search memories")
    search.press_sequentially("canal")
    expect(row(center, "Owns a red bicycle")).to_have_count(0)
    expect(row(center, "Walks the dog along the canal")).to_be_visible()
    expect(search).to_be_focused()
    expect(center).to_have_url(re.compile(r"\?q=canal$"))
    search.press("Escape")
    expect(row(center, "Owns a red bicycle")).to_be_visible()


def test_several_are_deleted_at_once_and_come_back(center: Page) -> None:
    for content in ("Keeps a diary in green ink", "Speaks a little Welsh"):
        add(center, content)
        row(center, content).locator(".row__check").check()
        center.reload()
    for content in ("Keeps a diary in green ink", "Speaks a little Welsh"):
        row(center, content).locator(".row__check").check()
    expect(center.locator("[data-bulk-count]")).to_have_text("2")
    center.locator(".bulk").get_by_role("button", name="Delete").click()
    expect(row(center, "Speaks a little Welsh")).to_have_count(0)
    center.locator(".toast").get_by_role("button", name="Undo").click()
    expect(row(center, "Speaks a little Welsh")).to_be_visible()


@pytest.mark.parametrize(
    ("action", "kept", "chosen"),
    [
        ("Disable", "Plays the oboe in a trio", "Was born in Bruges"),
        ("Delete", "Owns a blue canoe", "Studied law in Lund"),
        ("Pin", "Has two nephews in Oslo", "Collects postage stamps"),
    ],
)
def test_a_bulk_act_and_its_undo_keep_the_place(
    center: Page, action: str, kept: str, chosen: str
) -> None:
    for content in (kept, chosen):
        add(center, content)
    center.goto(f"{LIST}?days=30")
    center.evaluate("window.isSamePage = true")
    row(center, chosen).locator(".row__check").check()
    center.locator(".bulk").get_by_role("button", name=action, exact=True).click()
    toast = center.locator(".toast").last
    expect(toast).to_contain_text("1 ")
    if action == "Delete":
        expect(row(center, chosen)).to_have_count(0)
    elif action == "Disable":
        expect(row(center, chosen)).to_have_class(re.compile("row--off"))
    else:
        expect(row(center, chosen).locator(".row__pin")).to_have_count(1)
    expect(center.locator(".bulk")).to_be_hidden()
    toast.get_by_role("button", name="Undo").click()
    expect(row(center, chosen)).to_be_visible()
    expect(row(center, chosen).locator(".row__pin")).to_have_count(0)
    expect(row(center, chosen)).not_to_have_class(re.compile("row--off"))
    expect(row(center, kept)).to_be_visible()
    assert center.url.endswith(f"{LIST}?days=30")
    assert center.evaluate("window.isSamePage")


def test_a_row_shows_that_it_is_being_changed(center: Page) -> None:
    add(center, "Repairs old radios")
    held: list[Route] = []
    center.route("**/disable/", lambda route: held.append(route))
    choose(center, "Repairs old radios", "Disable")
    expect(row(center, "Repairs old radios")).to_have_attribute("aria-busy", "true")
    held[0].continue_()
    expect(row(center, "Repairs old radios")).to_have_class(re.compile("row--off"))
    expect(row(center, "Repairs old radios")).not_to_have_attribute("aria-busy", "true")


def test_what_another_tab_deleted_keeps_the_typed_text(center: Page) -> None:
    add(center, "Rides a tandem to work")
    other = center.context.new_page()
    other.goto(LIST)
    choose(center, "Rides a tandem to work", "Edit")
    form = center.locator(".row--editing")
    form.get_by_label("What should be remembered?").fill("Rides a unicycle to work")
    choose(other, "Rides a tandem to work", "Delete")
    expect(row(other, "Rides a tandem to work")).to_have_count(0)
    form.get_by_role("button", name="Save").click()
    expect(form).to_contain_text("It is in the recycle bin. Put it back?")
    form.get_by_role("button", name="Put it back and save").click()
    expect(row(center, "Rides a unicycle to work")).to_be_visible()


def test_a_row_that_another_tab_deleted_is_put_back_where_it_stood(center: Page) -> None:
    add(center, "Keeps quails in the garden")
    other = center.context.new_page()
    other.goto(LIST)
    choose(other, "Keeps quails in the garden", "Delete")
    expect(row(other, "Keeps quails in the garden")).to_have_count(0)
    choose(center, "Keeps quails in the garden", "Pin")
    center.get_by_role("button", name="Put it back").click()
    expect(row(center, "Keeps quails in the garden")).to_be_visible()


def test_on_a_phone_the_first_memory_is_on_the_first_screen(center: Page) -> None:
    add(center, "Has a phone with a small screen")
    center.set_viewport_size({"width": 390, "height": 780})
    center.goto(LIST)
    box = center.locator(".row").first.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 780
    expect(center.get_by_label("Sort by")).to_be_hidden()
    center.get_by_role("button", name="Filters").click()
    expect(center.get_by_label("Sort by")).to_be_visible()


def test_forgetting_says_what_goes_and_does_it(center: Page) -> None:
    add(center, "Collects old maps of Wales")
    choose(center, "Collects old maps of Wales", "Forget now")
    dialog = center.get_by_role("dialog")
    expect(dialog).to_contain_text("Collects old maps of Wales")
    dialog.get_by_role("button", name="Forget now").click()
    expect(center.locator(".toast")).to_contain_text("Forgotten")
    expect(row(center, "Collects old maps of Wales")).to_have_count(0)


CANDIDATES = """
from memories.models import MemoryStatus, Memory, Origin
from memories.writing import direct_writes, memory_writes
from memories.writing.direct_writes import MemoryInput
from memories.writing.memory_writes import SourceInput
from ops.access import as_user
from ops.models import User
user = User.objects.get(username="noor")
def make(text, **fields):
    draft = direct_writes.prepare(MemoryInput(text, kind="fact"), origin=Origin.USER).draft
    with as_user(user):
        source = SourceInput(origin=Origin.USER)
        return memory_writes.create(draft, user=user, source=source, **fields)
for old, new in (
    ("Lives in Hamburg", "Lives in Bremen"),
    ("Works at a bakery", "Works at a school"),
    ("Plays chess on Mondays", "Plays chess on Fridays"),
):
    waiting = {"status": MemoryStatus.CANDIDATE, "conflicts_with": make(old)}
    make(new, **waiting)
"""


def test_the_inbox_is_emptied_by_keys(page: Page, product: Product) -> None:
    noor = product.person("noor")
    product.shell(CANDIDATES)
    sign_in(page, noor, then="/memory/review/")
    for key, said in (
        ("1", "What I knew is still used."),
        ("2", "The new one is used"),
        ("3", "Both"),
    ):
        expect(page.locator(".review")).to_be_visible()
        page.keyboard.press(key)
        expect(page.locator(".toast", has_text=said)).to_be_visible()
    expect(page.get_by_text("Nothing to decide")).to_be_visible()
    page.goto(LIST)
    shown = page.locator(".row__title").all_inner_texts()
    assert sorted(shown) == [
        "Lives in Hamburg",
        "Plays chess on Fridays",
        "Plays chess on Mondays",
        "Works at a school",
    ]


def test_n_leaves_a_question_of_the_inbox_for_later(page: Page, product: Product) -> None:
    nils = product.person("nils")
    product.shell(CANDIDATES.replace("noor", nils.username))
    sign_in(page, nils, then="/memory/review/")
    shown, asked = page.locator(".review"), []
    for _ in range(3):
        asked.append(shown.inner_text())
        with page.expect_navigation():
            page.keyboard.press("n")
    assert len(set(asked)) == 3
    page.goto("/memory/review/")
    expect(page.get_by_text("3 memories are waiting for your decision.")).to_be_visible()
    assert shown.inner_text() == asked[0]


def test_what_another_tab_decided_says_so_and_is_put_back(page: Page, product: Product) -> None:
    nadia = product.person("nadia")
    product.shell(CANDIDATES.replace("noor", nadia.username))
    sign_in(page, nadia, then="/memory/review/")
    other = page.context.new_page()
    other.goto("/memory/review/")
    meanwhile = other.locator(".toast", has_text="This was decided meanwhile")
    page.get_by_role("button", name="Keep the new one").click()
    expect(page.locator(".toast")).to_contain_text("The new one is used")
    other.get_by_role("button", name="Keep the old one").click()
    expect(meanwhile).to_contain_text("It is used.")
    page.get_by_role("button", name="Keep the old one").click()
    expect(page.locator(".toast", has_text="What I knew is still used.")).to_be_visible()
    other.get_by_role("button", name="Keep the new one").click()
    expect(meanwhile).to_contain_text("It is in the recycle bin.")
    meanwhile.get_by_role("button").first.click()
    expect(other.locator(".toast", has_text="Restored.")).to_be_visible()


def test_everything_works_without_javascript(plain: Page, maya: Person) -> None:
    sign_in(plain, maya, then=LIST)
    plain.get_by_role("link", name="Add", exact=True).click()
    plain.get_by_label("What should be remembered?").fill("Bakes rye bread every Friday")
    plain.get_by_role("button", name="Remember").click()
    choose(plain, "Bakes rye bread every Friday", "Delete")
    expect(row(plain, "Bakes rye bread every Friday")).to_have_count(0)
    plain.get_by_role("button", name="Undo").click()
    plain.get_by_role("searchbox", name="Search memories").fill("rye bread")
    plain.keyboard.press("Enter")
    expect(plain).to_have_url(re.compile("q=rye"))
    expect(row(plain, "Bakes rye bread every Friday")).to_have_count(1)


def test_the_assistant_s_manner_is_written_on_its_page(center: Page) -> None:
    center.goto("/memory/files/")
    center.get_by_role("link", name="Write How your assistant behaves").click()
    center.get_by_label("The file").fill("Answer briefly.\nNever flatter.\n")
    center.get_by_role("button", name="Save").click()
    expect(center.locator(".file")).to_contain_text("Never flatter.")
    center.goto("/memory/files/")
    expect(center.get_by_role("link", name="Edit How your assistant behaves")).to_be_visible()
    expect(center.get_by_role("link", name="Write Who you are")).to_be_visible()
    center.get_by_role("link", name="How your assistant behaves", exact=True).click()
    center.get_by_role("button", name="Delete").click()
    expect(center.get_by_role("link", name="Write How your assistant behaves")).to_be_visible()
