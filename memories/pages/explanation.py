"""The page of one memory: its text, why it is known, its history and when it was used."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from difflib import SequenceMatcher
from itertools import pairwise
from typing import Any, Literal

import rjieba
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from conversations.models import Conversation, Message
from memories import selectors
from memories.extraction import masking
from memories.extraction.types import Verdict
from memories.files import daily_notes
from memories.forgetting import rederivation
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
from memories.pages import reason_words
from memories.pages.memory_rows import is_row, page_menu_of, render_changed_rows
from ops.pages.base import own_transaction, person, personal_page

_CONTEXT = 240  # characters of the message before and after the quote
_PARTS = ("relevance", "recency", "importance", "feedback")
_SHOWN_REASONS = 5
_SHOWN_USES = 20
_SHOWN_RELATED = 30
_SHOWN_VERSIONS = 50
_Difference = Literal["same", "removed", "added"]
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = f"(?:(?![{_HAN}])\\w)+"
_TOKEN = re.compile(f"([{_HAN}]+)|{_WORD}(?:['’.,:-]{_WORD})*|\\s+|.", re.DOTALL)
_SENTENCE = re.compile(r"[^.!?。！？\n]*+[.!?。！？\s]*+")
_MAX_COMPARISONS = 20_000_000
_ONLY_MARKS = re.compile(r"[\W_]*")
_SEVERAL_CHANGES = 2
_LEAST_IN_COMMON = 0.5  # minimum share of unchanged letters
_Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Reason:
    """A source of a memory as the page describes it, with the quoted message if there is one."""

    text: str
    at: datetime
    quote: dict[str, Any] | None
    conversation: Conversation | None
    said_in: Message | None
    reference: str
    note: str = ""  # the path of the daily note that is the source


@dataclass(frozen=True)
class Related:
    memory: Memory
    text: str
    strength: float | None

    @property
    def strength_words(self) -> str:
        return reason_words.strength(self.strength or 0.0)


def reasons_of(memory: Memory, sources: Iterable[Source]) -> list[Reason]:
    """Return the reasons why the current text is known, newest first.

    All sources in the same turn are one reason; every other source is a reason of its own.
    """
    current = [one for one in sources if one.version.number == memory.current_version]
    named = {one.reference for one in current if one.reference.startswith("note_")}
    notes = DailyNote.objects.filter(user=memory.user_id, public_id__in=named, day__isnull=False)
    noted = {row.public_id: row for row in notes}
    seen: set[object] = set()
    reasons = []
    for source in current:
        key = source.turn_id or (source.origin, source.reference, source.pk)
        if key not in seen:
            seen.add(key)
            reasons.append(_reason(source, noted.get(source.reference)))
    # Don't sort by primary key: a merge stores its own source before the copies of earlier sources.
    return sorted(reasons, key=lambda one: one.at, reverse=True)


def _reason(source: Source, note: DailyNote | None) -> Reason:
    turn, message = source.turn, source.message
    said = turn or message
    message = message or (turn.user_message if turn else None)
    quote = _quote(source, message) if message else None
    if note and not message and source.quote:
        quote = {
            "before": "",
            "words": source.quote,
            "after": "",
            "who": _("Daily note"),
            "said_at": note.created_at,
        }
    return Reason(
        text=_source_words(source),
        at=message.created_at if message else (note or source).created_at,
        quote=quote,
        conversation=said.conversation if said else None,
        said_in=turn.user_message if turn else message,
        reference="" if note else source.reference,
        note=daily_notes.path_of(note.on) if note else "",
    )


def _source_words(source: Source) -> str:
    if source.comment == daily_notes.GONE:
        return _("It came from a daily note that has since been forgotten.")
    if source.comment == rederivation.KEPT_ALONE:
        return _("You kept it when its message was forgotten, so the message isn’t quoted.")
    if source.comment:
        return _("It was kept when its conversation was deleted.")
    if source.turn_id and source.message and source.message.role == "assistant":
        return _("I said it, and you agreed.")
    if source.turn_id or source.message_id:
        return _("You said so.")
    if source.reference.startswith("note_"):
        return _("It is in one of your daily notes.")
    return {
        Origin.EXTRACTED.value: _("It was learned from a conversation."),
        Origin.USER.value: _("You wrote it here yourself."),
        Origin.API.value: _("A program wrote it through the API."),
        Origin.AGENT.value: _("An agent wrote it."),
        Origin.FILE.value: _("It is in a memory file."),
        Origin.IMPORT.value: _("It was imported."),
    }[source.origin]


def _quote(source: Source, message: Message) -> dict[str, Any]:
    (text,) = masking.masked_together([message.content], places=[message.secrets])
    words = masking.masked(source.quote)
    start = source.quote_start
    if text[start : start + len(words)] != words:
        start = max(text.find(words), 0)
    end = start + len(words) if words in text else start
    first, last = max(0, start - _CONTEXT), min(len(text), end + _CONTEXT)
    return {
        "before": ("…" if first else "") + text[first:start],
        "words": text[start:end],
        "after": text[end:last] + ("…" if last < len(text) else ""),
        "who": message.speaker or (_("You") if message.role == "user" else _("Assistant")),
        "said_at": message.created_at,
    }


def _step(memory: Memory, version: MemoryVersion, before: MemoryVersion | None) -> dict[str, Any]:
    is_current = version.number == memory.current_version
    known = before is not None and before.erased_at is None and version.erased_at is None
    text = masking.additions_in_words(version.content)
    earlier = masking.additions_in_words(before.content) if before and known else ""
    parts = diff_words(earlier, text) if before and known else []
    return {
        "version": version,
        "title": _title(version),
        "parts": parts or [Part("same", text)],
        "because": reason_sentences(version),
        "is_current": is_current,
        "can_be_restored": not is_current and version.erased_at is None,
    }


def reason_sentences(version: MemoryVersion | None) -> list[str]:
    """Return sentences that explain how a version's text was understood and why it was stored."""
    return reason_words.in_words(version.reason.split(", ")) if version else []


