"""What explains an answer is written when the answer has gone out, and brings nothing back."""

import time
from collections.abc import Callable
from threading import Event, Thread

import pytest
from django.db import connection, connections
from psycopg.errors import LockNotAvailable

from conversations.block import builder
from conversations.recording import conversation_names
from foundation import deferred_writes
from foundation.database import statements
from foundation.deferred_writes import DeferredWrites
from memories import selectors
from memories.forgetting import memory_forgets
from memories.models import Memory, RecallHit, RecallTrace, TraceKind
from memories.recall import search, traces
from memories.recall.traces import Hit
from ops.access import STILL_THERE, as_user
from ops.forgetting import person_forgets as leaving
from ops.models import User
from ops.queue import worker
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer

ASK = {"message": "What is my cat called?"}


def asked_and_unsettled(user: User, query: str = "What is my cat called?") -> DeferredWrites:
    """A search that has answered and hasn't yet written what explains it."""
    prepared = search.prepare_query(query)
    with deferred_writes.collect() as deferred, as_user(user):
        search.search(prepared, user=user)
    return deferred


@pytest.mark.django_db
def test_the_answer_is_there_before_its_trace(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = make_memory(alice, "Has a cat named Biscuit")
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(DeferredWrites, "run", lambda self: waiting.extend(self._writes))
    found = answer(Api(alice_key).post("/memory/context", ASK))
    assert "Biscuit" in found["block"] and not RecallTrace.objects.exists()
    for act in waiting:
        act()
        deferred_writes._count_waiting(-1)
    assert RecallTrace.objects.get().request_id == found["request_id"]
    memory.refresh_from_db()
    assert memory.access_count == 1 and memory.last_accessed_at is not None


@pytest.mark.django_db
def test_an_answer_of_nothing_but_words_leaves_no_debt(alice: User, alice_key: str) -> None:
    make_memory(alice, "Has a cat named Biscuit")
    for path in ("/search?query=cat", "/memory/summary?conversation_id=none"):
        Api(alice_key).get(path)
    assert deferred_writes.wait_until_done(within=0)


@pytest.mark.django_db
def test_who_asks_at_once_waits_for_the_trace(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    deferred = asked_and_unsettled(alice)
    monkeypatch.setattr(time, "sleep", lambda seconds: deferred.run())
    request_id = "req_" + "0" * 26
    assert selectors.owner_of_request(request_id) is None
    [trace] = RecallTrace.objects.all()
    assert selectors.owner_of_request(trace.request_id) == alice


@pytest.mark.django_db
@pytest.mark.parametrize("erased", [False, True])
def test_a_trace_that_a_forget_overtook_is_not_written(alice: User, erased: bool) -> None:
    memory = make_memory(alice, "Has a cat named Biscuit")
    deferred = asked_and_unsettled(alice, "Is the cat named Biscuit?")
    with as_user(alice):
        memory_forgets.forget_memory(user=User.objects.get(pk=alice.pk), memory=memory)
    if erased:
        worker.drain()
    deferred.run()
    assert not RecallTrace.objects.exists() and not RecallHit.objects.exists()
    with deferred_writes.collect() as deferred, as_user(later := User.objects.get(pk=alice.pk)):
        traces.record(
            user=later, kind=TraceKind.SEARCH, query="And now?", hits=[], stages=[], took_ms=1.0
        )
    deferred.run()
    assert RecallTrace.objects.get().query == "And now?"


@pytest.mark.django_db
def test_a_trace_of_somebody_who_was_forgotten_meanwhile_is_not_written(alice: User) -> None:
    deferred = asked_and_unsettled(alice)
    with as_user(alice):
        leaving.forget_user(user=User.objects.get(pk=alice.pk))
    worker.drain()
    deferred.run()
    assert not RecallTrace.objects.exists() and not User.objects.filter(pk=alice.pk).exists()


@pytest.mark.django_db(transaction=True)
def test_a_forget_waits_for_the_trace_that_is_being_written_and_erases_it_too(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = make_memory(alice, "Has a cat named Biscuit")
    hits = [Hit("memory", memory.public_id, 1.0)]
    refused: list[str] = []

    def forget(patient: bool) -> None:
        try:
            with as_user(user := User.objects.get(pk=alice.pk)):
                if not patient:
                    connection.cursor().execute("SET LOCAL lock_timeout = '50ms'")
                memory_forgets.forget_memory(user=user, memory=Memory.objects.get(pk=memory.pk))
        except Exception as error:
            refused.append(type(error.__cause__).__name__)
        finally:
            connections.close_all()

    with as_user(alice):
        traces.record(
            user=alice, kind=TraceKind.SEARCH, query="Biscuit?", hits=hits, stages=[], took_ms=1.0
        )
        meanwhile = Thread(target=forget, args=(False,))
        meanwhile.start()
        meanwhile.join()
        assert refused == [LockNotAvailable.__name__]
    forget(True)
    worker.drain()
    assert not RecallHit.objects.exists() and {one.query for one in RecallTrace.objects.all()} == {
        ""
    }


def wait_for_a_lock() -> None:
    """Until another connection waits for one."""
    waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
    pause = Event()
    while not statements.rows(waiting):
        statements.rows("SELECT pg_stat_clear_snapshot()")
        pause.wait(0.01)


@pytest.mark.django_db(transaction=True)
def test_a_forget_and_a_trace_do_not_wait_for_each_other_in_a_circle(alice: User) -> None:
    """A trace holds the person and then counts accesses; a forget takes the person first, too."""
    memory = make_memory(alice, "Has a cat named Biscuit")
    failed: list[str] = []

    def forget() -> None:
        try:
            with as_user(user := User.objects.get(pk=alice.pk)):
                memory_forgets.forget_memory(user=user, memory=Memory.objects.get(pk=memory.pk))
        except Exception as error:
            failed.append(type(error).__name__)
        finally:
            connections.close_all()

    meanwhile = Thread(target=forget)
    with as_user(alice):
        assert statements.rows(STILL_THERE, [alice.pk, alice.forgets])
        meanwhile.start()
        wait_for_a_lock()
        assert Memory.objects.filter(pk=memory.pk).update(access_count=1)
    meanwhile.join()
    assert failed == [] and not Memory.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_trace_does_not_wait_for_a_memory_that_is_being_changed(alice: User) -> None:
    held, free = (make_memory(alice, f"Has a cat named {name}") for name in ("Biscuit", "Bo"))
    there, done = Event(), Event()

    def change() -> None:
        with as_user(alice, changing=True):
            Memory.objects.filter(pk=held.pk).update(importance=0.9)
            there.set()
            done.wait(30)
        connections.close_all()

    meanwhile = Thread(target=change)
    meanwhile.start()
    there.wait(30)
    used = (held.pk, free.pk)
    traces.record(
        user=alice, kind=TraceKind.RECALL, query="?", hits=[], stages=[], took_ms=1.0, used=used
    )
    done.set()
    meanwhile.join()
    counts = Memory.objects.order_by("pk").values_list("access_count", flat=True)
    assert list(counts) == [0, 1] and RecallTrace.objects.count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("asked", "is_kept"),
    [
        ("Don't keep this: I'm seeing somebody new. What would you give her?", False),
        ("我怀孕了，该吃什么？这句别记", False),
        ("My password is hunter2-and-more, what is it for?", False),
        ("What is my cat called?", True),
    ],
)
def test_a_trace_holds_no_text_of_a_message_that_is_not_kept(
    alice: User, asked: str, is_kept: bool
) -> None:
    make_memory(alice, "Has a cat named Biscuit")
    builder.build(
        search.prepare_query(asked),
        user=alice,
        conversation=conversation_names.create(user=alice, external_id=None),
    )
    assert RecallTrace.objects.get().query == (asked if is_kept else "")
