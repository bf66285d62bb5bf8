from __future__ import annotations

import pytest

from memories.extraction.arbitration.editions import (
    NEWER,
    NOTHING_NEW,
    Document,
    Finding,
    edition_of,
)

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
