"""What a person thinks of a memory."""

from memories.extraction.sensitive import masked
from memories.models import Memory
from ops.models import User
from ops.services import audit


def rate_memory(*, user: User, memory: Memory, rating: str | None, comment: str = "") -> Memory:
    """Keep, change or with None take back what the person thinks of one memory."""
    memory.feedback = rating or ""
    memory.feedback_reason = masked(comment) if rating else ""
    rows = Memory.visible.filter(user=user, pk=memory.pk)
    rows.update(feedback=memory.feedback, feedback_reason=memory.feedback_reason)
    audit.record("memory.rated", subject=user.subject, target=memory.public_id)
    return memory
