from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from foundation.errors import ProviderError
from foundation.providers.base import Vectors
from memories.forgetting import memory_forgets
from memories.indexing import reindexing, search_index
from memories.indexing.search_index import identity_of
from memories.models import EmbeddingSpace, LexicalEntry, Memory, Vector
from memories.recall import search
from ops.access import as_user
from ops.models import Operation, Status, User
from ops.queue import worker
from tests.factories import make_conversation, make_episode, make_memory, make_turn
from tests.hashing_embedder import HashingEmbedder
from tests.killing import Kill, revive

pytestmark = pytest.mark.django_db


class Other(HashingEmbedder):
    """Another embedder; `before` is called with what it is to embed."""

    def __init__(self, *, dimensions: int = 64) -> None:
        super().__init__(dimensions=dimensions)
        self.calls: list[list[str]] = []
        self.before: Any = lambda texts: None

    def embed(self, texts: Sequence[str]) -> Vectors:
        self.calls.append(list(texts))
        self.before(texts)
        return super().embed(texts)


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> Iterator[Other]:
    search_index.reset_embedder()
    search_index.active_space()
    one = Other()
    monkeypatch.setattr(search_index, "configured_embedder", lambda: one)
    yield one
    search_index.reset_embedder()


def found(user: User, query: str) -> list[str]:
    prepared = search.prepare_query(query)
    return [hit.text for hit in search.search(prepared, user=user, types=("memory",)).results]


def active() -> EmbeddingSpace:
    return EmbeddingSpace.objects.get(active=True)


def write(user: User, content: str) -> Memory:
    memory = make_memory(user, content)
    vectors, pieces = search_index.embed_memory(content)
    search_index.store_memory(memory=memory, vectors=vectors, pieces=pieces)
    return memory


def test_everything_is_embedded_anew_and_then_searched(
    alice: User, mallory: User, other: Other
) -> None:
    turn = make_turn(make_conversation(alice), "I play chess.")
    make_episode(turn)
    write(alice, "Plays chess.")
    write(mallory, "Keeps bees. " * 400)
    operation = reindexing.request()
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error
    assert search_index.identity(active()) == identity_of(other)
    assert EmbeddingSpace.objects.count() == 1
    assert Vector.objects.count() == LexicalEntry.objects.count()
    assert {len(row.embedding) for row in Vector.objects.all()} == {64}
    assert found(alice, "chess") == ["Plays chess."]


def test_until_the_switch_the_old_space_is_searched_with_its_own_embedder(
    alice: User, other: Other
) -> None:
    write(alice, "Plays chess.")
    reindexing.request()
    assert identity_of(search_index.embedder()) == search_index.identity(active())
    assert identity_of(search_index.embedder()) != identity_of(other)
    assert found(alice, "chess") == ["Plays chess."]


@pytest.mark.parametrize("chunk", [1, 2])
def test_killed_half_way_it_goes_on_where_it_was(
    alice: User, other: Other, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    monkeypatch.setattr(reindexing, "CHUNK", chunk)
    texts = [f"Fact number {number}." for number in range(5)]
    for text in texts:
        write(alice, text)
    operation = reindexing.request()
    real = reindexing._store

    def deadly(*args: Any, **given: Any) -> int:
        stored = real(*args, **given)
        if len(other.calls) == 2:
            raise Kill
        return stored

    with monkeypatch.context() as patched:
        patched.setattr(reindexing, "_store", deadly)
        with pytest.raises(Kill):
            worker.drain()
        assert found(alice, "Fact number 3.")[0] == "Fact number 3."
        revive(patched)
    monkeypatch.setattr(search_index, "configured_embedder", lambda: other)
    worker.drain()
    operation.refresh_from_db()
    assert operation.status == Status.SUCCEEDED, operation.last_error
    assert Vector.objects.filter(space=active()).count() == 5
    assert sorted(found(alice, "Fact number 3.")) == texts


def test_what_is_written_meanwhile_is_not_lost(alice: User, other: Other) -> None:
    write(alice, "Plays chess.")
    reindexing.request()
    others = ["Has a cat."]

    def write_another(texts: Sequence[str]) -> None:
        if others:
            write(alice, others.pop())

    other.before = write_another
    worker.drain()
    assert Vector.objects.filter(space=active()).count() == 2
    assert set(found(alice, "cat")) == {"Has a cat.", "Plays chess."}


def test_what_changes_meanwhile_is_embedded_as_it_reads_in_the_end(
    alice: User, other: Other
) -> None:
    memory = write(alice, "Plays chess.")
    reindexing.request()
    changes = ["Plays go."]

    def change(texts: Sequence[str]) -> None:
        if changes:
            memory.content = changes.pop()
            memory.save(update_fields=["content"])
            vectors, pieces = search_index.embed_memory(memory.content)
            search_index.store_memory(memory=memory, vectors=vectors, pieces=pieces)

    other.before = change
    worker.drain()
    [vector] = Vector.objects.filter(space=active())
    [expected] = HashingEmbedder(dimensions=64).embed(["Plays go."])
    assert list(vector.embedding) == pytest.approx(expected.tolist(), abs=1e-2)


def test_what_is_forgotten_meanwhile_does_not_come_back(alice: User, other: Other) -> None:
    memory, _ = write(alice, "Plays chess."), write(alice, "Has a cat.")
    reindexing.request()
    asked: list[Operation] = []

    def forget(texts: Sequence[str]) -> None:
        if not asked:
            with as_user(alice):
                asked.append(memory_forgets.forget_memories(user=alice, memories=[memory]))
            search_index.erase(user_id=alice.pk, kind="memory", target_ids=[memory.pk])  # type: ignore[arg-type]

    other.before = forget
    worker.drain()
    assert not Vector.objects.filter(target_id=memory.pk, target_kind="memory").exists()
    assert found(alice, "chess") == ["Has a cat."]


def test_vectors_of_the_old_embedder_are_refused_after_the_switch(
    alice: User, other: Other
) -> None:
    memory = write(alice, "Plays chess.")
    late, pieces = search_index.embed_memory("Plays chess.")
    reindexing.request()
    worker.drain()
    with pytest.raises(ProviderError) as refused:
        search_index.store_memory(memory=memory, vectors=late, pieces=pieces)
    assert refused.value.retryable


def test_a_search_that_began_before_the_switch_still_finds_words(alice: User, other: Other) -> None:
    write(alice, "Plays chess.")
    late = search.prepare_query("chess")
    reindexing.request()
    worker.drain()
    hits = search.search(late, user=alice, types=("memory",)).results
    assert [hit.text for hit in hits] == ["Plays chess."]


def test_running_it_again_changes_nothing(alice: User, other: Other) -> None:
    write(alice, "Plays chess.")
    reindexing.request()
    worker.drain()
    before = list(Vector.objects.order_by("pk").values_list("pk", flat=True))
    again = reindexing.request()
    worker.drain()
    again.refresh_from_db()
    assert again.status == Status.SUCCEEDED and again.result == {"embedded": 0}
    assert list(Vector.objects.order_by("pk").values_list("pk", flat=True)) == before


def test_an_embedder_that_is_down_leaves_the_old_space_searched(alice: User, other: Other) -> None:
    write(alice, "Plays chess.")
    operation = reindexing.request()

    def down(texts: Sequence[str]) -> None:
        raise ProviderError("It is down.", retryable=True)

    other.before = down
    worker.drain(limit=1)
    operation.refresh_from_db()
    assert operation.status == Status.PENDING
    assert found(alice, "chess") == ["Plays chess."]
