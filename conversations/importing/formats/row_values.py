"""Convert the readers' values to rows of conversations and memories, in batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import Any

from conversations.importing.formats import values
from conversations.importing.formats.types import (
    ImportedConversation,
    ImportedMemory,
    ImportedPerson,
    ImportedTurn,
)

Row = Mapping[str, Any]
Table = tuple[str, list[Row]]
_PORTION = 2_000


def of_people(people: Iterable[ImportedPerson], *, several: bool) -> Iterator[Table]:
    """Yield the rows. With `several`, each conversation names its user."""
    return of_conversations(
        (one, person.external_id if several else "")
        for person in people
        for one in person.conversations
    )


def of_conversations(
    found: Iterable[ImportedConversation | tuple[ImportedConversation, str]],
) -> Iterator[Table]:
    names = count(1)
    portion = _Portion()
    for one in found:
        conversation, owner = one if isinstance(one, tuple) else (one, "")
        portion.add(conversation, owner=owner, name=f"c{next(names)}")
        if len(portion.messages) >= _PORTION:
            yield from portion.tables()
            portion = _Portion()
    yield from portion.tables()


class _Portion:
    def __init__(self) -> None:
        self.conversations: list[Row] = []
        self.messages: list[Row] = []
        self.turns: list[Row] = []

    def add(self, one: ImportedConversation, *, owner: str, name: str) -> None:
        client_id = f"{owner}/{one.client_id}" if owner else one.client_id
        title = f"{owner}: {one.title}" if owner else one.title
        self.conversations.append(
            {
                "id": name,
                "external_id": client_id[: values.CLIENT_ID_LENGTH],
                "title": title[: values.TITLE_LENGTH],
                "kind": one.kind,
                "created_at": one.started_at,
            }
        )
        for number, message in enumerate(one.messages, start=1):
            self.messages.append(
                {
                    "id": f"{name} {message.client_id}",
                    "conversation": name,
                    "external_id": message.client_id,
                    "number": number,
                    "role": message.role,
                    "speaker": message.speaker,
                    "content": message.content,
                    "completed": message.completed,
                    "created_at": message.created_at,
                    "told": "dated" if message.dated else "undated",
                }
            )
        self.turns += [_turn(turn, name) for turn in one.turns]

    def tables(self) -> Iterator[Table]:
        yield "conversation", self.conversations
        yield "message", self.messages
        yield "turn", self.turns


def _turn(turn: ImportedTurn, conversation: str) -> Row:
    return {
        "id": f"{conversation} {turn.user.client_id}",
        "conversation": conversation,
        "user_message": f"{conversation} {turn.user.client_id}",
        "assistant_message": f"{conversation} {turn.assistant.client_id}",
        "created_at": turn.user.created_at,
    }


def of_memories(found: Iterable[ImportedMemory]) -> Iterator[Table]:
    portion: list[Row] = []
    for number, one in enumerate(found, start=1):
        portion.append(_memory(one, f"m{number}"))
        if len(portion) >= _PORTION:
            yield "memory", portion
            portion = []
    yield "memory", portion


def _memory(one: ImportedMemory, name: str) -> Row:
    return {
        "id": name,
        "kind": one.kind,
        "content": one.content,
        "tags": list(one.tags),
        "importance": 0.7,
        "confidence": 0.95,
        "origin": "import",
        "metadata": dict(one.metadata),
        "agent_id": one.agent_id,
        "app_id": one.app_id,
        "run_id": one.run_id,
        "occurred_at": one.created_at,
        "created_at": one.created_at,
    }
