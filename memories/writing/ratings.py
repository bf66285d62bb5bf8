"""Users' ratings of memories, which change a memory's confidence and its rank."""

from conversations.models import Rating
from memcenter.lib.errors import NotFound
from memories.extraction.secret_masking import masked
from memories.models import Memory
from memories.writing import memory_writes
from ops.audit import audit_log
from ops.models import User

# The factor for the confidence. Praise removes a fifth of the doubt, as a repetition does.
_LEFT = {Rating.NEGATIVE: 0.6, Rating.VERY_NEGATIVE: 0.3}
_DOUBT_LEFT = 0.8


def rate_memory(*, user: User, memory: Memory, rating: str | None, comment: str = "") -> Memory:
    """Set, change or, with None, withdraw the user's rating of a memory.

    The confidence follows the rating. A changed rating starts from the confidence before the first
    rating, and withdrawing restores that confidence, unless something else changed it in the
    meantime. The rank in a recall depends on the rating (`retrieval/scoring.py`). Raises
    `NotFound`.
    """
    rows = Memory.visible.select_for_update(of=("self",)).select_related("user", "project")
    found = rows.filter(user=user, pk=memory.pk).first()
    if found is None:
        raise NotFound("There is no such memory.")
    before = _unrated(found)
    found.feedback = rating or ""
    found.feedback_reason = masked(comment) if rating else ""
    found.confidence = rated(before, found.feedback)
    found.confidence_unrated = before if rating else None
    rated_fields = ["feedback", "feedback_reason", "confidence", "confidence_unrated"]
    found.save(update_fields=rated_fields)
    memory_writes.changed(found)
    audit_log.record("memory.rated", subject=user.subject, target=found.public_id)
    return found


def asks_to_forget(rating: str | None) -> bool:
    """Whether a memory with this rating is offered to be forgotten."""
    return rating == Rating.VERY_NEGATIVE


def rated(confidence: float, rating: str) -> float:
    """Return the confidence after a rating."""
    if rating == Rating.POSITIVE:
        return 1.0 - (1.0 - confidence) * _DOUBT_LEFT
    return confidence * _LEFT.get(Rating(rating), 1.0) if rating else confidence


def _unrated(memory: Memory) -> float:
    before = memory.confidence_unrated
    if before is None or memory.confidence != rated(before, memory.feedback):
        return memory.confidence
    return before
