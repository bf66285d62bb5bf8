"""When something goes wrong: a calm answer, and nothing that was typed is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.conftest import sign_in
from tests.live import Person, Product

pytestmark = pytest.mark.browser

LIST = "/memory/long-term/"
EDITS = "**/memory/long-term/*/edit/"
TYPED = "Plays the viola, and the oboe"
expect.set_options(timeout=30_000)
_numbers = count(1)


@pytest.fixture
def person(product: Product) -> Person:
    """With two memories."""
    person = product.person(f"unlucky-{next(_numbers)}")
    product.shell(
        "from ops.access import as_system\n"
        "from ops.models import User\n"
        "from tests.factories import make_memory\n"
        "with as_system():\n"
        f"    user = User.objects.get(username={person.username!r})\n"
        "    make_memory(user, 'Plays the cello')\n"
        "    make_memory(user, 'Grows tomatoes')"
    )
    return person


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


def test_an_edit_outlives_a_lost_connection(center: Page) -> None:
    field = begin_to_edit(center)
    center.route(EDITS, lambda route: route.abort("connectionfailed"))
    save(center)
    expect(center.locator(".toast")).to_contain_text("The server did not answer.")
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
