"""What a person asks for in words: "forget that …"."""

from __future__ import annotations

from django.db.models import Q

from conversations.models import Turn
from memcenter.lib import segment
from memcenter.providers.base import Vectors
from memories.extraction.types import Extraction, ForgetRequest
from memories.models import Memory, Source
from memories.services import forgetting, indexing, similar
from memories.services.ingest import Heard
from ops.access import as_user
from ops.models import User
from ops.services.worker import Run

_SURE = 0.7  # similarity at which meaning alone is enough; below it they must share words


def forget_what_was_asked(
    run: Run, *, user: User, heard: Heard, extraction: Extraction
) -> list[str]:
    """Forget what the person asked to be forgotten, by the same service as the button.

    Gives the ids of what is being forgotten; a request that matches nothing forgets nothing.
    """
    forgotten: list[str] = []
    for request in extraction.forget:
        vectors = indexing.embed([request.about]) if request.about else None
        with as_user(user):
            meant = _meant(request, vectors, user=user, turn=heard.turn)
        with run.applying(user):
            for memory in Memory.objects.filter(user=user, pk__in=[one.pk for one in meant]):
                forgetting.forget_memory(user=user, memory=memory)
                forgotten.append(memory.public_id)
    return forgotten


def _meant(
    request: ForgetRequest, vectors: Vectors | None, *, user: User, turn: Turn
) -> list[Memory]:
    """The memories that a request is about; "forget that" means what the turn before taught."""
    if vectors is None:
        return _taught_before(turn)
    near = similar.similar_to(vectors[0], user=user, content=request.about)
    ids = [one.id for one in near if _is_about(request, one.content, one.similarity)]
    return list(Memory.objects.filter(user=user, public_id__in=ids[:3]))


def _is_about(request: ForgetRequest, content: str, similarity: float) -> bool:
    asked, known = set(segment.terms(request.about)), set(segment.terms(content))
    return similarity >= _SURE or bool(asked & known)


def _taught_before(turn: Turn) -> list[Memory]:
    before = (
        Turn.objects.filter(
            Q(user_message__number__lt=turn.user_message.number), conversation=turn.conversation_id
        )
        .order_by("-user_message__number")
        .first()
    )
    if before is None:
        return []
    taught = Source.objects.filter(turn=before).values("memory")
    return list(Memory.objects.filter(user=turn.user_id, pk__in=taught))
