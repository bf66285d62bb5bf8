"""Pictures of every page for the README, from a running product with the example people in it.

    .venv/bin/python -m tests.browser.screenshots [NAME…]

Writes `docs/screenshots/NAME.png`, of all or of those named. `make screenshots` calls it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.conftest import sign_in
from tests.live import ROOT, Person, Product, server
from tests.scenarios.caller import Caller

FOLDER = ROOT / "docs" / "screenshots"
_LOGIN = re.compile(r"Login 登录\s+(\S+)\s+Password 密码\s+(\S+)")
_LEARNING = 60_000  # milliseconds: the first answer loads the embedder
Who = Literal["maya", "linxiao", "nobody"]


@dataclass(frozen=True)
class Shot:
    """One picture. `{…}` in the path is filled in from what the person has."""

    name: str
    path: str
    who: Who = "maya"
    width: int = 1280
    height: int = 860
    scheme: Literal["light", "dark"] = "light"


SHOTS = (
    Shot("chat", "/c/{conversation}/"),
    Shot("conversation", "/memory/conversation/?conversation={conversation}"),
    Shot("memories", "/memory/long-term/"),
    Shot("memory", "/memory/long-term/{memory}/"),
    Shot("review", "/memory/review/"),
    Shot("data", "/memory/data/"),
    Shot("receipt", "/memory/receipts/{receipt}/"),
    Shot("data-dark", "/memory/data/", scheme="dark"),
    Shot("memories-zh", "/memory/long-term/", who="linxiao"),
    Shot("memory-zh-dark", "/memory/long-term/{memory}/", who="linxiao", scheme="dark"),
    Shot("memories-phone", "/memory/long-term/", width=390, height=780),
    Shot("chat-phone-zh", "/c/{conversation}/", who="linxiao", width=390, height=780),
    Shot("sign-in", "/signin/", who="nobody", width=390, height=780),
)
ASKED = {
    "maya": "Sam is coming for dinner. What could I cook that we can all eat?",
    "linxiao": "周末想请朋友来家里吃饭，做什么菜好？",
}


def main(names: Sequence[str]) -> None:
    wanted = [shot for shot in SHOTS if not names or shot.name in names]
    with server() as one, sync_playwright() as playwright:
        product = one.start()
        people = with_examples(product)
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-background-networking"]
        )
        places = {name: prepared(product, browser, person) for name, person in people.items()}
        FOLDER.mkdir(parents=True, exist_ok=True)
        for shot in wanted:
            take(shot, browser, product, people.get(shot.who), places.get(shot.who, {}))
        browser.close()


def chromium() -> str:
    finder = ["sh", str(ROOT / "tests/browser/chromium.sh")]
    return subprocess.run(finder, capture_output=True, text=True, check=True).stdout.strip()


def with_examples(product: Product) -> dict[str, Person]:
    """Maya and 林晓, learned, with the logins that the command prints."""
    done = product.manage("demo")
    assert done.returncode == 0, done.stdout + done.stderr
    logins = dict(_LOGIN.findall(done.stdout))
    return {name: Person(name, logins[name]) for name in ASKED}


def prepared(product: Product, browser: Browser, person: Person) -> dict[str, str]:
    """Ask something in the chat, tell and forget something; gives what the paths need."""
    caller = Caller(product, {"maya": "demo-maya", "linxiao": "demo-lin-xiao"}[person.username])
    ask_in_chat(browser, product, person)
    conversations = caller.get("/conversations")["results"]
    return {
        "conversation": conversations[0]["id"],
        "memory": most_telling(caller),
        "receipt": receipt_for_forgetting(caller),
    }


def ask_in_chat(browser: Browser, product: Product, person: Person) -> None:
    page = opened(browser, product, Shot("", "/", height=900), person)
    page.goto("/")
    answers = page.locator(".bubble--assistant:not(.bubble--pending)")
    before = answers.count()
    page.locator("textarea[data-composer], [data-composer] textarea").first.fill(
        ASKED[person.username]
    )
    page.keyboard.press("Enter")
    expect(answers).to_have_count(before + 1, timeout=_LEARNING)
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


def opened(browser: Browser, product: Product, shot: Shot, person: Person | None) -> Page:
    """A page in a context of its own, signed in as the person, if any."""
    context = browser.new_context(
        base_url=product.address,
        locale="en-GB",
        viewport={"width": shot.width, "height": shot.height},
        color_scheme=shot.scheme,
        reduced_motion="reduce",
    )
    page = context.new_page()
    if person is not None:
        sign_in(page, person)
    return page


def take(
    shot: Shot,
    browser: Browser,
    product: Product,
    person: Person | None,
    places: dict[str, str],
) -> None:
    page = opened(browser, product, shot, person)
    answer = page.goto(shot.path.format(**places))
    if answer is None or answer.status != 200:
        raise SystemExit(f"{shot.name}: {shot.path} answered {answer and answer.status}")
    page.wait_for_load_state("networkidle")
    page.screenshot(path=FOLDER / f"{shot.name}.png")
    print(f"{shot.name}.png", flush=True)  # noqa: T201  for the terminal
    page.context.close()


if __name__ == "__main__":
    main(sys.argv[1:])
