"""Record messages and turns in order, in the caller's transaction.

A message with a client id is recorded only once, even if a client sends it again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from conversations.models import Conversation, Feedback, Learning, Message, MessageTime, Role, Turn
from conversations.recording.conversation_names import check_external_id
from foundation.database import statements
from foundation.errors import Conflict, Invalid, NotFound
from foundation.text import tokens
from memories.extraction import masking
from memories.extraction.masking import masked
from memories.forgetting.spoken_requests import ForgetOutcome
from memories.learning import learnability
from memories.writing import memory_writes
from ops import audit_log
from ops.accounts import users
from ops.models import Kind, Operation, Priority, User
from ops.queue import outbox
from ops.queue.outbox import NewOperation


@dataclass(frozen=True)
class MessageInput:
    """A message to record.

    `told` states whether the message is received now, or was imported with or without its time.
    """

    content: str
    role: str = Role.USER
    external_id: str | None = None
    created_at: datetime | None = None
    speaker: str = ""
    completed: bool = True
    stopped: bool = False
    told: MessageTime = MessageTime.RECEIVED


@dataclass(frozen=True)
class _Thread:
    """A conversation whose row is locked.

    `learns` is True if the person's long-term memory is on.
    """

    conversation: Conversation
    learns: bool


@dataclass(frozen=True)
class RecordedTurn:
    conversation: Conversation
    user_message: Message
    assistant_message: Message
    turn: Turn
    operations: tuple[Operation, ...]
    repeated: bool


@dataclass(frozen=True)
class RecordedMessage:
    message: Message
    turn: Turn | None
    operations: tuple[Operation, ...]
    repeated: bool


def record_turn(
    *,
    user: User,
    conversation: Conversation,
    user_message: MessageInput,
    assistant_message: MessageInput,
    project_key: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
    labels: Mapping[str, Any] | None = None,
    occurred_at: datetime | None = None,
    priority: Priority = Priority.TURN,
    forget: ForgetOutcome | None = None,
) -> RecordedTurn:
    """Record a completed turn, and enqueue the operations that learn from it and index it.

    A repeated call with the same client ids changes nothing and returns the existing turn. `forget`
    is the outcome of a request to forget in the message, if it was already carried out. `labels`
    (such as `agent_id` and `metadata`) are copied to the memories learned from the turn. Raise
    `Invalid`, with the field's name, if a value is invalid, `Conflict` if a client id was used for
    another text or in another turn, and `NotFound` if the conversation no longer exists.
    """
    user_input = replace(user_message, role=Role.USER)
    reply = replace(assistant_message, role=Role.ASSISTANT)
    _check(user_input, field="user_message")
    _check(reply, field="assistant_message")
    if user_input.external_id is not None and user_input.external_id == reply.external_id:
        raise Invalid.field("assistant_message_id", "The two messages need two ids.")
    unmasked = user_input.content
    user_input, reply = mask_for_storage(user_input, reply)
    thread = _lock(user, conversation)
    conversation = thread.conversation
    moment = occurred_at or timezone.now()
    question, answer, known = _find_or_add_both(thread, user_input, reply, moment=moment)
    if known is not None:
        return RecordedTurn(conversation, question, answer, known, (), repeated=True)
    turn = _create_turn(question, answer, project_key=project_key, tools=tools, labels=labels)
    if unmasked != user_input.content:
        memory_writes.record_refusals(masking.refusals_of(unmasked), user_id=user.pk, turn=turn)
    _save_counters(conversation)
    audit_log.record_together("turn.recorded", subject=user.subject, target=turn.public_id)
    operations = _enqueue(user, turn, priority, learns=thread.learns, forget=forget)
    return RecordedTurn(conversation, question, answer, turn, operations, repeated=False)


def record_message(
    *,
    user: User,
    conversation: Conversation,
    message: MessageInput,
    priority: Priority = Priority.TURN,
) -> RecordedMessage:
    """Record one message; a completed reply directly after a user message forms a turn with it.

    Raise the same errors as `record_turn`.
    """
    if message.role not in Role.values:
        raise Invalid.field("role", f"Must be one of {', '.join(Role.values)}.")
    _check(message, field="content")
    [message] = mask_for_storage(message)
    thread = _lock(user, conversation)
    row, repeated = _find_or_add(thread, message, moment=timezone.now(), field="message_id")
    if repeated:
        return RecordedMessage(row, Turn.objects.filter(assistant_message=row).first(), (), True)
    if message.role == Role.USER and message.completed:
        # Processed together with its reply, or by itself if no reply comes.
        row.learning = Learning.WAITS
        row.save(update_fields=["learning"])
    return _enqueue_followups(user, thread, row, question=_open_question(row), priority=priority)


def record_answer(
    *, user: User, question: Message, answer: MessageInput, forget: ForgetOutcome | None = None
) -> RecordedMessage:
    """Record the reply to a recorded message. A completed reply forms a turn with the message.

    Raise `NotFound` if the message was deleted in the meantime, `Conflict` if it already has a
    reply, and otherwise the same errors as `record_turn`.
    """
    reply = replace(answer, role=Role.ASSISTANT)
    _check(reply, field="assistant_message")
    [reply] = mask_for_storage(reply)
    thread = _lock(user, question.conversation)
    if not Message.objects.filter(pk=question.pk, user=user).exists():
        raise NotFound("This message doesn’t exist.")
    if Turn.everything.filter(user_message=question).exists():
        raise Conflict("This message already has a reply.")
    row = _next_message(thread, reply, moment=timezone.now())
    statements.insert([row])
    answered = question if row.completed else None
    return _enqueue_followups(user, thread, row, question=answered, forget=forget)


def rate_message(
    *, user: User, message: Message, rating: str | None, comment: str = ""
) -> Feedback | None:
    """Store the person's rating of a message; a rating of None removes the stored rating."""
    audit_log.record("message.rated", subject=user.subject, target=message.public_id)
    if rating is None:
        Feedback.objects.filter(user=user, message=message).delete()
        return None
    values = {"user": user, "rating": rating, "comment": masked(comment)}
    feedback, _ = Feedback.objects.update_or_create(message=message, defaults=values)
    return feedback


