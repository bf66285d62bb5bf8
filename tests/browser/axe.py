"""What axe finds on every page, in both themes and both languages.

    .venv/bin/python -m tests.browser.axe

Writes the table to `docs/accessibility.md`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.conftest import sign_in
from tests.browser.places import (
    INVITED,
    NEWCOMER,
    VISITORS,
    addresses_for,
    arrive_by_link,
    states,
)
from tests.browser.screenshots import chromium
from tests.live import ROOT, Person, Product, server

REPORT = ROOT / "docs" / "accessibility.md"
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
LANGUAGES = {"en": "en-GB", "zh-hans": "zh-CN"}
SPEAKS = """
from ops.access import as_system
from ops.models import UserSettings
with as_system():
    UserSettings.objects.filter(user__username={name!r}).update(language={language!r})
"""
_HEAD = """\
# Accessibility

Every page was looked through by axe-core {version}, in both themes and both languages: what it
found is the number of its violations. `python -m tests.browser.axe` makes this page;
`tests/browser/test_every_page.py` demands zero in both themes, of the rules on words in Chinese
too, and that no page is wider than a window of 320 to 1920 px. It also demands zero, in both
languages, of the pages of somebody about whom nothing is stored, the pages of trouble, the dialog
of an export and the page of a deleted account. `test_opened.py` demands zero of menus, dialogs,
the forget card, joining and the code step in both languages, and `test_admin.py` of every list of
the admin for the owner and for an auditor. Problems that no tool finds are looked for by hand and
by `tests/browser`: the main paths by the keyboard alone, forced colours, paper, and everything
without JavaScript.
"""


@dataclass(frozen=True)
class AxeReport:
    violations: tuple[str, ...]
    passes: int
    version: str


Row = tuple[str, str, str, AxeReport]  # page, language, theme, what was found


def what_axe_finds(page: Page, *, rules: Sequence[str] = ()) -> AxeReport:
    """By the rules named, else by all.

    axe describes only one element of each rule that passes: all of them take longer than the rules.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(Axe().axe_script)
    options = {"resultTypes": ["violations"]} | ({"runOnly": list(rules)} if rules else {})
    told = page.evaluate("options => axe.run(options)", options)
    violations = tuple(
        f"{one['id']}: {one['nodes'][0]['html'][:200]}" for one in told["violations"]
    )
    return AxeReport(violations, len(told["passes"]), str(told["testEngine"]["version"]))


# Colours that change with the theme have changed. A spinner's animation never ends, and the promise
# of an animation may never settle, so its state is asked for.
_COLOURS_HAVE_CHANGED = """() => document.getAnimations().every(one =>
    one.playState !== "running" || one.effect.getComputedTiming().endTime === Infinity)"""
_POLLING = 50  # milliseconds
_OF_COLOURS = ("color-contrast", "link-in-text-block")


def obstacles(page: Page, name: str) -> list[str]:
    """Of what the page shows now: by all rules in the light theme, by those of colours in the dark.

    Nothing else differs between the themes.
    """
    found = []
    for scheme in SCHEMES:
        rules = () if scheme == "light" else _OF_COLOURS
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.wait_for_function(_COLOURS_HAVE_CHANGED, polling=_POLLING)
        violations = what_axe_finds(page, rules=rules).violations
        found += [f"{name}, {scheme}: {one}" for one in violations]
    return found


def looked_through(
    browser: Browser, product: Product, person: Person, addresses: Mapping[str, str]
) -> Iterator[Row]:
    for language, locale in LANGUAGES.items():
        product.shell(SPEAKS.format(name=person.username, language=language))
        # The policy of the pages refuses axe's own styles.
        context = browser.new_context(
            base_url=product.address, locale=locale, reduced_motion="reduce", bypass_csp=True
        )
        page = context.new_page()
        yield from in_both_themes(page, language, VISITORS)
        arrive_by_link(page, product)
        yield from in_both_themes(page, language, INVITED)
        context.clear_cookies()
        sign_in(page, person)
        yield from in_both_themes(page, language, addresses)
        context.clear_cookies()
        newcomer = product.person(f"newcomer-{language}", language=language)
        sign_in(page, newcomer)
        yield from in_both_themes(page, language, NEWCOMER)
        for name in states(page, product, newcomer, language=language):
            yield from looks(page, language, name)
        context.close()


def in_both_themes(page: Page, language: str, addresses: Mapping[str, str]) -> Iterator[Row]:
    for name, address in addresses.items():
        page.goto(address)
        page.wait_for_load_state("load")
        yield from looks(page, language, name)


def looks(page: Page, language: str, name: str) -> Iterator[Row]:
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        found = what_axe_finds(page)
        print(name, language, scheme, len(found.violations), flush=True)  # noqa: T201
        yield name, language, scheme, found


def report(rows: list[Row]) -> str:
    columns = [(language, scheme) for language in LANGUAGES for scheme in SCHEMES]
    found = {(name, (language, scheme)): one for name, language, scheme, one in rows}
    names = list(dict.fromkeys(name for name, *_ in rows))
    lines = [_HEAD.format(version=rows[0][3].version)]
    lines.append("| page | rules passed | " + " | ".join(map(", ".join, columns)) + " |")
    lines.append("|---|--:|" + "--:|" * len(columns))
    for name in names:
        counts = " | ".join(str(len(found[name, column].violations)) for column in columns)
        lines.append(f"| {name} | {found[name, columns[0]].passes} | {counts} |")
    total = sum(len(one.violations) for *_, one in rows)
    lines.append(f"\n{len(names)} pages, {len(rows)} looks, {total} violations.\n")
    kinds = sorted({f"{name}: {text}" for name, _, _, one in rows for text in one.violations})
    return "\n".join([*lines, *(f"- {text}" for text in kinds)])


def main() -> None:
    with server() as one, sync_playwright() as playwright:
        product = one.start()
        person = product.person("reader")
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        addresses = addresses_for(product, person)
        text = report(list(looked_through(browser, product, person, addresses)))
        REPORT.write_text(text, encoding="utf-8")
        print(text)  # noqa: T201  for the terminal
        browser.close()


if __name__ == "__main__":
    main()
