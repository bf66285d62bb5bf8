"""The addresses of every page, for what looks at all of them: axe, and the pictures."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator

from playwright.sync_api import Page

from tests.live import ROOT, Person, Product

_FORGOTTEN_WITHIN = 60_000  # milliseconds: the worker may have other things to do
VISITORS = {
    "sign_in": "/signin/",
    "register": "/register/",
    "not_found": "/nothing/here/",
    "link_over": "/signin/link/x/",
    "invitation_over": "/join/x/",
    "mail_link_over": "/mail/confirm/x/",
    "api_reference": "/api/docs/",
}
INVITED = {"first_password": "/settings/password/first/"}
# The pages of somebody about whom nothing is stored.
NEWCOMER = {
    "chat_home empty": "/",
    "memory_home empty": "/memory/",
    "memory_list empty": "/memory/long-term/",
    "memory_conversation empty": "/memory/conversation/",
    "memory_review empty": "/memory/review/",
    "memory_bin empty": "/memory/bin/",
    "memory_refusals empty": "/memory/refusals/",
    "memory_files empty": "/memory/files/",
    "memory_pictures empty": "/memory/pictures/",
    "memory_week empty": "/memory/week/",
    "data_management empty": "/memory/data/",
    "api_keys empty": "/settings/keys/",
    "webhook_list empty": "/settings/webhooks/",
    "memory not found": "/memory/long-term/mem_nothing/",
    "no_access": "/admin/",
}
_LIVED_IN = """
import json
from ops.access import as_system
from ops.models import User
from tests.pages import PAGES, lived_in
with as_system():
    seen = lived_in(User.objects.get(username={name!r}), size=8)
    print(json.dumps({{name: address(seen) for name, address in PAGES.items()}}))
"""
_INVITED = """
from ops.access import as_system
from ops.models import User
from ops.accounts import registration, users
with as_system():
    user = users.find_or_create("invited")
    print(registration.make_link(user=user, next_page="/settings/password/first/").token)
"""
_INVITES = """
from ops.access import as_system
from ops.accounts import registration
from ops.models import Role, User
with as_system():
    owner = User.objects.get(username={owner!r})
    print(registration.invite(user=owner, role=Role.MEMBER, name="A guest").token)
"""
_TWO_STEPS = """
from ops.access import as_system
from ops.accounts import sign_ins
from ops.models import SecondFactor, User
with as_system():
    user = User.objects.get(username={name!r})
    SecondFactor.objects.create(user=user, secret=sign_ins.new_secret(), recovery=[])
"""
_SWITCHES_REGISTRATION = """
from ops.access import as_system
from ops.accounts import registration
with as_system():
    registration.switch_registration(is_open={is_open})
"""
_TRIES_TOO_OFTEN = """
from ops.accounts import sign_ins
for _ in range(sign_ins.ALLOWED):
    sign_ins.note_failure({name!r}, address="127.0.0.1")
"""
_FAILS = """
from django.test import RequestFactory
from django.utils import translation
from django.views import defaults
with translation.override({language!r}):
    print(defaults.server_error(RequestFactory().get("/")).text)
