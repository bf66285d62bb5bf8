"""Load turns for the extraction: their texts, earlier messages, projects and shown memories."""

from __future__ import annotations

import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.utils import timezone

from conversations import selectors
from conversations.models import Message, Role, Turn
from foundation.database import statements
from foundation.database.statements import Sql
from memories.extraction import masking
from memories.extraction.types import CORRECTABLE, PRECEDING, RolePlay, TurnText, Utterance
from memories.files.block_texts import words_for
from memories.learning import learnability
from memories.models import Project
from ops.accounts import users
from ops.models import User

_BEFORE = 2 * CORRECTABLE  # earlier messages of both sides
_ASKED = 12  # maximum number of messages that ask not to keep something
_LONGEST_GAME = 80  # messages after which a role play without an end counts as over
# Before a message number: the latest messages that aren't withheld, the user's latest messages that
# ask not to keep something, and the latest message with which a role play began or ended.
_EARLIER = f"""
(SELECT e.* FROM conversations_message e
  WHERE e.conversation_id = {{0}} AND e.number < {{1}} AND e.hidden_at IS NULL
    AND {learnability.teaches_sql("e")}
  ORDER BY e.number DESC LIMIT %s)
UNION ALL
(SELECT e.* FROM conversations_message e
  WHERE e.conversation_id = {{0}} AND e.number < {{1}} AND e.hidden_at IS NULL
    AND {learnability.not_to_keep_sql("e")} AND e.role = 'user'
  ORDER BY e.number DESC LIMIT %s)
UNION ALL
(SELECT e.* FROM conversations_message e
  WHERE e.conversation_id = {{0}} AND e.number < {{1}} AND e.number >= {{1}} - {_LONGEST_GAME}
    AND e.hidden_at IS NULL AND e.role_play <> ''
  ORDER BY e.number DESC LIMIT 1)
"""
_BLOCK_AGE = timedelta(hours=24)
_FRAMES = (words_for("en"), words_for("zh"))
_OPENINGS = tuple(one.frame.splitlines()[0] for one in _FRAMES)
_FRAME_LINES = tuple(one.frame for one in _FRAMES)
_SENTENCES = tuple(line.lstrip("- ") for one in _FRAME_LINES for line in one.splitlines()[1:])
_HEADINGS = {text for one in _FRAMES for text in (*one.headings.values(), *one.kinds.values())}
_SHOWN = """
SELECT content FROM memories_memory
 WHERE user_id = %s AND hidden_at IS NULL AND deleted_at IS NULL AND public_id IN (
    SELECT h.target_public_id FROM memories_recallhit h
      JOIN memories_recalltrace t ON t.id = h.trace_id
     WHERE h.user_id = %s AND h.type = 'memory' AND h.in_block AND t.created_at >= %s)
 LIMIT 200
"""


@dataclass(frozen=True)
class LoadedTurn:
    """A turn with the extractor's input (`text`) and the project in which it was recorded.

    `learns` is False if long-term memory is off, or was off when the turn was recorded: then only
    requests to forget are extracted.
    """

    turn: Turn
    text: TurnText
    project: Project | None
    learns: bool = True


def load_turn(*, user: User, turn_id: int) -> LoadedTurn | None:
    """Load one turn for extraction; return None if it no longer exists or was already processed."""
    return load_turns(user=user, turn_ids=[turn_id]).get(turn_id)


def load_turns(*, user: User, turn_ids: Sequence[int]) -> dict[int, LoadedTurn]:
    """Load several turns for extraction; return them by primary key.

    Turns that no longer exist, were already processed or needn't be processed are left out. The
    number of SQL statements doesn't depend on the number of turns, except for one query for each
    turn with a project.
    """
    own = users.settings_of(user)
    if user.hidden_at is not None:
        return {}
    found = selectors.whole_turns(user, Sql("t.id = ANY(%s)", (list(turn_ids),)))
    turns = [
        turn for turn in found if turn.extracted_at is None and learnability.must_be_processed(turn)
    ]
    if not turns:
        return {}
    before: dict[int, list[Message]] = {turn.pk: [] for turn in turns}
    rows = statements.rows(
        f"SELECT t.id, {statements.columns(Message, 'm')} FROM conversations_turn t"
        "  JOIN conversations_message q ON q.id = t.user_message_id"
        f"  CROSS JOIN LATERAL ({_EARLIER.format('t.conversation_id', 'q.number')}) m"
        " WHERE t.id = ANY(%s) ORDER BY t.id, m.number DESC",
        [_BEFORE, _ASKED, list(before)],
    )
    for pk, *values in rows:
        before[pk].append(statements.instance(Message, values))
    block = recent_block_texts(user.pk)
    zone = zoneinfo.ZoneInfo(own.timezone)
    return {
        turn.pk: LoadedTurn(
            turn,
            _turn_text(turn, before[turn.pk], zone=zone, block=block),
            project_of(turn),
            learns=own.longterm_enabled and not learnability.was_said_while_off(turn),
        )
        for turn in turns
    }


