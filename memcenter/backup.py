"""Back up an instance to one file, and restore it.

A backup is a tar with `manifest.json` first, then `database.dump` (pg_dump's custom format), the
`secret-key` and the stored files. The ledger of forgets is not included: it is stored outside the
data folder, must not roll back with it, and is used to repeat forgets after a restore.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
from psycopg.conninfo import conninfo_to_dict

FORMAT = 1
DUMP, KEY, MANIFEST = "database.dump", "secret-key", "manifest.json"
# Folders to back up. Exports and imports are left out: both start again after a restore.
FILES = ("files", "exports", "imports", "memory-files")
# Created by roles.sql as a superuser before the restore.
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


class BackupError(Exception):
    """One sentence for the person at the terminal."""


@dataclass(frozen=True)
class Where:
    """`url` is the database as its owner, `tools` the folder of pg_dump and pg_restore."""

    url: str
    data: Path
    secret_key: str
    tools: Path


def write(target: Path, *, where: Where) -> Mapping[str, Any]:
    """Write a complete backup or none, readable by its owner only; return the manifest.

    The dump is one snapshot of the database, so concurrent writes may be missing. Raises
    `BackupError`.
    """
    if target.exists():
        raise BackupError(f"{target} is there already.")
    with _beside(target) as place:
        dump = place / DUMP
        _run(where, "pg_dump", "--format=custom", "--schema=public", f"--file={dump}")
        (place / KEY).write_text(where.secret_key, encoding="utf-8")
        parts = [dump, place / KEY]
        manifest: dict[str, Any] = {
            "format": FORMAT,
            "made_at": datetime.now(UTC).isoformat(),
            "sha256": {one.name: _digest(one) for one in parts},
            "files": [name for name in FILES if (where.data / name).is_dir()],
        }
        (place / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        whole = place / "whole.tar"
        with tarfile.open(whole, "w") as archive:
            for one in (place / MANIFEST, *parts):
                archive.add(one, arcname=one.name)
            for name in manifest["files"]:
                archive.add(where.data / name, arcname=f"data/{name}")
        whole.chmod(0o600)
        whole.replace(target)
    return manifest


def read(source: Path, *, where: Where, replace: bool) -> Mapping[str, Any]:
    """Restore database and files; return the manifest.

    `replace` deletes existing data; without it a database with tables is refused. Nothing is
    changed before the whole backup has been read and its hashes verified. The caller must migrate
    and repeat later forgets. Raises `BackupError`.
    """
    with _beside(where.data / "restored") as place:
        manifest = _unpacked(source, place)
        if not replace and _has_tables(where):
            raise BackupError("There is data already; --replace puts the backup in its place.")
        _restore_database(place, where=where)
        _restore_files(place / "data", where=where)
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


def _restore_database(place: Path, *, where: Where) -> None:
    listed = _run(where, "pg_restore", "--list", str(place / DUMP), connects=False)
    chosen = place / "chosen"
    wanted = [line for line in listed.splitlines() if not any(one in line for one in _NOT_OURS)]
    chosen.write_text("\n".join(wanted), encoding="utf-8")
    with psycopg.connect(where.url, autocommit=True) as owner:
        owner.execute(_EMPTIED)
    arguments = ("--single-transaction", "--exit-on-error", "--no-owner", f"--use-list={chosen}")
    name = conninfo_to_dict(where.url)["dbname"]
    _run(where, "pg_restore", *arguments, f"--dbname={name}", str(place / DUMP))


def _restore_files(kept: Path, *, where: Where) -> None:
    for name in FILES:
        shutil.rmtree(where.data / name, ignore_errors=True)
        if (kept / name).is_dir():
            shutil.move(kept / name, where.data / name)


def _has_tables(where: Where) -> bool:
    with psycopg.connect(where.url) as owner:
        found = owner.execute("SELECT 1 FROM pg_tables WHERE schemaname = 'public' LIMIT 1")
        return found.fetchone() is not None


def _run(where: Where, program: str, *arguments: str, connects: bool = True) -> str:
    """Run a program with the password in the environment, since other users see arguments."""
    known = conninfo_to_dict(where.url)
    names = {"host": "PGHOST", "port": "PGPORT", "user": "PGUSER", "password": "PGPASSWORD"}
    names |= {"dbname": "PGDATABASE", "sslmode": "PGSSLMODE", "sslrootcert": "PGSSLROOTCERT"}
    given = {names[key]: str(value) for key, value in known.items() if key in names}
    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    done = subprocess.run(
        [str(where.tools / program), *arguments],
        env=environment | (given if connects else {}),
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
def _beside(target: Path) -> Iterator[Path]:
    """Return a private folder on the same disk, so that finished files can be moved atomically."""
    try:
        place = Path(tempfile.mkdtemp(prefix=".memcenter-", dir=target.absolute().parent))
    except OSError as error:
        raise BackupError(f"{target.parent} can't be written ({error.strerror}).") from error
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
