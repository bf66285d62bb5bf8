"""Handlers of what was said: making turns findable, summarizing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conversations.models import Conversation
from conversations.services import episodes, summaries
from memories.services import indexing, sessions
from ops.access import as_user
from ops.models import Kind
from ops.registry import handles
from ops.services.worker import Run


@handles(Kind.INDEX_EPISODE)
def index_episode(run: Run) -> Mapping[str, Any] | None:
    """Index a turn's messages and its episode, or one message; then see to the summary.

    Running it twice writes the same rows again: they are keyed by what they index.
    """
    user = run.user()
    if user is None:
        return None
    with as_user(user):
        found = episodes.read(
            user=user, turn_id=run.payload.get("turn"), message_id=run.payload.get("message")
        )
    if found is None:
        return None
    vectors = indexing.embed(episodes.texts_of(found))
    with run.applying(user):
        episode = episodes.store(found, user=user, vectors=vectors)
        conversation = found.messages[0].conversation_id
        if summaries.are_due(user=user, conversation_id=conversation):
            summaries.request(user=user, conversation_id=conversation)
    return {"episode": episode.public_id if episode else None}


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
        conversation = Conversation.objects.filter(
            user=user, pk=run.payload["conversation"]
        ).first()
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
