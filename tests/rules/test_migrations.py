"""Migrations that the version still running survives: they only add, and lock nothing for long.

While a new version is rolled out the old one goes on reading and writing the migrated database.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.migrations.loader import MigrationLoader
from django.db.models import NOT_PROVIDED

APPS = ("ops", "conversations", "memories")
_TAKES_AWAY = (
    migrations.RemoveField,
    migrations.RenameField,
    migrations.RenameModel,
    migrations.DeleteModel,
    migrations.AlterModelTable,
)


def ours() -> Iterator[migrations.Migration]:
    for (app, _), migration in MigrationLoader(None).disk_migrations.items():
        if app in APPS:
            yield migration


def problem(operation: object, made: set[str]) -> str:
    """What the version before would stumble over; empty where nothing."""
    if isinstance(operation, _TAKES_AWAY):
        return "takes away or renames what the version before uses; do it one version later"
    if isinstance(operation, migrations.AddField):
        field = operation.field
        without = field.null or field.many_to_many or field.db_default is not NOT_PROVIDED
        if not without:
            return "the version before can't fill this column: give it null or db_default"
    if _locks(operation, made):
        return "locks the table while it is built: use AddIndexConcurrently"
    return ""


def _locks(operation: object, made: set[str]) -> bool:
    if isinstance(operation, AddIndexConcurrently | RemoveIndexConcurrently):
        return False
    if not isinstance(operation, migrations.AddIndex | migrations.RemoveIndex):
        return False
    return operation.model_name.lower() not in made


def problems(migration: migrations.Migration) -> list[str]:
    made = {
        one.name.lower() for one in migration.operations if isinstance(one, migrations.CreateModel)
    }
    found = (problem(one, made) for one in migration.operations)
    return [f"{migration.app_label} {migration.name}: {one}" for one in found if one]


def test_the_version_before_goes_on_working_while_it_is_migrated() -> None:
    assert [one for migration in ours() for one in problems(migration)] == []


@pytest.mark.parametrize(
    "operation",
    [
        migrations.RemoveField("user", "theme"),
        migrations.DeleteModel("user"),
        migrations.AddField("user", "n", models.IntegerField(default=0)),
        migrations.AddIndex("user", models.Index(fields=["id"], name="n")),
    ],
)
def test_what_it_would_stumble_over_is_found(operation: object) -> None:
    assert problem(operation, set())
