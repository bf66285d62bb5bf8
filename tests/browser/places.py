"""The addresses of every page, for what looks at all of them: axe, and the pictures."""

from __future__ import annotations

import ast
import json

from playwright.sync_api import Page

from tests.live import ROOT, Person, Product

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
    page.goto("/signin/")
    page.fill("[name=username]", person.username)
    page.fill("[name=password]", person.password)
    page.press("[name=password]", "Enter")
    page.wait_for_url("**/signin/code/")


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
