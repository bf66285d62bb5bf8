"""Operation handlers that index turns and roll summaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations import selectors
from conversations.recording import episodes, summaries
from memories.indexing import search_index
from memories.learning import quiet_conversations
from ops.access import as_user
from ops.models import Kind
from ops.queue import joint_runs
from ops.queue.run import Run
from ops.registry import handles

_TOGETHER = 15  # operations beside the one that runs


@handles(Kind.INDEX_EPISODE)
def index_episode(run: Run) -> Mapping[str, Any] | None:
    """Index a turn's messages and its episode, or one message; then enqueue a summary if due.

    Other queued index operations of the same person are done with it. Safe to run twice: rows are
    keyed by their source.
    """
    user = run.user()
    if user is None:
        return None
    with as_user(user):
        beside = run.beside(limit=_TOGETHER)
        payloads = [run.payload, *(one.payload for one in beside)]
        found = episodes.read(user=user, payloads=payloads)
    if not beside and found == [None]:
        return None
    vectors = episodes.embed(found)
    with run.applying(user):
        held = joint_runs.hold(beside)
        places = [0, *(at for at, one in enumerate(beside, start=1) if one.pk in held)]
        made = episodes.store({at: found[at] for at in places}, user=user, vectors=vectors)
        summaries.request_where_due(
            user=user, conversations={one.conversation for at in places if (one := found[at])}
        )
        results = {at: {"episode": made[at].public_id if at in made else None} for at in places}
        joint_runs.succeed(
            {one.pk: results[at] for at, one in enumerate(beside, 1) if at in results}
        )
    return results[0]


@handles(Kind.SUMMARIZE)
def summarize(run: Run) -> Mapping[str, Any] | None:
    """Summarize the messages that have left the window, after they were learned from.

    Safe to run twice: the second time nothing is due, and a version is stored only if the one
    before it is still the newest.
    """
    user = run.user()
    if user is None:
        return None
    with as_user(user):
        conversation = selectors.conversation_by(user, run.payload["conversation"])
        due = summaries.due(user=user, conversation=conversation) if conversation else None
    if due is None:
        return None
    quiet_conversations.flush(run, user=user, conversation=due.conversation, through=due.through)
    text = summaries.write(due)
    if not text:
        return None
    vectors = search_index.embed([text])
    with run.applying(user):
        summary = summaries.store(due, user=user, text=text)
        if summary is not None:
            summaries.index(summary, user=user, vectors=vectors)
    return {"summary": summary.public_id if summary else None}
