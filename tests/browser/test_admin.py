"""The admin: people's words are masked until somebody asks, and no page has an obstacle."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.axe import obstacles
from tests.browser.conftest import remembering, sign_in
from tests.browser.looks import Look, each_look, opened
from tests.browser.places import addresses_for, admin_addresses
from tests.live import PASSWORD, Product

pytestmark = pytest.mark.browser
_GIVES_ROLE = """
from ops.access import as_system
from ops.accounts import users
from ops.models import Role, User
with as_system():
    users.give_role(User.objects.get(username={name!r}), Role({role!r}))
"""


def test_staff_reveal_one_memory_and_the_audit_log_says_so(page: Page, product: Product) -> None:
    product.shell(
        "from ops.models import User\n"
        f"User.objects.create_superuser('keeper', {PASSWORD!r})\n"
        "from django.utils import timezone\n"
        "from memories.models import Memory\n"
        "from ops.accounts import users\n"
        f"user = users.register(username='watched', password={PASSWORD!r})\n"
        "Memory.objects.create(user=user, kind='fact', content='Keeps bees', origin='user',\n"
        "                      created_at=timezone.now())"
    )
    page.goto("/admin/memories/memory/")
    page.fill("[name=username]", "keeper")
    page.fill("[name=password]", PASSWORD)
    page.press("[name=password]", "Enter")
    page.click("main form button")  # an owner's first sign-in confirms language and time zone
    expect(page.get_by_text("••• 10 characters").first).to_be_visible()
    page.goto("/admin/memories/memory/?q=watched")
    page.locator("#result_list a[href*='/change/']").first.click()
    expect(page.get_by_text("Keeps bees")).to_have_count(0)
    page.get_by_role("button", name="Reveal").click()
    expect(page.get_by_text("Keeps bees")).to_be_visible()
    page.goto("/admin/ops/auditevent/")
    expect(page.get_by_text("admin.reveal").first).to_be_visible()


def test_an_auditor_sees_the_lists_masked_and_may_reveal_nothing(
    page: Page, product: Product
) -> None:
    person = remembering(product, "inspected", "Keeps bees on the roof")
    auditor = product.person("auditor")
    product.shell(_GIVES_ROLE.format(name="auditor", role="auditor"))
    product.says(person.username, "I am allergic to peanuts.")
    sign_in(page, auditor, then="/admin/")
    for address in ("/admin/memories/memory/?q=inspected", "/admin/conversations/message/"):
        page.goto(address)
        expect(page.get_by_text("•••").first).to_be_visible()
        page.locator("#result_list a[href*='/change/']").first.click()
        expect(page.get_by_text("•••").first).to_be_visible()
        expect(page.get_by_role("button", name="Reveal")).to_have_count(0)
        for told in ("bees", "peanuts"):
            assert told not in page.content()


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize(
    ("language", "words"), [("en", "Back to Memory Center"), ("zh-hans", "返回记忆中心")]
)
def test_the_admin_leads_back_to_the_pages(
    page: Page, product: Product, language: str, words: str, width: int
) -> None:
    auditor = product.person(f"returner-{language}-{width}", language=language)
    product.shell(_GIVES_ROLE.format(name=auditor.username, role="auditor"))
    page.set_viewport_size({"width": width, "height": 844})
    sign_in(page, auditor, then="/admin/ops/auditevent/")
    page.get_by_role("link", name=words).click()
    expect(page).to_have_url(f"{product.address}/memory/")


@pytest.mark.parametrize(("role", "language"), [("owner", "zh-hans"), ("auditor", "en")])
def test_no_page_of_the_admin_has_an_obstacle_that_axe_knows(
    open_page: Page, product: Product, role: str, language: str
) -> None:
    addresses_for(product, product.person(f"kept-by-{role}"))
    person = product.person(f"keeper-{role}", language=language)
    product.shell(_GIVES_ROLE.format(name=person.username, role=role))
    sign_in(open_page, person, then="/admin/")
    expect(open_page.locator("html")).to_have_attribute("lang", language)
    addresses = admin_addresses(open_page)
    assert len(addresses) > 40
    found = []
    for name, address in addresses.items():
        open_page.goto(address)
        found += obstacles(open_page, name)
    assert found == []


_ENGLISH = """() => {
    const said = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const { textContent, parentElement } = walk.currentNode, words = textContent.trim();
        const isCode = parentElement.closest(
            "script, style, template, code, .material-symbols-outlined, #result_list td, option"
        );
        if (!isCode && /^[A-Z][a-z]+$|[A-Za-z]{2,} [a-z]{2,}/.test(words)) said.add(words);
    }
    for (const one of document.querySelectorAll("[aria-label], [placeholder]"))
        for (const words of [one.ariaLabel, one.getAttribute("placeholder")])
            if (/^[A-Za-z ]{3,}$/.test(words ?? "")) said.add(words);
    for (const one of document.querySelectorAll("#result_list [title]"))
        if (/^(True|False)$/.test(one.title)) said.add(one.title);
    return [...said];
}"""
_NAMES = {"Webhook", "Pk"}  # said so in Chinese; the name of a column


@each_look
def test_the_theme_of_the_admin_speaks_the_language_of_the_page(
    browser: Browser, product: Product, look: Look
) -> None:
    auditor = look.person(product, "reader")
    product.shell(_GIVES_ROLE.format(name=auditor.username, role="owner"))
    addresses_for(product, look.person(product, "read"))
    with opened(browser, product, look, auditor, then="/admin/") as page:
        scrolls = "Scrollable content" if look.language == "en" else "可滚动的内容"
        expect(page.locator("html")).to_have_attribute("lang", look.language)
        names = page.locator(".simplebar-content-wrapper").evaluate_all(
            "all => all.map(one => one.ariaLabel)"
        )
        assert scrolls in names and "scrollable content" not in names
        for address in ("", "ops/apikey/", "ops/webhook/", "memories/memory/?q=nothing-like-it"):
            page.goto(f"/admin/{address}")
            said = set(page.evaluate(_ENGLISH))
            assert look.language == "en" or said <= _NAMES, address
