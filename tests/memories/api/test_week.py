from datetime import timedelta

import pytest
from django.utils import timezone

from memories.models import Kind
from ops.accounts import users
from ops.models import User
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer, error

pytestmark = pytest.mark.django_db


def test_the_week_has_sections_of_memories(alice: User, alice_key: str) -> None:
    memory = make_memory(alice, "Allergic to nuts", kind=Kind.CONSTRAINT)
    found = answer(Api(alice_key).get("/memory/week"))
    today = timezone.now().date()
    assert found["last"] == today.isoformat()
    assert found["first"] == (today - timedelta(days=6)).isoformat()
    (section,) = found["sections"]
    assert (section["section"], section["count"], found["forgotten"]) == ("learned", 1, 0)
    (row,) = section["memories"]
    assert (row["id"], row["content"], row["kind"]) == (
        memory.public_id,
        "Allergic to nuts",
        "constraint",
    )


def test_an_earlier_week_is_named_by_its_last_day(alice: User, alice_key: str) -> None:
    make_memory(alice, "Allergic to nuts", created_at=timezone.now() - timedelta(days=30))
    api, long_ago = Api(alice_key), timezone.now().date() - timedelta(days=28)
    found = answer(api.get("/memory/week", last=long_ago.isoformat()))
    assert found["last"] == long_ago.isoformat() and found["sections"][0]["count"] == 1
    assert "last" in error(api.get("/memory/week", last="2026-02-31"), 400, "invalid")["fields"]


def test_it_is_empty_while_memory_is_off(alice: User, alice_key: str) -> None:
    make_memory(alice, "Allergic to nuts")
    users.change_settings(user=alice, changes={"longterm_enabled": False})
    found = answer(Api(alice_key).get("/memory/week"))
    assert (found["sections"], found["forgotten"]) == ([], 0)


def test_a_stranger_is_not_found(alice: User, mallory_key: str) -> None:
    error(Api(mallory_key).get("/memory/week", user_id="alice"), 404, "not_found")
