import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.db.models import Model, UniqueConstraint
from pgvector.django import HalfVectorField

from memories.models import RecallHit
from ops import ledger, registry
from ops.forgetting import forget_steps, person_forgets
from ops.models import Kind, User
from ops.residue import residue_columns, stores
from tests.rows import personal_models

OURS = ("ops", "conversations", "memories")
ROOT = Path(__file__).resolve().parents[2]
# Their handlers come with the issues that enqueue them.
LATER = {
    Kind.SYNC_FILES,
}


# Ids and words of ours, which finding rows by them needs notes of.
NAMES_OF_OURS: dict[type[Model], set[str]] = {RecallHit: {"type", "target_public_id"}}
# As many rows as we have made, whatever people do.
FEW_ROWS = {
    "auth_permission",
    "auth_group",
    "django_content_type",
    "memories_embeddingspace",
    "ops_audithead",
}


def our_models() -> list[type[Model]]:
    return [model for model in apps.get_models() if model._meta.app_label in OURS]


def registered() -> list[type[Model]]:
    return [model for one in registry.user_data_kinds() for model in one.models]


@pytest.mark.parametrize("model", our_models(), ids=lambda model: model.__name__)
def test_every_model_says_whether_it_holds_personal_data(model: type[Model]) -> None:
    assert isinstance(getattr(model, "personal_data", None), bool)


@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_every_personal_model_is_in_exactly_one_participant(model: type[Model]) -> None:
    assert registered().count(model) == 1


def test_participants_hold_personal_models_only_and_have_names_of_their_own() -> None:
    assert set(registered()) <= set(personal_models())
    names = [one.name for one in registry.user_data_kinds()]
    assert len(names) == len(set(names))


def test_the_account_is_erased_last() -> None:
    assert User in registry.user_data_kinds()[-1].models


@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_every_personal_table_is_found_by_its_user(model: type[Model]) -> None:
    if model is User:
        return
    column = model._meta.get_field("user")
    own = bool(getattr(column, "db_index", False) or getattr(column, "unique", False))
    unique = [one for one in model._meta.constraints if isinstance(one, UniqueConstraint)]
    leading = [one.fields[0] for one in (*model._meta.indexes, *unique) if one.fields]
    assert own or "user" in leading


@pytest.mark.parametrize("kind", Kind, ids=lambda kind: kind.value)
def test_every_kind_has_a_handler_or_is_named_as_coming_later(kind: Kind) -> None:
    assert (kind.value in registry.handled_kinds()) or kind in LATER


def test_only_tables_of_ours_and_the_admins_log_point_at_a_person() -> None:
    foreign = {
        relation.related_model
        for relation in User._meta.related_objects
        if relation.related_model._meta.app_label not in OURS
    }
    assert foreign == {LogEntry}


def text_columns(model: type[Model]) -> set[str]:
    return {column.name for column in residue_columns.text_columns(model)}


@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_every_text_column_of_personal_data_says_what_it_holds(model: type[Model]) -> None:
    words, codes = getattr(model, "words", ()), getattr(model, "codes", ())
    assert {*words, *codes} == text_columns(model) and not {*words} & {*codes}
    assert {*getattr(model, "vouches", ())} <= {*words}


