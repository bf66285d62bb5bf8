"""What a recall or search returned, kept so that it can be explained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from conversations.models import Conversation, Message
from memories.models import RecallHit, RecallTrace, TraceKind
from ops.models import User


@dataclass(frozen=True)
class Hit:
    type: str
    id: str
    score: float
    components: Mapping[str, float] = field(default_factory=dict)
    in_block: bool = False


@dataclass(frozen=True)
class Stage:
    name: str
    took_ms: float
    count: int


def record(
    *,
    user: User,
    kind: TraceKind,
    query: str,
    hits: Sequence[Hit],
    stages: Sequence[Stage],
    took_ms: float,
    conversation: Conversation | None = None,
) -> RecallTrace:
    """Keep one recall with its hits in order."""
    trace = RecallTrace.objects.create(
        user=user,
        kind=kind,
        query=query,
        conversation=conversation,
        stages=[
            {"name": one.name, "took_ms": round(one.took_ms, 2), "count": one.count}
            for one in stages
        ],
        took_ms=round(took_ms, 2),
    )
    RecallHit.objects.bulk_create(
        RecallHit(
            user=user,
            trace=trace,
            type=hit.type,
            target_public_id=hit.id,
            rank=rank,
            score=hit.score,
            components=dict(hit.components),
            in_block=hit.in_block,
        )
        for rank, hit in enumerate(hits, start=1)
    )
    return trace


def answered(*, user: User, request_id: str, answer: Message) -> None:
    """Note which reply a recall's block went into: "used in this answer"."""
    RecallTrace.objects.filter(user=user, request_id=request_id).update(answer=answer)