def without_our_block(text: str) -> str:
    """Remove our memory block from a message, in case a client has included it by mistake."""
    return masking.without_block(text, frame=_SENTENCES, openings=_OPENINGS, headings=_HEADINGS)


def project_of(turn: Turn) -> Project | None:
    if not turn.project_key:
        return None
    return Project.objects.filter(user=turn.user_id, key=turn.project_key).first()


def _turn_text(
    turn: Turn, before: Sequence[Message], *, zone: zoneinfo.ZoneInfo, block: str
) -> TurnText:
    said, reply = utterance_of(turn.user_message, zone), utterance_of(turn.assistant_message, zone)
    return _with_earlier(TurnText(said, reply, known_block=block), before, zone=zone)


def text_alone(message: Message, *, zone: zoneinfo.ZoneInfo) -> TurnText:
    """Return the extraction input for a message without a reply, with earlier messages."""
    found = statements.rows(
        f"SELECT {statements.columns(Message, 'm')} FROM"
        " (SELECT %s::bigint AS conversation_id, %s::int AS number) q"
        f" CROSS JOIN LATERAL ({_EARLIER.format('q.conversation_id', 'q.number')}) m"
        " ORDER BY m.number DESC",
        [message.conversation_id, message.number, _BEFORE, _ASKED],
    )
    said, block = utterance_of(message, zone), recent_block_texts(message.user_id)
    text = TurnText(said, Utterance("", said.spoken_at), known_block=block)
    return _with_earlier(
        text, [statements.instance(Message, values) for values in found], zone=zone
    )


def _with_earlier(
    text: TurnText, earlier: Sequence[Message], *, zone: zoneinfo.ZoneInfo
) -> TurnText:
    """Add context to the extraction input: the rows that `_EARLIER` selects, latest first."""
    rows = {one.pk: one for one in earlier}.values()
    latest = [one for one in rows if not learnability.is_withheld(one)][:_BEFORE]
    own = [utterance_of(one, zone) for one in reversed(latest) if one.role == Role.USER]
    role_play = RolePlays()
    if turning := next((one for one in rows if one.role_play), None):
        role_play.note(utterance_of(turning, zone), turning.role_play)
    asked = tuple(dict.fromkeys(one.content for one in rows if learnability.is_withheld(one)))
    return role_play.in_context(
        replace(
            text.following(own),
            before_assistant="".join(
                one.content for one in latest[:1] if one.role == Role.ASSISTANT
            ),
            not_to_keep=asked,
        )
    )


class RolePlays:
    """The current role play in one conversation, if any.

    A role play may have begun before the few messages that are read as context. The messages must
    be passed to `note` in order.
    """

    def __init__(self) -> None:
        self._began: Utterance | None = None

    def note(self, said: Utterance, role_play: str) -> None:
        """Record whether a message that was just processed began or ended a role play."""
        if role_play:
            self._began = said if role_play == RolePlay.BEGINS else None

    def in_context(self, text: TurnText) -> TurnText:
        """Return a copy of the text whose context includes the message that began the role play."""
        if self._began is None:
            return text
        is_there = any(one.text == self._began.text for one in text.before)
        before = text.before if is_there else (self._began, *text.before[1 - PRECEDING :])
        return replace(text, before=before, in_role_play=True)


def texts_in_order(turns: Sequence[Turn], *, zone: zoneinfo.ZoneInfo) -> list[TurnText]:
    """Return the extraction inputs for consecutive turns, each with earlier messages as context."""
    block = recent_block_texts(turns[0].user_id) if turns else ""
    texts: list[TurnText] = []
    role_play = RolePlays()
    for turn in turns:
        said, reply = (
            utterance_of(turn.user_message, zone),
            utterance_of(turn.assistant_message, zone),
        )
        answered = texts[-1].assistant.text if texts else ""
        text = TurnText(said, reply, before_assistant=answered, known_block=block)
        text = text.following([one.user for one in texts[-CORRECTABLE:]])
        texts.append(role_play.in_context(text))
        role_play.note(said, turn.user_message.role_play)
    return texts


def utterance_of(message: Message, zone: zoneinfo.ZoneInfo) -> Utterance:
    text = without_our_block(message.content)
    return Utterance(text, message.created_at.astimezone(zone), message.speaker)


def recent_block_texts(user_id: int) -> str:
    """Return the memories recently put into the user's prompts, and the memory block's fixed lines.

    Nothing is learned from messages that only repeat these texts.
    """
    since = timezone.now() - _BLOCK_AGE
    shown = statements.rows(_SHOWN, [user_id, user_id, since])
    return "\n".join([*(content for (content,) in shown), *_FRAME_LINES])
