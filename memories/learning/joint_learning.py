"""Learn from a whole conversation when it becomes inactive or messages leave the context window.

Memories are learned from each turn by itself when the turn is recorded. Here the turns are read
together, to find statements that only several turns reveal, and messages without a reply are
processed on their own. Turns recorded while memory was off, or from which nothing may be learned,
are never read.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F, QuerySet

from conversations import selectors
from conversations.models import Conversation, Turn
from foundation.database import statements
from foundation.database.statements import Sql
from foundation.errors import ProviderError
from memories import language_steps
from memories.extraction.types import JointCandidate, JointTurn
from memories.learning import learnability, single_texts, turn_context, turn_learning
from memories.writing.verdict_writes import AppliedVerdict
from ops.access import as_user
from ops.accounts import users
from ops.models import Kind, Operation, Priority, Status, User
from ops.queue import outbox
from ops.queue.run import Run

_AT_ONCE = 200  # maximum turns per run; the next run reads the rest
_EARLIER = 12  # preceding turns that are read as context
_SWEPT = 500
_WAITING = (Status.PENDING, Status.RUNNING)
_UNLEARNED = (Status.PENDING, Status.FAILED)


@dataclass(frozen=True)
class Session:
    """The part of a conversation that is processed as a whole.

    `turns` holds the turns by primary key, and `joint_turns` their texts in order; `through` is the
    number of the last message.
    """

    conversation: Conversation
    turns: dict[int, Turn]
    joint_turns: Sequence[JointTurn]
    through: int

    @property
    def unlearned(self) -> list[int]:
        return [pk for pk, turn in self.turns.items() if turn.extracted_at is None]


class NotLearnedYet(ProviderError):
    """Raised while turns of the conversation are still queued to be processed one by one.

    The reason may be, for example, that the chat model is unreachable.
    """

    def __init__(self) -> None:
        super().__init__("Some of its turns are not learned from yet.", retryable=True)


def inactive_conversations(now: datetime) -> QuerySet[Conversation]:
    """Return all users' inactive conversations with messages that weren't yet read together.

    At most `_SWEPT` conversations are returned.
    """
    return (
        Conversation.objects.filter(
            last_message_at__lt=now - timedelta(minutes=settings.SESSION_IDLE_MINUTES),
            examined_through__lt=F("last_number"),
            user__hidden_at__isnull=True,
        )
        .select_related("user")
        .order_by("last_message_at")[:_SWEPT]
    )


def request(conversation: Conversation) -> Operation:
    """Enqueue the processing of a whole conversation, unless it is already queued."""
    subject = conversation.user.subject
    return outbox.enqueue(
        Kind.EXTRACT_CONVERSATION,
        subject=subject,
        payload={"conversation": conversation.pk},
        priority=Priority.BULK,
        dedupe_key=f"extract_conversation:{conversation.pk}",
        serial_key=str(subject),
    )


def examine(
    run: Run, *, user: User, conversation_id: int, through: int | None = None
) -> list[AppliedVerdict]:
    """Learn from several turns of a conversation together, and record the progress.

    Messages without a reply are processed first, each on its own. While long-term memory is off,
    nothing is learned, but the progress is recorded. Raise `ProviderError` if a model call fails,
    or while turns are still queued to be processed one by one.
    """
    with as_user(user):
        session = read(user=user, conversation_id=conversation_id, through=through)
        waits = session is not None and bool(_queued_turns(user, session.unlearned, _WAITING))
    if session is None:
        return []
    if waits:
        raise NotLearnedYet
    with as_user(user):
        alone = single_texts.unanswered_messages(
            user=user, conversation=session.conversation, through=session.through
        )
    decided = [
        one
        for message in alone
        for one in single_texts.learn_from_message(run, user=user, message=message)
    ]
    gathered = find_joint_statements(session)
    decided += [one for found in gathered if (one := _learn(run, user, session, found))]
    with run.applying(user):
        statements.rows(
            "UPDATE conversations_conversation SET examined_through = %s"
            " WHERE id = %s AND user_id = %s AND hidden_at IS NULL AND examined_through < %s",
            [session.through, session.conversation.pk, user.pk, session.through],
        )
    return decided


def flush(
    run: Run, *, user: User, conversation: Conversation, through: int
) -> list[AppliedVerdict]:
    """Learn from the messages up to number `through`, before they leave the context window.

    Turns that couldn't be processed when they were recorded are processed first; then the turns (at
    most `_AT_ONCE`) are read together. Safe to repeat. Raise `ProviderError` if a model call fails;
    then no message may leave the context window.
    """
    with as_user(user):
        unread = statements.rows(
            "SELECT t.id FROM conversations_turn t"
            "  JOIN conversations_message q ON q.id = t.user_message_id"
            "  JOIN conversations_message a ON a.id = t.assistant_message_id"
            " WHERE t.user_id = %s AND t.conversation_id = %s AND t.extracted_at IS NULL"
            "   AND t.hidden_at IS NULL AND q.hidden_at IS NULL AND a.hidden_at IS NULL"
            "   AND q.number > %s AND a.number <= %s",
            [user.pk, conversation.pk, conversation.examined_through, through],
        )
        late = sorted(_queued_turns(user, [pk for (pk,) in unread], _UNLEARNED))
    decided = [one for turn in late for one in _learn_late(run, user, turn)]
    return decided + examine(run, user=user, conversation_id=conversation.pk, through=through)


def read(*, user: User, conversation_id: int, through: int | None = None) -> Session | None:
    """Return the turns that weren't yet processed as a whole, with some earlier turns as context.

    Return None if there is no new message, or if the conversation or the user no longer exists. The
    result has no turns while long-term memory is off.
    """
    conversation = selectors.conversation_by(user, conversation_id)
    if conversation is None or user.hidden_at is not None:
        return None
    end = min(through or conversation.last_number, conversation.last_number)
    start = conversation.examined_through
    if start >= end:
        return None
    fresh = _turns(user, conversation, after=start, through=end, last="t.id", most=_AT_ONCE + 1)
    if len(fresh) > _AT_ONCE:
        fresh = fresh[:_AT_ONCE]
        end = fresh[-1].assistant_message.number
    own = users.settings_of(user)
    if not own.longterm_enabled or not fresh:
        return Session(conversation, {}, (), end)
    earlier = _turns(user, conversation, after=0, through=start, last="t.id DESC", most=_EARLIER)
    turns = [*earlier[::-1], *fresh]
    texts = turn_context.texts_in_order(turns, zone=zoneinfo.ZoneInfo(own.timezone))
    joint_turns = [
        JointTurn(turn.pk, text, is_new=turn.user_message.number > start)
        for turn, text in zip(turns, texts, strict=True)
    ]
    return Session(conversation, {turn.pk: turn for turn in turns}, joint_turns, end)


def find_joint_statements(session: Session) -> list[JointCandidate]:
    """Find important statements that no single turn reveals, but several turns together do.

    Call this function outside a transaction, since a chat model may be called.
    """
    learned = [one for one in session.joint_turns if session.turns[one.turn].extracted_at]
    if len(learned) < 2:
        return []
    return [
        one
        for one in language_steps.joint_reader().read(learned)
        if one.candidate.importance >= settings.IMPORTANCE_FLOOR
    ]


def _turns(
    user: User, conversation: Conversation, *, after: int, through: int, last: str, most: int
) -> list[Turn]:
    return learnability.teaching_turns(
        user,
        Sql(
            "t.conversation_id = %s AND q.number > %s AND a.number <= %s"
            f" AND q.hidden_at IS NULL AND a.hidden_at IS NULL ORDER BY {last} LIMIT %s",
            (conversation.pk, after, through, most),
        ),
    )


def _learn(run: Run, user: User, session: Session, found: JointCandidate) -> AppliedVerdict | None:
    turn = session.turns[found.turn]
    others = [session.turns[one] for one in found.needs]
    with as_user(user):
        project = turn_context.project_of(turn)
    text = turn_learning.text_of_turn(turn, user=user, project=project, others=others)
    return turn_learning.learn_candidate(run, turn_learning.prepare(found.candidate, text))


def _queued_turns(user: User, turns: Sequence[int], statuses: Sequence[Status]) -> set[int]:
    if not turns:
        return set()
    wanted = Operation.objects.filter(
        kind=Kind.EXTRACT_TURN,
        subject=user.subject,
        status__in=statuses,
        payload__turn__in=turns,
    )
    return {row["turn"] for row in wanted.values_list("payload", flat=True)}


def _learn_late(run: Run, user: User, turn: int) -> list[AppliedVerdict]:
    """Learn from a turn whose learning operation is still queued or has failed.

    If the turn contains a request to forget, do nothing: the operation will carry out the request.
    """
    with as_user(user):
        loaded = turn_context.load_turn(user=user, turn_id=turn)
    extraction = turn_learning.extract_from(loaded) if loaded else None
    if loaded is None or extraction is None or extraction.forget:
        return []
    return turn_learning.learn(run, user=user, loaded=loaded, extraction=extraction)