def mask_for_storage(*messages: MessageInput) -> list[MessageInput]:
    """Return the messages as they will be stored.

    Secrets are masked, unless the setting `SECRETS_IN_MESSAGES` is "keep". Masking also runs the
    reader model, which takes up to a second for a very long message.
    """
    if settings.SECRETS_IN_MESSAGES == "keep":
        return list(messages)
    texts = masking.masked_together([one.content for one in messages], read=True)
    return [replace(one, content=text) for one, text in zip(messages, texts, strict=True)]


def _enqueue_followups(
    user: User,
    thread: _Thread,
    row: Message,
    *,
    question: Message | None,
    priority: Priority = Priority.TURN,
    forget: ForgetOutcome | None = None,
) -> RecordedMessage:
    _save_counters(thread.conversation)
    audit_log.record_together("message.recorded", subject=user.subject, target=row.public_id)
    if question is None:
        return RecordedMessage(row, None, _enqueue_message(user, row, priority), False)
    turn = _create_turn(question, row)
    operations = _enqueue(user, turn, priority, learns=thread.learns, forget=forget)
    return RecordedMessage(row, turn, operations, False)


def _check(message: MessageInput, *, field: str) -> None:
    if not message.content.strip():
        raise Invalid.field(field, "The text must not be empty.")
    if len(message.content) > settings.MAX_MESSAGE_CHARS:
        limit = settings.MAX_MESSAGE_CHARS
        raise Invalid.field(field, f"A message has at most {limit:,} characters.")
    if "\x00" in message.content:
        raise Invalid.field(field, "The text must not contain NUL characters.")
    if len(message.speaker) > 100:
        raise Invalid.field("speaker", "A name has at most 100 characters.")
    if message.external_id is not None and not message.external_id.startswith("msg_"):
        names = {"user_message": "user_message_id", "assistant_message": "assistant_message_id"}
        check_external_id(message.external_id, field=names.get(field, "message_id"))
    elif message.external_id is not None:
        raise Invalid.field(field, "Ids with this prefix are reserved.")


def _lock(user: User, conversation: Conversation) -> _Thread:
    """Lock the conversation's row until the transaction ends, so that messages keep their order.

    The person's row is read again, since the person may have been forgotten after the request
    arrived. Raise `Conflict` in that case, and `NotFound` if the conversation no longer exists.
    """
    found = statements.rows(
        f"SELECT u.hidden_at, s.longterm_enabled, {statements.columns(Conversation, 'c')}"
        "  FROM conversations_conversation c JOIN ops_user u ON u.id = c.user_id"
        "  LEFT JOIN ops_usersettings s ON s.user_id = u.id"
        " WHERE c.id = %s AND c.user_id = %s AND c.hidden_at IS NULL FOR UPDATE OF c",
        [conversation.pk, user.pk],
    )
    if not found:
        users.check_not_deleted(user)
        raise NotFound("This conversation doesn’t exist.")
    hidden_at, learns, *columns = found[0]
    users.check_not_being_forgotten(User(hidden_at=hidden_at))
    locked = statements.instance(Conversation, columns)
    return _Thread(locked, settings.LONGTERM_DEFAULT if learns is None else learns)


def _find_or_add_both(
    thread: _Thread, user_input: MessageInput, reply: MessageInput, *, moment: datetime
) -> tuple[Message, Message, Turn | None]:
    ids = [one.external_id for one in (user_input, reply) if one.external_id is not None]
    known = Message.objects.filter(conversation=thread.conversation, external_id__in=ids)
    if not ids or not known.exists():
        question = _next_message(thread, user_input, moment=moment)
        answer = _next_message(thread, reply, moment=question.created_at)
        statements.insert([question, answer])
        return question, answer, None
    question, old = _find_or_add(thread, user_input, moment=moment, field="user_message_id")
    answer, answer_old = _find_or_add(
        thread, reply, moment=question.created_at, field="assistant_message_id"
    )
    if not (old or answer_old):
        return question, answer, None
    turn = Turn.objects.filter(user_message=question).first()
    if turn != Turn.objects.filter(assistant_message=answer).first():
        raise Conflict(
            "One of the messages belongs to another turn.",
            fields={"assistant_message_id": ["Belongs to another turn."]},
        )
    return question, answer, turn


