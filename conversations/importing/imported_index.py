"""Index imported rows that have no words and vectors yet."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from conversations.models import Episode, Message, Summary
from memories.extraction import secret_masking
from memories.indexing import search_index
from memories.indexing.search_index import Entry
from memories.models import DailyNote, LexicalEntry, Memory, TargetKind
from memories.recall.searchable_texts import WITH_TURN, episode_text, masked_message
from ops.access import as_user
from ops.models import User
from ops.queue.run import Run
from ops.transfer.export_requests import give_way

_AT_ONCE = 100
_EPISODE_CHARS = 4_000


@dataclass(frozen=True)
class _Shelf:
    kind: TargetKind
    rows: Callable[[User], QuerySet[Any]]
    text: Callable[[Any], str]


_SHELVES = (
    _Shelf(
        TargetKind.MESSAGE,
        lambda user: Message.objects.filter(user=user).select_related(*WITH_TURN),
        masked_message,
    ),
    _Shelf(
        TargetKind.EPISODE,
        lambda user: Episode.objects.filter(user=user).select_related(
            "turn__user_message", "turn__assistant_message"
        ),
        lambda one: episode_text(one.turn)[:_EPISODE_CHARS],
    ),
    _Shelf(
        TargetKind.SUMMARY,
        lambda user: Summary.objects.filter(user=user).exclude(text=""),
        lambda one: secret_masking.masked(one.text),
    ),
    _Shelf(TargetKind.NOTE, lambda user: DailyNote.objects.filter(user=user), lambda n: n.text),
)


def index_what_is_not(run: Run, *, user: User) -> int:
    """Index every row of the person that has no words or vectors; return how many.

    Works in batches outside the serial key and gives way to a forget. Safe to repeat.
    """
    count = 0
    for shelf in _SHELVES:
        for rows in _missing(shelf, user):
            vectors = search_index.embed([shelf.text(row) for row in rows])
            with run.applying(user):
                _store(shelf, rows, vectors, user=user)
            count += len(rows)
            _look(run, user, count)
    return count + _index_memories(run, user, count)


def _missing(shelf: _Shelf, user: User) -> Iterator[list[Any]]:
    after = 0
    entries = LexicalEntry.objects.filter(
        user=user, target_kind=shelf.kind, target_id=OuterRef("pk")
    )
    while True:
        with as_user(user):
            bare = shelf.rows(user).filter(~Exists(entries), pk__gt=after)
            rows = list(bare.order_by("pk")[:_AT_ONCE])
        if not rows:
            return
        yield rows
        after = rows[-1].pk


def _store(shelf: _Shelf, rows: list[Any], vectors: Any, *, user: User) -> None:
    """Store the index of rows that still exist; a forget may have deleted some meanwhile."""
    left = set(
        shelf.rows(user).filter(pk__in=[row.pk for row in rows]).values_list("pk", flat=True)
    )
    places = [place for place, row in enumerate(rows) if row.pk in left]
    entries = [
        Entry(
            shelf.kind,
            rows[place].pk,
            shelf.text(rows[place]),
            getattr(rows[place], "conversation_id", None),
        )
        for place in places
    ]
    if entries:
        search_index.store(user=user, entries=entries, vectors=vectors[places])


def _index_memories(run: Run, user: User, count: int) -> int:
    done, after = 0, 0
    while True:
        with as_user(user):
            bare = Memory.visible.filter(user=user, indexed_at__isnull=True, pk__gt=after)
            memory = bare.order_by("pk").first()
        if memory is None:
            return done
        after = memory.pk
        vectors, pieces = search_index.embed_memory(memory.content)
        with run.applying(user):
            current = Memory.visible.select_for_update(of=("self",)).filter(pk=memory.pk).first()
            if current is not None and current.content == memory.content:
                search_index.store_memory(memory=current, vectors=vectors, pieces=pieces)
                done += 1
        if done % _AT_ONCE == 0:
            _look(run, user, count + done)


def _look(run: Run, user: User, count: int) -> None:
    run.step("index", done=count, total=0)
    give_way(user)
