"""The rolling summary of a conversation, which covers the messages before the window.

The window consists of the latest messages, which are put into the prompt in full.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from conversations import selectors
from conversations.models import Conversation, Message, Summary
from foundation.database import statements
from foundation.providers.base import Vectors
from foundation.text import tokens
from memories import language_steps
from memories.extraction import masking
from memories.indexing import search_index
from memories.indexing.search_index import Entry
from memories.learning import joint_learning, learnability
from memories.models import TargetKind
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, Operation, Priority, User
from ops.queue import outbox
from ops.queue.run import Run
from ops.registry import handles

_MAX_MESSAGES = 500  # maximum that one version adds; the next version covers the rest


@handles(Kind.SUMMARIZE)
def summarize(run: Run) -> Mapping[str, Any] | None:
    """Summarize the messages that have left the window, after learning memories from them.

    Safe to run twice: the second time nothing is due, and a version is stored only if the version
    that it continues is still the newest.
    """
    user = run.user()
    if user is None:
        return None
    with as_user(user):
        conversation = selectors.conversation_by(user, run.payload["conversation"])
        found = due_messages(user=user, conversation=conversation) if conversation else None
    if found is None:
        return None
    through = found.messages[-1].number
    joint_learning.flush(run, user=user, conversation=found.conversation, through=through)
    with as_user(user):
        ids = [message.pk for message in found.messages]
        not_to_keep = learnability.not_to_keep_among(Message.objects.filter(pk__in=ids))
        left_out = frozenset(not_to_keep.values_list("pk", flat=True))
    text = write(found, left_out=left_out)
    if not text:
        return None
    vectors = search_index.embed([text])
    with run.applying(user):
        summary = store(found, user=user, text=text)
        if summary is not None:
            index(summary, user=user, vectors=vectors)
    return {"summary": summary.public_id if summary else None}


@dataclass(frozen=True)
class DueSummary:
    """The messages that the next version of the summary adds to those of the previous one."""

    conversation: Conversation
    previous: Summary | None
    messages: tuple[Message, ...]


def due_messages(*, user: User, conversation: Conversation) -> DueSummary | None:
    """Return the messages to summarize now, or None if no summary is due.

    A summary is due if at least `SUMMARY_EVERY` messages have left the window; one message is
    enough if the newest version of the summary was deleted by a request to forget. No summary is
    due if the person has switched summaries off.
    """
    if not users.settings_of(user).summary_enabled:
        return None
    start = selectors.window_of(user, conversation).first_number
    if start is None:
        return None
    previous = selectors.summary_of(user, conversation)
    covered = previous.through_number if previous else 0
    messages = tuple(
        selectors.messages_between(
            user, conversation, after=covered, before=start, most=_MAX_MESSAGES
        )
    )
    gone = statements.rows(
        "SELECT 1 FROM conversations_summary"
        " WHERE conversation_id = %s AND hidden_at IS NOT NULL AND version > %s LIMIT 1",
        [conversation.pk, previous.version if previous else 0],
    )
    enough = 1 if gone else settings.SUMMARY_EVERY
    return DueSummary(conversation, previous, messages) if len(messages) >= enough else None


# The same window as in `selectors.window_of`: the newest message and the earlier ones that fit.
_DUE = """
WITH newest AS (
    SELECT number, token_count FROM conversations_message
     WHERE conversation_id = %s AND user_id = %s AND completed AND hidden_at IS NULL
     ORDER BY number DESC LIMIT %s),
fitting AS (
    SELECT number, row_number() OVER further AS place, sum(token_count) OVER further AS total
      FROM newest WINDOW further AS (ORDER BY number DESC)),
previous AS (
    SELECT version, through_number FROM conversations_summary
     WHERE conversation_id = %s AND user_id = %s AND hidden_at IS NULL
     ORDER BY version DESC LIMIT 1),
outside AS (
    SELECT 1 FROM conversations_message
     WHERE conversation_id = %s AND user_id = %s AND completed AND hidden_at IS NULL
       AND number > coalesce((SELECT through_number FROM previous), 0)
       AND number < (SELECT min(number) FROM fitting WHERE place = 1 OR total <= %s)
     LIMIT %s)
