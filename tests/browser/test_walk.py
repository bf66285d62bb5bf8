"""The five things people come for take few clicks, in both languages."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from tests.browser.walk import LOCALES, TASKS, Task, walked
from tests.live import Product

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("language", list(LOCALES))
@pytest.mark.parametrize("task", TASKS, ids=[one.name for one in TASKS])
def test_each_task_is_done_in_few_clicks(
    task: Task, language: str, browser: Browser, product: Product
) -> None:
    done = walked(task, browser, product, language=language)
    assert done.clicks <= task.most_clicks
