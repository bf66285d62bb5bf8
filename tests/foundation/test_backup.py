"""A backup is made, things are forgotten, the backup is put back: the drill, with real programs."""

from __future__ import annotations

import shutil
import tarfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from django.conf import settings
from django.core.files.base import ContentFile
from django.core.files.storage import storages
from django.core.management import CommandError, call_command
from django.db import connection

from foundation.embedded import backup
from foundation.embedded.postgres import wheel_binaries
from memories.forgetting import memory_forgets
from memories.models import Memory
from ops import ledger
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue import worker
from tests import databases
from tests.factories import make_memory


@pytest.fixture
def where(monkeypatch: pytest.MonkeyPatch) -> backup.BackupTarget:
    """The tests' own database; the commands look for it in the settings."""
    found = backup.BackupTarget(
        url=databases.postgres.url("owner", database=connection.settings_dict["NAME"]),
        data=Path(settings.DATA_DIR),
        secret_key=settings.SECRET_KEY,
        tools=wheel_binaries(),
    )
    monkeypatch.setattr("memcenter.management.commands.backup.configured_instance", lambda: found)
    monkeypatch.setattr("memcenter.management.commands.restore.configured_instance", lambda: found)
    return found


@pytest.fixture
def maya(transactional_db: None) -> Iterator[User]:
    yield users.find_or_create("maya")
    shutil.rmtree(ledger.path().parent, ignore_errors=True)


def test_what_is_put_back_is_what_was_there_without_what_was_forgotten_since(
    maya: User, where: backup.BackupTarget, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, gone = make_memory(maya, "Drinks green tea"), make_memory(maya, "Plays chess")
    stored = storages["memory_files"].save("maya/MEMORY.md", ContentFile(b"- Drinks green tea"))
    file = tmp_path / "backup.tar"
    call_command("backup", file)
    assert file.stat().st_mode & 0o777 == 0o600
    later = make_memory(maya, "Moved to Leeds")
    with as_user(maya):
        memory_forgets.forget_memory(user=maya, memory=gone)
    worker.drain()
    storages["memory_files"].delete(stored)
    with pytest.raises(CommandError, match="--replace"):
        call_command("restore", file)
    call_command("restore", file, replace=True)
    assert "1 forgotten again" in capsys.readouterr().out
    assert list(Memory.objects.values_list("public_id", flat=True)) == [kept.public_id]
    assert later.public_id != kept.public_id
    with storages["memory_files"].open(stored) as file_again:
        assert file_again.read() == b"- Drinks green tea"
    with psycopg.connect(
        databases.postgres.url("app", database=connection.settings_dict["NAME"])
    ) as app:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            app.execute("DELETE FROM ops_auditevent")
        app.rollback()
        app.execute("SELECT set_config('memcenter.user', '0', true)")
        assert app.execute("SELECT count(*) FROM memories_memory").fetchone() == (0,)


def test_a_restore_gives_nobody_more_rights_than_there_were(
    maya: User, where: backup.BackupTarget, tmp_path: Path
) -> None:
    before = _rights(where)
    assert any("ops_auditevent" in str(row) for row in before)
    call_command("backup", tmp_path / "backup.tar")
    call_command("restore", tmp_path / "backup.tar", replace=True)
    assert _rights(where) == before


def _rights(where: backup.BackupTarget) -> list[tuple[object, ...]]:
    """Who may do what with each table and sequence, and with those that are still to be made."""
    with psycopg.connect(where.url) as owner:
        now = owner.execute(
            "SELECT c.relname, grantee::regrole::text, privilege_type"
            " FROM pg_class c, aclexplode(c.relacl)"
            " WHERE relnamespace = 'public'::regnamespace ORDER BY 1, 2, 3"
        ).fetchall()
        later = owner.execute(
            "SELECT defaclobjtype::text, grantee::regrole::text, privilege_type"
            " FROM pg_default_acl, aclexplode(defaclacl) ORDER BY 1, 2, 3"
        ).fetchall()
    return [*now, *later]


def test_a_damaged_backup_touches_nothing(
    maya: User, where: backup.BackupTarget, tmp_path: Path
) -> None:
    make_memory(maya, "Drinks green tea")
    torn = tmp_path / "torn.tar"
    torn.write_bytes(b"no tar")
    with pytest.raises(CommandError, match="damaged"):
        call_command("restore", torn, replace=True)
    (tmp_path / backup.MANIFEST).write_text('{"format": 1, "sha256": {"secret-key": "00"}}')
    (tmp_path / backup.KEY).write_text("another")
    with tarfile.open(tmp_path / "forged.tar", "w") as archive:
        for name in (backup.MANIFEST, backup.KEY):
            archive.add(tmp_path / name, arcname=name)
    with pytest.raises(CommandError, match="secret-key isn't what it was"):
        call_command("restore", tmp_path / "forged.tar", replace=True)
    assert Memory.objects.count() == 1


def test_a_backup_overwrites_no_file(tmp_path: Path, where: backup.BackupTarget) -> None:
    (tmp_path / "there").touch()
    with pytest.raises(CommandError, match="there already"):
        call_command("backup", tmp_path / "there")
