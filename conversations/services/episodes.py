"""Completed turns as episodes, and messages, made findable."""

from __future__ import annotations

from dataclasses import dataclass

from conversations import selectors
from conversations.models import Episode, Message, Turn
from memcenter.lib import statements
from memcenter.providers.base import Vectors
from memories.models import TargetKind
from memories.services import indexing
from memories.services.indexing import Entry
from memories.services.shelves import episode_text
from ops.models import User

_EPISODE_CHARS = 4_000


@dataclass(frozen=True)
class ToIndex:
    """What an operation makes findable: a turn's messages (or one message) and its episode."""

    messages: tuple[Message, ...]
    turn: Turn | None


def read(*, user: User, turn_id: int | None, message_id: int | None) -> ToIndex | None:
    """What is there of it; None when it is gone."""
    if turn_id is not None:
        turn = selectors.whole_turn(user, turn_id)
        return ToIndex((turn.user_message, turn.assistant_message), turn) if turn else None
    message = Message.objects.filter(user=user, pk=message_id or 0).first()
    return ToIndex((message,), None) if message else None


def texts_of(found: ToIndex) -> list[str]:
    """What has to be embedded: each message, then the episode."""
    texts = [message.content for message in found.messages]
    return [*texts, episode_text(found.turn)[:_EPISODE_CHARS]] if found.turn else texts


def store(found: ToIndex, *, user: User, vectors: Vectors) -> Episode | None:
    """Write words and vectors of what is still there; safe to repeat.

    An episode is made unless episodes are switched off.
    """
    ids = [message.pk for message in found.messages]
    present = {
        pk
        for (pk,) in statements.rows(
            "SELECT id FROM conversations_message WHERE id = ANY(%s) AND hidden_at IS NULL", [ids]
        )
    }
    entries = [
        Entry(TargetKind.MESSAGE, message.pk, message.content, message.conversation_id)
        for message in found.messages
        if message.pk in present
    ]
    rows = [place for place, message in enumerate(found.messages) if message.pk in present]
    episode = _episode(found.turn, user=user) if found.turn else None
    if found.turn is not None and episode is not None:
        text = episode_text(found.turn)[:_EPISODE_CHARS]
        entries.append(Entry(TargetKind.EPISODE, episode.pk, text, episode.conversation_id))
        rows.append(len(found.messages))
    if entries:
        indexing.store(user=user, entries=entries, vectors=vectors[rows])
    return episode


def _episode(turn: Turn, *, user: User) -> Episode | None:
    """The turn's, made if need be; None where the turn went or episodes are switched off."""
    locked = statements.rows(
        "SELECT s.episodic_enabled FROM conversations_turn t"
        "  LEFT JOIN ops_usersettings s ON s.user_id = t.user_id"
        " WHERE t.id = %s AND t.hidden_at IS NULL FOR UPDATE OF t",
        [turn.pk],
    )
    if not locked or locked[0][0] is False:
        return None
    episode = Episode(
        user=user, conversation_id=turn.conversation_id, turn=turn, created_at=turn.created_at
    )
    if statements.insert_unless(episode, conflict="(turn_id)"):
        return episode
    return Episode.objects.filter(turn=turn).first()
