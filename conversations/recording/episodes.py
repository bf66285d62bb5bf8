"""Add messages, and completed turns as episodes, to the search index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from conversations import selectors
from conversations.models import Episode, Message, Turn
from conversations.recording import summaries
from foundation.database import statements
from foundation.database.statements import Sql
from foundation.providers.base import Vectors
from memories.extraction import masking
from memories.indexing import search_index
from memories.indexing.conversation_texts import turn_text
from memories.indexing.search_index import Entry
from memories.learning import learnability
from memories.models import TargetKind
from ops.access import as_user
from ops.models import Kind, User
from ops.queue.run import Run, lock_queued, succeed_queued
from ops.registry import handles

EPISODE_CHARS = 4_000
_MAX_OTHERS = 15  # other queued operations that one run also processes


@handles(Kind.INDEX_EPISODE)
def index_episode(run: Run) -> Mapping[str, Any] | None:
    """Index a turn with its messages, or one message; then enqueue a summary if one is due.

    Other queued index operations of the same person are processed in the same run. Safe to run
    twice: index rows are identified by the row they were made from.
    """
    user = run.user()
    if user is None:
        return None
    with as_user(user):
        queued = run.find_queued(limit=_MAX_OTHERS)
        payloads = [run.payload, *(one.payload for one in queued)]
        found = read(user=user, payloads=payloads)
    if not queued and found == [None]:
        return None
    vectors = embed(found)
    with run.applying(user):
        held = lock_queued(queued)
        places = [0, *(at for at, one in enumerate(queued, start=1) if one.pk in held)]
        made = store({at: found[at] for at in places}, user=user, vectors=vectors)
        summaries.request_due_summaries(
            user=user, conversations={one.conversation for at in places if (one := found[at])}
        )
        results = {at: {"episode": made[at].public_id if at in made else None} for at in places}
        succeed_queued({one.pk: results[at] for at, one in enumerate(queued, 1) if at in results})
    return results[0]


@dataclass(frozen=True)
class IndexInput:
    """The rows that an operation indexes: a turn's messages and episode, or a single message."""

    messages: tuple[Message, ...]
    turn: Turn | None

    @property
    def conversation(self) -> int:
        return self.messages[0].conversation_id

    @property
    def texts(self) -> list[str]:
        """Return the texts to index, with secrets masked: first each message, then the episode."""
        texts = masking.masked_together([message.content for message in self.messages], read=True)
        return [*texts, turn_text(*texts)[:EPISODE_CHARS]] if self.turn else texts


def read(*, user: User, payloads: Sequence[Mapping[str, Any]]) -> list[IndexInput | None]:
    """Load the rows that each operation's payload names.

    The result has the order of `payloads`, with None for each payload whose rows no longer exist.
    """
    turn_ids = [one["turn"] for one in payloads if "turn" in one]
    turns: dict[int, IndexInput] = {}
    if turn_ids:
        for turn in selectors.whole_turns(user, Sql("t.id = ANY(%s)", (turn_ids,))):
            turns[turn.pk] = IndexInput((turn.user_message, turn.assistant_message), turn)
    message_ids = [one["message"] for one in payloads if "turn" not in one]
    single = Message.objects.filter(user=user, pk__in=message_ids) if message_ids else ()
    messages = {one.pk: IndexInput((one,), None) for one in single}
    return [
        turns.get(one["turn"]) if "turn" in one else messages.get(one["message"])
        for one in payloads
    ]


def embed(found: Sequence[IndexInput | None]) -> dict[int, Vectors]:
    """Embed all texts in one call and return their vectors, by position in `found`.

    Call it outside a transaction.
    """
    texts = [text for one in found if one for text in one.texts]
    if not texts:
        return {}
    vectors = search_index.embed(texts)
    placed: dict[int, Vectors] = {}
    begin = 0
    for place, one in enumerate(found):
        if one is not None:
            end = begin + len(one.texts)
            placed[place], begin = vectors[begin:end], end
    return placed


