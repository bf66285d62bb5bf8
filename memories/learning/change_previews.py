"""Preview how a sentence by the user would change the memories, and apply the chosen changes."""

from __future__ import annotations

import re
import zoneinfo
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.db.models import QuerySet
from django.utils import timezone

from foundation.errors import Conflict, Invalid
from foundation.text import segment
from memories import language_steps
from memories.extraction.corrections.contrasts import (
    Contrast,
    Renaming,
    contrasts,
    exchange,
    renaming,
)
from memories.extraction.corrections.corrected_messages import (
    correction,
    denies,
    without_old_value,
)
from memories.extraction.masking import ADDED_DATE, screen
from memories.extraction.types import Candidate, TurnText, Utterance, Verdict
from memories.indexing import search_index
from memories.learning import memory_flush, turn_learning
from memories.learning.memory_flush import ProposedCandidate
from memories.learning.proposal_ids import SignedIds
from memories.models import (
    Kind,
    LexicalEntry,
    Memory,
    MemoryStatus,
    Origin,
    TargetKind,
)
from memories.selectors import in_use, memory_of
from memories.writing import curation, direct_writes, similar_memories, verdict_writes
from memories.writing.curation import Edit
from memories.writing.direct_writes import MemoryInput, Prepared
from memories.writing.memory_writes import Draft, SourceInput
from memories.writing.verdict_writes import AppliedVerdict, Arbitrated
from ops.access import as_user
from ops.accounts import users
from ops.models import User

LONGEST = 1_000
_CONFIDENCE = 0.95  # minimum confidence of the kept statements, since the user typed them
_MUCH = 3  # a change that shortens a text and drops this many words isn't selected in advance
_MOST_READ = 300  # maximum number of memories to compare with a sentence, newest first
_MOST_RELATED = 5
_MOST_OFFERED = 3  # maximum number of memories offered for replacement by the sentence
# A rejected value at the end of a sentence, without a comma.
_REJECTED = re.compile(r"(?i) not (?:on |at |the |a ){0,3}(?P<old>[^,.;!?\n]{1,30})[.!]?$")
_SEPARATORS = {"en": "; ", "zh": "；"}
_SAME_END = 3  # equal characters at the end of two texts that differ only in the subject
_EDITS = SignedIds("edit_", salt="memories.told")


@dataclass(frozen=True)
class PreviewedChange:
    """A change that a sentence would make to the memories.

    `old` is the known text that the sentence was compared with, and `new` is the text to keep.
    `verdict` is ADD or KEEP_BOTH (a new memory), REPLACE, MERGE, SKIP (already known) or REVIEW
    (the memory would await a decision, and `old` would be unchanged). `memory` is the public id of
    the memory with `old`.

    `doubt` is the reason why the change isn't selected in advance, or "". Either the change would
    overwrite a constraint ("constraint"), a text that another change overwrites too ("rivals"), or
    a longer text of which several words would be lost ("longer"), or the sentence may have been
    misunderstood ("unsure"). A SKIP with the doubt "unsure" shows a memory that is only similar to
    the sentence.
    """

    id: str
    verdict: Verdict
    new: str
    old: str = ""
    memory: str = ""
    doubt: str = ""

    @property
    def is_chosen(self) -> bool:
        return not self.doubt

    @property
    def overwrites(self) -> bool:
        return self.verdict in (Verdict.REPLACE, Verdict.MERGE)


def preview_changes(text: str, *, user: User, about: str = "") -> list[PreviewedChange]:
    """Return the changes that a sentence would make to the memories, without applying them.

    `about` is the public id of the memory under which the sentence was typed. The sentence replaces
    this memory if they share words; a change that overwrites another memory is marked as unsure.
    The list is empty if no statement is found in the sentence. Call this function outside a
    transaction. Raise `Invalid` if the sentence is only a secret, too long or empty, `Conflict`
    while memory is off (`memory_off`) or the user is being forgotten (`being_forgotten`), and
    `ProviderError` if a model call fails.
    """
    text = text.strip()
    if not text:
        raise Invalid.field("said", "The text must not be empty.")
    if len(text) > LONGEST:
        raise Invalid.field("said", "The text is too long.")
    if screen(text).drop:
        raise Invalid.field("said", "This looks like a secret, and secrets are not remembered.")
    with as_user(user):
        direct_writes.check_on(user)
        zone = zoneinfo.ZoneInfo(users.settings_of(user).timezone)
        corrected = _corrected_memories(text, user=user)
    candidates = _candidates(text, zone)
    with as_user(user):
        under, other = _change_of(about, text, candidates, user=user) if about else (None, [])
    spans = [(contrast.start, contrast.end) for contrast, _, _ in corrected]
    edits = [_edit_of(*one, user=user) for one in corrected]
    edited = {one.memory for one in edits}
    found = [
        (candidate, change)
        for candidate in candidates
        if not any(start <= candidate.quote_start < end for start, end in spans)
        if (change := _change(candidate, user=user)).memory not in edited
        or change.verdict == Verdict.REVIEW
    ]
    changes = [*edits, *(change for _, change in found)]
    if under and under.memory not in {one.memory for one in changes if one.overwrites}:
        changes = [under, *edits, *(change for candidate, change in found if candidate in other)]
    overwritten = Counter(one.memory for one in changes if one.overwrites)
    is_understood = not denies(text) or any(one.overwrites for one in changes)
    marked = []
    for one in changes:
        if one.overwrites and overwritten[one.memory] > 1:
            marked.append(replace(one, doubt="rivals"))
        elif one.overwrites and about and one.memory != about:
            marked.append(replace(one, doubt=one.doubt or "unsure"))
        else:
            marked.append(_mark_unsure(one, text, is_understood=is_understood))
    return marked


