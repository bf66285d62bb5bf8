"""The rules about personal data, held against what they must not let pass."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.apps import apps
from django.conf import settings
from django.core.cache import cache
from django.db import connection, models
from pytest_django import Settings

from memories.models import Memory
from ops.models import User
from ops.residue import residue_columns, stores
from ops.residue.stores import Cached
from tests import databases
from tests.rows import personal_models
from tests.rules import test_personal_data as rules

Declared = Callable[..., type[models.Model]]


@pytest.fixture
def declared() -> Iterator[Declared]:
    """Models that only this test knows, in an app of ours."""
    made: list[type[models.Model]] = []

    def declare(**body: Any) -> type[models.Model]:
        meta = type("Meta", (), {"app_label": "memories"})
        body = {"Meta": meta, "__module__": __name__, **body}
        made.append(type("Planted", (models.Model,), body))
        return made[-1]

    yield declare
    for _ in made:
        del apps.all_models["memories"]["planted"]
        apps.clear_cache()


def about_somebody() -> models.ForeignKey[User, User]:
    return models.ForeignKey(User, on_delete=models.CASCADE, related_name="+")


def test_a_model_that_says_nothing_of_personal_data_is_found(declared: Declared) -> None:
    planted = declared()
    assert planted in rules.our_models()
    with pytest.raises(AssertionError):
        rules.test_every_model_says_whether_it_holds_personal_data(planted)


def test_a_personal_model_outside_the_registry_is_found(declared: Declared) -> None:
    planted = declared(personal_data=True, user=about_somebody())
    assert planted in personal_models()
    with pytest.raises(AssertionError):
        rules.test_every_personal_model_is_in_exactly_one_participant(planted)


def test_a_personal_model_without_an_index_by_its_person_is_found(declared: Declared) -> None:
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    planted = declared(personal_data=True, user=user)
    with pytest.raises(AssertionError):
        rules.test_every_personal_table_is_found_by_its_user(planted)


COLUMNS: dict[str, tuple[Callable[[], models.Field[Any, Any]], str]] = {
    "text": (models.TextField, "text"),
    "short text": (lambda: models.CharField(max_length=80), "varchar(80)"),
    "JSON": (lambda: models.JSONField(default=dict), "jsonb"),
}


@pytest.fixture
def column(request: pytest.FixtureRequest) -> Iterator[str]:
    """A column of memories that nobody registered, in the model and in the table."""
    make, kind = COLUMNS[request.param]
    field = make()
    field.contribute_to_class(Memory, "planted")
    name = connection.settings_dict["NAME"]
    with psycopg.connect(databases.postgres.url("owner", database=name), autocommit=True) as owner:
        owner.execute(f"ALTER TABLE memories_memory ADD COLUMN planted {kind}")
        residue_columns.scanned_tables.cache_clear()
        try:
            yield request.param
        finally:
            connection.close()
            owner.execute("ALTER TABLE memories_memory DROP COLUMN planted")
            options: Any = Memory._meta
            options.local_fields.remove(field)
            options._expire_cache()
            delattr(Memory, "planted")
            residue_columns.scanned_tables.cache_clear()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("column", COLUMNS, indirect=True)
def test_a_column_of_words_that_was_added_is_found_by_three_rules(column: str) -> None:
    """What it holds, what the planner notes of it, and the index by which ids in it are found."""
    with pytest.raises(AssertionError):
        rules.test_every_text_column_of_personal_data_says_what_it_holds(Memory)
    with pytest.raises(AssertionError):
        rules.test_the_planner_notes_nothing_of_what_people_say(Memory)
    scanned = next(one for one in residue_columns.scanned_tables() if one.model is Memory)
    assert "planted" in scanned.mentioned
    with pytest.raises(AssertionError):
        rules.test_who_names_an_erased_id_is_found_without_reading_all_rows(scanned)


@pytest.fixture
def in_the_database(request: pytest.FixtureRequest) -> Iterator[None]:
    make, drop = request.param
    name = connection.settings_dict["NAME"]
    with psycopg.connect(databases.postgres.url("owner", database=name), autocommit=True) as owner:
        owner.execute(make)
        try:
            yield
        finally:
            connection.close()
            owner.execute(drop)


def _column(kind: str) -> tuple[str, str]:
    table = "ALTER TABLE conversations_message"
    return f"{table} ADD COLUMN planted {kind}", f"{table} DROP COLUMN planted"


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    "in_the_database",
    [
        ("CREATE TABLE planted (words text)", "DROP TABLE planted"),
        ("CREATE TABLE planted (seen halfvec(3))", "DROP TABLE planted"),
        *map(_column, ("text", "varchar(9)", "jsonb", "json", "xml", "text[]", "halfvec(3)")),
    ],
    indirect=True,
    ids=lambda made: made[0][-40:],
)
@pytest.mark.usefixtures("in_the_database")
def test_what_no_model_describes_is_found_in_the_database_itself() -> None:
    """A table, a column of whatever type that could hold words, a store of vectors."""
    with pytest.raises(AssertionError):
        rules.test_the_residue_scan_knows_every_column_of_the_database_that_could_hold_text()


def test_a_module_that_writes_to_redis_unregistered_is_found(tmp_path: Path) -> None:
    for app in (*rules.OURS, "memcenter"):
        shutil.copytree(rules.ROOT / app, tmp_path / app, ignore=shutil.ignore_patterns("*.pyc"))
    rules.test_every_module_that_writes_to_redis_says_which_keys(tmp_path)
    (tmp_path / "memories/learning/planted.py").write_text("from django.core.cache import cache\n")
    with pytest.raises(AssertionError):
        rules.test_every_module_that_writes_to_redis_says_which_keys(tmp_path)


@pytest.mark.django_db
def test_a_key_of_an_unregistered_prefix_can_not_even_be_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(AssertionError, match="nobody knows of the key"):
        cache.set("stray:7", "words")
    with pytest.raises(AssertionError, match="nobody knows of the key"):
        cache.set_many({"stray:7": "words"})
    stray = Cached("stray:", "memories.learning.stray")
    monkeypatch.setattr(stores, "_cached", [*stores._cached, stray])
    cache.set("stray:7", "words")
    cache.delete("stray:7")


@pytest.mark.parametrize("where", ["/var/lib/planted", "{data}/pg/planted", "{data}/run/planted"])
def test_a_kind_of_file_where_nobody_looks_is_found(settings: Settings, where: str) -> None:
    planted = {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {"location": where.format(data=settings.DATA_DIR)},
    }
    settings.STORAGES = {**settings.STORAGES, "planted": planted}
    with pytest.raises(AssertionError):
        rules.test_every_storage_of_files_is_looked_into_and_erased_from()


def test_a_store_of_vectors_outside_our_tables_is_found(tmp_path: Path) -> None:
    folder = tmp_path / "memories/retrieval/stores"
    shutil.copytree(rules.ROOT / "memories/retrieval/stores", folder)
    rules.test_every_store_of_vectors_keeps_them_in_tables_of_ours(tmp_path)
    (folder / "qdrant.py").write_text("")
    with pytest.raises(AssertionError):
        rules.test_every_store_of_vectors_keeps_them_in_tables_of_ours(tmp_path)


def test_a_handler_that_was_forgotten_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from ops import registry
    from ops.models import Kind

    left = {kind: one for kind, one in registry._handlers.items() if kind != Kind.EXPORT_USER}
    monkeypatch.setattr(registry, "_handlers", left)
    with pytest.raises(AssertionError):
        rules.test_every_kind_has_a_handler_or_is_named_as_coming_later(Kind.EXPORT_USER)


def test_the_data_folder_of_the_tests_is_their_own() -> None:
    assert Path(settings.DATA_DIR).is_relative_to(databases.folder.path)