def store(
    found: Mapping[int, IndexInput | None], *, user: User, vectors: Mapping[int, Vectors]
) -> dict[int, Episode]:
    """Store index entries for rows that still exist; return the episodes by position in `found`.

    A turn gets no episode if the person has switched episodes off or asked not to keep the message.
    Safe to repeat.
    """
    inputs = {place: one for place, one in found.items() if one is not None}
    locked_turns = _lock_turns([one.turn.pk for one in inputs.values() if one.turn])
    present = _existing_messages(
        [one for one in inputs.values() if _existing_turn(one, locked_turns) is None]
    )
    episodes = _episodes(inputs, locked_turns, user=user)
    # A message may be queued both by itself and with its turn; it is stored once.
    wanted: dict[tuple[str, int], tuple[Entry, Vectors]] = {}
    for place, one in inputs.items():
        locked = _existing_turn(one, locked_turns)
        messages = locked.messages if locked else present
        for entry, vector in zip(_entries(one, episodes.get(place)), vectors[place], strict=False):
            if entry.kind == TargetKind.EPISODE or entry.target_id in messages:
                wanted[entry.kind, entry.target_id] = entry, vector
    if wanted:
        entries, rows = zip(*wanted.values(), strict=True)
        whole = next(iter(vectors.values()))
        search_index.store(
            user=user, entries=entries, vectors=search_index.stack_vectors(rows, like=whole)
        )
    return episodes


def _entries(one: IndexInput, episode: Episode | None) -> list[Entry]:
    entries = [
        Entry(TargetKind.MESSAGE, message.pk, text, message.conversation_id)
        for message, text in zip(one.messages, one.texts, strict=False)
    ]
    if one.turn is not None and episode is not None:
        text = one.texts[-1]
        entries.append(Entry(TargetKind.EPISODE, episode.pk, text, episode.conversation_id))
    return entries


def _existing_messages(found: Sequence[IndexInput]) -> frozenset[int]:
    ids = [message.pk for one in found for message in one.messages]
    if not ids:
        return frozenset()
    existing = statements.rows(
        "SELECT id FROM conversations_message WHERE id = ANY(%s) AND hidden_at IS NULL", [ids]
    )
    return frozenset(pk for (pk,) in existing)


@dataclass(frozen=True)
class _ExistingTurn:
    messages: frozenset[int]
    wants_episode: bool
    episode: int | None


_EXISTING_TURNS = f"""
SELECT t.id, s.episodic_enabled IS NOT FALSE AND NOT {learnability.not_to_keep_sql("q")}, e.id,
       t.user_message_id,
       q.hidden_at, t.assistant_message_id, a.hidden_at
  FROM conversations_turn t
  JOIN conversations_message q ON q.id = t.user_message_id
  JOIN conversations_message a ON a.id = t.assistant_message_id
  LEFT JOIN ops_usersettings s ON s.user_id = t.user_id
  LEFT JOIN conversations_episode e ON e.turn_id = t.id
 WHERE t.id = ANY(%s) AND t.hidden_at IS NULL ORDER BY t.id FOR UPDATE OF t
"""


def _lock_turns(turns: Sequence[int]) -> dict[int, _ExistingTurn]:
    """Lock the turns that still exist, and return them by primary key.

    A message that was deleted is left out of its turn's `messages`.
    """
    found = {}
    for pk, wants, episode, *messages in statements.rows(_EXISTING_TURNS, [turns]) if turns else ():
        existing = [
            one
            for one, hidden_at in zip(messages[::2], messages[1::2], strict=True)
            if not hidden_at
        ]
        found[pk] = _ExistingTurn(frozenset(existing), wants, episode)
    return found


def _existing_turn(
    one: IndexInput, locked_turns: Mapping[int, _ExistingTurn]
) -> _ExistingTurn | None:
    return locked_turns.get(one.turn.pk) if one.turn else None


def _episodes(
    inputs: Mapping[int, IndexInput], locked_turns: Mapping[int, _ExistingTurn], *, user: User
) -> dict[int, Episode]:
    """Return the episodes of existing turns by position, and create those that are missing.

    Turns are left out if the person has switched episodes off, or asked not to keep the message.
    """
    wanted = {
        place: one.turn
        for place, one in inputs.items()
        if one.turn and (locked := _existing_turn(one, locked_turns)) and locked.wants_episode
    }
    made = [
        Episode(
            user=user, conversation_id=turn.conversation_id, turn=turn, created_at=turn.created_at
        )
        for turn in wanted.values()
        if locked_turns[turn.pk].episode is None
    ]
    statements.insert_new(made, conflict="(turn_id)")
    by_turn = {one.turn_id: one for one in made if one.pk}
    missing = [turn.pk for turn in wanted.values() if turn.pk not in by_turn]
    if missing:
        by_turn |= {one.turn_id: one for one in Episode.objects.filter(turn__in=missing)}
    return {place: by_turn[turn.pk] for place, turn in wanted.items() if turn.pk in by_turn}
