"""A person with something of everything that travels, and what travels made comparable."""

from __future__ import annotations

import random
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from django.utils import timezone

from conversations.models import Conversation, Feedback, Message, Role
from memories.models import (
    Arbitration,
    Change,
    DailyNote,
    FileVersion,
    Kind,
    Memory,
    MemoryFile,
    MemoryStatus,
    Project,
    Refusal,
    Relation,
    RelationKind,
)
from ops.access import as_user
from ops.accounts import users
from ops.models import Export, Operation, User
from ops.portable_rows import OUR_ID
from ops.queue import worker
from ops.transfer import exports, stored_files
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_message,
    make_summary,
    make_trace,
    make_turn,
    make_version,
)

LONG_AGO = datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=UTC)
WORDS = ("tea", "豆豆", "chess", "**bold**", "a\nline", "“quoted”", "🍵", "杭州", "<b>", "\\n")


def sentence(chance: random.Random) -> str:
    return " ".join(chance.choices(WORDS, k=chance.randint(1, 9))) + "."


def give_everything(user: User, *, seed: int = 1) -> None:
    chance = random.Random(seed)
    users.change_settings(
        user=user, changes={"language": "zh-hans", "timezone": "Asia/Shanghai", "theme": "dark"}
    )
    projects = [
        Project.objects.create(user=user, key=f"p{n}", name=sentence(chance)) for n in (1, 2)
    ]
    turns = [turn for n in range(3) for turn in _conversation(user, chance, number=n)]
    memories = [_memory(user, chance, turns, projects) for _ in range(8)]
    _bind(user, chance, memories, turns)
    _files(user, chance, memories)
    make_trace(
        user,
        sentence(chance),
        hits=[memories[0].public_id, turns[0].user_message.public_id],
        conversation=turns[0].conversation,
        answer=turns[0].assistant_message,
    )


def _conversation(user: User, chance: random.Random, *, number: int) -> list[Any]:
    conversation = make_conversation(
        user,
        external_id=f"thread {number}" if number else None,
        title=sentence(chance)[:50],
        kind=chance.choice(["main", "group"]),
        created_at=LONG_AGO + timedelta(days=number),
    )
    made = [
        make_turn(
            conversation,
            sentence(chance),
            sentence(chance),
            tools=[{"name": "t"}],
            extracted_at=LONG_AGO,
        )
        for _ in range(3)
    ]
    make_message(conversation, sentence(chance), speaker="Nora", external_id=f"m{number}")
    make_message(conversation, "half", role=Role.ASSISTANT, completed=False)
    Conversation.objects.filter(pk=conversation.pk).update(speakers=["Nora"])
    make_episode(made[0])
    make_summary(conversation, sentence(chance), through=2)
    make_summary(conversation, sentence(chance), through=4, version=2)
    Feedback.objects.create(
        user=user, message=made[0].assistant_message, rating="negative", comment=sentence(chance)
    )
    Message.objects.filter(pk=made[1].user_message.pk).update(created_at=LONG_AGO)
    return made


def _memory(user: User, chance: random.Random, turns: list[Any], projects: list[Project]) -> Memory:
    memory = make_memory(
        user,
        sentence(chance),
        turns=chance.sample(turns, chance.randint(0, 2)),
        kind=chance.choice(list(Kind)),
        status=chance.choice(list(MemoryStatus)),
        pinned=chance.random() < 0.5,
        project=chance.choice([None, *projects]),
        tags=[f"tag {n}" for n in range(chance.randint(0, 3))],
        data={"n": chance.random(), "deep": [{"x": None}]},
        metadata={"from": "mem0", "big": 12345678901},
        importance=chance.random(),
        occurred_at=LONG_AGO,
        access_count=chance.randint(0, 99),
        last_accessed_at=LONG_AGO,
        feedback="positive",
        feedback_reason=sentence(chance),
        agent_id="agent 7",
    )
    first = memory.versions.get(number=1)
    if chance.random() < 0.7:
        make_version(
            memory,
            sentence(chance),
            change=Change.MERGED,
            turns=chance.sample(turns, 1),
            candidate_text=sentence(chance),
            inputs=[first],
        )
    if chance.random() < 0.4:
        later = timezone.now() + timedelta(days=3)
        Memory.objects.filter(pk=memory.pk).update(deleted_at=LONG_AGO, purge_at=later)
    Memory.everything.filter(pk=memory.pk).update(updated_at=LONG_AGO)
    return memory


