"""Handlers of what is known: learning from turns, indexing memories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils import timezone

from memories.models import Memory
from memories.services import (
    cleaning,
    consolidation,
    file_lines,
    file_syncing,
    indexing,
    ingest,
    learning,
    listening,
    moving,
    noted,
    notes,
    own_indexes,
    providers,
    reindexing,
    requests,
    sessions,
    skills,
    vector_changes,
)
from memories.services.listening import Heard
from ops.access import as_user
from ops.models import Kind, User
from ops.registry import handles
from ops.services import leftovers
from ops.services.worker import Run


@handles(Kind.EXTRACT_TURN)
def extract_turn(run: Run) -> Mapping[str, Any] | None:
    """Learn from one turn, and from others of the person that wait.

    Running it twice is safe: the turn is marked in the end, and each candidate's verdict is
    logged in the transaction that applied it and left out the next time.
    """
    user = run.user()
    if user is None or not run.payload.get("learns", True):
        return None
    with as_user(user):
        beside = run.beside(limit=learning.TOGETHER) if providers.all_here() else []
        waiting = [run.payload, *(one.payload for one in beside)]
        found = listening.hear_each(user=user, turn_ids=[one["turn"] for one in waiting])
    heard = found.get(run.payload["turn"])
    if heard is None:
        return None
    together = learning.learn(run, user=user, beside=beside, heard=found) if beside else None
    return together or _learned_alone(run, user=user, heard=heard)


def _learned_alone(run: Run, *, user: User, heard: Heard) -> Mapping[str, Any]:
    extraction = ingest.extract_from(heard)
    forget = requests.settle(run, user=user, heard=heard, extraction=extraction)
    skills.learn(run, user=user, turn=heard.turn)
    decided = ingest.learn(run, user=user, heard=heard, extraction=extraction)
    return learning.told(decided, extraction, forget=forget)


@handles(Kind.EXTRACT_CONVERSATION)
def extract_conversation(run: Run) -> Mapping[str, Any] | None:
    """Look at a conversation as a whole, for what only shows over several turns.

    Running it twice is safe: the conversation says how far it was examined, and verdicts are
    logged in the transactions that applied them.
    """
    user = run.user()
    if user is None:
        return None
    decided = sessions.examine(run, user=user, conversation_id=run.payload["conversation"])
    return {"memories": [{"id": one.memory.public_id, "result": one.result} for one in decided]}


@handles(Kind.INDEX_MEMORY)
def index_memory(run: Run) -> None:
    """Make one memory, note or file findable as it reads now; again it writes the same."""
    user = run.user()
    if user is None:
        return
    if "note" in run.payload:
        notes.index(run, user=user, note_id=run.payload["note"])
        return
    if "file" in run.payload:
        file_lines.index(run, user=user, file_id=run.payload["file"])
        return
    with as_user(user):
        memory = Memory.objects.filter(user=user, pk=run.payload["memory"]).first()
    if memory is None:
        return
    vectors, pieces = indexing.embed_memory(memory.content)
    with run.applying(user):
        current = Memory.objects.select_for_update(of=("self",)).filter(pk=memory.pk).first()
        if current is not None and current.content == memory.content:
            indexing.store_memory(memory=current, vectors=vectors, pieces=pieces)


@handles(Kind.CONSOLIDATE, is_long=True)
def consolidate(run: Run) -> Mapping[str, Any] | None:
    """Learn from old notes, then join similar old memories; a dry run only says which.

    Running it twice is safe: a note says when it was read, and verdicts are logged as they are
    applied; all that is made commits in the transaction that archives what it
    was made from, and archived memories are never joined again.
    """
    user = run.user()
    if user is None:
        return None
    learned = []
    if not run.payload.get("dry_run"):
        run.step("notes")
        learned = noted.learn_from_old(run, user=user)
    with as_user(user):
        groups = consolidation.groups_of(user, now=timezone.now())
    run.step("propose", total=len(groups))
    proposals = consolidation.propose(groups, consolidator=providers.consolidator())
    if run.payload.get("dry_run"):
        return {"would_join": [[one.public_id for one in found.memories] for found in proposals]}
    with run.applying(user):
        made = consolidation.apply(proposals, user=user)
    told = {"made": [{"id": one.memory, "from": list(one.originals)} for one in made]}
    from_notes = [{"id": one.memory.public_id, "result": one.result} for one in learned]
    return told | ({"learned": from_notes} if from_notes else {})


@handles(Kind.BUILD_INDEX, is_long=True)
def build_index(run: Run) -> Mapping[str, Any]:
    """Give people with very many memories an index of their own.

    Running it twice is safe: it looks at what there is, and drops what a killed build left.
    """
    return own_indexes.bring_in_line(run)


@handles(Kind.MOVE_VECTORS, is_long=True)
def move_vectors(run: Run) -> Mapping[str, Any]:
    """Have vectors searched in Milvus, or in PostgreSQL again.

    Running it again goes on with what Milvus wasn't told yet; when all is done it changes nothing.
    """
    return moving.move(run)


@handles(Kind.SYNC_VECTORS, is_long=True)
def sync_vectors(run: Run) -> None:
    """Tell Milvus what changed of a person's vectors; again it finds nothing to tell."""
    user = run.user()
    if user is not None:
        vector_changes.tell(user.pk)


@handles(Kind.CLEANUP, is_long=True)
def clean_up(run: Run) -> Mapping[str, Any]:
    """Erase what is over its time; running it again finds nothing more to do."""
    counts = {"binned": cleaning.forget_binned(run), "files": cleaning.erase_binned_files(run)}
    run.step("traces")
    with run.applying_as_system():
        files = leftovers.erase_expired()
    return counts | files | cleaning.erase_expired(run)


@handles(Kind.SYNC_FILES, is_long=True)
def sync_files(run: Run) -> Mapping[str, Any] | None:
    """Bring a person's memory files and their copies in step with the memories.

    Running it twice is safe: an edit that was read in is known by its text.
    """
    user = run.user()
    if user is None:
        return None
    return file_syncing.sync(user).told


@handles(Kind.REINDEX, is_long=True)
def reindex(run: Run) -> Mapping[str, Any]:
    """Fill another embedder's space and switch to it.

    Running it again finds what is there and goes on; after the switch it finds nothing to do.
    """
    return reindexing.fill_and_switch(run)
