import base64
from datetime import timedelta
from typing import Any

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from ops.models import User
from tests.factories import make_conversation, make_memory, make_message
from tests.memcenter.rest.client import Api, answer, refused

pytestmark = pytest.mark.django_db


def all_pages(api: Api, path: str, **query: Any) -> list[dict[str, Any]]:
    """What a client gets that follows `next` to the end."""
    found: list[dict[str, Any]] = []
    page = answer(api.get(path, **query))
    while True:
        found += page["results"]
        if page["next"] is None:
            return found
        page = answer(api.get(page["next"]))


def contents(rows: list[dict[str, Any]]) -> list[str]:
    return [row["content"] for row in rows]


def test_pages_follow_each_other_without_gap_or_repeat(alice: User, alice_key: str) -> None:
    conversation = make_conversation(alice, external_id="c1")
    for number in range(7):
        make_message(conversation, f"message {number}")
    found = all_pages(Api(alice_key), "/conversations/c1/messages", limit=3)
    assert contents(found) == [f"message {number}" for number in range(7)]


def test_the_way_back_gives_the_same_pages(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    for number in range(5):
        make_memory(alice, f"memory {number}")
    first = answer(api.get("/memory/long_term", limit=2))
    second = answer(api.get(first["next"]))
    third = answer(api.get(second["next"]))
    assert first["previous"] is None and third["next"] is None
    assert answer(api.get(third["previous"]))["results"] == second["results"]
    back = answer(api.get(second["previous"]))
    assert back["results"] == first["results"]
    assert back["previous"] is None and back["next"] is not None


def test_new_rows_and_gone_rows_shift_nothing(alice: User, alice_key: str) -> None:
    api = Api(alice_key)
    rows = [make_memory(alice, f"memory {number}") for number in range(6)]
    first = answer(api.get("/memory/long_term", limit=2))
    make_memory(alice, "newer than all")
    rows[4].delete()  # the last row of the first page: the place stays where it was
    second = answer(api.get(first["next"]))
    assert contents(first["results"]) == ["memory 5", "memory 4"]
    assert contents(second["results"]) == ["memory 3", "memory 2"]


def test_rows_of_the_same_moment_are_told_apart(alice: User, alice_key: str) -> None:
    now = timezone.now()
    for number in range(5):
        make_memory(alice, f"memory {number}", created_at=now)
    found = all_pages(Api(alice_key), "/memory/long_term", limit=2)
    assert contents(found) == [f"memory {number}" for number in (4, 3, 2, 1, 0)]


@pytest.mark.parametrize(
    "sort",
    ["-updated_at", "importance", "-access_count", "last_accessed_at", "-occurred_at"],
)
def test_every_order_can_be_paged(sort: str, alice: User, alice_key: str) -> None:
    now = timezone.now()
    for number in range(5):
        seen = now - timedelta(days=number) if number % 2 else None
        make_memory(
            alice,
            f"memory {number}",
            importance=0.5 if number < 3 else 0.7,
            access_count=number % 3,
            last_accessed_at=seen,
            occurred_at=seen,
        )
    found = all_pages(Api(alice_key), "/memory/long_term", limit=2, sort=sort)
    assert sorted(contents(found)) == [f"memory {number}" for number in range(5)]


def test_the_other_parameters_stay_in_the_links(alice: User, alice_key: str) -> None:
    for number in range(3):
        make_memory(alice, f"memory {number}", pinned=number != 1)
    found = all_pages(Api(alice_key), "/memory/long_term", limit=1, pinned="true", user_id="alice")
    assert contents(found) == ["memory 2", "memory 0"]


@pytest.mark.parametrize("limit", ["0", "101", "-1", "ten", "1.5", "9" * 40, "٣"])
def test_an_impossible_limit_is_named(limit: str, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).get("/memory/long_term", limit=limit), "limit")


def made(*parts: object) -> str:
    return base64.urlsafe_b64encode(orjson.dumps(parts)).decode().rstrip("=")


@pytest.mark.parametrize(
    "cursor",
    [
        "nonsense",
        "ü",
        "!!!",
        made(1),
        made(False, "-created_at", "2026-01-01T00:00:00Z"),
        made(False, "-created_at", "2026-01-01T00:00:00Z", "7"),
        made(False, "-created_at", "2026-01-01T00:00:00Z", 2**63),
        made(False, "-created_at", "2026-01-01T00:00:00Z", -1),
        made(False, "-created_at", "2026-01-01T00:00:00", 7),
        made(False, "-created_at", "yesterday", 7),
        made(False, "-created_at", None, 7),
        made(False, "-created_at", [1], 7),
        made(False, "-created_at", "a\x00b", 7),
        made("no", "-created_at", "2026-01-01T00:00:00Z", 7),
        made(False, "user_id", 1, 7),
        made(False, "importance", 0.5, 7),
    ],
)
def test_a_cursor_that_we_did_not_make_is_named(cursor: str, alice: User, alice_key: str) -> None:
    refused(Api(alice_key).get("/memory/long_term", cursor=cursor), "cursor")


def test_a_page_holds_twenty_unless_asked_otherwise(alice: User, alice_key: str) -> None:
    conversation = make_conversation(alice, external_id="c1")
    for number in range(21):
        make_message(conversation, f"message {number}")
    assert len(answer(Api(alice_key).get("/conversations/c1/messages"))["results"]) == 20


@pytest.mark.parametrize("path", ["/memory/long_term", "/conversations", "/memory/ops"])
def test_an_empty_list_is_a_page(path: str, alice: User, alice_key: str) -> None:
    page = answer(Api(alice_key).get(path))
    assert page == {"results": [], "next": None, "previous": None}


def test_a_long_list_takes_as_many_queries_as_a_short_one(
    alice: User, alice_key: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    api = Api(alice_key)
    make_memory(alice, "the first")
    answer(api.get("/memory/long_term"))  # notes the key's first use
    with CaptureQueriesContext(connection) as short:
        answer(api.get("/memory/long_term"))
    for number in range(10):
        make_memory(alice, f"memory {number}")
    with django_assert_num_queries(len(short)):
        answer(api.get("/memory/long_term"))
