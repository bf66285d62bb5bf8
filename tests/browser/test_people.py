"""The owner's first minutes, and the page People: inviting, roles, handing over, registration."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import sign_in
from tests.live import PASSWORD, Person, Product

pytestmark = pytest.mark.browser
_MAKES_OWNER = """
from ops.access import as_system
from ops.accounts import users
from ops.models import Role, User
with as_system():
    users.give_role(User.objects.get(username={name!r}), Role.OWNER)
"""

_MAKES_LINK = """
from ops.access import as_system
from ops.accounts import registration, users
with as_system():
    user = users.find_or_create("from-the-product")
    print("/signin/link/" + registration.make_link(user=user, next_page="/").token + "/")
"""


@contextmanager
def somewhere(browser: Browser, product: Product, *, zone: str, locale: str) -> Iterator[Page]:
    """A page of somebody who sits in another part of the world."""
    context = browser.new_context(base_url=product.address, timezone_id=zone, locale=locale)
    yield context.new_page()
    context.close()


def owner(product: Product, name: str) -> Person:
    person = product.person(name)
    product.shell(_MAKES_OWNER.format(name=name))
    return person


def test_the_owner_confirms_what_the_browser_proposes_and_invites_somebody(
    browser: Browser, product: Product
) -> None:
    first = Person(product.login, product.password)
    with (
        somewhere(browser, product, zone="Asia/Shanghai", locale="zh-CN") as page,
        somewhere(browser, product, zone="Europe/Berlin", locale="en-GB") as guest,
    ):
        sign_in(page, first)
        expect(page.locator("h1")).to_have_text("欢迎")
        expect(page.locator("[name=timezone]")).to_have_value("Asia/Shanghai")
        expect(page.locator("select[name=language]")).to_have_value("zh-hans")
        page.click("main form button")
        expect(page).to_have_url(f"{product.address}/")
        page.goto("/admin/")
        expect(page.locator("a[href='/admin/memories/memory/']").first).to_be_attached()
        page.goto("/settings/")
        expect(page.locator("[name=timezone]")).to_have_value("Asia/Shanghai")
        page.click(".site-header__end details.menu:last-of-type summary")
        page.get_by_role("link", name="人员").click()
        page.fill("[name=name]", "马塔")
        page.get_by_role("button", name="生成链接").click()
        link = page.locator("#made-link").inner_text()
        guest.goto(link)
        guest.fill("[name=username]", "marta")
        guest.fill("[name=password]", PASSWORD)
        guest.press("[name=password]", "Enter")
        expect(guest).to_have_url(f"{product.address}/")
        guest.goto("/settings/")
        expect(guest.locator("[name=timezone]")).to_have_value("Europe/Berlin")


def test_a_persons_key_is_revoked_and_the_person_deactivated_and_reactivated(
    page: Page, browser: Browser, product: Product
) -> None:
    guest_person = product.person("noisy")
    sign_in(page, owner(product, "innkeeper"), then="/people/?q=noisy")
    with somewhere(browser, product, zone="UTC", locale="en-GB") as guest:
        sign_in(guest, guest_person, then="/settings/")
        expect(guest.locator("h1")).to_have_text("Settings")
        guest.goto("/settings/keys/")
        guest.get_by_label("What is it for?").fill("My notebook")
        guest.get_by_role("button", name="Create a key").click()
        key = guest.locator("#made-key").inner_text()
        # Without the cookies of the page, which would sign in as well.
        headers = {"Authorization": f"Bearer {key}", "Cookie": ""}
        assert page.request.get("/api/v1/conversations", headers=headers).status == 200
        page.get_by_role("link", name="noisy").click()
        page.get_by_role("link", name="Revoke… My notebook").click()
        page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
        expect(page.locator(".key", has_text="My notebook")).to_contain_text("revoked")
        assert page.request.get("/api/v1/conversations", headers=headers).status == 401
        page.get_by_role("button", name="Deactivate").click()
        expect(page.get_by_role("button", name="Reactivate")).to_be_visible()
        guest.goto("/settings/")
        expect(guest.locator("h1")).to_have_text("Sign in")
    page.get_by_role("button", name="Reactivate").click()
    expect(page.get_by_role("button", name="Deactivate")).to_be_visible()


def test_registration_is_switched_by_its_switch(
    page: Page, browser: Browser, product: Product
) -> None:
    """It is open in this product, since other tests register."""
    sign_in(page, owner(product, "gatekeeper"), then="/people/")
    with somewhere(browser, product, zone="UTC", locale="en-GB") as visitor:
        for is_open in (False, True):
            page.locator("label[for=switch-registration]").click()
            words = "Registration is open." if is_open else "Registration is closed."
            expect(page.get_by_text(words)).to_be_visible()
            visitor.goto("/signin/")
            offered = visitor.get_by_role("link", name="Create an account")
            expect(offered).to_have_count(1 if is_open else 0)
            visitor.goto("/register/")
            expect(visitor.locator("[name=username]")).to_have_count(1 if is_open else 0)
            if not is_open:
                visitor.locator("main").get_by_role("link", name="Sign in").click()
                expect(visitor.locator("h1")).to_have_text("Sign in")
                visitor.goto(product.shell(_MAKES_LINK).strip())
                expect(visitor.locator("[data-composer]")).to_be_visible()
                visitor.context.clear_cookies()


def test_an_invitation_is_used_once_or_revoked(
    page: Page, browser: Browser, product: Product
) -> None:
    sign_in(page, owner(product, "hostess"), then="/people/")

    def invite(name: str) -> str:
        page.get_by_label("Who is it for?").fill(name)
        page.get_by_role("button", name="Create a link").click()
        expect(page.locator("#made-link")).to_be_visible()
        return page.locator("#made-link").inner_text()

    listed = page.get_by_role("list", name="Not used yet").get_by_role("listitem")
    pending = listed.filter(has_text=re.compile("For (Ola|Piet)"))  # other tests invite too
    used, revoked = invite("For Ola"), invite("For Piet")
    expect(pending).to_contain_text(["For Piet", "For Ola"])
    with somewhere(browser, product, zone="UTC", locale="en-GB") as guest:
        guest.goto(used)
        expect(guest.get_by_role("main")).to_contain_text("You were invited.")
        guest.fill("[name=username]", "ola")
        guest.fill("[name=password]", PASSWORD)
        guest.press("[name=password]", "Enter")
        expect(guest).to_have_url(f"{product.address}/")
        guest.context.clear_cookies()
        page.goto("/people/")
        expect(pending).to_contain_text(["For Piet"])
        page.get_by_role("button", name="Revoke For Piet").click()
        expect(page.locator(".toast")).to_contain_text("Revoked: the link no longer works.")
        expect(pending).to_have_count(0)
        for over in (used, revoked):
            guest.goto(over)
            expect(guest.locator("[name=username]")).to_have_count(0)
            expect(guest.get_by_role("main")).to_contain_text("link")


def test_a_role_is_changed_and_ownership_handed_over(
    page: Page, browser: Browser, product: Product
) -> None:
    heir = product.person("heir")
    sign_in(page, owner(product, "elder"), then="/people/?q=heir")
    page.get_by_role("link", name="heir").click()
    form = page.locator("form[action$='/role/']")
    form.get_by_label("Role").select_option("auditor")
    form.get_by_label("Your password").fill("not this one")
    form.get_by_role("button", name="Change role").click()
    expect(page.locator(".chip", has_text="Member")).to_be_visible()
    form.get_by_label("Role").select_option("auditor")
    form.get_by_label("Your password").fill(PASSWORD)
    form.get_by_role("button", name="Change role").click()
    expect(page.locator(".chip", has_text="Auditor")).to_be_visible()

    with somewhere(browser, product, zone="UTC", locale="en-GB") as theirs:
        sign_in(theirs, heir, then="/settings/")
        theirs.get_by_label("Your account").click()
        expect(theirs.get_by_role("link", name="Admin")).to_be_visible()
        expect(theirs.get_by_role("link", name="People")).to_have_count(0)
        assert (answer := theirs.goto("/people/")) and answer.status in (403, 404)

        over = page.locator("form[action$='/handover/']")
        over.get_by_label("Your password").fill(PASSWORD)
        over.get_by_role("button", name="Hand over ownership").click()
        expect(page).to_have_url(f"{product.address}/settings/")
        page.get_by_label("Your account").click()
        expect(page.get_by_role("link", name="People")).to_have_count(0)
        theirs.goto("/people/?q=elder")
        expect(theirs.locator(".row", has_text="elder")).to_contain_text("Member")


_EXPIRES = """
from django.utils import timezone
from ops.access import as_system
from ops.models import Invitation
with as_system():
    assert Invitation.objects.filter(name={name!r}).update(expires_at=timezone.now()) == 1
