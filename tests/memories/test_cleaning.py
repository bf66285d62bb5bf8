from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from memories.models import Memory, Origin, RecallTrace
from memories.recall import search
from memories.writing import curation, direct_writes
from memories.writing.direct_writes import MemoryInput
from ops import tasks
from ops.models import Kind, Operation, Status, User
from ops.queue import run, worker

pytestmark = pytest.mark.django_db


def remember(user: User, content: str) -> Memory:
    prepared = direct_writes.prepare(MemoryInput(content), origin=Origin.USER)
    return direct_writes.remember(prepared, user=user).memory


def clean_up() -> None:
    tasks.request_cleanup()
    worker.drain()


def test_what_lay_in_the_bin_for_long_enough_is_forgotten(alice: User) -> None:
    old, new, kept = (remember(alice, text) for text in ("Likes tea", "Has a cat", "Lives here"))
    for memory in (old, new):
        curation.recycle(user=alice, memory=memory)
    Memory.everything.filter(pk=old.pk).update(purge_at=timezone.now() - timedelta(seconds=1))
    clean_up()
    assert set(Memory.everything.all()) == {new, kept}


def test_old_traces_go_and_young_ones_stay(alice: User) -> None:
    for text in ("old", "young"):
        search.search(search.prepare_query(text), user=alice)
    RecallTrace.objects.filter(query="old").update(created_at=timezone.now() - timedelta(days=31))
    clean_up()
    assert [trace.query for trace in RecallTrace.objects.all()] == ["young"]


def test_what_is_over_its_time_goes_in_batches(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "AT_ONCE", 2)
    for number in range(5):
        search.search(search.prepare_query(f"old {number}"), user=alice)
    long_ago = timezone.now() - timedelta(days=31)
    RecallTrace.objects.update(created_at=long_ago)
    tokens = [Operation(kind=Kind.CLEANUP, status=Status.FAILED) for _ in range(3)]
    for number, one in enumerate(tokens):
        one.run_after = one.token_expires_at = long_ago
        one.token_digest = f"digest {number}"
        one.save()
    with CaptureQueriesContext(connection) as queries:
        clean_up()
    deleted = [one for one in queries if 'DELETE FROM "memories_recalltrace"' in str(one["sql"])]
    assert len(deleted) == 3 and not RecallTrace.objects.exists()
    assert not Operation.objects.filter(token_digest__isnull=False).exists()
    done = Operation.objects.get(status=Status.SUCCEEDED)
    assert (done.result["traces"], done.result["tokens"]) == (5, 3)


def test_cleaning_waits_only_once() -> None:
    tasks.request_cleanup()
    tasks.request_cleanup()
    assert Operation.objects.count() == 1
