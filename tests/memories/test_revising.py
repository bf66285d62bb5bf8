"""What the pair head decided at once, a model may revise later: nothing is lost on the way."""

from __future__ import annotations

import pytest

from memories.models import (
    Arbitration,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    Relation,
    Source,
)
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput
from ops.access import as_user
from ops.models import Kind, Operation, Status, User
from ops.queue import worker
from tests.chat_server import ChatServer, refused, said
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


def write(user: User, text: str, *, reference: str) -> Memory:
    prepared = direct_writes.prepare(MemoryInput(text), origin=Origin.API)
    with as_user(user):
        return direct_writes.remember(prepared, user=user, reference=reference).memory


@pytest.fixture
def both(alice: User, server: ChatServer, pairs: FakePairs) -> tuple[Memory, Memory]:
    """Two that the pair head keeps side by side, without being sure."""
    pairs.says("Loves hiking", "Enjoys mountain walks", "unrelated", 0.5)
    first = write(alice, "Loves hiking", reference="call-1")
    second = write(alice, "Enjoys mountain walks", reference="call-2")
    assert first != second
    return first, second


def revising() -> Operation:
    return Operation.objects.filter(kind=Kind.REVISE_MEMORY).latest("pk")


def test_a_model_may_fold_the_new_one_into_what_was_known(
    both: tuple[Memory, Memory], server: ChatServer
) -> None:
    first, second = both
    server.answers = [said({"verdict": "REPLACE", "id": "m1"})]
    worker.drain()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.content, first.current_version) == ("Enjoys mountain walks", 2)
    assert (second.status, second.superseded_by) == (MemoryStatus.ARCHIVED, first)
    newest = MemoryVersion.objects.get(memory=first, number=2)
    assert [one.memory for one in newest.inputs.all()] == [second]
    kept = set(Source.objects.filter(memory=first).values_list("reference", flat=True))
    assert kept == {"call-1", "call-2"}
    logged = Arbitration.objects.latest("pk")
    assert (logged.verdict, logged.decided_by) == ("REPLACE", "model")
    assert "revised" in logged.reasons


def test_what_the_model_takes_for_known_brings_its_source_along(
    both: tuple[Memory, Memory], server: ChatServer
) -> None:
    first, _ = both
    server.answers = [said({"verdict": "SKIP", "id": "m1"})]
    worker.drain()
    first.refresh_from_db()
    assert first.content == "Loves hiking"
    newest = MemoryVersion.objects.get(memory=first, number=first.current_version)
    kept = set(newest.sources.values_list("reference", flat=True))
    assert kept == {"call-1", "call-2"}


def test_what_the_model_takes_for_a_contradiction_waits_for_the_person(
    both: tuple[Memory, Memory], server: ChatServer
) -> None:
    first, second = both
    server.answers = [said({"verdict": "REVIEW", "id": "m1"})]
    worker.drain()
    second.refresh_from_db()
    assert (second.status, second.conflicts_with) == (MemoryStatus.CANDIDATE, first)
    assert Relation.objects.get(memory=second, kind="contradicts").strength >= 0.7


def test_a_pinned_memory_is_not_folded_into_what_was_only_heard(
    both: tuple[Memory, Memory], server: ChatServer
) -> None:
    first, second = both
    Memory.objects.filter(pk=first.pk).update(pinned=True)
    Memory.objects.filter(pk=second.pk).update(origin=Origin.EXTRACTED)
    server.answers = [said({"verdict": "REPLACE", "id": "m1"})]
    worker.drain()
    first.refresh_from_db()
    second.refresh_from_db()
    assert (first.content, first.current_version) == ("Loves hiking", 1)
    assert (second.status, second.conflicts_with) == (MemoryStatus.CANDIDATE, first)


def test_a_model_that_agrees_changes_nothing(
    both: tuple[Memory, Memory], server: ChatServer
) -> None:
    server.answers = [said({"verdict": "KEEP_BOTH", "id": "m1"})]
    worker.drain()
    assert revising().status == Status.SUCCEEDED
    assert revising().result == {"revised": False}
    assert Memory.objects.filter(status=MemoryStatus.ACTIVE).count() == 2


def test_running_it_again_changes_nothing_more(
    both: tuple[Memory, Memory], server: ChatServer
) -> None:
    first, _ = both
    server.answers = [said({"verdict": "REPLACE", "id": "m1"})]
    worker.drain()
    Operation.objects.filter(pk=revising().pk).update(status=Status.PENDING)
    worker.drain()
    assert MemoryVersion.objects.filter(memory=first).count() == 2


def test_a_model_that_fails_leaves_what_was_decided(
    both: tuple[Memory, Memory], server: ChatServer
) -> None:
    server.answers = [refused(500)]
    worker.drain()
    assert revising().status == Status.PENDING
    assert Memory.objects.filter(status=MemoryStatus.ACTIVE).count() == 2


def test_without_a_model_nothing_is_revised(alice: User) -> None:
    write(alice, "Loves hiking", reference="call-1")
    assert not Operation.objects.filter(kind=Kind.REVISE_MEMORY).exists()
