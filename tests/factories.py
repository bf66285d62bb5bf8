"""Rows as the product would have made them, without the services that make them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from conversations.models import Conversation, Episode, Message, Role, Summary, Turn
from memories.indexing import search_index
from memories.indexing.search_index import Entry
from memories.models import (
    Arbitration,
    Change,
    Kind,
    Memory,
    MemoryVersion,
    Origin,
    RecallHit,
    RecallTrace,
    Source,
    TargetKind,
    VersionInput,
)
from ops.models import User


def make_conversation(user: User, **fields: Any) -> Conversation:
    return Conversation.objects.create(user=user, **{"created_at": timezone.now()} | fields)


def make_message(
    conversation: Conversation, content: str, *, role: Role = Role.USER, **fields: Any
) -> Message:
    conversation.last_number += 1
    conversation.message_count += 1
    now = timezone.now()
    conversation.last_message_at = now
    conversation.save()
    message = Message.objects.create(
        user_id=conversation.user_id,
        conversation=conversation,
        number=conversation.last_number,
        role=role,
        content=content,
        token_count=len(content.split()),
        **{"created_at": now} | fields,
    )
    _index(message.user, TargetKind.MESSAGE, message.pk, content, conversation.pk)
    return message


def make_turn(conversation: Conversation, said: str, reply: str = "I see.", **fields: Any) -> Turn:
    question = make_message(conversation, said)
    answer = make_message(conversation, reply, role=Role.ASSISTANT)
    return Turn.objects.create(
        user_id=conversation.user_id,
        conversation=conversation,
        user_message=question,
        assistant_message=answer,
        created_at=question.created_at,
        **fields,
    )


def make_episode(turn: Turn) -> Episode:
    episode = Episode.objects.create(
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        turn=turn,
        created_at=turn.created_at,
    )
    text = f"{turn.user_message.content}\n{turn.assistant_message.content}"
    _index(turn.user, TargetKind.EPISODE, episode.pk, text, turn.conversation_id)
    return episode


def make_summary(
    conversation: Conversation, text: str, *, through: int, version: int = 1
) -> Summary:
    summary = Summary.objects.create(
        user_id=conversation.user_id,
        conversation=conversation,
        version=version,
        text=text,
        covered_message_count=through,
        from_number=1,
        through_number=through,
    )
    _index(conversation.user, TargetKind.SUMMARY, summary.pk, text, conversation.pk)
    return summary


def make_memory(
    user: User,
    content: str,
    *,
    turns: Sequence[Turn] = (),
    origin: Origin | None = None,
    **fields: Any,
) -> Memory:
    """With its first version, a source for each turn (else one of the writer's), and its index."""
    origin = origin or (Origin.EXTRACTED if turns else Origin.USER)
    memory = Memory.objects.create(
        user=user,
        content=content,
        origin=origin,
        **{"kind": Kind.FACT, "created_at": timezone.now()} | fields,
    )
    make_version(memory, content, change=Change.CREATED, turns=turns, actor=origin)
    _index(user, TargetKind.MEMORY, memory.pk, content)
    return memory


def make_version(
    memory: Memory,
    content: str,
    *,
    change: Change,
    turns: Sequence[Turn] = (),
    actor: Origin = Origin.EXTRACTED,
    candidate_text: str = "",
    inputs: Sequence[MemoryVersion] = (),
) -> MemoryVersion:
    """The memory's next version and its current one, with copies of the sources of its inputs."""
    number = MemoryVersion.everything.filter(memory=memory).count() + 1
    version = MemoryVersion.objects.create(
        user_id=memory.user_id,
        memory=memory,
        number=number,
        kind=memory.kind,
        content=content,
        candidate_text=candidate_text,
        change=change,
        actor=actor,
        created_at=timezone.now(),
    )
    for turn in turns:
        _source(version, origin=actor, turn=turn, quote=turn.user_message.content)
    if not turns and not inputs:
        _source(version, origin=actor)
    for one in inputs:
        VersionInput.objects.create(user_id=memory.user_id, output=version, input=one)
        for source in Source.objects.filter(version=one):
            source.pk, source.memory, source.version = None, memory, version
            source.save(force_insert=True)
    Memory.everything.filter(pk=memory.pk).update(content=content, current_version=number)
    memory.refresh_from_db()
    return version


def make_trace(user: User, query: str, *, hits: Sequence[str] = (), **fields: Any) -> RecallTrace:
    trace = RecallTrace.objects.create(user=user, query=query, **fields)
    RecallHit.objects.bulk_create(
        RecallHit(user=user, trace=trace, type="memory", target_public_id=one, rank=rank, score=0.5)
        for rank, one in enumerate(hits, start=1)
    )
    return trace


def make_decision(
    turn: Turn, memory: Memory, verdict: str, target: Memory | None = None
) -> Arbitration:
    return Arbitration.objects.create(
        user=turn.user, turn=turn, memory=memory, target=target, verdict=verdict, candidate_text="x"
    )


def _source(version: MemoryVersion, *, origin: Origin, **fields: Any) -> Source:
    turn = fields.get("turn")
    return Source.objects.create(
        user_id=version.user_id,
        memory_id=version.memory_id,
        version=version,
        origin=origin,
        message=turn.user_message if turn else None,
        created_at=timezone.now() + timedelta(microseconds=version.pk),
        **fields,
    )


def _index(
    user: User, kind: TargetKind, target: int, text: str, conversation: int | None = None
) -> None:
    entry = Entry(kind, target, text, conversation)
    search_index.store(user=user, entries=[entry], vectors=search_index.embed([text]))
