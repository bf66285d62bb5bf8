"""Learn from texts that aren't turns: messages without a reply, and lines of old notes."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import Q, QuerySet
from django.utils import timezone

from conversations.models import Conversation, Learning, Message, Withheld
from memcenter.lib.database import statements
from memories import language_steps
from memories.extraction.types import Candidate, Extraction, Said, TurnText
from memories.forgetting import spoken_requests
from memories.forgetting.tombstones import Telling
from memories.indexing import search_index
from memories.learning import ingest, learnability, memory_flush, turn_context
from memories.models import Arbitration, DailyNote, Memory, Origin
from memories.recall import traces
from memories.writing import similar_memories, verdicts
from memories.writing.memory_writes import SourceInput
from memories.writing.verdicts import Decided
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue import outbox
from ops.queue.run import Run


@dataclass(frozen=True)
class SingleText:
    """A text that isn't a turn, with where and when it was said (`telling`).

    `taught` is a filter for the memories learned from the text. `hold` locks the text's row until
    the transaction ends and returns the source for a candidate, or None if the text no longer
    exists. If the user confirms memories before they are used, explicit requests to remember need
    no confirmation, unless `confirms_all` is True.
    """

    telling: Telling
    taught: Q
    hold: Callable[[Candidate], SourceInput | None]
    confirms_all: bool = False


def learn(run: Run, candidate: Candidate, *, user: User, text: SingleText) -> Decided | None:
    """Decide on a candidate and apply it in its own transaction.

    Return None if the candidate was already decided or forgotten, or if long-term memory is off.
    Raise `ProviderError` if a model call fails.
    """
    vectors, pieces = search_index.embed_memory(candidate.content)
    with as_user(user):
        if not _is_new(user, text, candidate):
            return None
        known = similar_memories.similar_to(vectors[0], user=user, content=candidate.content)
    meeting = verdicts.meet(candidate, known=known, arbiter=language_steps.arbiter())
    draft = ingest.draft_of(candidate, vectors, pieces, None)
    merged = verdicts.merged_draft(meeting, draft)
    with run.applying(user):
        source = text.hold(candidate)
        own = users.settings_held(user)
        if source is None or not own.longterm_enabled:
            return None
        outright = candidate.explicit and not text.confirms_all
        return verdicts.apply(
            meeting,
            draft,
            user=user,
            source=source,
            always_review=own.confirm_before_remembering and not outright,
            merged=merged,
        )


def _is_new(user: User, text: SingleText, candidate: Candidate) -> bool:
    content = candidate.content
    if not learnability.may_learn(candidate, text.telling, user=user):
        return False
    taught = Memory.everything.filter(text.taught, user=user)
    decided = Arbitration.objects.filter(user=user, memory__in=taught, candidate_text=content)
    return not decided.exists()


def unanswered_messages(*, user: User, conversation: Conversation, through: int) -> list[Message]:
    """Return the messages up to number `through` that have no reply, in order."""
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


def learn_from_message(run: Run, *, user: User, message: Message) -> list[Decided]:
    """Learn from a message without a reply, and carry out its requests to forget.

    While long-term memory is off, nothing is learned. The message is marked as done. If the
    process was killed, a repeated run skips candidates that are already decided. Raise
    `ProviderError` if a model call fails.
    """
    with as_user(user):
        own = users.settings_of(user)
        text = turn_context.text_alone(message, zone=zoneinfo.ZoneInfo(own.timezone))
    if own.longterm_enabled and message.withheld != Withheld.MEMORY_OFF:
        extraction = ingest.extract(text)
    else:
        extraction = ingest.only_forgets(text)
    if message.withheld not in (Withheld.NO, Withheld.MEMORY_OFF):
        extraction = learnability.what_may_be_heard(extraction)
    _carry_out_forgets(run, user, message, extraction)
    decided = [
        one
        for candidate in extraction.candidates
        if (one := learn(run, candidate, user=user, text=_message_text(user, message)))
    ]
    with run.applying(user):
        if still := _held_message(user, message):
            learnability.note(extraction.refused, user_id=user.pk)
            still.learning = Learning.DONE
            if extraction.withheld and still.withheld == Withheld.NO:
                still.withheld = Withheld.ASKED
                traces.erase_query(still)
            still.secrets = extraction.secret_places
            still.save(update_fields=["learning", "secrets", "withheld"])
    return decided


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
        outbox.keep_question(run.operation, outcome.with_request(message).told)


def _message_text(user: User, message: Message) -> SingleText:
    def hold(candidate: Candidate) -> SourceInput | None:
        still = _held_message(user, message)
        return _source(still, candidate) if still else None

    return SingleText(learnability.telling_of_message(message), Q(sources__message=message), hold)


def _held_message(user: User, message: Message) -> Message | None:
    return Message.objects.select_for_update().filter(user=user, pk=message.pk).first()


def _source(message: Message, candidate: Candidate) -> SourceInput:
    own = candidate.quoted_role == "user"
    return SourceInput(
        origin=Origin.EXTRACTED,
        message=message,
        quote=candidate.quote if own else message.content[: ingest.ACCEPTED_CHARS],
        quote_start=candidate.quote_start if own else 0,
    )


_AT_ONCE = 500  # lines per run; the next night's run continues


def unread_notes(now: datetime) -> QuerySet[DailyNote]:
    """Return all users' note lines that are old enough and not yet processed, oldest first.

    Lines that a memory flush wrote are left out, since they repeat memories.
    """
    last = now.date() - timedelta(days=settings.NOTES_LEARN_DAYS)
    found = DailyNote.objects.filter(day__lte=last, learned_at__isnull=True)
    return found.exclude(source=memory_flush.SOURCE).order_by("day", "number")


def people_with_unread_notes(now: datetime) -> Iterator[User]:
    """Yield the users who have note lines to process. Call it inside `as_system`."""
    owners = unread_notes(now).order_by().values("user").distinct()
    on = User.objects.filter(pk__in=owners, hidden_at__isnull=True)
    yield from on.exclude(settings__longterm_enabled=False).order_by("pk")


def learn_from_notes(run: Run, *, user: User) -> list[Decided]:
    """Learn from a user's old note lines, one by one.

    Does nothing while long-term memory is off. If the process was killed, a repeated run skips
    candidates that are already decided. Raise `ProviderError` if a model call fails.
    """
    with as_user(user):
        if user.hidden_at is not None or not users.settings_of(user).longterm_enabled:
            return []
        lines = list(unread_notes(timezone.now()).filter(user=user)[:_AT_ONCE])
    return [one for line in lines for one in _learn_from_note(run, user, line)]


def _learn_from_note(run: Run, user: User, line: DailyNote) -> list[Decided]:
    with as_user(user):
        zone = ZoneInfo(users.settings_of(user).timezone)
        block = turn_context.recently_shown(user.pk)
    said = Said(line.text, line.created_at.astimezone(zone))
    text = TurnText(user=said, assistant=Said("", said.spoken_at), known_block=block)
    extraction = ingest.extract(text)
    decided = [
        one
        for candidate in extraction.candidates
        if (one := learn(run, candidate, user=user, text=_note_text(user, line)))
    ]
    with run.applying(user):
        if _holds_note(user, line):
            learnability.note(extraction.refused, user_id=user.pk)
            DailyNote.objects.filter(pk=line.pk).update(learned_at=timezone.now())
    return decided


def _note_text(user: User, line: DailyNote) -> SingleText:
    def hold(candidate: Candidate) -> SourceInput | None:
        if not _holds_note(user, line):
            return None
        return SourceInput(origin=Origin.EXTRACTED, quote=line.text, reference=line.public_id)

    taught = Q(sources__reference=line.public_id)
    return SingleText(learnability.telling_of_note(line), taught, hold, confirms_all=True)


def _holds_note(user: User, line: DailyNote) -> bool:
    found = DailyNote.objects.select_for_update().filter(user=user, pk=line.pk)
    return found.first() is not None
