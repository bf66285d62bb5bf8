"""Taking everything out, bringing it in, and the receipt: as people do it on the page."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, FilePayload, Page, expect

from tests.browser.conftest import sign_in
from tests.live import PASSWORD, Person, Product

pytestmark = pytest.mark.browser
DONE_WITHIN = 90_000  # milliseconds: the worker may have other things to do
DATA = "/memory/data/"

OVER = """
from datetime import timedelta
from django.utils import timezone
from ops.models import Export
past = timezone.now() - timedelta(hours=1)
Export.objects.filter(user__username={username!r}).update(expires_at=past)
"""


@pytest.fixture
def plain(browser: Browser, product: Product) -> Iterator[Page]:
    """In Chinese and without JavaScript."""
    context = browser.new_context(
        base_url=product.address, locale="zh-CN", java_script_enabled=False
    )
    yield context.new_page()
    context.close()


def somebody(product: Product, username: str) -> Person:
    person = product.person(username)
    product.says(username, "I am allergic to peanuts.")
    return person


def file_of(content: str | bytes, name: str = "file.txt") -> FilePayload:
    raw = content.encode() if isinstance(content, str) else content
    return {"name": name, "mimeType": "application/octet-stream", "buffer": raw}


def downloaded(page: Page, name: str) -> bytes:
    with page.expect_download() as started:
        page.get_by_role("link", name=name, exact=True).click()
    return Path(started.value.path()).read_bytes()


def test_everything_is_exported_fetched_and_brought_in_again(page: Page, product: Product) -> None:
    person = somebody(product, "packing")
    sign_in(page, person, then=DATA)
    page.get_by_role("link", name="Export everything…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("zip").check()
    dialog.get_by_label("Your password").fill("not this one")
    dialog.get_by_role("button", name="Create the export").click()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was exported.")
    page.get_by_label("Your password").fill(PASSWORD)
    page.get_by_label("zip").check()
    page.get_by_role("button", name="Create the export").click()
    line = page.locator(".transfer").first
    expect(line.get_by_role("link", name="Download")).to_be_visible(timeout=DONE_WITHIN)
    raw = downloaded(page, "Download")
    line.get_by_text("Fingerprint").click()
    expect(line.locator("code")).to_have_text(hashlib.sha256(raw).hexdigest())
    with zipfile.ZipFile(io.BytesIO(raw)) as packed:
        assert {"index.html", "memories.html", "memory-center.json"} <= set(packed.namelist())
        assert "peanuts" in packed.read("memories.html").decode()
    page.set_input_files("#import-file", file_of(raw, "mine.zip"))
    expect(page.locator("[data-file-name]")).to_have_text("mine.zip")
    page.get_by_role("button", name="Import", exact=True).click()
    brought = page.locator(".transfer", has_text="Memory Center export").first
    expect(brought.locator("strong")).to_have_text("Nothing new", timeout=DONE_WITHIN)


def test_out_and_in_by_plain_forms_in_chinese(plain: Page, product: Product) -> None:
    person = somebody(product, "林可")
    product.shell(
        "from ops.models import User, UserSettings\n"
        "UserSettings.objects.filter(user__username='林可').update(language='zh-hans')"
    )
    sign_in(plain, person, then=DATA)
    plain.get_by_role("link", name="导出全部…").click()
    plain.get_by_label("你的密码").fill(PASSWORD)
    plain.get_by_label("json").check()
    plain.get_by_role("button", name="开始导出").click()
    again(plain, "下载")
    address = plain.get_by_role("link", name="下载", exact=True).get_attribute("href")
    raw = downloaded(plain, "下载")
    assert json.loads(raw)["complete"] is True
    plain.set_input_files("#import-file", file_of("## preference\n- 爱喝龙井茶\n", "我的.md"))
    plain.get_by_role("button", name="导入", exact=True).click()
    again(plain, "1 条记忆")
    product.shell(OVER.format(username=person.username))
    answered = plain.goto(str(address))
    assert answered is not None and answered.status == 404
    expect(plain.get_by_role("heading", level=1)).to_be_visible()
    plain.goto(DATA)
    expect(plain.get_by_role("link", name="下载", exact=True)).to_have_count(0)


def again(page: Page, words: str) -> None:
    """Look again, as the page offers it, until it says so."""
    found = page.locator(".transfers").get_by_text(words)
    for _ in range(200):
        if found.count():
            return
        page.reload()
    raise AssertionError(f"{words} was never said")


def test_a_receipt_prints_as_a_clean_page_and_is_a_file(page: Page, product: Product) -> None:
    sign_in(page, somebody(product, "proving"), then="/memory/long-term/")
    page.get_by_role("link", name="peanuts").first.click()
    page.goto(f"{page.url.partition('?')[0]}forget/")
    page.get_by_role("button", name="Forget now").click()
    page.goto(DATA)
    page.locator("#activity .rows a").first.click(timeout=DONE_WITHIN)
    receipt = page.locator(".receipt")
    expect(receipt).to_contain_text("No trace left, except what was kept: 1 message")
    told = json.loads(downloaded(page, "Download"))
    expect(receipt).to_contain_text(told["hash"])
    assert told["scan"]["residue"] == 0 and "peanuts" not in json.dumps(told)
    page.emulate_media(media="print")
    expect(receipt).to_be_visible()
    for hidden in (".receipt__actions", ".site-header", ".receipt-note"):
        expect(page.locator(hidden)).to_be_hidden()