def review_reason(
    memory: Memory,
    version: MemoryVersion | None,
    verdict: Arbitration | None,
    *,
    known: Memory | None,
    confirms_all: bool,
) -> list[str]:
    """Return sentences that explain why a memory awaits the user's review.

    `known` is the memory that `memory` contradicts, or None. If `known` is given, the sentences
    include the reasons of `verdict`; a verdict about another memory is ignored, because the page
    doesn't show that memory. Reasons for a possible misunderstanding are always included.
    """
    concerns_known = verdict is not None and (
        verdict.target_id == known.pk if known else verdict.verdict != Verdict.REVIEW
    )
    reasons = verdict.reasons if verdict and concerns_known else ["contradicts"] if known else []
    codes = version.reason.split(", ") if version else []
    found = reason_words.in_words(reasons) if known else []
    found += reason_words.doubts_in_words([*reasons, *codes])
    if known is None and memory.confidence < settings.CONFIDENCE_FLOOR:
        found.insert(0, _("I’m not sure I understood correctly."))
    elif known is None and confirms_all:
        found.insert(0, _("You asked to confirm everything before it is remembered."))
    return list(dict.fromkeys(found))


def _title(version: MemoryVersion) -> str:
    own = version.actor == Origin.USER
    return {
        Change.CREATED.value: _("You wrote it") if own else _("Learned"),
        Change.EDITED.value: _("You changed it") if own else _("Changed"),
        Change.REPLACED.value: _("You corrected it") if own else _("Replaced what it said before"),
        Change.MERGED.value: _("Merged with something I heard"),
        Change.RESTORED.value: _("You restored an earlier text"),
        Change.CONSOLIDATED.value: _("Merged from several memories"),
        Change.DERIVED.value: _("Rewritten after something was forgotten"),
    }[version.change]


