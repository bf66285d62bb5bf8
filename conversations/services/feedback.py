"""What a person thinks of a message."""

from conversations.models import Feedback, Message
from memories.extraction.sensitive import masked
from ops.models import User
from ops.services import audit


def rate_message(
    *, user: User, message: Message, rating: str | None, comment: str = ""
) -> Feedback | None:
    """Keep, change or with None take back what the person thinks of one message."""
    audit.record("message.rated", subject=user.subject, target=message.public_id)
    if rating is None:
        Feedback.objects.filter(user=user, message=message).delete()
        return None
    given = {"user": user, "rating": rating, "comment": masked(comment)}
    feedback, _ = Feedback.objects.update_or_create(message=message, defaults=given)
    return feedback
