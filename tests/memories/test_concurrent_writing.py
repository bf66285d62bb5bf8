"""Two at once on one memory: versions keep dense numbers and no text is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.db import OperationalError, connection

from foundation.database import statements
from memories.indexing import search_index
from memories.models import Memory, MemoryVersion, Origin
from memories.writing import curation, direct_writes, memory_writes
from memories.writing.direct_writes import MemoryInput
from ops.access import as_user
from ops.accounts import users
from ops.models import User

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bob() -> User:
    return users.find_or_create("bob")


def at_once(*acts: Callable[[], object]) -> list[Exception]:
    """Run each in a thread and a connection of its own, let loose together."""
    start, failed = threading.Barrier(len(acts)), list[Exception]()

    def run(act: Callable[[], object]) -> None:
        start.wait()
        try:
            act()
        except Exception as error:
            failed.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(act,)) for act in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def write(user: User, text: str, origin: Origin = Origin.USER) -> Memory:
    prepared = direct_writes.prepare(MemoryInput(text), origin=origin)
    with as_user(user):
        return direct_writes.remember(prepared, user=user).memory


def numbers(memory: Memory) -> list[int]:
    rows = MemoryVersion.everything.filter(memory=memory).order_by("number")
    return list(rows.values_list("number", flat=True))


def test_a_restore_and_an_edit_at_once_make_two_versions(bob: User) -> None:
    memory = write(bob, "Likes tea")
    vectors, pieces = search_index.embed_memory("Likes tea")
    prepared = curation.prepare_edit({"content": "Likes oolong"}, memory=memory, actor=Origin.USER)

    def restore() -> None:
        with as_user(bob):
            memory_writes.restore_version(
                memory, number=1, text="Likes tea", vectors=vectors, pieces=pieces
            )

    def edit() -> None:
        with as_user(bob):
            curation.edit(prepared, user=bob, memory=memory)

    assert at_once(restore, edit, restore) == []
    memory.refresh_from_db()
    assert numbers(memory) == [1, 2, 3, 4]
    assert memory.current_version == 4
    assert memory.content == memory_writes.current_version(memory).content


def test_two_merges_at_once_lose_neither_text(bob: User) -> None:
    memory = write(bob, "Has a cat named Biscuit", origin=Origin.API)
    texts = ["Biscuit is 3 years old", "Biscuit is very shy"]
    ready = [direct_writes.prepare(MemoryInput(text), origin=Origin.API) for text in texts]

    def merge(at: int) -> Callable[[], object]:
        def act() -> None:
            with as_user(bob):
                direct_writes.remember(ready[at], user=bob)

        return act

    assert at_once(merge(0), merge(1)) == []
    memory.refresh_from_db()
    said = " ".join(Memory.objects.filter(user=bob).values_list("content", flat=True))
    assert "3 years old" in said and "very shy" in said
    assert numbers(memory) == list(range(1, memory.current_version + 1))


def test_a_switch_waits_for_what_is_being_written_by_it(bob: User) -> None:
    def switch_off() -> None:
        with as_user(bob):
            statements.rows("SELECT set_config('lock_timeout', '50ms', true)", [])
            users.change_settings(user=bob, changes={"longterm_enabled": False})

    with as_user(bob):
        direct_writes.check_on(bob)
        [failed] = at_once(switch_off)
    assert isinstance(failed, OperationalError)
    assert at_once(switch_off) == [] and not users.settings_of(bob).longterm_enabled
