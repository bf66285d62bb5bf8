"""When something goes wrong: a calm answer, and nothing that was typed is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from threading import Event

import pytest
from playwright.sync_api import Browser, Locator, Page, Route, expect

from tests.browser.conftest import remembering, sign_in
from tests.live import Person, Product

pytestmark = pytest.mark.browser

LIST = "/memory/long-term/"
EDITS = "**/memory/long-term/*/edit/"
TYPED = "Plays the viola, and the oboe"
expect.set_options(timeout=30_000)
_numbers = count(1)


@pytest.fixture
def person(product: Product) -> Person:
    return remembering(product, f"unlucky-{next(_numbers)}", "Plays the cello", "Grows tomatoes")


@pytest.fixture
def center(browser: Browser, product: Product, person: Person) -> Iterator[Page]:
    """The list; in a context of its own, as the browser notes each failure as an error."""
    context = browser.new_context(base_url=product.address, locale="en-GB")
    page = context.new_page()
    sign_in(page, person, then=LIST)
    yield page
    context.close()


def begin_to_edit(page: Page) -> Locator:
    """Open a row's form and type; gives the field."""
    line = page.locator(".row", has_text="Plays the cello")
    line.locator("summary").click()
    line.locator(".menu__item", has_text="Edit").click()
    field = page.get_by_label("What should be remembered?")
    field.fill(TYPED)
    return field


def save(page: Page) -> None:
    page.locator(".row--editing").get_by_role("button", name="Save").click()


def expect_saved(page: Page) -> None:
    expect(page.get_by_role("link", name=TYPED)).to_be_visible()


def test_an_edit_outlives_a_server_error_and_is_tried_again(center: Page) -> None:
    field = begin_to_edit(center)
    center.route(EDITS, lambda route: route.fulfill(status=500, body="broken"))
    save(center)
    expect(center.locator(".toast")).to_contain_text("That didn’t work.")
    expect(field).to_have_value(TYPED)
    center.unroute(EDITS)
    save(center)
    expect_saved(center)


def test_an_edit_outlives_a_lost_connection(center: Page) -> None:
    field = begin_to_edit(center)
    center.route(EDITS, lambda route: route.abort("connectionfailed"))
    save(center)
    expect(center.locator(".toast")).to_contain_text("The server didn’t answer.")
    expect(field).to_have_value(TYPED)
    center.unroute(EDITS)
    save(center)
    expect_saved(center)


def test_an_edit_outlives_its_session_and_is_saved_after_signing_in_again(
    center: Page, person: Person
) -> None:
    field = begin_to_edit(center)
    center.context.clear_cookies()
    save(center)
    expect(center.locator(".toast")).to_contain_text("sign in in another tab")
    expect(field).to_have_value(TYPED)
    other = center.context.new_page()
    sign_in(other, person)
    save(center)
    expect_saved(center)


def test_a_slow_network_sends_once_and_keeps_what_was_typed_in_sight(center: Page) -> None:
    field = begin_to_edit(center)
    held: list[Route] = []
    arrived = Event()

    def hold(route: Route) -> None:
        held.append(route)
        arrived.set()

    center.route(EDITS, hold)
    save(center)
    button = center.locator(".row--editing").get_by_role("button", name="Save")
    expect(button).to_be_disabled()
    expect(field).to_have_value(TYPED)
    assert arrived.is_set()
    held[0].continue_()
    expect_saved(center)
    assert len(held) == 1


def test_what_another_tab_deleted_is_said_and_what_was_typed_stays(center: Page) -> None:
    field = begin_to_edit(center)
    other = center.context.new_page()
    other.goto(LIST)
    line = other.locator(".row", has_text="Plays the cello")
    line.locator("summary").click()
    line.locator(".menu__item", has_text="Forget now").click()
    other.get_by_role("dialog").get_by_role("button", name="Forget now").click()
    expect(other.locator(".row")).to_have_count(1)
    save(center)
    expect(center.locator(".toast")).to_contain_text("This no longer exists.")
    expect(field).to_have_value(TYPED)


def test_the_way_back_leads_to_the_search_that_was_left(center: Page) -> None:
    center.get_by_role("searchbox").fill("cello")
    expect(center.locator(".row")).to_have_count(1)
    center.get_by_role("link", name="Plays the cello").click()
    expect(center.get_by_role("heading", name="Why do I know this?")).to_be_visible()
    center.go_back()
    expect(center.get_by_role("searchbox")).to_have_value("cello")
    expect(center.locator(".row")).to_have_count(1)


def test_an_operation_that_fails_says_so_and_is_tried_again(
    center: Page, product: Product, person: Person
) -> None:
    product.shell(
        "from django.utils import timezone\n"
        "from ops.access import as_system\n"
        "from ops.models import Kind, Operation, Priority, Status, User\n"
        "with as_system():\n"
        f"    user = User.objects.get(username={person.username!r})\n"
        "    Operation.objects.create(kind=Kind.CONSOLIDATE, subject=user.subject,\n"
        "        priority=Priority.FORGET, status=Status.FAILED, run_after=timezone.now(),\n"
        "        finished_at=timezone.now(), last_error='The model gave no answer.',\n"
        "        payload={'user': user.pk})"
    )
    center.goto("/memory/data/")
    activity = center.locator("#activity")
    expect(activity).to_contain_text("Failed")
    activity.get_by_role("button", name="Try again").click()
    expect(center.locator(".toast")).to_contain_text("Trying again.")
