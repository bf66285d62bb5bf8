"""Remember a message, or a part of it, when the user chooses "Remember this…" in the chat.

The request counts as a new statement, so neither "don't keep this" nor an earlier request to forget
prevents learning.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.conf import settings
from django.utils import timezone

from conversations import selectors
from conversations.models import Message, Turn
from foundation.errors import Invalid
from memories import language_steps
from memories.extraction import masking
from memories.extraction.types import TurnText, Utterance
from memories.models import (
    Arbitration,
    Kind,
    Origin,
    Source,
)
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput, WriteResult
from memories.writing.memory_writes import SourceInput
from ops.access import as_user
from ops.models import User

_MOST_TAGS = 3


@dataclass(frozen=True)
class Span:
    """A part of a message: its text and its start position."""

    text: str
    start: int


@dataclass(frozen=True)
class Proposal:
    """A proposed memory: the text, and the kind and topics that the reader model finds.

    `text` is "" if the part of the message is only a secret. `redacted` is True if a secret was
    masked.
    """

    text: str
    kind: str
    tags: tuple[str, ...]
    redacted: bool = False


def span_of(message: Message, *, start: int | None = None, end: int | None = None) -> Span:
    """Return the part of the message between these positions, without surrounding spaces.

    If `start` is None or the part is blank, return the whole message.
    """
    text = message.content[start:end] if start is not None else ""
    if start is None or not text.strip():
        start, text = 0, message.content
    return Span(text.strip(), start + len(text) - len(text.lstrip()))


def propose(message: Message, span: Span) -> Proposal:
    """Propose a memory for this part of the message, with secrets masked."""
    text = _masked(span.text, message)
    if masking.says_nothing_but_secrets(text):
        return Proposal("", Kind.FACT, (), redacted=True)
    now = timezone.localtime(message.created_at)
    found = language_steps.bundled_extractor().extract(
        TurnText(Utterance(text, now), Utterance("", now))
    )
    own = [one for one in found.candidates if one.quoted_role == "user"]
    tags = dict.fromkeys(tag for one in own for tag in one.tags)
    kind = own[0].kind if own else direct_writes.kind_of(text)
    return Proposal(text, kind, tuple(tags)[:_MOST_TAGS], redacted=text != span.text)


def write_remembered(
    given: MemoryInput, *, user: User, message: Message, span: Span
) -> WriteResult:
    """Write the memory, with the message and the quoted part as its source.

    Call this function outside a transaction, since it opens its own. Raise `Invalid` if the text is
    only a secret, `NotFound` if the message no longer exists, and `Conflict` while memory is off
    (`memory_off`) or the user is being forgotten (`being_forgotten`).
    """
    content = _masked(given.content.strip(), message)
    if masking.says_nothing_but_secrets(content):
        raise Invalid.field("content", "This looks like a secret, and secrets are not remembered.")
    given = replace(given, content=content, occurred_at=message.created_at)
    prepared = direct_writes.prepare(given, origin=Origin.USER)
    quote = _masked(span.text[: settings.MAX_MEMORY_CHARS], message)
    with as_user(user, changing=True):
        message = selectors.message_of(user, message.public_id)
        source = SourceInput(
            origin=Origin.USER,
            turn=selectors.turn_of(user, message),
            message=message,
            quote=quote,
            quote_start=span.start,
        )
        return direct_writes.remember(prepared, user=user, source=source)


@dataclass(frozen=True)
class DetachedLinks:
    """The keys of sources and verdicts that are moved from a message's old turn to its new turn."""

    sources: tuple[int, ...]
    verdicts: tuple[int, ...]

    def attach_to(self, turn: Turn) -> None:
        """Make the new turn the origin of the sources and verdicts."""
        Source.objects.filter(pk__in=self.sources).update(turn=turn, message=turn.user_message)
        Arbitration.objects.filter(pk__in=self.verdicts).update(turn=turn)


def detach_from(message: Message, *, user: User) -> DetachedLinks:
    """Detach the memories that the user saved from a message that is about to be recorded again.

    Call this function in the transaction that forgets the old turn, and then call `attach_to` with
    the new turn in the same transaction.
    """
    own = Source.objects.filter(user=user, message=message, origin=Origin.USER)
    sources = list(own.values_list("pk", "memory"))
    logged = Arbitration.objects.filter(
        user=user,
        turn__user_message=message,
        memory__in=[memory for _, memory in sources],
    )
    carried = DetachedLinks(
        tuple(pk for pk, _ in sources), tuple(logged.values_list("pk", flat=True))
    )
    Source.objects.filter(pk__in=carried.sources).update(turn=None, message=None)
    Arbitration.objects.filter(pk__in=carried.verdicts).update(turn=None)
    return carried


def _masked(text: str, message: Message) -> str:
    texts, places = (text, message.content), ((), message.secrets)
    return masking.masked_together(texts, places=places, read=True)[0]
