"""The week and the weekly mail in a real Chromium, with a mail server beside the product."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import remembering, sign_in
from tests.live import Product, server
from tests.smtp_server import Mailbox, mailbox

pytestmark = pytest.mark.browser
expect.set_options(timeout=30_000)


@pytest.fixture(scope="module")
def box() -> Iterator[Mailbox]:
    with mailbox() as box:
        yield box


@pytest.fixture(scope="module")
def product(box: Mailbox) -> Iterator[Product]:
    settings = {
        "MEMCENTER_SMTP_HOST": "127.0.0.1",
        "MEMCENTER_SMTP_PORT": str(box.port),
        "MEMCENTER_SMTP_SECURITY": "none",
        "MEMCENTER_SMTP_FROM": "Memory Center <memory@example.org>",
    }
    with server(**settings) as one:
        yield one.start()


def test_the_week_leads_to_what_was_learned(page: Page, product: Product) -> None:
    sign_in(page, remembering(product, "wendy", "Wendy keeps bees"), then="/memory/")
    page.get_by_role("link", name="What I learned this week").click()
    expect(page.get_by_role("heading", name="Learned 1")).to_be_visible()
    page.get_by_role("link", name="Wendy keeps bees").click()
    expect(page.locator("h1")).to_contain_text("Wendy keeps bees")


def test_the_weekly_mail_is_switched_on_confirmed_and_stopped(
    page: Page, product: Product, box: Mailbox
) -> None:
    sign_in(page, product.person("walter"), then="/settings/")
    page.get_by_label("Email address").fill("walter@example.org")
    page.locator("#weekly-mail").get_by_role("button", name="Turn on").click()
    expect(page.locator("#weekly-mail")).to_contain_text("A link was sent to walter@example.org")

    text = box.next_mail().get_body(("plain",)).get_content()  # type: ignore[union-attr]
    (link,) = re.findall(r"http\S+/mail/confirm/\S+", text)
    page.goto(link)
    page.get_by_role("button", name="Confirm").click()
    expect(page.locator("h1")).to_have_text("The weekly email is on")
    page.goto("/settings/")
    expect(page.locator("#weekly-mail")).to_contain_text("It goes to walter@example.org.")

    stop = product.shell(
        "from ops import weekly_mail\n"
        "from ops.access import as_system\n"
        "from ops.models import WeeklyMail\n"
        "with as_system():\n"
        "    row = WeeklyMail.objects.get(user__username='walter')\n"
        "    print(weekly_mail.url_of(weekly_mail.Link.STOP, row))"
    )
    page.context.clear_cookies()
    page.goto(stop.strip())
    page.get_by_role("button", name="Stop the weekly email").click()
    expect(page.locator("h1")).to_have_text("The weekly email is off")
