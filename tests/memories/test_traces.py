"""What explains an answer is written when the answer has gone out, and brings nothing back."""

import time
from collections.abc import Callable
from threading import Thread

import pytest
from django.db import connection, connections
from psycopg.errors import LockNotAvailable

from memcenter.lib import afterwards
from memories import owners
from memories.models import Memory, RecallHit, RecallTrace, TraceKind
from memories.services import forgetting, search, traces
from memories.services.traces import Hit
from ops.access import as_user
from ops.models import User
from ops.services import forgetting as leaving
from ops.services import worker
from tests.factories import make_memory
from tests.memcenter.rest.client import Api, answer

ASK = {"message": "What is my cat called?"}


def asked_and_unsettled(user: User, query: str = "What is my cat called?") -> afterwards.Owed:
    """A search that has answered and hasn't yet written what explains it."""
    prepared = search.prepare_query(query)
    with afterwards.collected() as owed, as_user(user):
        search.search(prepared, user=user)
    return owed


@pytest.mark.django_db
def test_the_answer_is_there_before_its_trace(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = make_memory(alice, "Has a cat named Biscuit")
    waiting: list[Callable[[], None]] = []
    monkeypatch.setattr(afterwards.Owed, "settle", lambda self: waiting.extend(self._acts))
    found = answer(Api(alice_key).post("/memory/context", ASK))
    assert "Biscuit" in found["block"] and not RecallTrace.objects.exists()
    for act in waiting:
        act()
        afterwards._counted(-1)
    assert RecallTrace.objects.get().request_id == found["request_id"]
    memory.refresh_from_db()
    assert memory.access_count == 1 and memory.last_accessed_at is not None


@pytest.mark.django_db
def test_an_answer_of_nothing_but_words_leaves_no_debt(alice: User, alice_key: str) -> None:
    make_memory(alice, "Has a cat named Biscuit")
    for path in ("/search?query=cat", "/memory/summary?conversation_id=none"):
        Api(alice_key).get(path)
    assert afterwards.settled(within=0)


@pytest.mark.django_db
def test_who_asks_at_once_waits_for_the_trace(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    owed = asked_and_unsettled(alice)
    monkeypatch.setattr(time, "sleep", lambda seconds: owed.settle())
    request_id = "req_" + "0" * 26
    assert owners.of_request(request_id) is None
    [trace] = RecallTrace.objects.all()
    assert owners.of_request(trace.request_id) == alice


@pytest.mark.django_db
@pytest.mark.parametrize("erased", [False, True])
def test_a_trace_that_a_forget_overtook_is_not_written(alice: User, erased: bool) -> None:
    memory = make_memory(alice, "Has a cat named Biscuit")
    owed = asked_and_unsettled(alice, "Is the cat named Biscuit?")
    with as_user(alice):
        forgetting.forget_memory(user=User.objects.get(pk=alice.pk), memory=memory)
    if erased:
        worker.drain()
    owed.settle()
    assert not RecallTrace.objects.exists() and not RecallHit.objects.exists()
    with afterwards.collected() as owed, as_user(later := User.objects.get(pk=alice.pk)):
        traces.record(
            user=later, kind=TraceKind.SEARCH, query="And now?", hits=[], stages=[], took_ms=1.0
        )
    owed.settle()
    assert RecallTrace.objects.get().query == "And now?"


@pytest.mark.django_db
def test_a_trace_of_somebody_who_was_forgotten_meanwhile_is_not_written(alice: User) -> None:
    owed = asked_and_unsettled(alice)
    with as_user(alice):
        leaving.forget_user(user=User.objects.get(pk=alice.pk))
    worker.drain()
    owed.settle()
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
                forgetting.forget_memory(user=user, memory=Memory.objects.get(pk=memory.pk))
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
