"""Learning from what a person said without having got a reply.

What is learned from is otherwise a turn. A message that no reply answers yet waits: if one comes,
the turn is learned from; if the conversation goes quiet or the message is about to leave the
window, it is learned from by itself, once.
"""

from __future__ import annotations

import zoneinfo

from django.db.models import Q

from conversations.models import Conversation, Learning, Message, Withheld
from memcenter.lib import statements
from memories.extraction.types import Candidate, Extraction, Said, TurnText
from memories.models import Origin
from memories.services import ingest, learnability, listening, lone, refusals, requests
from memories.services.deciding import Decided
from memories.services.lone import Lone
from memories.services.writing import SourceInput
from ops.access import as_user
from ops.models import User
from ops.services import users
from ops.services.worker import Run


def waiting(*, user: User, conversation: Conversation, through: int) -> list[Message]:
    """Those up to number `through` that no reply answers, in the order in which they were said."""
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
    """Forget what the message plainly asks for, learn what it says, then mark it.

    Running it again after a kill leaves out what was decided before. Raises `ProviderError`.
    Nothing is learned while long-term memory is off; the message is marked all the same.
    """
    with as_user(user):
        own = users.settings_of(user)
        text = _read(message, zone=zoneinfo.ZoneInfo(own.timezone))
    extraction = ingest.extract(text) if own.longterm_enabled else Extraction()
    if message.withheld:
        extraction = learnability.what_may_be_heard(extraction)
    _forget_what_was_asked(run, user, message, extraction)
    decided = [
        one
        for candidate in extraction.candidates
        if (one := lone.learn(run, candidate, user=user, text=_lone(user, message)))
    ]
    with run.applying(user):
        if still := _still_there(user, message):
            refusals.note(extraction.refused, user_id=user.pk)
            still.learning = Learning.DONE
            if extraction.withheld and still.withheld == Withheld.NO:
                still.withheld = Withheld.ASKED
            still.secrets = extraction.secret_places
            still.save(update_fields=["learning", "secrets", "withheld"])
    return decided


def _read(message: Message, *, zone: zoneinfo.ZoneInfo) -> TurnText:
    said = listening.said_in(message, zone)
    before, reply = listening.said_before(message, zone=zone)
    return TurnText(
        user=said,
        assistant=Said("", said.spoken_at),
        before=before,
        before_assistant=reply,
        known_block=listening.recently_shown(message.user_id),
    )


def _forget_what_was_asked(run: Run, user: User, message: Message, extraction: Extraction) -> None:
    asked = requests.prepare(extraction.forget)
    with as_user(user):
        found = requests.find(
            asked, user=user, conversation=message.conversation, before=message.number
        )
    if found.is_plain:
        with run.applying(user, durable=True):
            requests.answer(found, user=user)


def _lone(user: User, message: Message) -> Lone:
    def hold(candidate: Candidate) -> SourceInput | None:
        still = _still_there(user, message)
        return _source(still, candidate) if still else None

    return Lone(learnability.telling_of_message(message), Q(sources__message=message), hold)


def _still_there(user: User, message: Message) -> Message | None:
    return Message.objects.select_for_update().filter(user=user, pk=message.pk).first()


def _source(message: Message, candidate: Candidate) -> SourceInput:
    """A claim that the person accepted rests on their accepting it."""
    own = candidate.quoted_role == "user"
    return SourceInput(
        origin=Origin.EXTRACTED,
        message=message,
        quote=candidate.quote if own else message.content[: ingest.ACCEPTED_CHARS],
        quote_start=candidate.quote_start if own else 0,
    )
