"""Five things people come for, done in a real browser: how many clicks and seconds each takes.

    .venv/bin/python -m tests.browser.walk

Each begins in the chat, signed in, and ends when the page says that it is done. The seconds are
the machine's, with nobody thinking between the clicks. Prints a table in Markdown.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests.browser.conftest import sign_in
from tests.browser.screenshots import chromium
from tests.live import PASSWORD, Person, Product, server

SOON = 60_000  # milliseconds: the worker may have other things to do
SAID = {"en": "I am allergic to peanuts.", "zh-hans": "我对花生过敏。"}
KNOWN = {"en": "peanuts", "zh-hans": "花生"}
LOCALES = {"en": "en-GB", "zh-hans": "zh-CN"}


@dataclass
class Walker:
    """Clicks and counts; typing and looking are free."""

    page: Page
    language: str
    clicks: int = 0

    def click(self, what: str | Locator) -> None:
        found = self.page.locator(what).first if isinstance(what, str) else what
        found.click(timeout=SOON)
        self.clicks += 1

    def see(self, what: str, *, text: str = "") -> None:
        found = self.page.locator(what).first
        expect(found).to_be_visible(timeout=SOON)
        if text:
            expect(found).to_contain_text(text, timeout=SOON)


def find_why(walk: Walker) -> None:
    walk.click(".chat__center")
    walk.click(".portrait__phrase a")
    walk.see("blockquote mark, .quote mark, mark", text=KNOWN[walk.language])


def correct(walk: Walker) -> None:
    walk.click(".chat__center")
    walk.click(".portrait__phrase a")
    walk.click("a.button--primary[href*='/edit/']")
    walk.page.fill("dialog [name=content]", f"{SAID[walk.language]} 2")
    walk.click("dialog .button--primary")
    walk.see("h1, .detail__text", text=f"{SAID[walk.language]} 2")


def forget_turn(walk: Walker) -> None:
    bubble = walk.page.locator(".bubble--user").last
    walk.click(bubble.locator("summary"))
    walk.click(bubble.locator(".menu__item--danger"))
    walk.click("dialog .button--danger-solid")
    expect(walk.page.locator(".bubble")).to_have_count(0, timeout=SOON)


def export_all(walk: Walker) -> None:
    walk.click(".chat__center")
    walk.click(".tab[href='/memory/data/']")
    walk.click(".transfer-card a.button--primary")
    walk.page.fill("dialog [name=password]", PASSWORD)
    walk.click("dialog .button--primary")
    with walk.page.expect_download(timeout=SOON):
        walk.click(".transfer a[download]")


def switch_off(walk: Walker) -> None:
    walk.click(".site-header__end .menu:has([href='/settings/']) summary")
    walk.click(".menu__item[href='/settings/']")
    walk.click(walk.page.locator(".switch:has(#switch-longterm_enabled) .switch__control"))
    walk.see("#standing .tone-warning")


@dataclass(frozen=True)
class Task:
    name: str
    do: Callable[[Walker], None]
    most_clicks: int


TASKS = (
    Task("Find why a memory is known", find_why, 2),
    Task("Correct it", correct, 4),
    Task("Forget a turn", forget_turn, 3),
    Task("Export everything", export_all, 5),
    Task("Turn memory off", switch_off, 3),
)


@dataclass(frozen=True)
class Walked:
    task: Task
    language: str
    clicks: int
    seconds: float


def lived_in(product: Product, name: str, *, language: str) -> Person:
    """Somebody who has said one thing, which is remembered."""
    person = product.person(name, language=language)
    product.says(name, SAID[language])
    return person


def walked(task: Task, browser: Browser, product: Product, *, language: str) -> Walked:
    """By somebody new, from the chat to the end of the task."""
    name = re.sub(r"\W+", "-", f"walker {task.name} {language}".lower())
    person = lived_in(product, name, language=language)
    context = browser.new_context(
        base_url=product.address,
        locale=LOCALES[language],
        viewport={"width": 1280, "height": 900},
        reduced_motion="reduce",
    )
    page = context.new_page()
    sign_in(page, person)
    page.wait_for_load_state("networkidle")
    walk = Walker(page, language)
    began = time.perf_counter()
    task.do(walk)
    took = time.perf_counter() - began
    context.close()
    return Walked(task, language, walk.clicks, took)


def all_walked(browser: Browser, product: Product) -> Iterator[Walked]:
    for task in TASKS:
        for language in LOCALES:
            yield walked(task, browser, product, language=language)


def table(done: list[Walked]) -> str:
    lines = [
        "| task | clicks en | seconds en | clicks 中文 | seconds 中文 |",
        "|---|---|---|---|---|",
    ]
    for task in TASKS:
        both = [one for one in done if one.task is task]
        cells = " | ".join(f"{one.clicks} | {one.seconds:.1f}" for one in both)
        lines.append(f"| {task.name} | {cells} |")
    return "\n".join(lines)


def main() -> None:
    with server() as one, sync_playwright() as playwright:
        product = one.start()
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        print(table(list(all_walked(browser, product))))  # noqa: T201  for the terminal
        browser.close()


if __name__ == "__main__":
    main()