def _find_or_add(
    thread: _Thread, message: MessageInput, *, moment: datetime, field: str
) -> tuple[Message, bool]:
    if message.external_id is not None:
        found = Message.objects.filter(
            conversation=thread.conversation, external_id=message.external_id
        ).first()
        if found is not None:
            if (found.content, found.role) != (message.content, message.role):
                raise Conflict(
                    "This id was used for another message.",
                    fields={field: ["Another message of this conversation has this id."]},
                )
            return found, True
    row = _next_message(thread, message, moment=moment)
    statements.insert([row])
    return row, False


def _next_message(thread: _Thread, message: MessageInput, *, moment: datetime) -> Message:
    conversation = thread.conversation
    conversation.last_number += 1
    conversation.message_count += 1
    row = Message(
        user_id=conversation.user_id,
        conversation=conversation,
        external_id=message.external_id,
        number=conversation.last_number,
        role=message.role,
        speaker=message.speaker,
        content=message.content,
        completed=message.completed,
        stopped=message.stopped,
        told=message.told,
        token_count=tokens.count(message.content),
        created_at=message.created_at or moment,
    )
    learnability.mark_learnability(row, is_on=thread.learns)
    conversation.last_message_at = max(conversation.last_message_at or moment, row.created_at)
    if message.speaker and message.speaker not in conversation.speakers:
        conversation.speakers.append(message.speaker)
    return row


def _open_question(answer: Message) -> Message | None:
    if answer.role != Role.ASSISTANT or not answer.completed:
        return None
    earlier = Message.objects.filter(conversation=answer.conversation_id, number__lt=answer.number)
    before = earlier.order_by("-number").first()
    if before is None or before.role != Role.USER:
        return None
    return None if Turn.everything.filter(user_message=before).exists() else before


def _create_turn(
    question: Message,
    answer: Message,
    *,
    project_key: str = "",
    tools: Sequence[Mapping[str, Any]] = (),
    labels: Mapping[str, Any] | None = None,
) -> Turn:
    if settings.SECRETS_IN_MESSAGES == "mask":
        tools, labels = masking.masked_values(tools), masking.masked_values(labels or {})
    turn = Turn(
        user_id=question.user_id,
        conversation_id=question.conversation_id,
        user_message=question,
        assistant_message=answer,
        project_key=project_key,
        tools=list(tools),
        labels=dict(labels or {}),
        created_at=question.created_at,
    )
    statements.insert([turn])
    if question.learning == Learning.WAITS:
        question.learning = Learning.WITH_TURN
        question.save(update_fields=["learning"])
    return turn


def _save_counters(conversation: Conversation) -> None:
    conversation.updated_at = timezone.now()
    statements.rows(
        "UPDATE conversations_conversation SET last_number = %s, message_count = %s,"
        " last_message_at = %s, speakers = %s, updated_at = %s WHERE id = %s"
        " AND user_id = %s",
        [
            *(conversation.last_number, conversation.message_count, conversation.last_message_at),
            *(conversation.speakers, conversation.updated_at),
            *(conversation.pk, conversation.user_id),
        ],
    )


def _enqueue(
    user: User, turn: Turn, priority: Priority, *, learns: bool, forget: ForgetOutcome | None = None
) -> tuple[Operation, ...]:
    """Enqueue the operation that learns from a turn, and then the operation that indexes it.

    The first operation is enqueued even while memory is off, since the message may contain a
    request to forget. `forget` is the outcome of such a request if it was already carried out;
    without it, turns that `learnability.must_be_processed` excludes are only indexed.
    """
    payload: dict[str, Any] = {"turn": turn.pk}
    wanted = [NewOperation(Kind.INDEX_EPISODE, payload, _index_priority(priority))]
    is_heard = learnability.must_be_processed(turn)
    if forget is not None:
        outcome = forget.with_request(turn.user_message).as_payload
        payload = payload | {"forget": outcome} | ({} if learns and is_heard else {"learns": False})
    if is_heard or forget is not None:
        wanted.insert(0, NewOperation(Kind.EXTRACT_TURN, payload, priority))
    return outbox.enqueue_each(wanted, subject=user.subject, serial_key=str(user.subject))


def _enqueue_message(user: User, message: Message, priority: Priority) -> tuple[Operation, ...]:
    wanted = [NewOperation(Kind.INDEX_EPISODE, {"message": message.pk}, _index_priority(priority))]
    return outbox.enqueue_each(wanted, subject=user.subject, serial_key=str(user.subject))


def _index_priority(priority: Priority) -> Priority:
    return Priority(max(priority, Priority.INDEX))
