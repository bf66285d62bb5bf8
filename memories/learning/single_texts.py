"""Learn from texts that aren't turns: messages without a reply, and lines of old notes."""

from __future__ import annotations

import zoneinfo
from datetime import datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from conversations.models import Conversation, Learning, Message
from foundation.database import statements
from memories.extraction.types import Candidate, Extraction, TurnText, Utterance
from memories.forgetting import spoken_requests
from memories.learning import learnability, memory_flush, turn_context, turn_learning
from memories.learning.turn_learning import SourceText
from memories.models import DailyNote, Memory, Origin
from memories.recall import traces
from memories.writing import memory_writes
from memories.writing.memory_writes import SourceInput
from memories.writing.verdict_writes import AppliedVerdict
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue import outbox
from ops.queue.run import Run


def unanswered_messages(*, user: User, conversation: Conversation, through: int) -> list[Message]:
    """Return the unprocessed messages up to number `through` that have no reply, in order."""
    found = statements.rows(
        f"SELECT {statements.columns(Message, 'm')} FROM conversations_message m"
        " WHERE m.user_id = %s AND m.conversation_id = %s AND m.number <= %s"
        "   AND m.learning = %s AND m.hidden_at IS NULL ORDER BY m.number",
        [user.pk, conversation.pk, through, Learning.WAITS.value],
    )
    messages = [statements.instance(Message, one) for one in found]
    for message in messages:
        message.conversation = conversation
    return messages


def learn_from_message(run: Run, *, user: User, message: Message) -> list[AppliedVerdict]:
    """Learn from a message without a reply, and carry out its requests to forget.

    While long-term memory is off, nothing is learned. The message is marked as done. If the process
    was killed, a repeated run skips candidates that are already decided. Raise `ProviderError` if a
    model call fails.
    """
    with as_user(user):
        own = users.settings_of(user)
        text = turn_context.text_alone(message, zone=zoneinfo.ZoneInfo(own.timezone))
    was_off = learnability.was_recorded_while_off(message)
    if own.longterm_enabled and not was_off:
        extraction = turn_learning.extract(text)
    else:
        extraction = turn_learning.extract_forget_requests(text)
    if learnability.is_withheld(message) and not was_off:
        extraction = learnability.only_forget_requests(extraction)
    _carry_out_forgets(run, user, message, extraction)
    decided = turn_learning.learn_all(
        run,
        extraction.undecided,
        _text_of_message(message, user=user),
        then=partial(_mark_message, message, extraction, user=user),
    )
    return [one for one in decided if one is not None]


def _mark_message(message: Message, extraction: Extraction, *, user: User) -> None:
    if still := _held_message(user, message):
        memory_writes.record_refusals(extraction.refused, user_id=user.pk)
        still.learning = Learning.DONE
        if extraction.not_to_keep and learnability.withhold_as_asked(still):
            traces.erase_query(still)
        still.secrets, still.role_play = extraction.secret_places, extraction.role_play
        still.save(update_fields=["learning", "secrets", "role_play"])


def _carry_out_forgets(run: Run, user: User, message: Message, extraction: Extraction) -> None:
    if not extraction.forget:
        return
    asked = spoken_requests.prepare(extraction.forget)
    with as_user(user):
        found = spoken_requests.find(
            asked, user=user, conversation=message.conversation, before=message.number
        )
    with run.applying(user, durable=True):
        outcome = spoken_requests.answer(found, user=user)
        outbox.store_forget_outcome(run.operation, outcome.with_request(message).as_payload)


def _text_of_message(message: Message, *, user: User) -> SourceText:
    def hold(candidate: Candidate) -> SourceInput | None:
        still = _held_message(user, message)
        return _source(still, candidate) if still else None

    provenance = learnability.provenance_of_message(message)
    learned = Memory.everything.filter(user=user, sources__message=message)
    return SourceText(user, lambda candidate: provenance, Q(memory__in=learned), hold)


def _held_message(user: User, message: Message) -> Message | None:
    return Message.objects.select_for_update().filter(user=user, pk=message.pk).first()


def _source(message: Message, candidate: Candidate) -> SourceInput:
    own = candidate.quoted_role == "user"
    return SourceInput(
        origin=Origin.EXTRACTED,
        message=message,
        quote=candidate.quote if own else message.content[: turn_learning.ACCEPTED_CHARS],
        quote_start=candidate.quote_start if own else 0,
    )


_AT_ONCE = 500  # maximum lines per run; the next nightly run continues


def unread_notes(now: datetime) -> QuerySet[DailyNote]:
    """Return all users' note lines that are old enough and not yet processed, oldest first.

    Lines that a memory flush wrote are left out, since they repeat memories.
    """
    last = now.date() - timedelta(days=settings.NOTES_LEARN_DAYS)
    found = DailyNote.objects.filter(day__lte=last, learned_at__isnull=True)
    return found.exclude(source=memory_flush.SOURCE).order_by("day", "number")


def learn_from_notes(run: Run, *, user: User) -> list[AppliedVerdict]:
    """Learn from a user's old note lines, one by one.

    Does nothing while long-term memory is off. If the process was killed, a repeated run skips
    candidates that are already decided. Raise `ProviderError` if a model call fails.
    """
    with as_user(user):
        if user.hidden_at is not None or not users.settings_of(user).longterm_enabled:
            return []
        lines = list(unread_notes(timezone.now()).filter(user=user)[:_AT_ONCE])
    return [one for line in lines for one in _learn_from_note(run, user, line)]


def _learn_from_note(run: Run, user: User, line: DailyNote) -> list[AppliedVerdict]:
    with as_user(user):
        zone = ZoneInfo(users.settings_of(user).timezone)
        block = turn_context.recent_block_texts(user.pk)
    said = Utterance(line.text, line.created_at.astimezone(zone))
    text = TurnText(user=said, assistant=Utterance("", said.spoken_at), known_block=block)
    extraction = turn_learning.extract(text)
    decided = turn_learning.learn_all(
        run,
        extraction.undecided,
        _text_of_note(line, user=user),
        then=partial(_mark_note, line, extraction, user=user),
    )
    return [one for one in decided if one is not None]


def _mark_note(line: DailyNote, extraction: Extraction, *, user: User) -> None:
    if _holds_note(user, line):
        memory_writes.record_refusals(extraction.refused, user_id=user.pk)
        DailyNote.objects.filter(pk=line.pk).update(learned_at=timezone.now())


def _text_of_note(line: DailyNote, *, user: User) -> SourceText:
    def hold(candidate: Candidate) -> SourceInput | None:
        if not _holds_note(user, line):
            return None
        return SourceInput(origin=Origin.EXTRACTED, quote=line.text, reference=line.public_id)

    provenance = learnability.provenance_of_note(line)
    learned = Memory.everything.filter(user=user, sources__reference=line.public_id)
    decided = Q(memory__in=learned)
    return SourceText(user, lambda candidate: provenance, decided, hold, confirms_all=True)


def _holds_note(user: User, line: DailyNote) -> bool:
    found = DailyNote.objects.select_for_update().filter(user=user, pk=line.pk)
    return found.first() is not None
