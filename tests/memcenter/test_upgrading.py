"""The database of an earlier version is this version's, with all that people had in it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from foundation import env
from foundation.database import statements
from foundation.embedded import backup
from foundation.embedded.folder import EmbeddedError
from foundation.embedded.postgres import wheel_binaries
from memories.models import Memory
from tests import databases, earlier_version

# The columns were for events of versions that sealed them at once, and the function filled in their
# seals. Constraints that are added to a table later get other names.
DIFFERING = {
    "memcenter_seal_later()",
    "ops_auditevent",
    "ops_delivery ops_delivery_public_id_2310ac1c_uniq",
    "ops_delivery ops_delivery_public_id_key",
    "ops_webhook ops_webhook_public_id_63fbeecb_uniq",
    "ops_webhook ops_webhook_public_id_key",
}
ONLY_EARLIER = {
    "number bigint",
    "previous_hash character varying(64) DEFAULT ''::character varying NOT NULL",
    "hash character varying(64)",
}
_CASTS = re.compile(r"::character varying|::text(\[\])?|[()]")


@contextmanager
def other_database(name: str) -> Iterator[str]:
    """Put an empty one, as its owner, in the place of the tests' own; give its address."""
    databases.add(name, to=databases.postgres)
    before, owner = dict(connection.settings_dict), env.database("MEMCENTER_OWNER_DATABASE_URL")
    connection.close()
    connection.settings_dict.update(NAME=name, USER=owner["USER"], PASSWORD=owner["PASSWORD"])
    try:
        yield databases.postgres.url("owner", database=name)
    finally:
        connection.close()
        connection.settings_dict.update(before)
        databases.drop(name, of=databases.postgres)


@pytest.fixture
def earlier(transactional_db: None) -> Iterator[str]:
    with other_database("earlier") as url:
        earlier_version.load(url)
        yield url


def row_counts() -> dict[str, int]:
    tables = [
        name for name in connection.introspection.table_names() if name != "django_migrations"
    ]
    return {name: statements.rows(f'SELECT count(*) FROM "{name}"')[0][0] for name in tables}


def schema(url: str) -> dict[str, set[str]]:
    """Return the lines of each object by its name; the order of a table's columns may differ."""
    dump = wheel_binaries() / "pg_dump"
    options = ("--schema-only", "--schema=public", "--restrict-key=one")
    text = subprocess.run([dump, *options, url], check=True, capture_output=True, text=True).stdout
    objects: dict[str, set[str]] = {}
    for part in text.split("\n-- Name: ")[1:]:
        head, _, body = part.partition("\n")
        lines = {without_casts(line.strip().rstrip(",")) for line in body.splitlines()}
        objects.setdefault(head.split(";")[0], set()).update(lines)
    return objects


def without_casts(line: str) -> str:
    """Leave out of a check what a dump and its loading change: where values are cast."""
    return _CASTS.sub("", line) if " CHECK " in line else line


def test_an_earlier_database_loses_nothing_and_needs_no_migration_that_replaces_others(
    earlier: str,
) -> None:
    before = row_counts()
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    assert not [str(migration) for migration, _ in plan if migration.replaces]
    call_command("migrate", verbosity=0)
    assert backup._compare() == (True, False)
    after = row_counts()
    assert not {name for name in before if after[name] < before[name]}
    for model in apps.get_models():  # each column is there
        assert len(model._base_manager.all()) == after[model._meta.db_table]
    contents = set(Memory.everything.values_list("content", flat=True))
    assert {"I work as a translator at Lumen", "我的猫叫豆包。"} <= contents


def test_an_earlier_database_has_the_schema_of_a_new_one(earlier: str) -> None:
    call_command("migrate", verbosity=0)
    migrated = schema(earlier)
    with other_database("new") as url:
        call_command("migrate", verbosity=0)
        new = schema(url)
    names = {*migrated, *new}
    assert {name for name in names if migrated.get(name) != new.get(name)} == DIFFERING
    assert migrated["ops_auditevent"] ^ new["ops_auditevent"] == ONLY_EARLIER


@pytest.mark.parametrize("name", ["0030_invitations_and_registration", "0020_plain_words"])
def test_a_database_that_lacks_an_earlier_migration_is_refused(earlier: str, name: str) -> None:
    statements.rows("DELETE FROM django_migrations WHERE name = %s RETURNING 1", [name])
    with pytest.raises(EmbeddedError, match="version between"):
        backup._compare()


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("psycopg.errors.DiskFull: could not extend: No space left on device", "disk .* is full"),
        ("AttributeError: no such thing", "The migrations failed:\nAttributeError"),
    ],
)
def test_a_failed_migration_is_told_and_a_full_disk_in_one_sentence(said: str, told: str) -> None:
    script = f"import sys; sys.exit({said!r})"
    migration = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    with pytest.raises(EmbeddedError, match=told):
        backup._finish_migrating(migration)
