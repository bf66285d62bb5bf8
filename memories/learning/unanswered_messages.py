"""Learn from messages that got no reply.

A message waits for a reply, since turns are learned from as a whole. If the conversation goes
quiet, or the message is about to leave the window, the message is learned from by itself, once.
"""

from __future__ import annotations

import zoneinfo

from django.db.models import Q

from conversations.models import Conversation, Learning, Message, Withheld
from memcenter.lib.database import statements
from memories.extraction.types import Candidate, Extraction
from memories.forgetting import spoken_requests
from memories.learning import ingest, learnability, single_texts, turn_context
from memories.learning.single_texts import Lone
from memories.models import Origin
from memories.writing.memory_writes import SourceInput
from memories.writing.verdicts import Decided
from ops.access import as_user
from ops.accounts import users
from ops.models import User
from ops.queue import outbox
from ops.queue.run import Run


def waiting(*, user: User, conversation: Conversation, through: int) -> list[Message]:
    """Return the messages up to number `through` that have no reply, in order."""
    found = statements.rows(
        f"SELECT {statements.columns(Message, 'm')} FROM conversations_message m"
        " WHERE m.user_id = %s AND m.conversation_id = %s AND m.number <= %s"
        "   AND m.learning = %s AND m.hidden_at IS NULL ORDER BY m.number",
        [user.pk, conversation.pk, through, Learning.WAITS.value],
    )
    return [_in_conversation(statements.instance(Message, one), conversation) for one in found]


def _in_conversation(message: Message, conversation: Conversation) -> Message:
    message.conversation = conversation
    return message


def learn(run: Run, *, user: User, message: Message) -> list[Decided]:
    """Carry out the message's requests to forget, learn from it, then mark it.

    A repeated run after a kill skips candidates that were decided before. Raises `ProviderError`.
    Nothing is learned while long-term memory is off, but the message is marked all the same.
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
    _forget_what_was_asked(run, user, message, extraction)
    decided = [
        one
        for candidate in extraction.candidates
        if (one := single_texts.learn(run, candidate, user=user, text=_lone(user, message)))
    ]
    with run.applying(user):
        if still := _still_there(user, message):
            learnability.note(extraction.refused, user_id=user.pk)
            still.learning = Learning.DONE
            if extraction.withheld and still.withheld == Withheld.NO:
                still.withheld = Withheld.ASKED
            still.secrets = extraction.secret_places
            still.save(update_fields=["learning", "secrets", "withheld"])
    return decided


def _forget_what_was_asked(run: Run, user: User, message: Message, extraction: Extraction) -> None:
    """Forget a plain match; otherwise keep the question in this operation."""
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


def _lone(user: User, message: Message) -> Lone:
    def hold(candidate: Candidate) -> SourceInput | None:
        still = _still_there(user, message)
        return _source(still, candidate) if still else None

    return Lone(learnability.telling_of_message(message), Q(sources__message=message), hold)


def _still_there(user: User, message: Message) -> Message | None:
    return Message.objects.select_for_update().filter(user=user, pk=message.pk).first()


def _source(message: Message, candidate: Candidate) -> SourceInput:
    """Return the source; a claim that the user accepted rests on the accepting message."""
    own = candidate.quoted_role == "user"
    return SourceInput(
        origin=Origin.EXTRACTED,
        message=message,
        quote=candidate.quote if own else message.content[: ingest.ACCEPTED_CHARS],
        quote_start=candidate.quote_start if own else 0,
    )
