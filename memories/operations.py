"""Operation handlers for memories: learning from turns, indexing, consolidation, maintenance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.utils import timezone

from memories import language_steps
from memories.files import daily_notes, file_sync, line_index
from memories.forgetting import operations, spoken_requests
from memories.indexing import milvus_sync, search_index
from memories.learning import (
    joint_learning,
    single_texts,
    skills,
    turn_batches,
    turn_context,
    turn_learning,
)
from memories.learning.turn_context import LoadedTurn
from memories.models import Memory
from memories.writing import (
    archive,
    consolidation,
    model_revision,
    portrait_phrases,
    verdict_writes,
)
from ops.access import as_user
from ops.forgetting import expired_rows
from ops.models import Kind, User
from ops.queue.run import Run
from ops.registry import handles


@handles(Kind.EXTRACT_TURN)
def extract_turn(run: Run) -> Mapping[str, Any] | None:
    """Learn memories from a turn, and from other queued turns of the user.

    Safe to run twice: the turn is marked as processed at the end, and each candidate's verdict is
    logged in the transaction that applies it, so that the next run skips the candidate.
    """
    user = run.user()
    if user is None or not run.payload.get("learns", True):
        return None
    with as_user(user):
        queued = (
            run.find_queued(limit=turn_batches.TOGETHER) if language_steps.are_steps_local() else []
        )
        waiting = [run.payload, *(one.payload for one in queued)]
        found = turn_context.load_turns(user=user, turn_ids=[one["turn"] for one in waiting])
    loaded = found.get(run.payload["turn"])
    if loaded is None:
        return None
    together = turn_batches.learn(run, user=user, queued=queued, loaded=found) if queued else None
    return together or _learn_single_turn(run, user=user, loaded=loaded)


def _learn_single_turn(run: Run, *, user: User, loaded: LoadedTurn) -> Mapping[str, Any]:
    extraction = turn_learning.extract_from(loaded)
    forget = spoken_requests.carry_out_requests(
        run, user=user, turn=loaded.turn, extraction=extraction
    )
    if not extraction.not_to_keep:
        skills.learn(run, user=user, turn=loaded.turn)
    decided = turn_learning.learn(run, user=user, loaded=loaded, extraction=extraction)
    return turn_batches.result_of(decided, extraction, forget=forget)


@handles(Kind.EXTRACT_CONVERSATION)
def extract_conversation(run: Run) -> Mapping[str, Any] | None:
    """Read the turns of a conversation together, and learn statements that no single turn reveals.

    Messages without a reply are processed too, each on its own. Safe to run twice: the conversation
    records how far it was read, and verdicts are logged in the transactions that apply them.
    """
    user = run.user()
    if user is None:
        return None
    decided = joint_learning.examine(run, user=user, conversation_id=run.payload["conversation"])
    return {"memories": [{"id": one.memory.public_id, "result": one.result} for one in decided]}


@handles(Kind.INDEX_MEMORY)
def index_memory(run: Run) -> None:
    """Index the current text of a memory, note or file.

    Safe to run twice: a repeated run writes the same rows.
    """
    user = run.user()
    if user is None:
        return
    if "note" in run.payload:
        daily_notes.index(run, user=user, note_id=run.payload["note"])
        return
    if "file" in run.payload:
        line_index.index(run, user=user, file_id=run.payload["file"])
        return
    with as_user(user):
        memory = Memory.objects.filter(user=user, pk=run.payload["memory"]).first()
    if memory is None:
        return
    vectors, pieces = search_index.embed_memory(memory.content)
    with run.applying(user):
        current = Memory.objects.select_for_update(of=("self",)).filter(pk=memory.pk).first()
        if current is not None and current.content == memory.content:
            search_index.store_memory(memory=current, vectors=vectors, pieces=pieces)


@handles(Kind.CONSOLIDATE, is_long=True)
def consolidate(run: Run) -> Mapping[str, Any] | None:
    """Learn from old notes, join similar old memories, and archive unused memories.

    A dry run only reports which memories would be joined or archived. Safe to run twice: a note
    records when it was processed, and verdicts are logged as they are applied. A joined memory is
    created in the transaction that archives its originals, and archived memories are neither joined
    nor archived again.
    """
    user = run.user()
    if user is None:
        return None
    learned = []
    if not run.payload.get("dry_run"):
        run.step("notes")
        learned = single_texts.learn_from_notes(run, user=user)
    with as_user(user):
        groups = consolidation.groups_of(user, now=timezone.now())
    run.step("propose", total=len(groups))
    proposals = consolidation.propose(groups, consolidator=language_steps.consolidator())
    if run.payload.get("dry_run"):
        joined = {one.public_id for found in proposals for one in found.memories}
        alone = [
            one.public_id
            for one in _memories_to_archive(user, groups)
            if one.public_id not in joined
        ]
        would = {"would_join": [[one.public_id for one in found.memories] for found in proposals]}
        return would | ({"would_archive": alone} if alone else {})
    with run.applying(user):
        made = consolidation.apply(proposals, user=user)
    report = {"made": [{"id": one.memory, "from": list(one.originals)} for one in made]}
    from_notes = [{"id": one.memory.public_id, "result": one.result} for one in learned]
    run.step("archive")
    isolated = _memories_to_archive(user, groups)
    with run.applying(user):
        archived = archive.apply(isolated, user=user)
    return (
        report
        | ({"learned": from_notes} if from_notes else {})
        | ({"archived": archived} if archived else {})
    )


def _memories_to_archive(user: User, groups: Sequence[consolidation.Group]) -> list[Memory]:
    """Return the memories to archive.

    The list is empty if this run has reached the limit on groups, because the next run may still
    join these memories.
    """
    if len(groups) >= consolidation.GROUPS:
        return []
    with as_user(user):
        return archive.find_archivable(user, now=timezone.now())


@handles(Kind.SYNC_VECTORS, is_long=True)
def sync_vectors(run: Run) -> None:
    """Send a user's changed vectors to Milvus.

    Safe to run twice: a repeated run finds no changes.
    """
    user = run.user()
    if user is not None:
        milvus_sync.send_changes(user.pk)


@handles(Kind.CLEANUP, is_long=True)
def clean_up(run: Run) -> Mapping[str, Any]:
    """Erase expired rows. Safe to run twice: a repeated run finds no expired rows."""
    counts = {"binned": operations.forget_binned(run), "files": operations.erase_binned_files(run)}
    run.step("traces")
    return counts | expired_rows.erase_expired(run) | operations.erase_expired(run)


@handles(Kind.SYNC_FILES, is_long=True)
def sync_files(run: Run) -> Mapping[str, Any] | None:
    """Sync a user's memory files, and the copies of these files, with the memories.

    Safe to run twice: if an edit in a copy was already applied to the memories, the edit is
    recognized by its text.
    """
    user = run.user()
    if user is None:
        return None
    return file_sync.sync(user).as_result


@handles(Kind.REVISE_MEMORY)
def revise_memory(run: Run) -> Mapping[str, Any] | None:
    """Let the chat model check and possibly revise the bundled arbiter's decision about a memory.

    Safe to run twice: a revised memory is skipped, because it is no longer active with the same
    text.
    """
    user = run.user()
    if user is None:
        return None
    wanted = {"memory_id": run.payload["memory"], "version": run.payload["version"]}
    with as_user(user):
        memory = model_revision.find(user, **wanted)
    if memory is None:
        return None
    vectors, _ = search_index.embed_memory(memory.content)
    with as_user(user):
        written = model_revision.collect_similar(user, memory, vectors[0])
    arbitrated = verdict_writes.arbitrate(
        written.candidate,
        known=written.known,
        arbiter=language_steps.arbiter(),
        now=memory.created_at,
    )
    return {"revised": model_revision.revise(run, user, written, arbitrated.decision)}


@handles(Kind.WORD_PORTRAIT)
def word_portrait(run: Run) -> Mapping[str, Any] | None:
    """Let the chat model write phrases for the memories on the portrait page.

    Safe to run twice: a version that already has a phrase is skipped.
    """
    user = run.user()
    if user is None:
        return None
    return {"phrases": portrait_phrases.write(run, user=user)}


def people_to_consolidate(now: datetime) -> list[User]:
    """Return the users for whom a consolidation should be requested.

    These users have old notes, enough old memories to merge, or unused memories. Call this function
    inside `as_system`.
    """
    groups = consolidation.eligible_memories(now).order_by().values("user", "kind", "project")
    enough = groups.annotate(count=Count("pk")).filter(count__gte=consolidation.FEWEST)
    waiting = (
        enough,
        single_texts.unread_notes(now).order_by(),
        archive.unused_memories(now).order_by(),
    )
    owners = {pk for rows in waiting for pk in rows.values_list("user", flat=True).distinct()}
    on = User.objects.filter(pk__in=owners, hidden_at__isnull=True)
    return list(on.exclude(settings__longterm_enabled=False).order_by("pk"))
