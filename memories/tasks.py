"""What beat asks for in people's memories; the work itself stands in the outbox."""

from celery import shared_task
from celery.signals import worker_init
from django.utils import timezone

from memories.services import (
    consolidation,
    file_syncing,
    own_indexes,
    providers,
    sessions,
    vector_changes,
)
from ops.access import as_system


@worker_init.connect
def load_the_reader(**_: object) -> None:
    """Before the worker's processes are forked, so that they share its memory."""
    providers.bundled_extractor()


@shared_task(ignore_result=True)
def request_examinations() -> int:
    """One operation for each conversation that went quiet and was not examined yet."""
    with as_system():
        quiet = list(sessions.quiet(timezone.now()))
        for conversation in quiet:
            sessions.request(conversation)
    return len(quiet)


@shared_task(ignore_result=True)
def request_consolidation() -> int:
    """Every night, one operation for each person who has old notes, or enough old memories."""
    with as_system():
        people = consolidation.people_to_ask_for(timezone.now())
        for user in people:
            consolidation.request(user=user)
    return len(people)


@shared_task(ignore_result=True)
def request_own_indexes() -> bool:
    """Hourly, one operation where somebody came to have very many memories, or few again."""
    with as_system():
        return own_indexes.request() is not None


@shared_task(ignore_result=True)
def watch_copies() -> int:
    """One operation for each person who edited a copy of a memory file on the disk."""
    with as_system():
        return file_syncing.request_where_edited()


@shared_task(ignore_result=True)
def request_file_syncs() -> int:
    """One operation for each person whose memories or copies of files changed."""
    with as_system():
        return file_syncing.request_where_changed()


@shared_task(ignore_result=True)
def request_vector_syncs() -> int:
    """One operation for each person of whose vectors Milvus wasn't told everything."""
    with as_system():
        return vector_changes.request_where_waiting()
