"""Why a memory is known, in plain words: each source with the words that it was read from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.conf import settings
from django.utils.translation import gettext as _

from conversations.models import Conversation, Message
from memories.extraction import sensitive
from memories.models import (
    Arbitration,
    Change,
    DailyNote,
    Memory,
    MemoryStatus,
    MemoryVersion,
    Origin,
    RecallHit,
    Relation,
    Source,
)
from memories.services import cited_notes, notes
from memories.views import reason_words
from memories.worddiff import Part, diff_words

_AROUND = 240  # characters of the message on either side of the quote
_PARTS = ("relevance", "recency", "importance")


@dataclass(frozen=True)
class Quote:
    """What was said, with the words that count between what stands around them."""

    before: str
    words: str
    after: str
    who: str
    said_at: datetime


@dataclass(frozen=True)
class Reason:
    """One source in words, and the quoted message where there is one."""

    text: str
    at: datetime
    quote: Quote | None
    conversation: Conversation | None
    said_in: Message | None
    reference: str
    note: str = ""  # the path of the daily note that it stands in


@dataclass(frozen=True)
class Step:
    """One version beside the one before it."""

    version: MemoryVersion
    title: str
    parts: Sequence[Part]
    because: Sequence[str]
    is_current: bool
    can_be_restored: bool


@dataclass(frozen=True)
class Use:
    """One answer that the memory went into, and the score that brought it there."""

    hit: RecallHit
    relevance: float
    recency: float
    importance: float


@dataclass(frozen=True)
class Related:
    memory: Memory
    text: str
    strength: float | None


def reasons_of(memory: Memory, sources: Iterable[Source]) -> list[Reason]:
    """What the present text rests on, newest first, one for each turn or call."""
    current = [one for one in sources if one.version.number == memory.current_version]
    noted = _notes_of(memory, current)
    seen: set[object] = set()
    reasons = []
    for source in current:
        key = source.turn_id or (source.origin, source.reference, source.pk)
        if key not in seen:
            seen.add(key)
            reasons.append(_reason(source, noted.get(source.reference)))
    return reasons


def _notes_of(memory: Memory, sources: Iterable[Source]) -> dict[str, DailyNote]:
    """The lines of daily notes among the sources, by their ids."""
    named = {one.reference for one in sources if one.reference.startswith("note_")}
    if not named:
        return {}
    rows = DailyNote.objects.filter(user=memory.user_id, public_id__in=named, day__isnull=False)
    return {row.public_id: row for row in rows}


def _reason(source: Source, note: DailyNote | None) -> Reason:
    turn, message = source.turn, source.message
    message = message or (turn.user_message if turn else None)
    return Reason(
        text=_words(source),
        at=message.created_at if message else (note or source).created_at,
        quote=_quote(source, message) if message else _noted(source, note),
        conversation=_conversation(source),
        said_in=turn.user_message if turn else message,
        reference="" if note else source.reference,
        note=notes.path_of(note.on) if note else "",
    )


def _conversation(source: Source) -> Conversation | None:
    said = source.turn or source.message
    return said.conversation if said else None


def _words(source: Source) -> str:
    if source.comment == cited_notes.GONE:
        return _("It stood in a daily note that was forgotten since.")
    if source.comment:
        return _("It was kept when the conversation it came from was deleted.")
    if source.turn_id and source.message and source.message.role == "assistant":
        return _("I said it, and you agreed.")
    if source.turn_id or source.message_id:
        return _("You said so.")
    if source.reference.startswith("note_"):
        return _("It stands in one of your daily notes.")
    return {
        Origin.EXTRACTED.value: _("It was learned from a conversation."),
        Origin.USER.value: _("You wrote it here yourself."),
        Origin.API.value: _("A program wrote it, through the API."),
        Origin.AGENT.value: _("An agent wrote it."),
        Origin.FILE.value: _("It stands in a memory file."),
        Origin.IMPORT.value: _("It came with an import."),
    }[source.origin]


def _quote(source: Source, message: Message) -> Quote:
    (text,) = sensitive.masked_together([message.content], places=[message.secrets])
    words = sensitive.masked(source.quote)
    start = source.quote_start
    if text[start : start + len(words)] != words:
        start = max(text.find(words), 0)
    end = start + len(words) if words in text else start
    first, last = max(0, start - _AROUND), min(len(text), end + _AROUND)
    return Quote(
        before=("…" if first else "") + text[first:start],
        words=text[start:end],
        after=text[end:last] + ("…" if last < len(text) else ""),
        who=message.speaker or (_("You") if message.role == "user" else _("Assistant")),
        said_at=message.created_at,
    )


def _noted(source: Source, note: DailyNote | None) -> Quote | None:
    """The line of the daily note that taught it."""
    if note is None or not source.quote:
        return None
    return Quote("", source.quote, "", _("Daily note"), note.created_at)


def history_of(memory: Memory, versions: Sequence[MemoryVersion]) -> list[Step]:
    """Newest first; each shows what changed against the one before."""
    older = {one.number: before for one, before in pairwise(versions)}
    return [_step(memory, one, older.get(one.number)) for one in versions]


def _step(memory: Memory, version: MemoryVersion, before: MemoryVersion | None) -> Step:
    is_current = version.number == memory.current_version
    known = before is not None and before.erased_at is None and version.erased_at is None
    parts = diff_words(before.content, version.content) if before and known else []
    return Step(
        version=version,
        title=_title(version),
        parts=parts or [Part("same", version.content)],
        because=because_of(version),
        is_current=is_current,
        can_be_restored=not is_current and version.erased_at is None,
    )


def because_of(version: MemoryVersion | None) -> list[str]:
    """How its text was heard and why it was taken in as it was, in sentences."""
    return reason_words.in_words(version.reason.split(", ")) if version else []


def waits_because(
    memory: Memory,
    version: MemoryVersion | None,
    verdict: Arbitration | None,
    *,
    confirms_all: bool,
) -> list[str]:
    """Why a candidate is in the inbox: what was decided last, how it was heard, how surely."""
    decided = reason_words.in_words(verdict.reasons) if verdict else []
    found = [*decided, *because_of(version)]
    if memory.conflicts_with_id is None and memory.confidence < settings.CONFIDENCE_FLOOR:
        found.insert(0, _("I am not sure that I heard right."))
    elif memory.conflicts_with_id is None and confirms_all:
        found.insert(0, _("You asked to confirm everything before it is remembered."))
    return list(dict.fromkeys(found))


def _title(version: MemoryVersion) -> str:
    own = version.actor == Origin.USER
    return {
        Change.CREATED.value: _("You wrote it") if own else _("Learned"),
        Change.EDITED.value: _("You changed it") if own else _("Changed"),
        Change.REPLACED.value: _("You corrected it") if own else _("Replaced by something newer"),
        Change.MERGED.value: _("Joined with something I heard"),
        Change.RESTORED.value: _("You brought an earlier text back"),
        Change.CONSOLIDATED.value: _("Joined from several memories"),
        Change.DERIVED.value: _("Written anew after something was forgotten"),
    }[version.change]


def uses_of(hits: Iterable[RecallHit]) -> list[Use]:
    return [Use(hit, *(float(hit.components.get(name, 0.0)) for name in _PARTS)) for hit in hits]


def related_to(memory: Memory, relations: Iterable[Relation]) -> list[Related]:
    """The memories that bear on this one, each with how, seen from here."""
    found = [_other_side(memory, one) for one in relations]
    if memory.conflicts_with is not None:
        found.append(Related(memory.conflicts_with, _("This contradicts it"), None))
    if memory.superseded_by is not None:
        found.append(Related(memory.superseded_by, _("This took its place"), None))
    joined = memory.supersedes.filter(user=memory.user_id, status=MemoryStatus.ARCHIVED)
    found += [Related(one, _("It was joined into this"), None) for one in joined.order_by("pk")]
    return [one for one in found if one.memory.hidden_at is None and one.memory.deleted_at is None]


def _other_side(memory: Memory, relation: Relation) -> Related:
    from_here = {
        "supports": _("It supports this"),
        "contradicts": _("It contradicts this"),
        "refines": _("It says this more exactly"),
    }
    to_here = {
        "supports": _("This supports it"),
        "contradicts": _("This contradicts it"),
        "refines": _("This says it more exactly"),
    }
    is_ours = relation.memory_id == memory.pk
    words = (from_here if is_ours else to_here)[relation.kind]
    return Related(relation.other if is_ours else relation.memory, words, relation.strength)
