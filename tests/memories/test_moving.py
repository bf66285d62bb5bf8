"""Vectors in Milvus: moved there and back, followed, forgotten; with it away nothing is lost."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from foundation.errors import ProviderError
from memories.forgetting import memory_forgets
from memories.indexing import milvus_sync, reindexing, search_index
from memories.models import EmbeddingSpace, Memory, Origin, SearchedIn, Vector, VectorChange
from memories.recall import search
from memories.retrieval.stores.milvus import Entity, MilvusServer
from memories.tasks import request_vector_syncs
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.access import as_system, as_user
from ops.forgetting import person_forgets as leaving
from ops.models import Kind, Operation, Receipt, Status, User
from ops.queue import outbox, worker
from tests.factories import make_conversation, make_turn
from tests.hashing_embedder import HashingEmbedder
from tests.killing import Kill, revive
from tests.milvus import Milvus, moved
from tests.milvus import milvus as milvus
from tests.milvus import server_of_the_session as server_of_the_session

pytestmark = pytest.mark.django_db(transaction=True)


def remember(user: User, content: str) -> Memory:
    prepared = direct_writes.prepare(MemoryInput(content), origin=Origin.USER)
    return direct_writes.remember(prepared, user=user).memory


def found(user: User, query: str = "a cat") -> list[str]:
    prepared = search.prepare_query(query)
    return [hit.text for hit in search.search(prepared, user=user, types=("memory",)).results]


def held() -> set[str]:
    """All that is in Milvus."""
    server = milvus_sync.server()
    every = (server.everything(space, user_id=None) for space in server.spaces())
    return {name for parts in every for part in parts for name in part}


def stored() -> set[str]:
    rows = Vector.objects.values_list("target_kind", "target_id")
    return {f"{kind}:{pk}" for kind, pk in rows}


def in_time() -> None:
    """What waits for a store to come back is due now, and run."""
    Operation.objects.filter(status=Status.PENDING).update(run_after=timezone.now())
    worker.drain()


def forget(user: User, memory: Memory) -> Operation:
    with as_user(user):
        return memory_forgets.forget_memories(user=user, memories=[memory])


def told(operation: Operation) -> Operation:
    operation.refresh_from_db()
    return operation


def nearest_in(server: MilvusServer, user: User) -> list[int]:
    space = search_index.active_space().pk
    vector = search_index.embed(["a cat"])[0]
    return server.near(vector, space_id=space, user_id=user.pk, kind="memory", limit=5)


def test_all_vectors_go_there_and_are_searched_there(
    alice: User, mallory: User, milvus: Milvus
) -> None:
    cat, cello = remember(alice, "Has a cat named Biscuit"), remember(alice, "Plays the cello")
    remember(mallory, "Has a cat named Pepper. " * 300)
    make_turn(make_conversation(alice), "I play chess.")
    before = found(alice)
    moved()
    assert search_index.active_space().searched_in == SearchedIn.MILVUS
    assert held() == stored() and len(held()) > 5
    assert nearest_in(milvus_sync.server(), alice) == [cat.pk, cello.pk]
    assert found(alice) == before == [cat.content, cello.content]


def test_going_back_leaves_nothing_there_and_nothing_is_written_down_any_more(
    alice: User, milvus: Milvus, settings: LazySettings
) -> None:
    remember(alice, "Has a cat named Biscuit")
    moved()
    settings.VECTOR_STORE = "pgvector"
    moved()
    assert milvus_sync.server().spaces() == set()
    remember(alice, "Plays the cello")
    assert not VectorChange.objects.exists() and not milvus_sync.are_changes_recorded()
    assert len(found(alice)) == 2


def test_killed_half_way_it_goes_on_where_it_was(
    alice: User, mallory: User, milvus: Milvus, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in (alice, mallory):
        remember(user, "Has a cat named Biscuit")
    real = milvus_sync.send_changes

    def deadly(user_id: int) -> int:
        if user_id == mallory.pk:
            raise Kill
        return real(user_id)

    operation = milvus_sync.request_move()
    with monkeypatch.context() as patched:
        patched.setattr(milvus_sync, "send_changes", deadly)
        with pytest.raises(Kill):
            worker.drain()
        revive(patched)
    assert found(alice) == ["Has a cat named Biscuit"]  # PostgreSQL still answers
    assert VectorChange.objects.get().user_id == mallory.pk  # alice needn't be told again
    worker.drain()
    assert told(operation).status == Status.SUCCEEDED
    assert held() == stored()


def test_what_is_written_meanwhile_goes_there_too(
    alice: User, milvus: Milvus, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(alice, "Has a cat named Biscuit")
    real, late = milvus_sync.send_changes, ["Plays the cello"]

    def slow(user_id: int) -> int:
        count = real(user_id)
        if late:
            remember(alice, late.pop())
        return count

    monkeypatch.setattr(milvus_sync, "send_changes", slow)
    moved()
    assert held() == stored() and len(held()) == 2


def test_the_worker_tells_what_is_written_and_changed_from_then_on(
    alice: User, milvus: Milvus
) -> None:
    gone = remember(alice, "Plays the cello")
    moved()
    remember(alice, "Has a cat named Biscuit")
    assert set(found(alice)) == {"Plays the cello", "Has a cat named Biscuit"}
    Vector.objects.filter(target_id=gone.pk).delete()
    worker.drain()
    assert held() == stored() and not VectorChange.objects.exists()


def test_while_it_is_away_postgresql_answers_and_what_is_written_is_caught_up(
    alice: User, milvus: Milvus
) -> None:
    first = remember(alice, "Plays the cello")
    moved()
    with milvus.away():
        second = remember(alice, "Has a cat named Biscuit")
        vectors, pieces = search_index.embed_memory("Plays chess")
        search_index.store_memory(memory=first, vectors=vectors, pieces=pieces)
        worker.drain()
        sync = Operation.objects.get(kind=Kind.SYNC_VECTORS)
        assert sync.status == Status.PENDING and "Milvus" in sync.last_error
        assert set(found(alice)) == {first.content, second.content}
    in_time()
    assert told(sync).status == Status.SUCCEEDED
    assert held() == stored() == {f"memory:{first.pk}", f"memory:{second.pk}"}


@pytest.mark.parametrize("request_number", [1, 2, 3, 4])
def test_milvus_killed_while_it_is_told_holds_the_same_in_the_end(
    alice: User, milvus: Milvus, monkeypatch: pytest.MonkeyPatch, request_number: int
) -> None:
    """Before it says what it has, is given vectors, is asked what there is to erase, erases it."""
    gone, kept = remember(alice, "Plays the cello"), remember(alice, "Plays chess")
    moved()
    new = remember(alice, "Has a cat named Biscuit")
    Vector.objects.filter(target_id=gone.pk).delete()
    real, requests = MilvusServer._ask, iter(range(1, 100))

    def asked(server: MilvusServer, *given: Any) -> Any:
        if next(requests) == request_number:
            milvus.kill()
        return real(server, *given)

    with monkeypatch.context() as patched:
        patched.setattr(MilvusServer, "_ask", asked)
        worker.drain()
    sync = Operation.objects.get(kind=Kind.SYNC_VECTORS, status=Status.PENDING)
    assert "Milvus" in sync.last_error
    assert set(found(alice)) == {kept.content, new.content}
    milvus.start()
    in_time()
    assert told(sync).status == Status.SUCCEEDED
    assert held() == stored() == {f"memory:{kept.pk}", f"memory:{new.pk}"}
    assert not VectorChange.objects.exists()


def test_milvus_killed_after_it_erased_keeps_nothing_of_it(alice: User, milvus: Milvus) -> None:
    gone, kept = remember(alice, "Has a cat named Biscuit"), remember(alice, "Plays the cello")
    moved()
    operation = forget(alice, gone)
    worker.drain()
    assert told(operation).status == Status.SUCCEEDED, operation.last_error
    with milvus.away():
        assert found(alice) == [kept.content]
    assert held() == {f"memory:{kept.pk}"}
    assert nearest_in(milvus_sync.server(), alice) == [kept.pk]
    call_command("residue", json=True, stdout=io.StringIO())  # 0 found, or it would exit


def test_what_nobody_was_woken_for_is_told_by_the_sweep(alice: User, milvus: Milvus) -> None:
    remember(alice, "Plays the cello")
    moved()
    remember(alice, "Has a cat named Biscuit")
    for waiting in Operation.objects.filter(kind=Kind.SYNC_VECTORS):
        outbox.cancel(waiting)
    assert milvus_sync.request_pending_syncs() == 1
    worker.drain()
    assert held() == stored() and milvus_sync.request_pending_syncs() == 0


def test_a_forget_erases_there_too_and_its_receipt_says_so(alice: User, milvus: Milvus) -> None:
    gone, other = remember(alice, "Has a cat named Biscuit"), remember(alice, "Plays the cello")
    moved()
    operation = forget(alice, gone)
    worker.drain()
    assert told(operation).status == Status.SUCCEEDED, operation.last_error
    assert held() == {f"memory:{other.pk}"}
    receipt = Receipt.objects.get(operation=operation)
    assert receipt.erased["milvus"] == {"vector": 1}
    assert receipt.scan["looked"]["milvus"] == 1 and receipt.scan["residue"] == 0


def test_a_forget_waits_for_it_shows_nothing_meanwhile_and_leaves_nothing(
    alice: User, milvus: Milvus
) -> None:
    gone, other = remember(alice, "Has a cat named Biscuit"), remember(alice, "Plays the cello")
    moved()
    with milvus.away():
        operation = forget(alice, gone)
        worker.drain()
        assert told(operation).status == Status.PENDING and "Milvus" in operation.last_error
        assert found(alice) == [other.content]
        assert not Receipt.objects.exists()
    assert f"memory:{gone.pk}" in held()
    in_time()
    assert told(operation).status == Status.SUCCEEDED, operation.last_error
    assert held() == {f"memory:{other.pk}"} and found(alice) == [other.content]


def test_with_the_account_all_of_theirs_goes_there(
    alice: User, mallory: User, milvus: Milvus
) -> None:
    remember(alice, "Has a cat named Biscuit. " * 300)
    make_turn(make_conversation(alice), "I play chess.")
    other = remember(mallory, "Plays the cello")
    moved()
    with milvus.away():
        with as_user(alice):
            operation, _ = leaving.forget_user(user=alice)
        worker.drain()
        assert told(operation).status == Status.PENDING
    assert len(held()) > 3
    in_time()
    assert told(operation).status == Status.SUCCEEDED, operation.last_error
    assert held() == {f"memory:{other.pk}"} and not VectorChange.objects.exists()
    assert not User.objects.filter(pk=alice.pk).exists()


def plant(user: User, name: str) -> None:
    vector = search_index.embed(["a cat"])[0].tolist()
    space = search_index.active_space().pk
    milvus_sync.server().put(space, [Entity(name, user.pk, "memory", vector)])


def test_what_is_left_there_is_residue(alice: User, milvus: Milvus) -> None:
    """As if something had brought it back behind the trigger's back."""
    gone = remember(alice, "Has a cat named Biscuit")
    moved()
    Vector.objects.all().delete()
    milvus_sync.send_changes(alice.pk)
    plant(alice, f"memory:{gone.pk}")
    operation = forget(alice, gone)
    worker.drain()
    assert told(operation).status == Status.FAILED
    assert f"milvus memory:{gone.pk} (id)" in operation.last_error