def _change_of(
    about: str, text: str, candidates: Sequence[Candidate], *, user: User
) -> tuple[PreviewedChange | None, Sequence[Candidate]]:
    """Return the change that a sentence makes to the memory under which it was typed.

    Also return the statements of the sentence that don't replace the memory. If only some
    statements share words with the memory, these replace the memory. If all statements do or none
    does, the whole sentence replaces the memory, without a rejected value at its end ("…, not the
    15th"). If the sentence only exchanges a value ("not february, march"), only this value is
    replaced. The change is None if the memory doesn't exist, if the sentence shares no words with
    the memory, or if the sentence only says that something is wrong.
    """
    memory = _own(user).filter(public_id=about).first()
    if memory is None:
        return None, []
    if fixed := correction(text, [_without_dates(memory.content)]):
        other = [one for one in candidates if not fixed.start <= one.quote_start < fixed.end]
        return _replacement(memory, fixed.text, user=user), other
    if new := exchange(text, _without_dates(memory.content)):
        return _replacement(memory, new, user=user), []
    own = [one for one in candidates if _shares_words(one.content, memory.content)]
    other = [one for one in candidates if one not in own]
    if own and other:
        new = _SEPARATORS[segment.language(text)].join(one.content for one in own)
    else:
        new, other = _without_rejected(text, memory.content), []
    new = _without_copula(new, memory.content)
    if not new or new == memory.content or not _shares_words(new, memory.content):
        return None, []
    return _mark_doubtful_overwriting(_replacement(memory, new, user=user), memory.kind), other


def _without_dates(text: str) -> str:
    return " ".join(ADDED_DATE.sub("", text).split())


def _replacement(memory: Memory, new: str, *, user: User, doubt: str = "") -> PreviewedChange:
    return _exact(new, user=user, memory=memory.public_id, old=memory.content, doubt=doubt)


def _without_rejected(text: str, known: str) -> str:
    """Return a correction without the rejected value at its end ("…, not the 15th").

    A value without a comma before it is removed only if the known text contains its words.
    """
    new, old = without_old_value(text)
    rejected = _REJECTED.search(new)
    if rejected and not old and set(segment.terms(rejected["old"])) <= set(segment.terms(known)):
        new = new[: rejected.start()]
    return new


def _without_copula(text: str, known: str) -> str:
    """Return a Chinese text without a leading 「是」 ("it is") that only adds emphasis.

    For example, 「是姐姐对花生过敏」 ("it is my elder sister who is allergic to peanuts") corrects
    「妹妹对花生过敏」 ("my younger sister is allergic to peanuts").
    """
    is_stress = text.startswith("是") and text[-_SAME_END:] == known[-_SAME_END:]
    return text[1:] if is_stress else text


def _shares_words(text: str, known: str) -> bool:
    return not segment.content_terms(text).isdisjoint(segment.terms(known))


def _mark_doubtful_overwriting(change: PreviewedChange, kind: str) -> PreviewedChange:
    if change.overwrites and kind == Kind.CONSTRAINT:
        return replace(change, doubt="constraint")
    lost = set(segment.terms(change.old)) - set(segment.terms(change.new))
    is_longer = len(lost) >= _MUCH and len(change.old) > len(change.new)
    return replace(change, doubt="longer") if change.overwrites and is_longer else change


