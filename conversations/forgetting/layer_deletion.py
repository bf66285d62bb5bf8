"""Delete all summaries or all episodes of a person and keep the messages."""

from __future__ import annotations

from typing import Any

from django.db.models import Max, Q
from django.utils import timezone

from conversations.models import Episode, Summary
from memcenter.lib.database import cascades
from memcenter.lib.errors import Invalid
from memories.forgetting import memory_erasure
from memories.models import TargetKind
from memories.writing import facet_cache
from ops.forgetting import erasure
from ops.models import Kind, Operation, User

_MODELS: dict[str, Any] = {"summary": Summary, "episode": Episode}
KINDS = {"summary": TargetKind.SUMMARY, "episode": TargetKind.EPISODE}


def delete_layer(
    *,
    user: User,
    layer: str,
    through: int | None = None,
    requested_by_key: int | None = None,
) -> tuple[Operation, int]:
    """Hide every summary (or episode) up to the key `through` now, and erase them.

    Returns the operation and the number of rows. The messages stay. If summaries are on, long
    conversations are summarized again. Earlier turns lose their episodes for good. Raises
    `Invalid`.
    """
    if layer not in _MODELS:
        raise Invalid.field("layer", "Must be summary or episode.")
    erasure.start(user)
    rows = rows_of(user, layer=layer, through=through)
    through = rows.aggregate(newest=Max("pk"))["newest"] or 0
    payload = {"layer": layer, "through": through}
    before = erasure.take_up(Kind.FORGET_LAYER, user=user, payload=payload)
    if before is not None:
        return before, rows.count()
    count = rows.filter(hidden_at__isnull=True).update(hidden_at=timezone.now())
    facet_cache.drop(user.pk)
    operation = erasure.begin(
        Kind.FORGET_LAYER,
        user=user,
        payload=payload,
        about=Q(kind=Kind.SUMMARIZE) if layer == "summary" else Q(pk__in=[]),
        requested_by_key=requested_by_key,
        target={"layer": layer},
    )
    return operation, count


def rows_of(user: User, *, layer: str, through: int | None = None) -> Any:
    rows = _MODELS[layer].everything.filter(user=user)
    return rows if through is None else rows.filter(pk__lte=through)


def erase_layer(user: User, *, layer: str, through: int) -> Any:
    """Erase the rows with their words, vectors and recall hits. Safe to repeat."""
    rows = rows_of(user, layer=layer, through=through)
    ids = dict(rows.values_list("pk", "public_id"))
    erased = memory_erasure.erase_index(user=user, kind=KINDS[layer], target_ids=list(ids))
    erased += memory_erasure.erase_hits(user=user, public_ids=list(ids.values()))
    return erased + cascades.delete(rows)
