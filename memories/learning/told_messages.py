"""Remember a message, or a part of it, on the person's request: "Remember this…" in the chat.

The request counts as a new statement, so neither "don't keep this" nor an earlier forget blocks it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from django.conf import settings
from django.utils import timezone

from conversations import selectors
from conversations.models import Message, Turn
from memcenter.lib.errors import Invalid
from memories import language_steps
from memories.extraction import secret_masking
from memories.extraction.types import Said, TurnText
from memories.models import Arbitration, Kind, Origin, Source
from memories.writing import direct_writes
from memories.writing.direct_writes import MemoryInput, Written
from memories.writing.memory_writes import SourceInput
from ops.access import as_user
from ops.models import User

_MOST_TAGS = 3


@dataclass(frozen=True)
class Span:
    """A part of a message: its text and where it begins."""

    text: str
    start: int


@dataclass(frozen=True)
class Proposal:
    """The text to remember, with the kind and the topics that the reader finds.

    `text` is empty if there is nothing but a secret; `redacted` tells that one was left out.
    """

    text: str
    kind: str
    tags: tuple[str, ...]
    redacted: bool = False


def span_of(message: Message, *, start: int | None = None, end: int | None = None) -> Span:
    """Return the part between these characters without the blanks around it, else the whole."""
    text = message.content[start:end] if start is not None else ""
    if start is None or not text.strip():
        start, text = 0, message.content
    return Span(text.strip(), start + len(text) - len(text.lstrip()))


def propose(message: Message, span: Span) -> Proposal:
    """Propose how to remember this part; secrets are masked. Needs no transaction."""
    text = _masked(span.text, message)
    if secret_masking.says_nothing_but_secrets(text):
        return Proposal("", Kind.FACT, (), redacted=True)
    now = timezone.localtime(message.created_at)
    found = language_steps.bundled_extractor().extract(TurnText(Said(text, now), Said("", now)))
    own = [one for one in found.candidates if one.quoted_role == "user"]
    tags = dict.fromkeys(tag for one in own for tag in one.tags)
    kind = own[0].kind if own else direct_writes.kind_of(text)
    return Proposal(text, kind, tuple(tags)[:_MOST_TAGS], redacted=text != span.text)


def remember(given: MemoryInput, *, user: User, message: Message, span: Span) -> Written:
    """Write the memory with the message and the quoted part as its source.

    Opens its own transactions; call it outside of any. Raises `Invalid` (nothing but a secret),
    `NotFound` if the message is gone, and `Conflict`: `memory_off`, `being_forgotten`.
    """
    content = _masked(given.content.strip(), message)
    if secret_masking.says_nothing_but_secrets(content):
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
class Carried:
    """The memory that a person made from a message, between its old turn and a new one."""

    sources: tuple[int, ...]
    verdicts: tuple[int, ...]

    def rest_on(self, turn: Turn) -> None:
        Source.objects.filter(pk__in=self.sources).update(turn=turn, message=turn.user_message)
        Arbitration.objects.filter(pk__in=self.verdicts).update(turn=turn)


def take_from(message: Message, *, user: User) -> Carried:
    """Detach what the person had remembered from a message that is recorded again.

    Runs in the transaction that forgets the old turn; call `rest_on` with the new one in it.
    """
    own = Source.objects.filter(user=user, message=message, origin=Origin.USER)
    sources = list(own.values_list("pk", "memory"))
    logged = Arbitration.objects.filter(
        user=user,
        turn__user_message=message,
        memory__in=[memory for _, memory in sources],
    )
    carried = Carried(tuple(pk for pk, _ in sources), tuple(logged.values_list("pk", flat=True)))
    Source.objects.filter(pk__in=carried.sources).update(turn=None, message=None)
    Arbitration.objects.filter(pk__in=carried.verdicts).update(turn=None)
    return carried


def _masked(text: str, message: Message) -> str:
    """Mask the secrets of the text, also those that only the rest of the message gives away."""
    texts, places = (text, message.content), ((), message.secrets)
    return secret_masking.masked_together(texts, places=places, read=True)[0]
