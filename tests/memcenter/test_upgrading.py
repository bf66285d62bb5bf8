"""From the very first state of the database, with what people had in it, to this one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from conversations.models import Message
from memcenter.lib import env
from memories.models import Memory
from ops.models import User
from tests import databases

FIRST = [(app, "0001_initial") for app in ("ops", "conversations", "memories")]
TEA, CHINESE = "I drink green tea", "我住在杭州"


@pytest.fixture
def other_database(transactional_db: None) -> Iterator[None]:
    """An empty one, as its owner, in the place of the tests' own."""
    name = "upgraded"
    databases.add(name, to=databases.postgres)
    before, owner = dict(connection.settings_dict), env.database("MEMCENTER_OWNER_DATABASE_URL")
    connection.close()
    connection.settings_dict.update(NAME=name, USER=owner["USER"], PASSWORD=owner["PASSWORD"])
    yield
    connection.close()
    connection.settings_dict.update(before)
    databases.drop(name, of=databases.postgres)


def put_in(apps: Any) -> None:
    user = apps.get_model("ops", "User").objects.create(external_id="maya")
    conversation = apps.get_model("conversations", "Conversation").objects.create(
        user=user, created_at=timezone.now()
    )
    for number, content in enumerate((TEA, CHINESE), start=1):
        apps.get_model("conversations", "Message").objects.create(
            user=user,
            conversation=conversation,
            number=number,
            role="user",
            content=content,
            created_at=timezone.now(),
        )
    apps.get_model("memories", "Memory").objects.create(
        user=user, kind="fact", content=CHINESE, origin="user", created_at=timezone.now()
    )


def test_what_was_there_at_the_first_migration_is_there_after_the_last(
    other_database: None,
) -> None:
    state: Any = MigrationExecutor(connection).migrate(FIRST)
    put_in(state.apps)
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
    assert User.objects.get(external_id="maya").forgets == 0
    contents = Message.objects.order_by("number").values_list("content", flat=True)
    assert list(contents) == [TEA, CHINESE]
    memory = Memory.objects.get()
    assert (memory.content, memory.status, memory.user.external_id) == (CHINESE, "active", "maya")
