import pytest

from ops.access import as_system
from ops.models import User
from ops.services import keys
from tests.factories import make_conversation, make_episode, make_memory, make_turn
from tests.memcenter.rest.client import Api, answer, error, refused

pytestmark = pytest.mark.django_db


def test_figures_of_one_user(alice: User, mallory: User, alice_key: str) -> None:
    make_episode(make_turn(make_conversation(alice), "I play chess."))
    make_memory(alice, "Plays chess.", importance=0.4)
    make_memory(alice, "Drinks tea.", kind="preference", status="disabled", importance=0.8)
    make_memory(mallory, "Plays go.")
    answer(Api(alice_key).post("/memory/context", {"message": "Hello."}))
    found = answer(Api(alice_key).get("/memory/metrics"))
    assert found["memories"] == {
        "total": 2,
        "by_kind": {"fact": 1, "preference": 1},
        "by_status": {"active": 1, "disabled": 1},
    }
    assert found["average_importance"] == pytest.approx(0.6)
    assert (found["conversations"], found["messages"], found["episodes"]) == (1, 2, 1)
    assert found["storage_bytes"] > 0
    assert found["recall"]["count"] == 1 and found["recall"]["p50_ms"] > 0
    assert "cache_hit_rate" in found


def test_figures_of_nothing(alice: User, alice_key: str) -> None:
    found = answer(Api(alice_key).get("/memory/metrics"))
    assert found["average_importance"] is None
    assert found["recall"] == {"count": 0, "p50_ms": None, "p99_ms": None}


def test_figures_of_all_users_need_an_admin_key(
    alice: User, mallory: User, product_key: str
) -> None:
    make_memory(alice, "Plays chess.")
    make_memory(mallory, "Plays go.")
    refused(Api(product_key).get("/memory/metrics"), "user_id")
    with as_system():
        admin = keys.create(name="admin", scopes=["read", "admin"])[1]
    assert answer(Api(admin).get("/memory/metrics"))["memories"]["total"] == 2
    assert answer(Api(admin).get("/memory/metrics", user_id="alice"))["memories"]["total"] == 1


def test_a_strangers_figures_are_not_found(alice: User, mallory_key: str) -> None:
    error(Api(mallory_key).get("/memory/metrics", user_id="alice"), 404, "not_found")