def _mark_unsure(change: PreviewedChange, text: str, *, is_understood: bool) -> PreviewedChange:
    """Mark a change as unsure if the sentence may mean something else.

    A SKIP is sure only if the memory contains all words of the sentence, and if the sentence denies
    something (`denies`) exactly when the memory does. A new memory is sure only if `is_understood`
    is True: the sentence denies nothing, or a change overwrites a memory. A REVIEW is never sure.
    """
    if change.overwrites or change.doubt:
        return change
    if change.verdict == Verdict.SKIP:
        lacks = set(segment.terms(text)) - set(segment.terms(change.old))
        is_known = not lacks and denies(text) == denies(change.old)
        return change if is_known else replace(change, doubt="unsure")
    is_sure = is_understood and change.verdict != Verdict.REVIEW
    return change if is_sure else replace(change, doubt="unsure")


def exact_changes(
    text: str, changes: Sequence[PreviewedChange], *, user: User, about: str = ""
) -> list[PreviewedChange]:
    """Return alternative changes, each of which stores the sentence exactly as typed.

    `changes` is the result of `preview_changes`. `about` is the public id of the memory under which
    the sentence was typed, if any.

    Alternatives are returned in three cases: a change is unsure; `about` is given, but no change
    overwrites that memory; or `changes` is empty, although memories share words with the sentence.
    In any other case, the list is empty.

    The first alternatives replace a memory each, at most `_MOST_OFFERED`: the memory `about`, then
    the memories of unsure changes, then memories that share words with the sentence. A memory that
    `changes` overwrites is left out. The last alternative adds the sentence as a new memory.
    """
    unsure = [one.memory for one in changes if one.doubt == "unsure" and one.memory]
    changed = {one.memory for one in changes if one.overwrites}
    related = [one.public_id for one in related_memories(text, user=user, without=())]
    is_unsure = any(one.doubt == "unsure" for one in changes) or (related and not changes)
    if not is_unsure and (not about or about in changed):
        return []
    wanted = [one for one in dict.fromkeys((about, *unsure, *related)) if one not in changed]
    found = {one.public_id: one.content for one in _own(user).filter(public_id__in=wanted)}
    offered = [(one, found[one]) for one in wanted if one in found][:_MOST_OFFERED]
    new = text.strip()
    return [_exact(new, user=user, memory=memory, old=old) for memory, old in [*offered, ("", "")]]


def _exact(
    new: str, *, user: User, memory: str, old: str, doubt: str = "unsure"
) -> PreviewedChange:
    id = _EDITS.make({"memory": memory, "old": old, "new": new}, user=user)
    return PreviewedChange(id, Verdict.REPLACE if memory else Verdict.ADD, new, old, memory, doubt)


def _corrected_memories(text: str, *, user: User) -> list[tuple[Contrast | Renaming, Memory, str]]:
    """Return the memories that the text corrects, each with the correction and the new text.

    If several corrections fit a memory, the first is used.
    """
    if name := renaming(text):
        rows = _own(user).filter(content__contains=name.wrong).order_by("-pk")[:_MOST_READ]
        return [(name, one, new) for one in rows if (new := name.corrected(one.content))]
    made = contrasts(text)
    if not made:
        return []
    terms = {term for one in made for term in one.anchors}
    found: dict[int, tuple[Contrast | Renaming, Memory, str]] = {}
    for memory in _sharing(terms, user=user):
        for contrast in made:
            new = contrast.corrected(memory.content)
            if new and memory.pk not in found:
                found[memory.pk] = (contrast, memory, new)
    return list(found.values())


def _own(user: User) -> QuerySet[Memory]:
    """Return the user's own memories in use, without those of projects."""
    return Memory.objects.filter(in_use(), user=user, project=None)


def _sharing(terms: Collection[str], *, user: User) -> list[Memory]:
    entries = LexicalEntry.objects.filter(user=user, target_kind=TargetKind.MEMORY)
    entries = entries.filter(terms__overlap=sorted(terms))
    return list(_own(user).filter(pk__in=entries.values("target_id")).order_by("-pk")[:_MOST_READ])


def related_memories(text: str, *, user: User, without: Collection[str]) -> list[Memory]:
    """Return memories that share words with the text, best match first.

    A rare word counts more than a frequent word; a word that occurs in more than `_MOST_RELATED` of
    the memories doesn't count. `without` holds the public ids of memories to leave out.
    """
    terms = set(segment.terms(text))
    rows = _sharing(terms, user=user)
    shared_terms = {one.pk: terms & set(segment.terms(one.content)) for one in rows}
    times = Counter(term for shared in shared_terms.values() for term in shared)
    weight = {
        pk: sum(1 / times[one] for one in shared if times[one] <= _MOST_RELATED)
        for pk, shared in shared_terms.items()
    }
    best = sorted((one for one in rows if weight[one.pk]), key=lambda one: -weight[one.pk])
    return [one for one in best if one.public_id not in without][:_MOST_RELATED]


