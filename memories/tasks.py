"""Periodic Celery tasks that enqueue operations on memories. The operations run in the worker."""

from celery import shared_task
from celery.signals import worker_init
from django.utils import timezone

from memories import operations
from memories.files import file_sync
from memories.indexing import milvus_sync, reindexing
from memories.language_steps import preload
from memories.learning import joint_learning
from memories.writing import consolidation
from ops.access import as_system


@worker_init.connect
def load_models(**_: object) -> None:
    preload()


@shared_task(ignore_result=True)
def request_examinations() -> int:
    """Enqueue an operation for each inactive conversation not yet processed as a whole."""
    with as_system():
        quiet = list(joint_learning.inactive_conversations(timezone.now()))
        for conversation in quiet:
            joint_learning.request(conversation)
    return len(quiet)


@shared_task(ignore_result=True)
def request_consolidation() -> int:
    """Enqueue a consolidation for each user with old notes, unused memories or memories to join."""
    with as_system():
        people = operations.people_to_consolidate(timezone.now())
        for user in people:
            consolidation.request(user=user)
    return len(people)


@shared_task(ignore_result=True)
def request_own_indexes() -> bool:
    """Enqueue an operation if per-user vector indexes must be built, rebuilt or dropped."""
    with as_system():
        return reindexing.request_user_indexes() is not None


@shared_task(ignore_result=True)
def request_syncs_of_edited_copies() -> int:
    """Enqueue a sync for each user who edited a local copy of a memory file."""
    with as_system():
        return file_sync.request_syncs_after_edits()


@shared_task(ignore_result=True)
def request_file_syncs() -> int:
    """Enqueue a sync for each user whose memories, notes or copies of files have changed."""
    with as_system():
        return file_sync.request_syncs_after_changes()


@shared_task(ignore_result=True)
def request_vector_syncs() -> int:
    """Enqueue a sync for each user with changed vectors that Milvus doesn't have yet."""
    with as_system():
        return milvus_sync.request_pending_syncs()