"""
_ALL_OTHERS_MEMBERS = """
from ops.access import as_system
from ops.models import User
with as_system():
    others = User.objects.filter(is_superuser=True).exclude(username={name!r})
    print(*others.values_list("pk", flat=True))
    others.update(is_superuser=False)
"""
_OWNERS_AGAIN = """
from ops.access import as_system
from ops.models import User
with as_system():
    User.objects.filter(pk__in={keys!r}).update(is_superuser=True)
"""


@contextmanager
def as_the_only_owner(product: Product, person: Person) -> Iterator[None]:
    """The owners that other tests made are none meanwhile."""
    printed = product.shell(_ALL_OTHERS_MEMBERS.format(name=person.username))
    yield
    product.shell(_OWNERS_AGAIN.format(keys=[int(one) for one in printed.split()]))


def test_an_invitation_that_has_expired_says_so_to_the_guest_and_is_listed_no_more(
    page: Page, browser: Browser, product: Product
) -> None:
    sign_in(page, owner(product, "late-hostess"), then="/people/")
    page.get_by_label("Who is it for?").fill("For Rosa")
    page.get_by_role("button", name="Create a link").click()
    link = page.locator("#made-link").inner_text()
    page.goto("/people/")
    expect(page.get_by_role("main")).to_contain_text("For Rosa")
    product.shell(_EXPIRES.format(name="For Rosa"))
    page.reload()
    expect(page.get_by_role("main")).not_to_contain_text("For Rosa")
    for locale, title, once in (
        ("en-GB", "This link no longer works", "An invitation works once, for 7 days."),
        ("zh-CN", "链接已失效", "邀请链接只能用一次，7 天内有效。"),
    ):
        with somewhere(browser, product, zone="UTC", locale=locale) as guest:
            guest.goto(link)
            expect(guest.get_by_role("heading", name=title)).to_be_visible()
            expect(guest.get_by_role("main")).to_contain_text(once)
            expect(guest.locator("[name=username]")).to_have_count(0)


LAST = {
    "en": {
        "demoted": "This is the last owner. Make someone else an owner first.",
        "erased": "This can’t be done yet",
        "people": "Go to People",
    },
    "zh-hans": {
        "demoted": "这是最后一位所有者，请先让别人成为所有者。",
        "erased": "现在还不能这样做",
        "people": "前往人员页面",
    },
}


@pytest.mark.parametrize("language", list(LAST))
def test_the_last_owner_is_neither_demoted_nor_erased_before_there_is_another(
    page: Page, product: Product, language: str
) -> None:
    words, name = LAST[language], f"last-{language}"
    person = product.person(name, language=language)
    product.shell(_MAKES_OWNER.format(name=name))
    product.person(f"next-{language}")
    with as_the_only_owner(product, person):
        sign_in(page, person, then=f"/people/?q={name}")
        page.locator("a.row__title").click()
        form = page.locator("form[action$='/role/']")
        form.locator("[name=role]").select_option("member")
        form.locator("[name=password]").fill(PASSWORD)
        form.locator("button.button--primary").click()
        expect(form).to_contain_text(words["demoted"])
        page.goto("/memory/data/everything/")
        expect(page.get_by_role("heading", name=words["erased"])).to_be_visible()
        expect(page.locator("[name=phrase], [name=password]")).to_have_count(0)
        page.get_by_role("link", name=words["people"]).click()
        expect(page).to_have_url(f"{product.address}/people/")  # so still an owner

        product.shell(_MAKES_OWNER.format(name=f"next-{language}"))
        page.goto("/memory/data/everything/")
        expect(page.get_by_role("heading", name=words["erased"])).to_have_count(0)
        expect(page.locator("[name=phrase]")).to_be_visible()
