"""Contradictions: how they are shown, and what a decision makes of both sides."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from memories import review
from memories.indexing import search_index
from memories.models import Memory, MemoryStatus, Origin, Relation
from memories.review import ReviewInput
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput, WriteResult
from ops.access import as_user
from ops.models import Kind, Operation, User
from ops.queue import worker
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db
MAY = datetime(2026, 5, 1, tzinfo=UTC)


def write(user: User, text: str, origin: Origin = Origin.API) -> WriteResult:
    prepared = direct_writes.prepare(MemoryInput(text), origin=origin)
    with as_user(user):
        return direct_writes.remember(prepared, user=user)


@pytest.fixture
def sides(alice: User) -> tuple[Memory, Memory]:
    """What is known, and a candidate that contradicts it."""
    old = write(alice, "Lives in Leeds").memory
    new = write(alice, "Plays the cello").memory
    Memory.objects.filter(pk=new.pk).update(
        status=MemoryStatus.CANDIDATE, conflicts_with=old, content="Lives in York"
    )
    new.refresh_from_db()
    return old, new


def decide(user: User, new: Memory, decision: str, *, since: datetime | None = None) -> None:
    review.confirm(user=user, decisions=[ReviewInput(new.public_id, decision, since)])


def test_keeping_both_with_a_day_ends_the_old_where_the_new_begins(
    alice: User, sides: tuple[Memory, Memory]
) -> None:
    old, new = sides
    decide(alice, new, "keep_both", since=MAY)
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.valid_until, new.valid_from) == (MAY, MAY)
    assert (old.status, new.status) == (MemoryStatus.ACTIVE, MemoryStatus.ACTIVE)


def test_keeping_both_never_turns_the_old_ones_dates_round(
    alice: User, sides: tuple[Memory, Memory]
) -> None:
    old, new = sides
    later = datetime(2026, 8, 1, tzinfo=UTC)
    Memory.objects.filter(pk=old.pk).update(valid_from=later)
    decide(alice, new, "keep_both", since=MAY)
    old.refresh_from_db()
    assert (old.valid_from, old.valid_until) == (later, None)


@pytest.mark.parametrize("decision", ["keep_both", "keep_new", "accept"])
def test_a_settled_contradiction_no_longer_weighs(
    alice: User, sides: tuple[Memory, Memory], decision: str
) -> None:
    old, new = sides
    decide(alice, new, decision)
    assert Relation.objects.get(memory=new, other=old).strength < 0.5


def test_what_else_stood_against_the_loser_stands_against_the_winner(
    alice: User, sides: tuple[Memory, Memory]
) -> None:
    old, new = sides
    third = write(alice, "Collects stamps").memory
    Memory.objects.filter(pk=third.pk).update(status=MemoryStatus.CANDIDATE, conflicts_with=old)
    decide(alice, new, "keep_new")
    third.refresh_from_db()
    assert third.conflicts_with == new


def test_a_loser_in_the_bin_is_left_alone(alice: User, sides: tuple[Memory, Memory]) -> None:
    old, new = sides
    Memory.objects.filter(pk=old.pk).update(deleted_at=MAY, purge_at=MAY)
    decide(alice, new, "keep_new")
    assert Memory.visible.get(pk=old.pk).status == MemoryStatus.ACTIVE


def test_one_new_text_replaces_all_that_it_takes_the_place_of(
    alice: User, pairs: FakePairs
) -> None:
    for home in ("Lives in Leeds", "Lives in Bath"):
        pairs.says(home, "Now lives in Paris", "newer")
    first = write(alice, "Lives in Leeds").memory
    second = write(alice, "Plays the cello").memory
    prepared = search_index.embed_memory("Lives in Bath")
    Memory.objects.filter(pk=second.pk).update(content="Lives in Bath")
    second.refresh_from_db()
    search_index.store_memory(memory=second, vectors=prepared[0], pieces=[])
    written = write(alice, "Now lives in Paris", origin=Origin.USER)
    loser = {first.public_id, second.public_id} - {written.memory.public_id}
    assert set(written.superseded) == loser
    assert Memory.objects.get(public_id__in=loser).superseded_by == written.memory


def test_a_merge_is_found_by_its_words_at_once_and_embedded_by_an_operation(
    alice: User, pairs: FakePairs
) -> None:
    pairs.says("Has a cat named Biscuit", "Biscuit is 3 years old", "refines")
    write(alice, "Has a cat named Biscuit")
    merged = write(alice, "Biscuit is 3 years old")
    assert merged.result == "updated"
    assert merged.memory.content == "Has a cat named Biscuit; Biscuit is 3 years old"
    assert Operation.objects.filter(kind=Kind.INDEX_MEMORY).exists()
    worker.drain()
    merged.memory.refresh_from_db()
    assert merged.memory.indexed_at is not None


def test_no_text_is_embedded_while_the_transaction_is_open(
    alice: User, monkeypatch: pytest.MonkeyPatch, pairs: FakePairs
) -> None:
    pairs.says("Has a cat named Biscuit", "Biscuit is 3 years old", "refines")
    write(alice, "Has a cat named Biscuit")
    prepared = direct_writes.prepare(MemoryInput("Biscuit is 3 years old"), origin=Origin.API)

    def refuse(_: object) -> None:
        raise AssertionError("embedded inside a transaction")

    monkeypatch.setattr(search_index, "embed", refuse)
    with as_user(alice):
        assert direct_writes.remember(prepared, user=alice).result == "updated"