SELECT (SELECT count(*) FROM outside),
       EXISTS (SELECT 1 FROM conversations_summary
                WHERE conversation_id = %s AND hidden_at IS NOT NULL
                  AND version > coalesce((SELECT version FROM previous), 0)),
       (SELECT summary_enabled FROM ops_usersettings WHERE user_id = %s)
"""


def write(due: DueSummary, *, left_out: Collection[int] = ()) -> str:
    """Return the text of the next version. Call this outside a transaction: it may call a model.

    `left_out` holds the keys of messages that must not be summarized. Secrets are masked in the
    messages before the model gets them, and again in the result.
    """
    messages = [message for message in due.messages if message.pk not in left_out]
    contents = [due.previous.text if due.previous else "", *(one.content for one in messages)]
    previous, *texts = masking.masked_together(contents, read=True)
    roles = [message.role for message in messages]
    text = language_steps.summarizer().summarize(
        previous, list(zip(roles, texts, strict=True)), max_tokens=settings.SUMMARY_TOKENS
    )
    return masking.masked(text)


def store(due: DueSummary, *, user: User, text: str) -> Summary | None:
    """Store and return the next version of the summary, or return None if `text` is outdated.

    The text is outdated if, since `due_messages` was called, the conversation or one of the
    messages was deleted, the newest version changed, or the person switched summaries off.
    """
    held = statements.rows(
        "SELECT 1 FROM conversations_conversation WHERE id = %s AND hidden_at IS NULL FOR UPDATE",
        [due.conversation.pk],
    )
    ids = [message.pk for message in due.messages]
    newest, highest, still, enabled = statements.rows(
        _CURRENT_STATE, [due.conversation.pk, due.conversation.pk, ids, user.pk]
    )[0]
    unchanged = newest == (due.previous.pk if due.previous else None)
    if not held or still != len(ids) or not unchanged or enabled is False:
        return None
    summary = Summary(
        user=user,
        conversation=due.conversation,
        version=(highest or 0) + 1,
        text=text,
        token_count=tokens.count(text),
        covered_message_count=(due.previous.covered_message_count if due.previous else 0)
        + len(due.messages),
        from_number=due.previous.from_number if due.previous else due.messages[0].number,
        through_number=due.messages[-1].number,
    )
    statements.insert([summary])
    return summary


_CURRENT_STATE = """
SELECT (SELECT id FROM conversations_summary
         WHERE conversation_id = %s AND hidden_at IS NULL ORDER BY version DESC LIMIT 1),
       (SELECT max(version) FROM conversations_summary WHERE conversation_id = %s),
       (SELECT count(*) FROM conversations_message WHERE id = ANY(%s) AND hidden_at IS NULL),
       (SELECT summary_enabled FROM ops_usersettings WHERE user_id = %s)
"""


def index(summary: Summary, *, user: User, vectors: Vectors) -> None:
    """Add this version to the search index, and remove all other versions from the index."""
    older = statements.rows(
        "SELECT id FROM conversations_summary WHERE conversation_id = %s AND id <> %s",
        [summary.conversation_id, summary.pk],
    )
    if older:
        pks = [pk for (pk,) in older]
        search_index.erase(user_id=user.pk, kind=TargetKind.SUMMARY, target_ids=pks)
    entry = Entry(TargetKind.SUMMARY, summary.pk, summary.text, summary.conversation_id)
    search_index.store(user=user, entries=[entry], vectors=vectors)


def request_due_summaries(*, user: User, conversations: Collection[int]) -> None:
    """Enqueue a summary of each conversation for which `due_messages` would return messages.

    Each check is a single SQL statement that reads no text.
    """
    every = settings.SUMMARY_EVERY
    for pk in sorted(conversations):
        keys = (pk, user.pk)
        window = (settings.WINDOW_MESSAGES, *keys, *keys, settings.WINDOW_TOKENS)
        left, lost, enabled = statements.rows(_DUE, [*keys, *window, every, *keys])[0]
        if enabled is not False and left >= (1 if lost else every):
            request(user=user, conversation_id=pk)


def request(*, user: User, conversation_id: int) -> Operation:
    """Enqueue a summary of the conversation, or return the operation that is already queued."""
    return outbox.enqueue(
        Kind.SUMMARIZE,
        subject=user.subject,
        payload={"conversation": conversation_id},
        priority=Priority.INDEX,
        dedupe_key=f"summarize:{conversation_id}",
        serial_key=str(user.subject),
    )