def _use(memory: Memory, hit: RecallHit) -> dict[str, Any]:
    always, parts = memory.is_always_included, hit.components
    why = reason_words.why(parts, asked=hit.trace.query, text=memory.content, always=always)
    return {"hit": hit, "why": why} | {name: float(parts.get(name, 0.0)) for name in _PARTS}


def related_to(memory: Memory, relations: Iterable[Relation]) -> list[Related]:
    """Return the related memories, each with words that describe the relation."""
    found = [_other_side(memory, one) for one in relations]
    if memory.conflicts_with is not None:
        found.append(
            Related(memory.conflicts_with, _("This memory may contradict the other one."), None)
        )
    if memory.superseded_by is not None:
        found.append(Related(memory.superseded_by, _("The other memory replaced this one."), None))
    joined = memory.supersedes.filter(user=memory.user_id, status=MemoryStatus.ARCHIVED)
    found += [
        Related(one, _("The other memory was merged into this one."), None)
        for one in joined.order_by("pk")
    ]
    return [one for one in found if one.memory.hidden_at is None and one.memory.deleted_at is None]


def _other_side(memory: Memory, relation: Relation) -> Related:
    from_here = {
        "supports": _("Both memories agree."),
        "contradicts": _("The other memory may contradict this one."),
        "refines": _("The other memory says this more precisely."),
    }
    to_here = {
        "supports": _("Both memories agree."),
        "contradicts": _("This memory may contradict the other one."),
        "refines": _("This memory says it more precisely."),
    }
    is_ours = relation.memory_id == memory.pk
    words = (from_here if is_ours else to_here)[relation.kind]
    return Related(relation.other if is_ours else relation.memory, words, relation.strength)


@require_safe
@personal_page
def memory_page(request: HttpRequest, memory_id: str) -> HttpResponse:
    with own_transaction(request):
        memory = selectors.memory_of(person(request), memory_id)
        if is_row(request):
            return render_changed_rows(request, [memory.public_id], oob=False)
        sources = list(selectors.sources_of(memory)[:200])
        uses = selectors.use_count(person(request), memory)
        reasons = reasons_of(memory, sources)
        rated = (MemoryStatus.ACTIVE, MemoryStatus.DISABLED, MemoryStatus.ARCHIVED)
        context = {
            "memory": memory,
            "uses": uses,
            "reasons": reasons[:_SHOWN_REASONS],
            "because": reason_sentences(selectors.version_in_use(memory)),
            "more_reasons": max(0, len(reasons) - _SHOWN_REASONS),
            "menu": page_menu_of(memory),
            "is_in_use": memory.is_in_use,
            "may_be_rated": memory.deleted_at is None and memory.status in rated,
            "archive_days": settings.ARCHIVE_DAYS,
        }
        context |= _section(request, memory, uses)
        return render(request, "memories/memory_detail.html", context)


def _section(request: HttpRequest, memory: Memory, uses: int) -> dict[str, Any]:
    sections = {
        "history": (_("History"), "history"),
        "used": (_("Used"), "sparkle"),
        "related": (_("Related"), "link"),
    }
    wanted = request.GET.get("show", "")
    chosen = wanted if wanted in sections else "history"
    page = reverse("memory_page", args=[memory.public_id])
    tabs = [
        {
            "href": page if name == "history" else f"{page}?show={name}",
            "label": label,
            "icon": icon,
            "current": name == chosen,
        }
        for name, (label, icon) in sections.items()
    ]
    context: dict[str, Any] = {"tabs": tabs, "chosen": chosen}
    if chosen == "used":
        shown = selectors.uses_of(person(request), memory)[:_SHOWN_USES]
        context["used"] = [_use(memory, hit) for hit in shown]
        context["unlisted_uses"] = max(0, uses - len(context["used"]))
    elif chosen == "related":
        relations = selectors.relations_of(memory)[:_SHOWN_RELATED]
        context["related"] = related_to(memory, relations)
    else:
        # Load one more version than is shown, because each is compared with the one before.
        versions = list(selectors.versions_of(memory)[: _SHOWN_VERSIONS + 1])
        steps = [_step(memory, one, before) for one, before in pairwise([*versions, None]) if one]
        context["history"] = steps[:_SHOWN_VERSIONS]
    return context


