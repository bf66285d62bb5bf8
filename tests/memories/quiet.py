"""A conversation that falls quiet, and what was learned by then."""

from datetime import timedelta

from django.utils import timezone

from conversations.models import Conversation
from memories import tasks
from memories.models import Memory
from ops.queue import worker


def falls_quiet(conversation: Conversation) -> None:
    """Half an hour passes, beat comes by, and the worker does what is due."""
    worker.drain()
    then = timezone.now() - timedelta(minutes=31)
    Conversation.objects.filter(pk=conversation.pk).update(last_message_at=then)
    tasks.request_examinations()
    worker.drain()


def texts() -> list[str]:
    return list(Memory.objects.order_by("pk").values_list("content", flat=True))
