"""Deleting all summaries or all episodes of a person, while what was said stays."""

from __future__ import annotations

from typing import Any

from django.db.models import Max, Q
from django.utils import timezone

from conversations.models import Episode, Summary
from memcenter.lib import cascades
from memcenter.lib.errors import Invalid
from memories.models import TargetKind
from memories.services import erasing as known
from memories.services import hot_cache
from ops.models import Kind, Operation, User
from ops.services import erasing

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

    Gives the operation and how many there were.

    The messages stay. Where summaries are on, long conversations are summarized again; earlier
    turns are no longer found by what was once an episode. Raises `Invalid`.
    """
    if layer not in _MODELS:
        raise Invalid.field("layer", "Must be summary or episode.")
    erasing.start(user)
    rows = rows_of(user, layer=layer, through=through)
    through = rows.aggregate(newest=Max("pk"))["newest"] or 0
    payload = {"layer": layer, "through": through}
    before = erasing.take_up(Kind.FORGET_LAYER, user=user, payload=payload)
    if before is not None:
        return before, rows.count()
    count = rows.filter(hidden_at__isnull=True).update(hidden_at=timezone.now())
    hot_cache.drop(user.pk)
    operation = erasing.begin(
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
    """Rows, words, vectors and what recalls say of them. Safe to repeat."""
    rows = rows_of(user, layer=layer, through=through)
    ids = dict(rows.values_list("pk", "public_id"))
    erased = known.erase_index(user=user, kind=KINDS[layer], target_ids=list(ids))
    erased += known.erase_hits(user=user, public_ids=list(ids.values()))
    return erased + cascades.delete(rows)