@dataclass(frozen=True)
class Part:
    change: _Difference
    text: str


def diff_words(old: str, new: str) -> list[Part]:
    """Compare two texts word by word, and return their parts in order.

    Chinese text is divided into words; spaces are kept. The parts with the change "same" or "added"
    together make up `new`. If the texts have little in common, both are returned whole: a mixture
    of their words would be unreadable.
    """
    before, after = _split(old, new)
    steps = _opcodes(before, after)
    if old and new and _have_little_in_common(before, after, steps):
        return [Part("removed", old), Part("added", new)]
    parts: list[Part] = []
    for tag, start, end, start_new, end_new in steps:
        if tag == "equal":
            parts.append(Part("same", "".join(before[start:end])))
            continue
        if start < end:
            parts.append(Part("removed", "".join(before[start:end])))
        if start_new < end_new:
            parts.append(Part("added", "".join(after[start_new:end_new])))
    return parts


def _have_little_in_common(
    before: Sequence[str], after: Sequence[str], steps: Sequence[_Opcode]
) -> bool:
    """Return True if the texts differ too much to be shown as one text with marked changes.

    Several changes are too many if less than half of the letters of the shorter text are unchanged.
    A single change is readable however long it is, unless no letter is unchanged.
    """
    changes = sum(step[0] != "equal" for step in steps)
    same = sum(_letters(before[step[1] : step[2]]) for step in steps if step[0] == "equal")
    if changes < _SEVERAL_CHANGES:
        return changes > 0 and same == 0
    return same < _LEAST_IN_COMMON * min(_letters(before), _letters(after))


def _letters(pieces: Iterable[str]) -> int:
    return sum(one.isalnum() for piece in pieces for one in piece)


def _split(old: str, new: str) -> tuple[list[str], list[str]]:
    """Split both texts into words.

    If comparing words would take too long, split them into sentences or not at all.
    """
    for pieces in (_words, _sentences):
        before, after = list(pieces(old)), list(pieces(new))
        if _comparisons(before, after) <= _MAX_COMPARISONS:
            return before, after
    return [old], [new]


def _comparisons(before: list[str], after: list[str]) -> int:
    """Return an upper bound for the number of comparisons that difflib makes.

    difflib finds at most as many matches as the shorter text has pieces. For each match, it may
    compare every pair of equal pieces.
    """
    of_after = Counter(after)
    pairs = sum(count * of_after[piece] for piece, count in Counter(before).items())
    return pairs * min(len(before), len(after))


def _opcodes(before: list[str], after: list[str]) -> list[_Opcode]:
    """Return difflib's opcodes, with neighbouring changes merged into one.

    Changes count as neighbouring if only spaces and punctuation separate them.
    """
    steps: list[_Opcode] = []
    opcodes = SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes()
    for number, step in enumerate(opcodes):
        tag, start, end, start_new, end_new = step
        between = 0 < number < len(opcodes) - 1
        if tag == "equal" and between and _ONLY_MARKS.fullmatch("".join(before[start:end])):
            tag = "replace"
        if steps and tag != "equal" and steps[-1][0] != "equal":
            steps[-1] = ("replace", steps[-1][1], end, steps[-1][3], end_new)
        else:
            steps.append((tag, start, end, start_new, end_new))
    return steps


def _sentences(text: str) -> Iterator[str]:
    return (found[0] for found in _SENTENCE.finditer(text) if found[0])


def _words(text: str) -> Iterator[str]:
    for found in _TOKEN.finditer(text):
        if found[1]:
            yield from rjieba.cut(found[1])
        else:
            yield found[0]
