from __future__ import annotations

import pytest

from memories.extraction.arbitration.page_editions import (
    NEWER,
    NOTHING_NEW,
    Finding,
    are_worded_alike,
    differ_in_one_value,
    edition_of,
    have_one_subject,
    have_other_subjects,
)
from memories.extraction.wording.documents import Document

AUTH = """# Auth service: token refresh

The service issues JWTs that live for 15 minutes. Refresh tokens are rotated on every use.
Refresh tokens are stored hashed. A reused one revokes the whole family.
Clients retry once on 401.
"""
STORAGE = """# 设计决策：向量存储

我们选择 pgvector，因为只需要维护一个数据库。每个用户的记忆不超过两万条。
超过百万条再评估 Milvus。
"""


def found(new: str, old: str, *, similarity: float = 0.8) -> Finding | None:
    return edition_of(Document(new), Document(old), similarity=similarity)


@pytest.mark.parametrize("text", [AUTH, STORAGE])
def test_the_same_page_says_nothing_new_however_it_is_laid_out(text: str) -> None:
    assert found(" " + text.replace("\n\n", "\n\n\n"), text) == NOTHING_NEW


def test_a_page_with_a_changed_or_an_added_sentence_is_a_newer_edition() -> None:
    assert found(AUTH.replace("15 minutes", "30 minutes"), AUTH) == NEWER
    assert found(AUTH + "Mobile clients older than 3.2 don't retry.", AUTH) == NEWER
    assert found(STORAGE.replace("评估 Milvus", "换成 Milvus"), STORAGE) == NEWER


def test_what_an_edition_leaves_out_is_gone_on_purpose() -> None:
    shorter = AUTH.replace("Clients retry once on 401.\n", "")
    assert found(shorter, AUTH) == NEWER


def test_a_text_that_adds_the_least_thing_is_never_thought_known() -> None:
    assert found(AUTH * 20 + "No.", AUTH * 20) == NEWER


def test_a_mere_quotation_says_nothing_new() -> None:
    assert found("Clients retry once on 401.", AUTH) == NOTHING_NEW


def test_a_page_written_anew_under_a_telling_title_is_a_newer_edition() -> None:
    anew = "# Auth service: token refresh\n\nWe dropped JWTs. Sessions live in Redis now."
    assert found(anew, AUTH) == NEWER
    assert found(anew, AUTH, similarity=0.3) is None
    assert found("# 设计决策：向量存储\n\n全部迁移到 Milvus，pgvector 不再使用。", STORAGE) == NEWER


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# Release\n\nShips in May.", "# Release\n\nShips in June."),
        (
            "# Deployment\n\nWe deploy with Docker Compose on one server.",
            "# Deployment\n\nWe deploy with Kubernetes on three nodes.",
        ),
        ("# 发布\n\n五月上线。", "# 发布\n\n六月上线。"),
    ],
)
def test_a_short_page_with_another_value_is_a_newer_edition(old: str, new: str) -> None:
    assert found(new, old) == NEWER


def test_a_title_that_many_pages_have_makes_no_editions() -> None:
    one = "# Weekly notes\n\nMet Bob about the invoice."
    assert found("# Weekly notes\n\nPlanned the party with Eve.", one) is None


def test_other_pages_are_no_editions_of_one_another() -> None:
    assert found(AUTH, STORAGE) is None
    assert found("", AUTH) is None and found(AUTH, "") is None
    assert found("# \n\n!!!", "# \n\n???") is None


# --- the subject of a page


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Login: people sign in with a passkey.", "login"),
        ("Load test: the checkout bears 30 orders.", "load test"),
        ("导出：报表必须能导出为 CSV。", "导出"),
        ("# Login\n\nWith a passkey.", "login"),
        ("Login: with a passkey.\nNothing else is offered.", "login"),
        ("People sign in with a passkey.", ""),
        ("Bug: the login fails", ""),
        ("决定：使用 Kafka", ""),
        ("# Weekly notes\n\nMet Bob.", ""),
        ("Starts at 12:30 in hall 4", ""),
        ("See https://example.org for more", ""),
        ("We had one long talk about it: nothing came of it", ""),
        ("", ""),
        (": : :", ""),
    ],
)
def test_a_heading_or_a_label_is_the_subject_unless_it_names_a_sort_of_page(
    text: str, subject: str
) -> None:
    assert Document(text).subject == subject


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        ("Login: a passkey", "Sign-up: an invitation", True),
        ("Phase 1: eight shops", "Phase 2: forty shops", True),
        ("# Staging server\n\nOn Hetzner.", "# Production server\n\nOn Hetzner.", True),
        ("Load test: 30 a second", "Checkout load test: 30 a second", False),
        ("Login: a passkey", "LOGIN: a password", False),
        ("Decision: a passkey", "Login: a password", False),
        ("People sign in with a passkey", "Login: a password", False),
    ],
)
def test_pages_have_other_subjects_if_both_name_one(one: str, other: str, apart: bool) -> None:
    assert have_other_subjects(Document(one), Document(other)) is apart
    assert have_other_subjects(Document(other), Document(one)) is apart


@pytest.mark.parametrize(
    ("old", "new", "is_value"),
    [
        ("Uploads: a file has at most 10 MB.", "Uploads: a file has at most 200 MB.", True),
        ("支付：支付回调由订单服务处理。", "支付：支付回调由账务服务处理。", True),
        ("Move: we move the data in week 12.", "Move: we move the data in week 20.", True),
        ("Sprint: week 12 is done", "Sprint: week 13 is done", False),
        ("API: the users endpoint is fast", "API: the orders endpoint is fast", False),
        ("API: clients sign in with tokens", "API: clients retry after a while", False),
        ("Frontend uses React", "Backend uses React", False),
        ("The server runs Debian", "The server runs Debian.", False),
        ("", "", False),
    ],
)
def test_a_value_that_differs_stands_behind_what_it_is_about(
    old: str, new: str, is_value: bool
) -> None:
    assert differ_in_one_value(Document(new), Document(old)) is is_value


def test_a_value_that_tells_something_has_a_content_word_on_both_sides() -> None:
    shorter, longer = Document("The index is rebuilt"), Document("The index is rebuilt at night")
    assert differ_in_one_value(longer, shorter)
    assert not differ_in_one_value(longer, shorter, telling=True)


def test_pages_under_two_headings_are_no_editions_of_one_another() -> None:
    body = "Runs on two machines.\nUpdated by hand on Tuesdays."
    staging, production = (f"# {name} server\n\n{body}" for name in ("Staging", "Production"))
    assert found(staging, production) is None
    assert found(staging.replace("two", "six"), staging) == NEWER


def test_a_project_page_under_a_heading_of_two_words_may_be_written_anew() -> None:
    old, new = "# Sensor data\n\nSent over MQTT.", "# Sensor data\n\nThe gateway asks for it."
    pages = Document(new), Document(old)
    assert have_one_subject(*pages) and not are_worded_alike(*pages)
    assert edition_of(*pages, similarity=0.8, of_project=True) == NEWER
    assert edition_of(*pages, similarity=0.5, of_project=True) is None
    assert edition_of(*pages, similarity=0.8) is None