def test_the_command_finds_what_the_database_does_not_know(
    alice: User, mallory: User, milvus: Milvus
) -> None:
    remember(alice, "Has a cat named Biscuit")
    moved()
    call_command("residue", json=True, stdout=io.StringIO())  # 0 found, or it would exit
    plant(mallory, "memory:987654")
    said = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("residue", json=True, stdout=said)
    assert json.loads(said.getvalue())["found"] == [
        {"place": "milvus", "row": "memory:987654", "why": "id"}
    ]


def test_filled_afresh_it_holds_what_the_database_does_and_no_more(
    alice: User, milvus: Milvus
) -> None:
    """After a restore it may hold what the database never heard of."""
    remember(alice, "Has a cat named Biscuit")
    moved()
    plant(alice, "memory:987654")
    milvus_sync.request_move(afresh=True)
    assert search_index.active_space().searched_in == SearchedIn.PGVECTOR
    worker.drain()
    assert search_index.active_space().searched_in == SearchedIn.MILVUS
    assert held() == stored()


def test_from_one_that_is_gone_for_good_the_way_back_is_free(
    alice: User, milvus: Milvus, settings: LazySettings
) -> None:
    remember(alice, "Has a cat named Biscuit")
    moved()
    settings.VECTOR_STORE, settings.MILVUS_URI = "pgvector", ""
    operation = milvus_sync.request_move()
    worker.drain()
    assert told(operation).status == Status.PENDING and found(alice)
    waiting = forget(alice, Memory.objects.get())
    worker.drain()
    assert told(waiting).status == Status.PENDING and "MILVUS_URI" in waiting.last_error
    milvus_sync.request_move(lost=True)
    in_time()  # the forget comes first, and waits once more
    in_time()
    assert not milvus_sync.are_changes_recorded()
    assert told(waiting).status == Status.SUCCEEDED, waiting.last_error


