"""Handlers of what was said: making turns findable, summarizing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations import selectors
from conversations.services import episodes, summaries
from memories.services import indexing, sessions
from ops.access import as_user
from ops.models import Kind
from ops.registry import handles
from ops.services import along
from ops.services.worker import Run

_TOGETHER = 15  # operations beside the one that runs


@handles(Kind.INDEX_EPISODE)
def index_episode(run: Run) -> Mapping[str, Any] | None:
    """Index a turn's messages and its episode, or one message; then see to the summary.

    What waits of the same person to be indexed is done with it. Running it twice writes the same
    rows again: they are keyed by what they index.
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
        held = along.hold(beside)
        places = [0, *(at for at, one in enumerate(beside, start=1) if one.pk in held)]
        made = episodes.store({at: found[at] for at in places}, user=user, vectors=vectors)
        summaries.request_where_due(
            user=user, conversations={one.conversation for at in places if (one := found[at])}
        )
        results = {at: {"episode": made[at].public_id if at in made else None} for at in places}
        along.succeed({one.pk: results[at] for at, one in enumerate(beside, 1) if at in results})
    return results[0]


@handles(Kind.SUMMARIZE)
def summarize(run: Run) -> Mapping[str, Any] | None:
    """Roll the summary over what has left the window, once all is learned from it.

    Running it twice is safe: the second time nothing is due, and a version is kept only when the
    one before is still the newest.
    """
    user = run.user()
    if user is None:
        return None
    with as_user(user):
        conversation = selectors.conversation_by(user, run.payload["conversation"])
        due = summaries.due(user=user, conversation=conversation) if conversation else None
    if due is None:
        return None
    sessions.flush(run, user=user, conversation=due.conversation, through=due.through)
    text = summaries.write(due)
    if not text:
        return None
    vectors = indexing.embed([text])
    with run.applying(user):
        summary = summaries.store(due, user=user, text=text)
        if summary is not None:
            summaries.index(summary, user=user, vectors=vectors)
    return {"summary": summary.public_id if summary else None}
