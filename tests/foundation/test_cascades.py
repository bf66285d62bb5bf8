"""Deleting in one statement, held against what Django deletes one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest
from django.db import transaction
from django.db.models import Model, QuerySet
from pytest_django import DjangoAssertNumQueries

from conversations.models import Conversation, Message, Turn
from foundation.database import cascades
from memories.models import Memory, MemoryVersion, Project, RecallTrace
from ops.models import Operation, User
from tests.factories import make_memory
from tests.ops.test_forgetting import give_everything
from tests.rows import personal_models

pytestmark = pytest.mark.django_db
ROOTS = (Memory, MemoryVersion, Project, Conversation, Message, Turn, RecallTrace)


def left_after(delete: Callable[[], Counter[str]]) -> tuple[Counter[str], dict[str, set[int]]]:
    """What it says, and the rows that are there afterwards; then nothing has happened."""
    with transaction.atomic():
        counts = delete()
        models = personal_models()
        left = {one.__name__: set(one._base_manager.values_list("pk", flat=True)) for one in models}
        transaction.set_rollback(True)
    return counts, left


def by_django(rows: QuerySet[Model]) -> Counter[str]:
    named = rows.delete()[1]
    return Counter({name.lower().replace(".", "_"): n for name, n in named.items() if n})


def test_the_same_goes_as_when_django_deletes(alice: User, mallory: User) -> None:
    give_everything(alice)
    give_everything(mallory)
    for model in ROOTS:
        rows = model._base_manager.filter(user=alice)
        assert rows.exists()
        told, left = left_after(lambda rows=rows: cascades.delete(rows))  # type: ignore[misc]
        assert (told, left) == left_after(lambda rows=rows: by_django(rows)), model  # type: ignore[misc]


def test_what_only_points_at_it_stays_and_points_at_nothing(alice: User) -> None:
    gone = make_memory(alice, "Plays chess")
    stays = make_memory(alice, "Plays go", superseded_by=gone, conflicts_with=gone)
    cascades.delete(Memory.everything.filter(pk=gone.pk))
    stays.refresh_from_db()
    assert (stays.superseded_by_id, stays.conflicts_with_id) == (None, None)


def test_it_takes_one_statement_and_none_where_nothing_can_match(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_memory(alice, "Plays chess")
    with django_assert_num_queries(1):
        assert cascades.delete(Memory.everything.filter(user=alice))["memories_memory"] == 1
    with django_assert_num_queries(0):
        assert cascades.delete(Memory.everything.filter(pk__in=[])) == {}


def test_what_may_not_be_deleted_so_is_refused() -> None:
    with pytest.raises(TypeError):
        cascades.delete(Operation.objects.all())  # its receipt protects it
