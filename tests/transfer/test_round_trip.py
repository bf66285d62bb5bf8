"""Out and in again without loss, and what happens when it meets something that is there."""

from __future__ import annotations

import io
from typing import Any

import pytest

from conversations.importing import file_import
from memories.forgetting import memory_forgets
from memories.models import Memory
from memories.transfer.import_rows import FILE_THERE, FORGOTTEN
from ops.access import as_user
from ops.accounts import users
from ops.models import Import, Operation, User
from ops.queue import worker
from tests.transfer.rich import comparable, content_of, data_of, export, give_everything

pytestmark = pytest.mark.django_db


def bring_in(user: User, content: bytes, *, format: str = "") -> Operation:
    with as_user(user):
        row = file_import.request(
            user=user,
            file=io.BytesIO(content),
            size=len(content),
            format=format,
            actor="user",
            surface="test",
        )
    worker.drain()
    return Operation.objects.get(pk=row.operation_id)


def report(operation: Operation) -> dict[str, Any]:
    assert operation.status == "succeeded", operation.last_error
    found: dict[str, Any] = Import.objects.get(operation=operation).report
    return found


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("format", ["json", "zip"])
def test_everything_survives_a_round_trip(alice: User, seed: int, format: str) -> None:
    give_everything(alice, seed=seed)
    before = data_of(export(alice))["data"]
    file = content_of(export(alice, format=format))
    bob = users.find_or_create("bob")
    told = report(bring_in(bob, file))
    assert {one["where"] for one in told["skipped"]} <= {"export"}
    assert told["conversations"] == 3 and told["memories"] == 8
    after = data_of(export(bob))["data"]
    came, went = comparable(after), comparable(before)
    for kind in went:
        assert came[kind] == went[kind]
    assert came == went


def test_an_own_export_brings_nothing_and_leaves_nothing_out(alice: User) -> None:
    give_everything(alice, seed=1)
    file = content_of(export(alice))
    told = report(bring_in(alice, file))
    assert told["skipped"] == []
    assert (told["conversations"], told["messages"], told["memories"]) == (0, 0, 0)


def test_what_belongs_to_a_forgotten_memory_is_not_reported(alice: User) -> None:
    give_everything(alice, seed=1)
    file = content_of(export(alice))
    memory = Memory.objects.filter(user=alice, status="active").first()
    assert memory is not None
    with as_user(alice, changing=True):
        memory_forgets.forget_memory(user=alice, memory=memory)
    worker.drain()
    told = report(bring_in(alice, file))
    why = {one["why"] for one in told["skipped"] if one["where"] != "export"}
    assert why <= {FORGOTTEN, FILE_THERE}  # a line has left MEMORY.md
