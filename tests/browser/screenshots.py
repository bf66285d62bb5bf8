"""Pictures of every page, once in each theme, and of the main ones with the example people.

    .venv/bin/python -m tests.browser.screenshots [--readme] [NAME…]

Writes `.screenshots/NAME.png` for every page that axe looks at (`tests.browser.places`), or for
those named, and those that the README shows to `docs/screenshots`; `--readme` takes only the
latter. By name, the main pages can also be had in Chinese and from a phone (`memories-phone-zh`).
`make screenshots` calls it.

A page that fails is named on stderr, and the other pages are still taken. The program then ends
with status 1.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any, Literal

from playwright.sync_api import (
    Browser,
    Error,
    Page,
    Playwright,
    StorageState,
    expect,
    sync_playwright,
)

from tests.browser.conftest import sign_in
from tests.browser.places import INVITED, VISITORS, addresses_for, arrive_by_link, page_names
from tests.live import ROOT, Person, Product, server
from tests.scenarios.caller import Caller

FOLDER = ROOT / ".screenshots"
OF_README = ROOT / "docs" / "screenshots"  # what lies here is made anew
_LOGIN = re.compile(r"Login 登录\s+(\S+)\s+Password 密码\s+(\S+)")
_PATIENCE = 300_000  # milliseconds: a crowded machine is slow, not wrong
_REPAINTED = """() => new Promise((done) => {
  requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(done)));
})"""
_COMPLETE = """() => document.readyState === "complete" && document.fonts.status === "loaded"
    && ![...document.images].some(one => one.loading !== "lazy" && !one.complete)
    && !document.querySelector(".htmx-request, .htmx-swapping, .htmx-settling")"""
# In a window of another size the chat would stand somewhere in the middle.
_TO_THE_END = "document.querySelectorAll('[data-follow]').forEach(one => one.scrollTo(0, 1e6))"
Who = Literal["maya", "linxiao", "newcomer", "nobody", "reader", "invited"]


@dataclass(frozen=True)
class Shot:
    """One picture. `{…}` in the path is filled in from what the person has."""

    name: str
    path: str
    who: Who = "maya"
    width: int = 1280
    height: int = 860
    scheme: Literal["light", "dark"] = "light"


# With the example people, as the README shows them; the others are in `tests.pages`.
MAIN = {
    "chat": "/c/{conversation}/",
    "conversation": "/memory/conversation/?conversation={conversation}",
    "about": "/memory/",
    "week": "/memory/week/",
    "memories": "/memory/long-term/",
    "memory": "/memory/long-term/{memory}/",
    "review": "/memory/review/",
    "settings": "/settings/",
    "data": "/memory/data/",
    "pictures": "/memory/pictures/",
    "receipt": "/memory/receipts/{receipt}/",
    "bin": "/memory/bin/",
    "keys": "/settings/keys/",
    "webhooks": "/settings/webhooks/",
    "sessions": "/settings/sessions/",
    "files": "/memory/files/",
    "file": "/memory/files/read/MEMORY.md",
    "file-edit": "/memory/files/edit/MEMORY.md",
    "file-history": "/memory/files/history/MEMORY.md",
    "signing-in": "/settings/signin/",
}
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def pages_once() -> Iterator[Shot]:
    """Each page in both themes, of somebody who has something on each of them."""
    everything: tuple[tuple[Who, Mapping[str, str]], ...] = (
        ("nobody", VISITORS),
        ("invited", INVITED),
        ("reader", {name: f"{{{name}}}" for name in page_names()}),
    )
    for who, pages in everything:
        for (name, path), scheme in product(pages.items(), SCHEMES):
            file = re.sub(r"\W+", "-", name.replace("'", "")).replace("_", "-")
            yield Shot(f"page-{file}-{scheme}", path, who, scheme=scheme)


def main_pages() -> Iterator[Shot]:
    """Each main page in both languages, both themes, on a desk and on a phone."""
    people: tuple[tuple[Who, str], ...] = (("maya", ""), ("linxiao", "-zh"))
    for (name, path), (who, language) in product(MAIN.items(), people):
        for scheme, (width, height, device) in product(
            SCHEMES, ((1280, 860, ""), (390, 780, "-phone"))
        ):
            theme = "-dark" if scheme == "dark" else ""
            yield Shot(f"{name}{device}{language}{theme}", path, who, width, height, scheme)
    yield Shot("sign-in", "/signin/", who="nobody", width=390, height=780)
    yield Shot("first-steps", "/memory/long-term/", who="newcomer")


_SETTLED = """
from django.utils import timezone
from memories.models import Memory
from memories.writing import curation
from ops.access import as_user
from ops.models import Delivery, User, Webhook
from ops.accounts import keys
user = User.objects.get(username={name!r})
with as_user(user):
    used = Memory.objects.filter(user=user, status="active", pinned=False)
    for memory in used.order_by("pk")[:2]:
        curation.recycle(user=user, memory=memory)
    keys.create(user=user, name={program!r}, scopes=["read", "write"])
    told = Webhook.objects.create(
        user=user, url="https://notes.example.org/memory-changed", secret="whsec_example",
        events=["memory.created", "memory.deleted"])
    now = timezone.now()
    refused = {{"error": "The address answered 500.", "status_code": 500}}
    for outcome in ({{"delivered_at": now}}, refused):
        Delivery.objects.create(webhook=told, event="memory.created", **outcome)
