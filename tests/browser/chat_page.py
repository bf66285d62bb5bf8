"""The chat as tests use it: its composer, its answers, and a product whose chat asks a model."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page

from tests.chat_server import ChatServer
from tests.live import Product, server


@contextmanager
def product_asking(model: ChatServer) -> Iterator[Product]:
    """A product of its own, whose chat asks the model once."""
    settings = {"MEMCENTER_MODEL_BASE_URL": model.url, "MEMCENTER_MODEL_NAME": "tiny"}
    with server(**settings, MEMCENTER_MODEL_RETRIES="0") as one:
        yield one.start()


def composer(page: Page) -> Locator:
    return page.locator("[data-composer]")


def answers(page: Page) -> Locator:
    return page.locator(".bubble--assistant:not(.bubble--pending)")


def send(page: Page, text: str) -> None:
    composer(page).fill(text)
    composer(page).press("Enter")
