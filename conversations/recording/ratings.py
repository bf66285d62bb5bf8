"""A person's rating of a message."""

from conversations.models import Feedback, Message
from memories.extraction.secret_masking import masked
from ops.audit import audit_log
from ops.models import User


def rate_message(
    *, user: User, message: Message, rating: str | None, comment: str = ""
) -> Feedback | None:
    """Set or change the person's rating of a message; None removes it."""
    audit_log.record("message.rated", subject=user.subject, target=message.public_id)
    if rating is None:
        Feedback.objects.filter(user=user, message=message).delete()
        return None
    given = {"user": user, "rating": rating, "comment": masked(comment)}
    feedback, _ = Feedback.objects.update_or_create(message=message, defaults=given)
    return feedback
