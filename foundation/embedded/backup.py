"""Back up an instance to one file, restore a backup, and migrate the schema after a backup.

A backup is a tar file with `manifest.json` first, then `database.dump` (pg_dump's custom format),
the `secret-key` and the stored files. The ledger, which lists every request to forget, is stored
outside the data folder and isn't included: a restore must not change the ledger, since the requests
in it are repeated after the restore.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from django.conf import settings
from psycopg.conninfo import conninfo_to_dict

from foundation import paths
from foundation.embedded.folder import EmbeddedError
from foundation.embedded.postgres import connection_of, wheel_binaries

FORMAT = 1
DUMP, KEY, MANIFEST = "database.dump", "secret-key", "manifest.json"
# Folders to back up and to replace on a restore.
FILES = ("files", "exports", "imports", "memory-files")
# Entries of a dump to skip: roles.sql creates them as a superuser before the restore.
_NOT_OURS = (" EXTENSION ", " SCHEMA ", " COMMENT - SCHEMA", " COMMENT - EXTENSION")
_EMPTIED = """
DO $$ DECLARE one record; BEGIN
  FOR one IN SELECT c.oid::regclass AS name FROM pg_class c
              WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
                AND pg_get_userbyid(c.relowner) = current_user LOOP
    EXECUTE format('DROP TABLE IF EXISTS %s CASCADE', one.name);
  END LOOP;
  FOR one IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'public'::regnamespace
                AND pg_get_userbyid(p.proowner) = current_user LOOP
    EXECUTE format('DROP FUNCTION IF EXISTS %s CASCADE', one.name);
  END LOOP;
