"""Periodic Celery tasks that enqueue operations on memories. The operations run in the worker."""

from celery import shared_task
from celery.signals import worker_init
from django.utils import timezone

from memories import operations
from memories.files import file_sync
from memories.indexing import milvus_sync, reindexing
from memories.language_steps import preload
from memories.learning import quiet_conversations
from memories.writing import consolidation
from ops.access import as_system


@worker_init.connect
def load_models(**_: object) -> None:
    preload()


@shared_task(ignore_result=True)
def request_examinations() -> int:
    """Enqueue an operation for each inactive conversation not yet processed as a whole."""
    with as_system():
        quiet = list(quiet_conversations.quiet(timezone.now()))
        for conversation in quiet:
            quiet_conversations.request(conversation)
    return len(quiet)


@shared_task(ignore_result=True)
def request_consolidation() -> int:
    """Enqueue a consolidation for each user who has old notes, or old or unused memories."""
    with as_system():
        people = operations.people_to_consolidate(timezone.now())
        for user in people:
            consolidation.request(user=user)
    return len(people)


@shared_task(ignore_result=True)
def request_own_indexes() -> bool:
    """Enqueue an operation if a user now needs a separate vector index, or no longer needs one."""
    with as_system():
        return reindexing.request_user_indexes() is not None


@shared_task(ignore_result=True)
def watch_copies() -> int:
    """Enqueue a sync for each user who edited a local copy of a memory file."""
    with as_system():
        return file_sync.request_where_edited()


@shared_task(ignore_result=True)
def request_file_syncs() -> int:
    """Enqueue a sync for each user whose memories or copies of memory files have changed."""
    with as_system():
        return file_sync.request_where_changed()


@shared_task(ignore_result=True)
def request_vector_syncs() -> int:
    """Enqueue a sync for each user with changed vectors that Milvus doesn't have yet."""
    with as_system():
        return milvus_sync.request_where_waiting()
