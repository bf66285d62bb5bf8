import pytest

from foundation.database import statements
from memories import metrics
from memories.models import Memory
from ops.access import as_system
from ops.accounts import keys
from ops.models import User
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
    assert 0 < found["cache_hit_rate"] <= 1


def test_figures_of_nothing(alice: User, alice_key: str) -> None:
    found = answer(Api(alice_key).get("/memory/metrics"))
    assert found["average_importance"] is None
    assert found["recall"] == {"count": 0, "p50_ms": None, "p99_ms": None}
    assert 0 < found["cache_hit_rate"] <= 1


def test_the_hit_rate_of_the_cache_is_a_share_of_what_was_read() -> None:
    assert metrics.share(3, 1) == 0.75
    assert metrics.share(0, 4) == 0
    assert metrics.share(0, 0) == 1  # nothing had to be fetched


@pytest.mark.django_db(transaction=True)
def test_pages_of_memories_that_are_read_count_for_the_hit_rate(alice: User) -> None:
    make_memory(alice, "Plays chess.")
    before = pages()
    assert Memory.objects.filter(user=alice).count() == 1
    assert pages() > before
    assert metrics.cache_hit_rate() > 0


def pages() -> int:
    """All pages of memories that PostgreSQL has counted, of this connection's reading too."""
    statements.rows("SELECT pg_stat_force_next_flush()")
    statements.rows("SELECT pg_stat_clear_snapshot()")
    tables = [model._meta.db_table for model in metrics._RECALLED]
    [(hits, misses)] = statements.rows(metrics._PAGES, [tables])
    return int(hits + misses)


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