END $$
"""
# Default privileges that roles.sql grants on new tables. They are revoked during a restore, since
# the roles would otherwise get more privileges on the restored tables than in the dump. The audit
# log, for example, would no longer be append-only.
_RIGHTS = {
    "SELECT, INSERT, UPDATE, DELETE, MAINTAIN": "TABLES",
    "USAGE, SELECT": "SEQUENCES",
}
_ROLES = "memcenter_app, memcenter_system"
_TOO_OLD = (
    "These data are of a version that this one can't migrate. Start a version between the two on"
    " them first."
)


class BackupError(Exception):
    """An error whose message is a sentence for the person at the terminal."""


@dataclass(frozen=True)
class BackupTarget:
    """The instance to back up or to restore.

    `url` connects as the owner of the database; `tools` is the folder that contains pg_dump.
    """

    url: str
    data: Path
    secret_key: str
    tools: Path


def write(target: Path, *, where: BackupTarget) -> Mapping[str, Any]:
    """Write a backup to a file that only this user can read; return the manifest of the backup.

    The file appears only when it is complete. The dump is a single snapshot of the database, so
    rows that are written during the backup may be missing. Raise `BackupError` if the file already
    exists, its folder can't be written to, or pg_dump fails.
    """
    if target.exists():
        raise BackupError(f"{target} is there already.")
    with _temporary_folder(target) as place:
        dump = place / DUMP
        _run(where, "pg_dump", "--format=custom", "--schema=public", f"--file={dump}")
        (place / KEY).write_text(where.secret_key, encoding="utf-8")
        parts = [dump, place / KEY]
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "made_at": datetime.now(UTC).isoformat(),
            "sha256": {part.name: _digest(part) for part in parts},
            "files": [name for name in FILES if (where.data / name).is_dir()],
        }
        (place / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        whole = place / "whole.tar"
        with tarfile.open(whole, "w") as archive:
            for part in (place / MANIFEST, *parts):
                archive.add(part, arcname=part.name)
            for name in manifest["files"]:
                archive.add(where.data / name, arcname=f"data/{name}")
        whole.chmod(0o600)
        whole.replace(target)
    return manifest


def read(source: Path, *, where: BackupTarget, replace: bool) -> Mapping[str, Any]:
    """Restore the database and files from a backup; return its manifest, including the secret key.

    Without `replace`, a database that has tables is refused. Stored files are always replaced.
    Nothing is changed before the whole backup has been read and its hashes verified. Afterwards the
    caller must migrate, and must repeat the forget requests that are newer than the backup. Raise
    `BackupError` if the backup is damaged, the database is refused, or pg_restore fails.
    """
    with _temporary_folder(where.data / "restored") as place:
        manifest = _unpacked(source, place)
        if not replace and _has_tables(where):
            raise BackupError("There is data already; --replace puts the backup in its place.")
        _restore_database(place, where=where)
        for name in FILES:
            shutil.rmtree(where.data / name, ignore_errors=True)
            if (place / "data" / name).is_dir():
                shutil.move(place / "data" / name, where.data / name)
    return manifest | {"secret_key_differs": manifest["secret_key"] != where.secret_key}


def _unpacked(source: Path, place: Path) -> dict[str, Any]:
    try:
        with tarfile.open(source) as archive:
            archive.extractall(place, filter="data")  # nosec
        manifest: dict[str, Any] = json.loads((place / MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != FORMAT:
            raise BackupError(f"{source} is of a format that this version doesn't know.")
        for name, digest in manifest["sha256"].items():
            if _digest(place / name) != digest:
                raise BackupError(f"{source} is damaged: {name} isn't what it was.")
    except (OSError, tarfile.TarError, ValueError, KeyError) as error:
        raise BackupError(f"{source} is no backup, or it is damaged.") from error
    return manifest | {"secret_key": (place / KEY).read_text(encoding="utf-8")}


def _restore_database(place: Path, *, where: BackupTarget) -> None:
    listed = _run(where, "pg_restore", "--list", str(place / DUMP), connects=False)
    chosen = place / "chosen"
    wanted = [line for line in listed.splitlines() if not any(mark in line for mark in _NOT_OURS)]
    chosen.write_text("\n".join(wanted), encoding="utf-8")
    arguments = ("--single-transaction", "--exit-on-error", "--no-owner", f"--use-list={chosen}")
    name = conninfo_to_dict(where.url)["dbname"]
    with psycopg.connect(where.url, autocommit=True) as owner:
        owner.execute(_EMPTIED)
        with _without_default_rights(owner):
            _run(where, "pg_restore", *arguments, f"--dbname={name}", str(place / DUMP))


@contextmanager
def _without_default_rights(owner: psycopg.Connection) -> Iterator[None]:
    change = "ALTER DEFAULT PRIVILEGES IN SCHEMA public"
    for rights, kind in _RIGHTS.items():
        owner.execute(f"{change} REVOKE {rights} ON {kind} FROM {_ROLES}")
    try:
        yield
    finally:
        for rights, kind in _RIGHTS.items():
            owner.execute(f"{change} GRANT {rights} ON {kind} TO {_ROLES}")


def _has_tables(where: BackupTarget) -> bool:
    with psycopg.connect(where.url) as owner:
        found = owner.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1")
        return found.fetchone() is not None


def _run(where: BackupTarget, program: str, *arguments: str, connects: bool = True) -> str:
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    done = subprocess.run(
        [str(where.tools / program), *arguments],
        env=environment | (connection_of(where.url) if connects else {}),
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise BackupError(f"{program} failed: {done.stderr.strip()}")
    return done.stdout


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def _temporary_folder(target: Path) -> Iterator[Path]:
    """Yield a private temporary folder beside `target`, and delete it at the end.

    The folder is on the same disk as `target`, so a finished file can be moved into place
    atomically. Raise `BackupError` if the folder can't be created.
    """
    try:
        place = Path(tempfile.mkdtemp(prefix=".memcenter-", dir=target.absolute().parent))
    except OSError as error:
        raise BackupError(f"{target.parent} can't be written ({error.strerror}).") from error
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def configured_instance() -> BackupTarget:
    """Return the configured instance, and create its data folder if necessary.

    Raise `BackupError` if MEMCENTER_OWNER_DATABASE_URL isn't set.
    """
    if not settings.OWNER_DATABASE_URL:
        raise BackupError("MEMCENTER_OWNER_DATABASE_URL is needed: the owner makes the backup.")
    data = Path(settings.DATA_DIR)
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    return BackupTarget(
        url=settings.OWNER_DATABASE_URL,
        data=data,
        secret_key=settings.SECRET_KEY,
        tools=wheel_binaries(),
    )


def migrate_if_needed(
    *, meanwhile: Callable[[], None] | None = None, backup_first: bool = True
) -> None:
    """Migrate the database in a child process, as the owner, if its schema is outdated.

    `meanwhile` runs during the migration, since the first migration takes several seconds. With
    `backup_first`, the instance is backed up before the migration, unless its database is new or
    the setting UPGRADE_BACKUP is off. Raise `EmbeddedError` if the database is too old, or if the
    backup or the migration fails; if the backup fails, nothing is migrated.
    """
    with ExitStack() as stack:
        is_current, is_empty = _compare()
        if backup_first and not is_current and not is_empty:
            _back_up_before_upgrade()
        migration = None if is_current else _begin_migrating()
        if migration:
            stack.callback(migration.kill)  # for Ctrl-C; does nothing after the process has ended
        if meanwhile:
            meanwhile()
        if migration:
            _finish_migrating(migration)


def _finish_migrating(migration: subprocess.Popen[str]) -> None:
    _, errors = migration.communicate()
    if migration.returncode != 0 and "No space left on device" in errors:
        raise EmbeddedError("The disk of the data folder is full. Free space, and start again.")
    if migration.returncode != 0:
        raise EmbeddedError(f"The migrations failed:\n{errors.strip()}")


def _compare() -> tuple[bool, bool]:
    """Return whether the schema is current, and whether the database has never been migrated.

    Raise `EmbeddedError` if the database is too old for this version: some, but not all, of the
    migrations that a squashed migration replaces were applied.
    """
    import django
    from django.db import connection
    from django.db.migrations.exceptions import NodeNotFoundError
    from django.db.migrations.executor import MigrationExecutor

    django.setup()
    try:
        executor = MigrationExecutor(connection)
        loader = executor.loader
        if not loader.graph.nodes.keys() >= loader.replacements.keys():
            raise EmbeddedError(_TOO_OLD)
        plan = executor.migration_plan(loader.graph.leaf_nodes())
        return not plan, not loader.applied_migrations
    except NodeNotFoundError as error:
        raise EmbeddedError(_TOO_OLD) from error
    finally:
        connection.close()


def _back_up_before_upgrade() -> None:
    if not settings.UPGRADE_BACKUP:
        return
    folder = Path(settings.UPGRADE_BACKUP_DIR)
    target = folder / f"{datetime.now(UTC):%Y-%m-%dT%H%M%SZ}.tar"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        write(target, where=configured_instance())
    except (BackupError, OSError) as error:
        raise EmbeddedError(
            f"The backup before the upgrade failed, so nothing was changed: {error} "
            "Make room, or set MEMCENTER_UPGRADE_BACKUP=false to go on without one."
        ) from error
    # On stderr, since some commands print results on stdout.
    print(f"The data is of an earlier version. Its backup: {target}", file=sys.stderr)  # noqa: T201
    for earlier in folder.iterdir():
        if earlier.is_dir():  # left by a killed backup
            shutil.rmtree(earlier)
        elif earlier != target:
            earlier.unlink()


def _begin_migrating() -> subprocess.Popen[str]:
    # -P keeps the current folder out of `sys.path`, where it would precede the installed code.
    installed = ["-P", "-m", "memcenter"]
    program = [paths.BASE_DIR / "manage.py"] if paths.is_checkout() else installed
    return subprocess.Popen(
        [sys.executable, *program, "migrate", "--no-input", "--skip-checks", "--verbosity=0"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "MEMCENTER_AS_OWNER": "1"},
    )