"""
PROGRAMS = {"maya": "My notebook", "linxiao": "我的笔记本"}
ONCE = tuple(pages_once())
SHOTS = (*ONCE, *main_pages())
_signed_in: dict[str, StorageState] = {}  # one sign-in for each person is enough
ASKED = {
    "maya": "Sam is coming for dinner. What could I cook that we can all eat?",
    "linxiao": "请朋友来家里吃饭，哪些东西我们不能吃？",
}


def main(arguments: Sequence[str]) -> int:
    shots = wanted(arguments)
    failed: list[str] = []
    with server() as one, sync_playwright() as playwright:
        live = one.start()
        people = with_examples(live) if any(shot.who in ASKED for shot in shots) else {}
        browser = launched(playwright)
        places: dict[str, dict[str, str]] = {}
        for name in sorted({shot.who for shot in shots} & ASKED.keys()):
            places[name] = {}
            with reported(f"The examples of {name}", failed):
                prepare(places[name], live, browser, people[name])
                live.shell(_SETTLED.format(name=name, program=PROGRAMS[name]))
        people["newcomer"] = live.person("newcomer")
        if any(shot.who == "reader" for shot in shots):
            people["reader"] = live.person("reader")
            places["reader"] = addresses_for(live, people["reader"])
        FOLDER.mkdir(parents=True, exist_ok=True)
        for (_, who), visit in groupby(shots, key=lambda one: (one.path, one.who)):
            together = list(visit)
            with reported(together[0].name, failed):
                take(together, browser, live, people.get(who), places.get(who, {}))
        browser.close()
    return 1 if failed else 0


def wanted(arguments: Sequence[str]) -> list[Shot]:
    """The pictures that the arguments ask for: those named, those of the README, or these and
    every page once in each theme.

    Ends the program with status 2 if there is no picture of a given name.
    """
    known = {shot.name: shot for shot in SHOTS}
    parser = argparse.ArgumentParser(prog="tests.browser.screenshots")
    parser.add_argument("--readme", action="store_true", help="only the pictures of the README")
    parser.add_argument("names", nargs="*", metavar="NAME", help="as in .screenshots/NAME.png")
    asked = parser.parse_args(arguments)
    if unknown := [name for name in asked.names if name not in known]:
        parser.error(f"no such picture: {', '.join(unknown)}")
    of_readme = {one.stem for one in OF_README.glob("*.png")} & known.keys()
    names = set(asked.names) | (of_readme if asked.readme or not asked.names else set())
    if not asked.readme and not asked.names:
        names |= {shot.name for shot in ONCE}
    return [shot for shot in SHOTS if shot.name in names]


@contextmanager
def reported(name: str, failed: list[str]) -> Iterator[None]:
    """If the body fails, say so on stderr, add the name to `failed` and go on."""
    try:
        yield
    except (Error, AssertionError, KeyError, OSError) as error:
        failed.append(name)
        print(f"{name} failed: {error!r}", file=sys.stderr, flush=True)  # noqa: T201


def launched(playwright: Playwright) -> Browser:
    return playwright.chromium.launch(
        executable_path=chromium(),
        args=["--no-sandbox", "--disable-background-networking"],
        timeout=_PATIENCE,
    )


def chromium() -> str:
    finder = ["sh", str(ROOT / "tests/browser/chromium.sh")]
    return subprocess.run(finder, capture_output=True, text=True, check=True).stdout.strip()


def with_examples(live: Product) -> dict[str, Person]:
    """Maya and 林晓, learned, with the logins that the command prints."""
    done = live.manage("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    logins = dict(_LOGIN.findall(done.stdout))
    return {name: Person(name, logins[name]) for name in ASKED}


def prepare(places: dict[str, str], live: Product, browser: Browser, person: Person) -> None:
    """Ask something in the chat, tell and forget something; fills in what the paths need."""
    caller = Caller(live, {"maya": "demo-maya", "linxiao": "demo-lin-xiao"}[person.username])
    ask_in_chat(browser, live, person)
    places["conversation"] = caller.get("/conversations")["results"][0]["id"]
    places["memory"] = most_telling(caller)
    places["receipt"] = receipt_for_forgetting(caller)


def ask_in_chat(browser: Browser, live: Product, person: Person) -> None:
    page = opened(browser, live, Shot("", "/", height=900), person)
    page.goto("/")
    answers = page.locator(".bubble--assistant:not(.bubble--pending)")
    before = answers.count()
    page.locator("textarea[data-composer], [data-composer] textarea").first.fill(
        ASKED[person.username]
    )
    page.keyboard.press("Enter")
    expect(answers).to_have_count(before + 1, timeout=_PATIENCE)
    page.context.close()


def most_telling(caller: Caller) -> str:
    """The memory with the most versions and uses."""
    memories: list[dict[str, Any]] = caller.get("/memory/long_term", limit=100)["results"]
    best = max(memories, key=lambda one: (one["version"], one["access_count"], one["importance"]))
    return str(best["id"])


def receipt_for_forgetting(caller: Caller) -> str:
    """What was told a moment ago, and is better not kept."""
    caller.tell("I'm allergic to kiwis.", conversation="better not kept")
    accepted = caller.post(
        "/memory/forget", scope="conversation", conversation_id="better not kept"
    )
    (operation,) = caller.finished([accepted["op_id"]])
    return str(operation["receipt_id"])


def opened(browser: Browser, live: Product, shot: Shot, person: Person | None) -> Page:
    """A page in a context of its own, signed in as the person, if any."""
    known = _signed_in.get(person.username) if person else None
    context = browser.new_context(
        base_url=live.address,
        locale="zh-CN" if shot.who == "linxiao" else "en-GB",
        viewport={"width": shot.width, "height": shot.height},
        color_scheme=shot.scheme,
        reduced_motion="reduce",
        storage_state=known,
    )
    context.set_default_timeout(_PATIENCE)
    page = context.new_page()
    if person is not None and known is None:
        sign_in(page, person)
        _signed_in[person.username] = context.storage_state()
    return page


def take(
    shots: Sequence[Shot],
    browser: Browser,
    live: Product,
    person: Person | None,
    places: dict[str, str],
) -> None:
    """All pictures of one page that one person sees, from one visit."""
    first = shots[0]
    page = opened(browser, live, first, person)
    if first.who == "invited":
        arrive_by_link(page, live)
    answer = page.goto(first.path.format_map(places))
    # Some pages for visitors say that something is over or not there.
    expected = (200, 404, 410) if first.who == "nobody" else (200,)
    assert answer is not None and answer.status in expected, (first.path, answer and answer.status)
    for shot in shots:
        page.set_viewport_size({"width": shot.width, "height": shot.height})
        page.emulate_media(color_scheme=shot.scheme, reduced_motion="reduce")
        page.wait_for_function(_COMPLETE)
        page.evaluate(_TO_THE_END)
        page.evaluate(_REPAINTED)  # otherwise a busy machine shows colours of the other theme
        shown = OF_README / f"{shot.name}.png"
        page.screenshot(path=shown if shown.exists() else FOLDER / shown.name)
        print(f"{shot.name}.png", flush=True)  # noqa: T201  for the terminal
    page.context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