"""
_PHRASES = {"en": "delete everything", "zh-hans": "删除全部"}
ADMIN_ROWS = ("/admin/memories/memory/", "/admin/ops/auditevent/", "/admin/ops/operation/")


def page_names() -> list[str]:
    """The names in `tests.pages.PAGES`, read from the source, since its models need Django."""
    source = (ROOT / "tests/pages.py").read_text(encoding="utf-8")
    [pages] = [
        node.value
        for node in ast.parse(source).body
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict)
    ]
    return [str(key.value) for key in pages.keys if isinstance(key, ast.Constant)]


def addresses_for(product: Product, person: Person) -> dict[str, str]:
    """Every page of somebody who has something on each; they are given it by this."""
    printed = product.shell(_LIVED_IN.format(name=person.username))
    found: dict[str, str] = json.loads(printed.splitlines()[-1])
    return found


def arrive_by_link(page: Page, product: Product) -> None:
    """As somebody who has no password, on the page that offers one."""
    token = product.shell(_INVITED).strip()
    page.goto(f"/signin/link/{token}/")
    page.wait_for_url("**/settings/password/first/")


def joining(product: Product) -> str:
    """The address of an invitation that nobody has used."""
    return f"/join/{product.shell(_INVITES.format(owner=product.login)).strip()}/"


def code_step(page: Page, product: Product, person: Person) -> None:
    """As somebody who has given their password and is asked for the code of their app."""
    product.shell(_TWO_STEPS.format(name=person.username))
    _sign_in(page, person.username, person.password)
    page.wait_for_url("**/signin/code/")


def _sign_in(page: Page, name: str, password: str, *, then: str = "/") -> None:
    page.goto(f"/signin/?next={then}")
    page.fill("[name=username]", name)
    page.fill("[name=password]", password)
    with page.expect_navigation():
        page.press("[name=password]", "Enter")


def states(page: Page, product: Product, person: Person, *, language: str) -> Iterator[str]:
    """What has no address of its own: dialogs and pages of trouble. Gives the name of each.

    The page is signed in as the person, about whom nothing is stored. At last they are forgotten.
    """
    page.goto("/memory/data/")
    page.locator("a[hx-get*='export']").click()
    page.get_by_role("dialog").wait_for()
    yield "dialog that exports"
    page.get_by_role("dialog").locator("[type=password]").fill(person.password)
    page.get_by_role("dialog").locator("button:not([type=button])").last.click()
    page.locator(".transfer").wait_for()
    yield "export"
    page.route(
        "**/memory/week/", lambda route: route.fulfill(status=500, body=_failing(product, language))
    )
    page.goto("/memory/week/")
    yield "server_error"
    yield from _signed_out(page, product, person, language=language)


def _failing(product: Product, language: str) -> str:
    return product.shell(_FAILS.format(language=language))


def _signed_out(page: Page, product: Product, person: Person, *, language: str) -> Iterator[str]:
    page.goto("/")
    page.context.clear_cookies(name="sessionid")
    page.locator("[data-composer]").fill("I keep bees on the roof")
    page.locator("[data-composer]").evaluate("field => field.form.submit()")
    page.locator("#kept-text").wait_for()
    yield "signed_out"
    product.shell(_SWITCHES_REGISTRATION.format(is_open=False))
    page.goto("/register/")
    product.shell(_SWITCHES_REGISTRATION.format(is_open=True))
    yield "registration_closed"
    product.shell(_TRIES_TOO_OFTEN.format(name=f"guessed-{person.username}"))
    _sign_in(page, f"guessed-{person.username}", person.password)
    yield "sign_in_later"
    _sign_in(page, person.username, person.password, then="/memory/data/everything/")
    page.fill("[name=phrase]", _PHRASES[language])
    page.fill("[name=password]", person.password)
    page.locator(".everything button:not([type=button])").last.click()
    page.wait_for_url("**/forgotten/**")
    yield "forgotten"
    page.locator(".receipt").wait_for(timeout=_FORGOTTEN_WITHIN)
    yield "forgotten with its receipt"


def admin_addresses(page: Page) -> dict[str, str]:
    """Of what the admin's start page offers: each list, and a row of those that tell most."""
    page.goto("/admin/")
    links = page.locator("a[href^='/admin/']").evaluate_all(
        "all => all.map(one => one.getAttribute('href'))"
    )
    found = {"admin": "/admin/"} | {
        one: one for one in links if one.count("/") == 4 and "?" not in one
    }
    for one in ADMIN_ROWS:
        page.goto(one)
        row = page.locator("#result_list a[href*='/change/']").first
        found[f"{one} row"] = row.get_attribute("href") or ""
    return found