def test_another_embedder_takes_it_along(
    alice: User, milvus: Milvus, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember(alice, "Has a cat named Biscuit")
    moved()
    old = search_index.active_space().pk
    monkeypatch.setattr(search_index, "configured_embedder", lambda: HashingEmbedder(dimensions=64))
    reindexing.request()
    worker.drain()
    space = EmbeddingSpace.objects.get()
    assert space.pk != old and space.searched_in == SearchedIn.MILVUS
    assert milvus_sync.server().spaces() == {space.pk} and held() == stored()
    search_index.reset_embedder()


def test_two_never_tell_of_one_person_at_a_time(alice: User, milvus: Milvus) -> None:
    remember(alice, "Has a cat named Biscuit")
    moved()
    other, key = connection.copy(), milvus_sync._LOCK | alice.pk
    try:
        with other.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [key])
            with pytest.raises(ProviderError) as refused:
                milvus_sync.send_changes(alice.pk)
            cursor.execute("SELECT pg_advisory_unlock(%s)", [key])
    finally:
        other.close()
    assert refused.value.retryable
    assert milvus_sync.send_changes(alice.pk) == 0


def test_it_is_left_in_peace_after_failing(alice: User, milvus: Milvus) -> None:
    remember(alice, "Has a cat named Biscuit")
    moved()
    with milvus.away():
        for _ in range(4):
            assert found(alice) == ["Has a cat named Biscuit"]
        # Before Milvus starts again, which may take longer than the breaker waits.
        with pytest.raises(ProviderError):
            milvus_sync._breaker(milvus.uri).check()


def test_without_it_nothing_is_written_down(alice: User) -> None:
    remember(alice, "Has a cat named Biscuit")
    assert not milvus_sync.are_changes_recorded() and not VectorChange.objects.exists()
    assert not Operation.objects.filter(kind=Kind.SYNC_VECTORS).exists()


def test_a_restore_that_switched_the_writing_down_on_is_put_right(alice: User) -> None:
    with as_system():
        milvus_sync.set_recording(True)
    remember(alice, "Has a cat named Biscuit")
    with as_system():
        assert VectorChange.objects.exists() and not milvus_sync.are_changes_recorded()
    request_vector_syncs()
    with as_system():
        assert not milvus_sync.is_recording() and not VectorChange.objects.exists()
    assert not Operation.objects.filter(kind=Kind.SYNC_VECTORS).exists()
