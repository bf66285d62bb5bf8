"""Both languages, themes and widths, for what must hold in each of them.

Each language is seen in both widths and both themes, and each width in both themes.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from typing import Literal, cast

import pytest
from playwright.sync_api import Browser, Locator, Page

from tests.browser.conftest import note, sign_in
from tests.live import Person, Product

_numbers = count(1)
_HEIGHTS = {390: 780, 1280: 900}


@dataclass(frozen=True)
class Look:
    """`width` in pixels."""

    language: str
    theme: str
    width: int

    def __str__(self) -> str:
        return f"{self.language} {self.theme} {self.width}"

    def person(self, product: Product, name: str) -> Person:
        """A new person with this language. Every call takes another name."""
        return product.person(f"{name}-{next(_numbers)}", language=self.language)


LOOKS = [
    Look("en", "light", 390),
    Look("en", "dark", 1280),
    Look("zh-hans", "dark", 390),
    Look("zh-hans", "light", 1280),
]
each_look = pytest.mark.parametrize("look", LOOKS, ids=str)


@contextmanager
def opened(
    browser: Browser, product: Product, look: Look, person: Person, *, then: str = "/"
) -> Iterator[Page]:
    """A page of somebody who is signed in. What its console complains of fails the test."""
    context = browser.new_context(
        base_url=product.address,
        locale="en-GB" if look.language == "en" else "zh-CN",
        color_scheme=cast(Literal["light", "dark"], look.theme),
        viewport={"width": look.width, "height": _HEIGHTS[look.width]},
    )
    page = context.new_page()
    problems: list[str] = []
    page.on("console", lambda message: note(message, problems))
    page.on("pageerror", lambda error: problems.append(str(error)))
    sign_in(page, person, then=then)
    yield page
    context.close()
    assert not problems, problems


def do_overlap(one: Locator, other: Locator) -> bool:
    first, second = one.bounding_box(), other.bounding_box()
    assert first and second
    apart = (
        first["x"] + first["width"] <= second["x"],
        second["x"] + second["width"] <= first["x"],
        first["y"] + first["height"] <= second["y"],
        second["y"] + second["height"] <= first["y"],
    )
    return not any(apart)