def _edit_of(
    contrast: Contrast | Renaming, memory: Memory, new: str, *, user: User
) -> PreviewedChange:
    is_guess = not contrast.wrong and memory.kind == Kind.CONSTRAINT
    return _replacement(memory, new, user=user, doubt="constraint" if is_guess else "")


def keep_changes(ids: Sequence[str], *, user: User) -> list[Memory]:
    """Apply changes from `preview_changes` or `exact_changes`, and return the memories.

    The statements are compared again, since the memories may have changed in the meantime. Raise
    `Invalid` if an id is invalid or older than a day, and `Conflict` if a memory to correct has
    changed, or while memory is off (`memory_off`).
    """
    edits = [_prepared_edit(id, user=user) for id in ids if id.startswith(_EDITS.prefix)]
    proposed = [id for id in ids if not id.startswith(_EDITS.prefix)]
    compared = [
        _compare(one.candidate, user=user)
        for one in memory_flush.decode_returned_candidates(proposed, user=user)
    ]
    merged = [verdict_writes.merged_draft(arbitrated, draft) for arbitrated, draft in compared]
    with as_user(user, changing=True):
        direct_writes.check_on(user)
        kept = [_keep_edit(one, user=user) for one in edits]
        return kept + [
            _write(arbitrated, draft, merging, user=user).memory
            for (arbitrated, draft), merging in zip(compared, merged, strict=True)
        ]


def _prepared_edit(id: str, *, user: User) -> tuple[Memory, Edit] | Prepared:
    data = _EDITS.verified(id, user=user, refusal=partial(Invalid.field, "keep"))
    if not data["memory"]:
        given = MemoryInput(content=data["new"], kind=direct_writes.kind_of(data["new"]))
        return direct_writes.prepare(given, origin=Origin.USER)
    with as_user(user):
        memory = memory_of(user, data["memory"], with_bin=False)
    if memory.content != data["old"]:
        raise Conflict("This memory was changed meanwhile; preview the changes again.")
    change = {"content": data["new"]}
    return memory, curation.prepare_edit(change, memory=memory, actor=Origin.USER)


def _keep_edit(prepared: tuple[Memory, Edit] | Prepared, *, user: User) -> Memory:
    if isinstance(prepared, Prepared):
        (memory,) = direct_writes.store([prepared], user=user)
        return memory
    memory, edit = prepared
    return curation.edit(edit, user=user, memory=memory)


def _candidates(text: str, zone: zoneinfo.ZoneInfo) -> list[Candidate]:
    now = timezone.now().astimezone(zone)
    found = turn_learning.extract(TurnText(Utterance(text, now), Utterance("", now)))
    if found.not_to_keep:
        return []
    return [replace(one, explicit=True) for one in found.candidates if one.quoted_role == "user"]


def _change(candidate: Candidate, *, user: User) -> PreviewedChange:
    arbitrated, draft = _compare(candidate, user=user)
    decision = arbitrated.decision
    new = (decision.content or draft.content) if arbitrated.target else draft.content
    id, known = ProposedCandidate(candidate).signed(user), arbitrated.target
    if known is None or decision.verdict in (Verdict.ADD, Verdict.KEEP_BOTH):
        return PreviewedChange(id, decision.verdict, new)
    change = PreviewedChange(id, decision.verdict, new, known.content, known.id)
    return _mark_doubtful_overwriting(change, known.kind)


def _compare(candidate: Candidate, *, user: User) -> tuple[Arbitrated, Draft]:
    """Compare a candidate with the known memories, using the same arbiter as the chat.

    Memories that await review are compared only if no memory in use is similar.
    """
    draft = _draft(candidate)
    assert draft.vectors is not None
    with as_user(user):
        known = similar_memories.similar_to(draft.vectors[0], user=user, content=draft.content)
    settled = [one for one in known if one.status != MemoryStatus.CANDIDATE]
    return verdict_writes.arbitrate(
        candidate, known=settled or known, arbiter=language_steps.arbiter()
    ), draft


def _draft(candidate: Candidate) -> Draft:
    vectors, pieces = search_index.embed_memory(candidate.content)
    draft = turn_learning.draft_of(candidate, vectors, pieces, None)
    confidence = max(draft.confidence, _CONFIDENCE)
    return replace(draft, origin=Origin.USER, confidence=confidence)


def _write(
    arbitrated: Arbitrated, draft: Draft, merged: Draft | None, *, user: User
) -> AppliedVerdict:
    source = SourceInput(origin=Origin.USER, quote=arbitrated.candidate.quote)
    return verdict_writes.apply(arbitrated, draft, user=user, source=source, merged=merged)
