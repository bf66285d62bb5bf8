"""Every form of the pages, filled in badly on a Chinese page: nothing is answered in English."""

from __future__ import annotations

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from memories.files import file_edits
from memories.writing import curation
from memories.writing.direct_writes import MAX_TAG, MAX_TAGS
from ops import webhooks
from ops.access import as_system
from ops.accounts import users
from ops.models import User
from tests.factories import make_memory
from tests.memories.pages import signed_in, text_of
from tests.rules.forms import FORMS, PASSWORD, FilledForm, check_each_form

ROOT = Path(__file__).resolve().parents[2]
# What the person of the forms has said, and names that are the same in both languages.
_OWN = re.compile(
    r"I play (?:chess|the oboe)|Ana plays (?:much )?(?:chess|go)|Ana played bridge"
    r"|Plays the oboe|Chess, nice|another horse battery|delete everything"
)
_UNSEEN = re.compile(r"<(script|style|code|template|option|datalist)\b.*?</\1>|<!--.*?-->", re.S)
_SPOKEN = re.compile(r'(?:aria-label|title|placeholder|alt)="([^"]*)"')
_SENTENCE = re.compile(r"[A-Za-z’']{2,}(?:,? [A-Za-z’']{2,}){2,}[.…]?")
_BAD: dict[str, Any] = {
    "nothing": "",
    "no text": "\x00",
    "far too long": "长" * 9_000,
    "no choice": "没有这个",
}
# A message may be long and may say anything.
_MESSAGES = {"conversation_new", "conversation", "conversation_edit"}
_BAD_MESSAGES = {"nothing", "no text"}


def english_in(page: str) -> list[str]:
    """The English sentences of a page: its text, and what attributes say."""
    seen = _UNSEEN.sub(" ", page)
    said = [*re.sub(r"<[^>]*>", "\n", seen).splitlines(), *_SPOKEN.findall(seen)]
    found = [one for text in said for one in _SENTENCE.findall(_OWN.sub("", html.unescape(text)))]
    return sorted(set(found))


def filled_badly(value: Any, form: dict[str, Any]) -> dict[str, Any]:
    def bad(given: Any) -> Any:
        if isinstance(given, SimpleUploadedFile):
            return SimpleUploadedFile("x.zip", str(value).encode())
        return [value] if isinstance(given, list) else value

    return {name: bad(given) for name, given in form.items()}


def speak_chinese(filled: FilledForm) -> None:
    filled.client.cookies[settings.LANGUAGE_COOKIE_NAME] = "zh-hans"
    for user in User.objects.all():
        with as_system():
            users.change_settings(user=user, changes={"language": "zh-hans"})


def check(filled: FilledForm) -> None:
    if filled.name == "conversation_answer":
        return  # nothing is filled in, and the answer is in the language of the message
    speak_chinese(filled)
    args, form = FORMS[filled.name](filled.world)
    address = reverse(filled.name, args=args)
    wrong = {}
    for kind, value in _BAD.items():
        if filled.name in _MESSAGES and kind not in _BAD_MESSAGES:
            continue
        answer = filled.client.post(
            address,
            filled_badly(value, dict(form)),
            follow=True,
            headers={"Accept-Language": "zh-CN"},
        )
        if "html" in answer.headers.get("Content-Type", ""):
            wrong[kind] = english_in(answer.content.decode())
    assert {kind: said for kind, said in wrong.items() if said} == {}


@pytest.mark.django_db
def test_no_form_answers_bad_input_in_english() -> None:
    check_each_form(check)


@pytest.mark.django_db
def test_the_check_finds_an_english_page(client: Client) -> None:
    page = client.get(reverse("sign_in")).content.decode()
    assert english_in(page) != []


@pytest.mark.django_db
def test_what_one_form_does_to_several_memories_is_refused_in_chinese() -> None:
    user = users.register(username="li", password=PASSWORD, language="zh-hans")
    ids = [make_memory(user, "喜欢下棋").public_id]
    url, client = reverse("memory_bulk"), signed_in(user)
    for tag in ("", "长" * (MAX_TAG + 1)):
        page = text_of(client.post(url, {"ids": ids, "do": "tag", "tag": tag}, follow=True))
        assert "标签须有 1 到 50 个字符。" in page and english_in(page) == []
    tags = [f"标签{number}" for number in range(MAX_TAGS + 1)]
    pages = [
        text_of(client.post(url, {"ids": ids, "do": "tag", "tag": tag}, follow=True))
        for tag in tags
    ]
    assert "一条记忆最多 20 个标签。" in pages[-1] and english_in(pages[-1]) == []


def test_texts_name_the_numbers_of_the_code() -> None:
    limits = (MAX_TAG, MAX_TAGS, curation.BULK_LIMIT, webhooks.MOST, file_edits.MOST_CHANGES)
    assert limits == (50, 20, 1_000, 20, 1_000)


# The browser's own messages are in the browser's language, not in the page's.
_CHECKED = re.compile(
    r"<(?:input|textarea|select)\b[^>]*\s(?:required|min|max|pattern|minlength)\b"
)
_FORM = re.compile(r"<form\b([^>]*)>(.*?)</form>", re.S)


def test_no_form_leaves_its_check_to_the_browser() -> None:
    left = []
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for opening, inside in _FORM.findall(path.read_text(encoding="utf-8")):
            is_posted = 'method="post"' in opening
            asks = _CHECKED.search(inside) or "includes/field.html" in inside
            if is_posted and asks and "novalidate" not in opening:
                left.append(path.name)
    assert left == []