def _bind(user: User, chance: random.Random, memories: list[Memory], turns: list[Any]) -> None:
    one, two, three = memories[:3]
    Relation.objects.create(
        user=user, memory=one, other=two, kind=RelationKind.CONTRADICTS, strength=0.7
    )
    Memory.everything.filter(pk=one.pk).update(conflicts_with=two)
    Memory.everything.filter(pk=two.pk).update(superseded_by=three)
    Arbitration.objects.create(
        user=user,
        turn=turns[0],
        memory=one,
        target=two,
        verdict="MERGE",
        candidate_text=sentence(chance),
        decided_by="bundled",
        reasons=["same"],
    )
    Refusal.objects.create(user=user, turn=turns[1], category="password")


def _files(user: User, chance: random.Random, memories: list[Memory]) -> None:
    text = "## fact\n" + "".join(f"- x <!-- {one.public_id} -->\n" for one in memories)
    file = MemoryFile.objects.create(user=user, path="MEMORY.md", content=text, version=2)
    FileVersion.objects.create(user=user, file=file, number=1, content=text, actor="user")
    for number in (1, 2):
        DailyNote.objects.create(
            user=user,
            day=LONG_AGO.date(),
            number=number,
            text=sentence(chance),
            source="me",
            created_at=LONG_AGO,
        )


def export(user: User, *, format: str = "json", conversation: Conversation | None = None) -> Export:
    with as_user(user):
        asked = exports.request_export(
            user=user,
            format=format,
            actor="user",
            surface="test",
            conversation=(conversation.pk, conversation.public_id) if conversation else None,
        )
    worker.drain()
    asked.refresh_from_db()
    operation = Operation.objects.get(pk=asked.operation_id)
    assert operation.status == "succeeded", operation.last_error
    return asked


def content_of(made: Export) -> bytes:
    with stored_files.storage_of(stored_files.EXPORTS).open(made.path) as file:
        return bytes(file.read())


def data_of(made: Export) -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(content_of(made))
    return found


STAYS = ("account", "apikey", "signinlink", "webhook", "idempotencyrecord", "export", "import")


def comparable(data: Mapping[str, list[dict[str, Any]]]) -> dict[str, list[Any]]:
    """What must survive: every value, with ids and numbers of rows named by their order."""
    names: dict[Any, str] = {}
    for kind, rows in data.items():
        for place, row in enumerate(rows):
            if isinstance(row.get("id"), str):
                names[row["id"]] = f"<{kind} {place}>"
            elif "id" in row:
                names[(kind, row["id"])] = f"<{kind} {place}>"
    return {
        kind: [_renamed(row, kind, names) for row in rows]
        for kind, rows in data.items()
        if kind not in STAYS
    }


_POINTS_AT = {
    ("source", "version"): "memoryversion",
    ("versioninput", "output"): "memoryversion",
    ("versioninput", "input"): "memoryversion",
    ("fileversion", "file"): "memoryfile",
    ("memory", "project"): "project",
}


def _renamed(row: Mapping[str, Any], kind: str, names: Mapping[Any, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in row.items():
        if kind == "usersettings" and name.endswith("_at"):
            continue  # when it was decided here
        if isinstance(value, int) and name == "id":
            value = names[(kind, value)]
        elif (kind, name) in _POINTS_AT and value is not None:
            value = names[(_POINTS_AT[(kind, name)], value)]
        elif isinstance(value, str):
            value = OUR_ID.sub(lambda one: names.get(one[0], one[0]), value)
        found[name] = value
    return found
