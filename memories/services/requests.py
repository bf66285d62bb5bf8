"""What a person asks for in words: "forget that …"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.models import Conversation, Turn
from memcenter.providers.base import Vectors
from memories.extraction.arbitrate import read
from memories.extraction.arbitration.statement import CHANGING, Statement
from memories.extraction.types import Extraction, ForgetRequest, Known
from memories.models import Memory, Source
from memories.services import forgetting, indexing, similar
from memories.services.listening import Heard
from ops.access import as_user
from ops.models import User
from ops.services.worker import Run

_SURE = 0.8  # similarity at which meaning alone is enough
_RELATED = 0.2  # below it shared words are chance
_SHARED = 0.5  # of what the request speaks of
_EMPTY_WORDS = {"事", "事情", "这件事", "thing", "fact"}
_AS_GOOD = 0.25  # what else is meant is about as near as the nearest


@dataclass(frozen=True)
class Asked:
    """A request with its vector, made before any transaction (None: "forget that")."""

    request: ForgetRequest
    vector: Vectors | None


def prepare(requests: Sequence[ForgetRequest]) -> list[Asked]:
    """Embed what the requests are about; outside any transaction."""
    return [Asked(one, indexing.embed([one.about])[0] if one.about else None) for one in requests]


def forget_what_was_asked(
    run: Run, *, user: User, heard: Heard, extraction: Extraction
) -> list[str]:
    """Forget what the turn asked to be forgotten, by the same service as the button.

    Gives the ids of what is being forgotten; a request that matches nothing forgets nothing. The
    chat forgets before it answers: then `forget_done` stands in the payload.
    """
    if run.payload.get("forget_done") or not extraction.forget:
        return []
    asked = prepare(extraction.forget)
    with as_user(user):
        meant = find(
            asked,
            user=user,
            conversation=heard.turn.conversation,
            before=heard.turn.user_message.number,
        )
    if not meant:
        return []
    with run.applying(user, durable=True):
        forget(meant, user=user)
    return [one.public_id for one in meant]


def find(
    asked: Sequence[Asked], *, user: User, conversation: Conversation, before: int
) -> list[Memory]:
    """The memories that the requests are about; "forget that" means what was just taught."""
    ids: set[int] = set()
    for one in asked:
        if one.vector is None:
            ids.update(_just_taught(user, conversation, before=before))
        else:
            near = similar.similar_to(one.vector, user=user, content=one.request.about)
            ids.update(_meant(one.request, near, user=user))
    return list(Memory.objects.filter(user=user, pk__in=ids).order_by("pk"))


def forget(memories: Sequence[Memory], *, user: User) -> None:
    """Forget those that are still there, together."""
    present = list(Memory.objects.filter(user=user, pk__in=[one.pk for one in memories]))
    if present:
        forgetting.forget_memories(user=user, memories=present)


def _meant(request: ForgetRequest, near: Sequence[Known], *, user: User) -> list[int]:
    asked = read(request.about)
    nearness = {one.id: score for one in near if (score := _nearness(asked, one)) is not None}
    best = max(nearness.values(), default=0.0)
    ids = [public_id for public_id, score in nearness.items() if score >= best - _AS_GOOD]
    return list(Memory.objects.filter(user=user, public_id__in=ids).values_list("pk", flat=True))


def _nearness(asked: Statement, known: Known) -> float | None:
    """How surely this memory is meant, or None: too little in common to erase anything."""
    said = read(known.content)
    wanted = _concepts(asked)
    share = len(wanted & _concepts(said)) / max(1, len(wanted))
    same_slot = asked.slot == said.slot and asked.slot in CHANGING
    shares = share >= _SHARED and known.similarity >= _RELATED
    if not (shares or same_slot or known.similarity >= _SURE):
        return None
    return known.similarity + share


def _concepts(statement: Statement) -> set[str]:
    """What it speaks of, with the parts of compounds: "tea" is in "green tea"."""
    found = statement.words | statement.names
    return {part for concept in found for part in (concept, *concept.split("_"))} - _EMPTY_WORDS


def _just_taught(user: User, conversation: Conversation, *, before: int) -> list[int]:
    turn = (
        Turn.objects.filter(user=user, conversation=conversation, user_message__number__lt=before)
        .order_by("-user_message__number")
        .first()
    )
    if turn is None:
        return []
    return list(Source.objects.filter(turn=turn).values_list("memory", flat=True))
