"""Statements by hand: counted like others, planned once, and right under every role."""

import gc
from typing import Any, cast

import psycopg
import pytest
from django.db import DatabaseError, DataError, connection, transaction
from django.utils import timezone
from pytest_django.fixtures import DjangoAssertNumQueries

from foundation.database import statements
from foundation.database.statements import IdOf
from memories.models import LexicalEntry, Memory, MemoryVersion
from ops.access import as_system, as_user
from ops.accounts import keys
from ops.models import ApiKey, User, UserSettings

pytestmark = pytest.mark.django_db


def prepared() -> list[str]:
    """The statements that this connection's server keeps planned."""
    return [text for (text,) in statements.rows("SELECT statement FROM pg_prepared_statements")]


def test_they_count_as_queries(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    with django_assert_num_queries(1):
        assert statements.rows("SELECT %s::int + 1", [2]) == [(3,)]


def test_a_frequent_one_is_planned_once(alice: User) -> None:
    text = "SELECT username FROM ops_user WHERE id = %s"
    for _ in range(6):
        statements.rows(text, [alice.pk])
    assert prepared().count(text.replace("%s", "$1")) == 1


def test_a_planned_one_minds_who_asks_and_under_which_role(db: None) -> None:
    """What was prepared as one person is run anew as another and as the system."""
    text = "SELECT current_setting('memcenter.user', true), current_user::text"
    people = [User.objects.create_user(external_id=name) for name in ("one", "two", "three")]
    seen = []
    for person in people * 3:
        with as_user(person):
            seen += statements.rows(text)
        with as_system():
            assert statements.rows(text)[0][1] == "memcenter_system"
    app = connection.settings_dict["USER"]
    assert seen == [(str(person.pk), app) for person in people * 3]


def test_an_inserted_row_is_as_if_it_had_been_saved(alice: User) -> None:
    row = ApiKey(user=alice, name="by hand", prefix="mc_", digest="d" * 64, scopes=["read"])
    statements.insert([row])
    found = ApiKey.objects.get(pk=row.pk)
    assert (found.name, found.scopes, found.user) == ("by hand", ["read"], alice)
    assert found.created_at == row.created_at and not row._state.adding


def test_rows_that_refer_to_each_other_are_inserted_together(
    alice: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    memory = Memory(
        user=alice, content="Plays chess", kind="fact", origin="user", created_at=timezone.now()
    )
    version = MemoryVersion(
        user=alice,
        memory=memory,
        number=1,
        kind="fact",
        content="Plays chess",
        change="created",
        actor="user",
        created_at=timezone.now(),
    )
    words = LexicalEntry(
        user=alice,
        target_kind="memory",
        target_id=cast(Any, IdOf(memory)),
        terms=["chess"],
        length=1,
    )
    with django_assert_num_queries(1):
        statements.insert_together([memory, version, words])
    assert not any(row._state.adding for row in (memory, version, words))
    assert (version.memory_id, words.target_id) == (memory.pk, memory.pk)
    for row in (memory, version, words):
        found = type(row)._base_manager.get(pk=row.pk)
        assert all(
            getattr(found, one.attname) == getattr(row, one.attname)
            for one in row._meta.concrete_fields
        )


def test_nothing_is_inserted_together_for_somebody_else(alice: User, mallory: User) -> None:
    memory = Memory(
        user=mallory, content="Plays chess", kind="fact", origin="user", created_at=timezone.now()
    )
    with (
        pytest.raises(DatabaseError, match="row-level security"),
        as_user(alice),
        transaction.atomic(),
    ):
        statements.insert_together([memory])
    assert not Memory.objects.exists()


def test_a_loaded_row_is_the_row(alice: User) -> None:
    text = f"SELECT {statements.columns(UserSettings, 's')} FROM ops_usersettings s"
    loaded = [statements.instance(UserSettings, values) for values in statements.rows(text)]
    assert loaded == list(UserSettings.objects.all())


def test_a_key_is_known_until_it_ends(alice: User, alice_key: str) -> None:
    found = keys.authenticate(alice_key)
    assert found is not None and found.user == alice
    keys.revoke(found)
    assert keys.authenticate(alice_key) is None


def test_nothing_that_was_read_or_given_stays_in_the_process(alice: User) -> None:
    """A text that is forgotten must not be in a cursor that the next statement uses."""
    before = open_cursors()  # of tests before, whose failed statements wait to be collected
    assert statements.rows("SELECT %s::text", ["Plays chess"]) == [("Plays chess",)]
    batch = statements.Batch()
    found = [batch.add("SELECT %s::text", ["Plays chess"]) for _ in range(2)]
    assert [one.rows() for one in found] == [[("Plays chess",)]] * 2
    assert [one for one in open_cursors() if one not in before] == []


def open_cursors() -> list[psycopg.Cursor[Any]]:
    # `isinstance` would ask a weak proxy for the class of an object that is gone.
    cursors = [one for one in gc.get_objects() if issubclass(type(one), psycopg.Cursor)]
    return [one for one in cursors if one.connection is connection.connection and not one.closed]


def test_after_a_wrong_one_the_next_is_run_as_ever(db: None) -> None:
    with pytest.raises(DataError), transaction.atomic():
        statements.rows("SELECT %s::int", ["x"])
    assert statements.rows("SELECT %s::int", [2]) == [(2,)]


@pytest.mark.django_db(transaction=True)
def test_statements_run_on_a_new_connection() -> None:
    assert statements.rows("SELECT 1") == [(1,)]
    before = connection.connection
    connection.close()
    assert statements.rows("SELECT 1") == [(1,)]
    assert connection.connection is not before
