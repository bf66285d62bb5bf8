"""A data folder that an earlier version filled starts with this one, after a backup."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from foundation.embedded.folder import DataFolder
from foundation.embedded.postgres import EmbeddedPostgres
from tests import earlier_version
from tests.live import Product, Server, server
from tests.scenarios.caller import Caller, until

# Of the instance that `earlier_version` comes from, which is gone.
SECRET_KEY = "a-key-of-the-earlier-version-" * 2
LOGIN = {
    "login": "demo",
    "password": "o4uEFGao7CxynmUZ",
    "api_key": "mc_mlflsWzuVACOWFY9aLCR1R8TYxLRRn-AlUQ13J_KK6o",
}


NEWER = "0003_weekly_mail"  # what the earlier version doesn't have yet


@contextmanager
def database(folder: DataFolder) -> Iterator[str]:
    """Run the cluster of a stopped instance; give the address of its database."""
    postgres = EmbeddedPostgres(folder)
    postgres.start()
    try:
        yield postgres.url("owner")
    finally:
        postgres.stop()


def fill(folder: DataFolder) -> None:
    """Make a cluster that holds the dump."""
    with database(folder) as url:
        earlier_version.load(url)
    folder.write_private(folder.first_login, json.dumps(LOGIN))


def applied(folder: DataFolder) -> set[str]:
    with database(folder) as url, psycopg.connect(url) as owner:
        rows = owner.execute("SELECT name FROM django_migrations WHERE app = 'ops'")
        return {name for (name,) in rows}


@pytest.fixture(scope="module")
def earlier() -> Iterator[Server]:
    with server(MEMCENTER_SECRET_KEY=SECRET_KEY) as one:
        fill(DataFolder(one.data))
        yield one


@pytest.fixture(scope="module")
def upgraded(earlier: Server) -> Product:
    return earlier.start()


def backups(one: Server) -> list[Path]:
    return sorted(one.data.with_name("data-before-upgrade").glob("*"))


def test_what_was_there_is_read_found_and_recalled(upgraded: Product) -> None:
    maya, lin = Caller(upgraded, "maya"), Caller(upgraded, "lin")
    assert "I work as a translator at Lumen" in maya.memories()
    assert "[我]住在杭州" in lin.memories()
    assert any("Lumen" in text for text in maya.found("translator", "memory"))
    assert "杭州" in lin.recalled("我住在哪里？")
    counts = [row["message_count"] for row in maya.get("/conversations")["results"]]
    assert counts[-2:] == [2, 4]
    assert "Almond cake" in str(maya.get("/memory/files/recipes.md"))
    assert upgraded.manage("verify_audit").returncode == 0


def forget(one: Caller, content: str) -> None:
    """Forget a memory, and wait for its receipt."""
    rows = one.get("/memory/long_term", limit=100)["results"]
    [memory] = [row for row in rows if row["content"] == content]
    asked = one.ask("DELETE", f"/memory/long_term/{memory['id']}", query={"user_id": one.user_id})
    one.finished([asked.body["op_id"]])
    receipt = one.get(f"/memory/ops/{asked.body['op_id']}/receipt")
    assert receipt["scan"]["residue"] == 0
    assert content not in one.memories()


def test_what_is_new_is_learned_and_what_was_there_is_forgotten(upgraded: Product) -> None:
    maya = Caller(upgraded, "maya")
    maya.tell("My neighbour Tom plays the cello.", conversation="new")
    assert any("cello" in text for text in maya.memories())
    forget(maya, "I ride a blue bicycle to work.")


def test_the_backup_was_made_once_and_goes_with_the_first_erasing_from_the_disk(
    upgraded: Product, earlier: Server
) -> None:
    [backup] = backups(earlier)
    assert earlier.said().count(f"The data is of an earlier version. Its backup: {backup}\n") == 1
    assert backup.stat().st_mode & 0o077 == 0
    with tarfile.open(backup) as archive:
        assert {"manifest.json", "database.dump", "secret-key"} <= set(archive.getnames())
    earlier.stop()
    earlier.start()
    assert backups(earlier) == [backup] and "earlier version" not in earlier.said()
    forget(Caller(upgraded, "lin"), "我的猫叫豆包。")
    upgraded.manage("erase_disk")  # or the worker, which may have begun with it
    until(lambda: not backups(earlier), what="the backup to be deleted")


def test_nothing_is_migrated_without_the_backup() -> None:
    with server(MEMCENTER_SECRET_KEY=SECRET_KEY) as one:
        folder = DataFolder(one.data)
        fill(folder)
        one.data.with_name("data-before-upgrade").write_text("in the way")
        with pytest.raises(AssertionError, match="so nothing was changed"):
            one.start()
        assert NEWER not in applied(folder)