@pytest.mark.django_db
def test_the_residue_scan_knows_every_column_of_the_database_that_could_hold_text() -> None:
    """Also those that no model of ours describes."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name || '.' || column_name FROM information_schema.columns"
            " WHERE table_schema = 'public'"
            " AND (data_type IN ('text', 'character varying', 'json', 'jsonb', 'xml',"
            " 'USER-DEFINED')"
            " OR (data_type = 'ARRAY' AND udt_name IN ('_text', '_varchar', '_jsonb')))"
        )
        there = {row[0] for row in cursor.fetchall()}
    found = residue_columns.scanned_tables()
    known = {f"{one.table}.{column}" for one in found for column in residue_columns.columns_in(one)}
    not_text = {"memories_vector.embedding"}
    assert there - known - not_text == {"django_migrations.app", "django_migrations.name"}


@pytest.fixture
def root() -> Path:
    return ROOT


def using_redis(root: Path) -> set[str]:
    return {
        ".".join(path.relative_to(root).with_suffix("").parts)
        for app in (*OURS, "memcenter")
        for path in (root / app).rglob("*.py")
        if "embedded" not in path.parts
        and re.search(r"from django.core.cache import|import redis|from redis", path.read_text())
    }


def test_every_module_that_writes_to_redis_says_which_keys(root: Path) -> None:
    """Which keys it writes is looked at as they are written: see `tests.redis_keys`."""
    reading_only = {
        "conversations.management.wait_for_learning",
        "conversations.pages.conversation_list",
        "memcenter.management.commands.doctor",
        "memcenter.monitoring",
        "memcenter.management.commands.restore",  # empties it
        "memcenter.rest.responses",
        "memcenter.compat.openai_chat.memory",
        "memories.writing.memory_writes",  # drops what `memories.pages.memory_list` writes
        "ops.residue.stores",
        "ops.pages.stored_amounts",
    }
    assert using_redis(root) - reading_only == {one.module for one in stores._cached}


def test_every_store_of_vectors_keeps_them_in_tables_of_ours(root: Path) -> None:
    """One that keeps them elsewhere erases what our tables lose, and is looked into by its name."""
    modules = {path.stem for path in (root / "memories/retrieval/stores").glob("*.py")}
    elsewhere = {one.name for one in stores._elsewhere}
    servers = {f"{name}_server" for name in elsewhere}
    assert modules - elsewhere - servers == {"__init__", "base", "pgvector"}


def test_every_storage_of_files_is_looked_into_and_erased_from() -> None:
    """Under the data folder, where the scan reads whatever there is."""
    storages: Any = settings.STORAGES
    for name, storage in storages.items():
        if name != "staticfiles":
            location = Path(str(storage["OPTIONS"]["location"]))
            assert location.is_relative_to(settings.DATA_DIR), name
            assert location.relative_to(settings.DATA_DIR).parts[0] not in stores.NOT_LOOKED_INTO


def test_every_scope_of_the_ledger_can_be_forgotten_again() -> None:
    assert set(person_forgets._again) == set(ledger.SCOPES.values())
    assert set(ledger.SCOPES) == set(forget_steps.FORGET_KINDS)


@pytest.mark.django_db
@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_the_planner_notes_nothing_of_what_people_say(model: type[Model]) -> None:
    """What it notes of a column outlives its rows: see `foundation.database.schema`."""
    vectors = [one for one in model._meta.concrete_fields if isinstance(one, HalfVectorField)]
    free = [one for one in (*residue_columns.text_columns(model), *vectors) if not one.choices]
    names = {one.column for one in free} - NAMES_OF_OURS.get(model, set())
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
            " AND attname = ANY(%s) AND attstattarget IS DISTINCT FROM 0",
            [model._meta.db_table, sorted(names)],
        )
        assert cursor.fetchall() == []


@pytest.mark.django_db
@pytest.mark.parametrize("model", personal_models(), ids=lambda model: model.__name__)
def test_what_people_say_is_stored_uncompressed(model: type[Model]) -> None:
    """A scan of the raw files reads it: see `foundation.database.schema`."""
    names = {
        one.column for one in model._meta.concrete_fields if one.name in getattr(model, "words", ())
    }
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass"
            " AND attname = ANY(%s) AND attstorage NOT IN ('e', 'p')",
            [model._meta.db_table, sorted(names)],
        )
        assert cursor.fetchall() == []


def lookups(scanned: residue_columns.ScannedTable) -> Iterator[str]:
    key = residue_columns._key_of(scanned)
    for one in residue_columns._lookups(scanned):
        text = f'SELECT {key} FROM "{scanned.table}" WHERE {one.condition}'
        yield text.replace(residue_columns._IDS, "%s")


@pytest.mark.django_db
@pytest.mark.parametrize(
    "scanned", residue_columns.scanned_tables(), ids=lambda scanned: scanned.table
)
def test_who_names_an_erased_id_is_found_without_reading_all_rows(
    scanned: residue_columns.ScannedTable,
) -> None:
    """A new column of text needs a place in the table's index."""
    if scanned.table in FEW_ROWS or scanned.keeps_ids:
        return
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        for statement in lookups(scanned):
            cursor.execute(f"EXPLAIN {statement}", [["mem_" + "9" * 26]])
            assert "Seq Scan" not in str(cursor.fetchall()), statement
