"""What the database itself refuses: another person's rows, where a statement forgot whose it wants.

The filter is left out on purpose, in every table that holds what belongs to people.
"""

from __future__ import annotations

from typing import Any

import pytest
from django.db import ProgrammingError, connection, transaction
from django.db.models import Model

from memories.models import Memory, Tombstone
from ops.access import as_system, as_user, read_all_rows
from ops.models import User
from tests.factories import make_memory
from tests.rows import personal_models, tables_of
from tests.whole_person import give_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def hers(mallory: User) -> User:
    """At least one row in every personal table."""
    give_all(mallory)
    return mallory


def owner_of(model: type[Model]) -> str:
    return "id" if model is User else "user_id"


def asked(statement: str, *values: Any) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        return list(cursor.fetchall())


def test_a_forgotten_filter_shows_nothing_of_anybody_else(alice: User, hers: User) -> None:
    tables = {model._meta.db_table: owner_of(model) for model in personal_models()}
    assert tables_of(hers) == set(tables)
    with as_user(alice):
        for table, owner in tables.items():
            others = f'SELECT count(*) FROM "{table}" WHERE "{owner}" <> %s'
            assert asked(others, alice.pk) == [(0,)], table
    with as_system():
        for table, owner in tables.items():
            assert asked(f'SELECT true FROM "{table}" WHERE "{owner}" = %s LIMIT 1', hers.pk), table


def test_nor_does_one_change_or_erase_it(alice: User, hers: User) -> None:
    with as_user(alice), connection.cursor() as cursor:
        cursor.execute("UPDATE memories_memory SET pinned = true")
        assert cursor.rowcount == 0
        cursor.execute("DELETE FROM memories_lexicalentry")
        assert cursor.rowcount == 0


def test_nobody_writes_in_anothers_name(alice: User, mallory: User) -> None:
    with (
        as_user(alice),
        pytest.raises(ProgrammingError, match="row-level security"),
        transaction.atomic(),
    ):
        Tombstone.objects.create(user=mallory, memory_public_id="mem_x", text_hash="0")


def test_everybody_is_seen_only_where_that_is_asked_for(alice: User, hers: User) -> None:
    others = Memory.objects.exclude(user=alice)
    with as_user(alice):
        with read_all_rows():
            assert others.exists()
        assert not others.exists()
        with pytest.raises(ZeroDivisionError), read_all_rows():
            raise ZeroDivisionError
        assert not others.exists()


@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_every_personal_table_has_the_policy(model: type[Model]) -> None:
    """A new table of personal data wants `foundation.database.schema` in its migration."""
    [(held,)] = asked(
        "SELECT relrowsecurity FROM pg_class WHERE relname = %s", model._meta.db_table
    )
    policies = asked(
        "SELECT policyname, cmd, permissive, roles::text FROM pg_policies WHERE tablename = %s",
        model._meta.db_table,
    )
    assert held and policies == [("own_rows", "ALL", "PERMISSIVE", "{memcenter_app}")]


def test_the_index_of_words_still_serves_those_with_very_many(alice: User) -> None:
    """Under row security an index serves only conditions that are known to tell nothing."""
    make_memory(alice, "Likes maps in Leeds")
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO memories_lexicalentry (user_id, target_kind, target_id, terms, length)"
            " SELECT user_id, target_kind, target_id + n, ARRAY['w' || n], length"
            " FROM memories_lexicalentry, generate_series(1, 4000) n"
        )
        # Rows of earlier tests, which wait for a vacuum in the index, would make it look slow.
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("ANALYZE memories_lexicalentry")
    with as_user(alice):
        plan = asked(
            "EXPLAIN SELECT 1 FROM memories_lexicalentry WHERE user_id = %s AND terms && %s",
            alice.pk,
            ["w7", "leeds"],
        )
    assert "terms &&" in str([line for (line,) in plan if "Index Cond" in line])
