"""What beat asks for in people's memories; the work itself stands in the outbox."""

from celery import shared_task
from django.utils import timezone

from memories.services import consolidation
from ops.access import as_system


@shared_task(ignore_result=True, expires=3_600)
def request_consolidation() -> int:
    """Every night, one operation for each person who has enough old memories."""
    with as_system():
        people = list(consolidation.people_with_enough(timezone.now()))
        for user in people:
            consolidation.request(user=user)
    return len(people)
