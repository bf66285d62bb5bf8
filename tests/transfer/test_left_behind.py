"""What a web process leaves of an import when it dies after the file came and before the row."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from psycopg.conninfo import make_conninfo

from ops.access import as_user
from ops.forgetting import expired_rows
from ops.models import Export, Import, Kind, User
from ops.queue import outbox
from ops.transfer import stored_files
from ops.transfer.stored_files import IMPORTS
from tests.draining import cleaned_up

pytestmark = pytest.mark.django_db


def arrived(name: str, *, minutes_ago: int) -> Path:
    stored_files.receive(IMPORTS, name, ContentFile(b"words"))
    path = Path(storages[IMPORTS].path(name))
    then = time.time() - 60 * minutes_ago
    os.utime(path, (then, then))
    return path


def test_a_file_that_no_row_names_is_private_and_goes_with_the_next_cleanup() -> None:
    left = arrived("left.upload", minutes_ago=11)
    at_work = arrived("at-work.upload", minutes_ago=9)
    try:
        assert left.stat().st_mode & 0o777 == 0o600
        assert left.parent.stat().st_mode & 0o777 == 0o700
        assert cleaned_up()["stray_files"] == 1
        assert (left.exists(), at_work.exists()) == (False, True)
    finally:
        at_work.unlink()


def test_files_that_no_row_names_go_in_batches(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(expired_rows, "AT_ONCE", 2)
    left = [arrived(f"left-{number}.upload", minutes_ago=11) for number in range(5)]
    kept = arrived("kept.upload", minutes_ago=11)
    with as_user(alice):
        later = timezone.now() + timedelta(hours=1)
        operation = outbox.enqueue(
            Kind.EXPORT_USER, subject=alice.subject, payload={}, run_after=later
        )
        Export.objects.create(user=alice, operation=operation, path=kept.name, expires_at=later)
    with CaptureQueriesContext(connection) as queries:
        assert cleaned_up()["stray_files"] == 5
    assert not any(one.exists() for one in left) and kept.exists()
    kept.unlink()
    statements = [str(one["sql"]) for one in queries]
    asked = [one for one in statements if 'WHERE "ops_export"."path" IN (' in one]
    assert len(asked) >= 3 and all(one.count(".upload") <= 2 for one in asked)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A file that came just now; it counts as old enough to be looked at."""
    monkeypatch.setattr(expired_rows, "_ARRIVED_SECONDS", -60)
    path = arrived("sent.upload", minutes_ago=0)
    yield path
    path.unlink(missing_ok=True)


@pytest.mark.django_db(transaction=True)
def test_who_still_works_at_a_file_keeps_it_and_after_a_death_it_goes(sent: Path) -> None:
    with psycopg.connect(address_of_the_database()) as other:
        other.execute("SELECT 1")  # a transaction that is open from here on
        os.utime(sent)
        assert expired_rows.erase_abandoned_uploads() == 0 and sent.exists()
        other.rollback()
        assert expired_rows.erase_abandoned_uploads() == 1 and not sent.exists()


@pytest.mark.django_db(transaction=True)
def test_who_began_after_a_file_had_come_does_not_keep_it(sent: Path) -> None:
    os.utime(sent, (time.time() - 60, time.time() - 60))
    with psycopg.connect(address_of_the_database()) as other:
        other.execute("SELECT 1")
        assert expired_rows.erase_abandoned_uploads() == 1 and not sent.exists()


@pytest.mark.django_db(transaction=True)
def test_a_file_that_an_import_names_stays(sent: Path, alice: User) -> None:
    with as_user(alice):
        operation = outbox.enqueue(Kind.IMPORT, subject=alice.subject, payload={})
        Import.objects.create(user=alice, operation=operation, path=sent.name)
    assert expired_rows.erase_abandoned_uploads() == 0 and sent.exists()


def address_of_the_database() -> str:
    """As the app reaches it."""
    given = connection.get_connection_params()
    names = ("dbname", "user", "password", "host", "port")
    return make_conninfo(**{name: given[name] for name in names if given.get(name)})
