"""What lies in Redis spares sending texts; which of them count only PostgreSQL says."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.cache import cache
from redis.exceptions import RedisError

from conversations.services import context
from memcenter.lib import afterwards, statements
from memories.models import Memory
from memories.services import curating, forgetting, hot_cache, search
from ops.access import as_user
from ops.models import User
from ops.services import users, worker
from tests.factories import make_memory

pytestmark = pytest.mark.django_db
CAT = "Has a cat named Biscuit"
ASKED = "What is my cat called?"


@pytest.fixture(autouse=True)
def switched_on(settings: LazySettings, alice: User) -> Iterator[None]:
    settings.HOT_CACHE = True
    yield
    cache.delete(hot_cache.key(alice.pk))


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that PostgreSQL sends."""
    texts: list[str] = []
    run = statements.rows

    def noted(text: str, values: Sequence[Any] = (), *, anew: bool = False) -> Any:
        rows = run(text, values, anew=anew)
        texts.extend(value for row in rows for value in row if isinstance(value, str))
        return rows

    monkeypatch.setattr(statements, "rows", noted)
    return texts


def block(user: User, text: str = ASKED) -> str:
    prepared = search.prepare_query(text)
    with as_user(current := User.objects.get(pk=user.pk)):
        return context.build(prepared, user=current).block


def kept(user: User) -> dict[int, str] | None:
    found: dict[int, str] | None = cache.get(hot_cache.key(user.pk))
    return found


def test_what_is_kept_is_not_sent_again_and_the_block_is_the_same(
    alice: User, sent: list[str]
) -> None:
    memory = make_memory(alice, CAT)
    first = block(alice)
    assert "Biscuit" in first and CAT in sent and kept(alice) == {memory.pk: CAT}
    sent.clear()
    assert block(alice) == first and CAT not in sent
    cache.delete(hot_cache.key(alice.pk))
    assert block(alice) == first


def test_the_most_used_are_kept_and_no_more_than_twenty(alice: User) -> None:
    used = [make_memory(alice, f"Has cat {number}", access_count=number) for number in range(22)]
    block(alice)
    assert set(kept(alice) or ()) == {one.pk for one in used[2:]}


def edited(user: User, memory: Memory) -> str:
    Memory.objects.filter(pk=memory.pk).update(content="Has a cat named Pepper")
    return "Pepper"


def disabled(user: User, memory: Memory) -> str:
    curating.disable(user=user, memory=memory)
    return ""


def recycled(user: User, memory: Memory) -> str:
    curating.recycle(user=user, memory=memory)
    return ""


def forgotten(user: User, memory: Memory) -> str:
    forgetting.forget_memory(user=user, memory=memory)
    return ""


def switched_off(user: User, memory: Memory) -> str:
    users.change_settings(user=user, changes={"longterm_enabled": False})
    return ""


@pytest.mark.parametrize("change", [edited, disabled, recycled, forgotten, switched_off])
def test_a_change_is_seen_at_once_though_the_old_text_is_still_in_redis(
    alice: User, change: Callable[[User, Memory], str]
) -> None:
    memory = make_memory(alice, CAT)
    block(alice)
    instead = change(alice, memory)
    assert kept(alice) == {memory.pk: CAT}  # this test's transaction hasn't ended
    found = block(alice)
    assert "Biscuit" not in found and instead in found
    assert bool(found) == bool(instead)


def test_a_new_memory_and_a_question_in_another_language_are_seen_at_once(alice: User) -> None:
    make_memory(alice, CAT)
    block(alice)
    make_memory(alice, "对花生过敏", kind="constraint")
    assert "花生" in block(alice, "What may I eat?") and "Biscuit" in block(alice, "我的猫叫什么？")


def test_nothing_of_one_person_is_kept_for_another(alice: User, mallory: User) -> None:
    make_memory(alice, CAT)
    block(alice)
    assert block(mallory) == "" and kept(mallory) is None


def test_a_change_drops_it_when_it_is_committed(
    alice: User, django_capture_on_commit_callbacks: Any
) -> None:
    memory = make_memory(alice, CAT)
    for change in (disabled, forgotten):
        block(alice)
        with django_capture_on_commit_callbacks(execute=True):
            change(alice, memory)
        assert kept(alice) is None
    worker.drain()
    assert block(alice) == "" and kept(alice) is None


def test_what_a_forget_overtook_is_not_kept(alice: User) -> None:
    memory = make_memory(alice, CAT)
    make_memory(alice, "Plays the cello")
    prepared = search.prepare_query(ASKED)
    with afterwards.collected() as owed, as_user(before := User.objects.get(pk=alice.pk)):
        context.build(prepared, user=before)
    forgetting.forget_memory(user=alice, memory=memory)
    owed.settle()
    assert kept(alice) is None


@pytest.mark.parametrize("name", ["get", "set", "delete_many"])
def test_with_redis_gone_everything_goes_on(
    alice: User,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    django_capture_on_commit_callbacks: Any,
) -> None:
    def gone(*args: object, **named: object) -> None:
        raise RedisError

    memory = make_memory(alice, CAT)
    monkeypatch.setattr(type(cache._connections[cache._alias]), name, gone)  # type: ignore[attr-defined]
    assert "Biscuit" in block(alice)
    with django_capture_on_commit_callbacks(execute=True):
        curating.disable(user=alice, memory=memory)
    assert block(alice) == ""


def test_switched_off_nothing_lies_in_redis(alice: User, settings: LazySettings) -> None:
    settings.HOT_CACHE = False
    make_memory(alice, CAT)
    assert "Biscuit" in block(alice) and kept(alice) is None
