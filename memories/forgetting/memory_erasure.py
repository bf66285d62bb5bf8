"""Erase memories and everything derived from them. All functions are safe to repeat."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from django.db.models import Model, Q, QuerySet, Value

from foundation.database import cascades
from foundation.text import segment
from foundation.text.shingles import Resemblance
from memories.files import daily_notes, file_copies, file_sync, line_index
from memories.forgetting import tombstones
from memories.models import (
    Arbitration,
    DailyNote,
    FileVersion,
    Fragment,
    LexicalEntry,
    Memory,
    MemoryFile,
    MemoryVersion,
    PortraitPhrase,
    RecallHit,
    RecallTrace,
    TargetKind,
    Vector,
)
from ops.models import Operation, User
from ops.residue.residue_scan import RepeatedTexts

_MARK = re.compile(r"<!--\s*(mem_\w+)\s*-->")


def erase_memories(*, user: User, memories: Sequence[Memory]) -> Counter[str]:
    """Erase memories with all rows that belong only to them.

    Tombstones are created, so that the same statements aren't learned again.
    """
    if not memories:
        return Counter()
    pks = [one.pk for one in memories]
    public_ids = [one.public_id for one in memories]
    versions = MemoryVersion.everything.filter(user=user, memory__in=pks)
    tombstones.create_tombstones(user=user, version_ids=list(versions.values_list("pk", flat=True)))
    erased = Counter(erase_fragments(user=user, memory_ids=pks))
    erased += erase_index(user=user, kind=TargetKind.MEMORY, target_ids=pks)
    erased += erase_lines(user=user, public_ids=public_ids)
    erased += erase_hits(user=user, public_ids=public_ids)
    erased += daily_notes.erase_cited_lines(user=user, memories=pks)
    return erased + cascades.delete(Memory.everything.filter(user=user, pk__in=pks))


def texts_of(versions: Iterable[MemoryVersion]) -> list[str]:
    rows = ((one.content, one.summary, one.candidate_text) for one in versions)
    return [text for row in rows for text in row if text]


def erase_index(*, user: User, kind: TargetKind, target_ids: Collection[int]) -> Counter[str]:
    """Erase the words and vectors (of every embedder) of these targets from the search index."""
    target = {"user": user, "target_kind": kind, "target_id__in": target_ids}
    erased = cascades.delete(Vector.objects.filter(**target))
    return erased + cascades.delete(LexicalEntry.objects.filter(**target))


def erase_fragments(*, user: User, memory_ids: Sequence[int]) -> Counter[str]:
    """Erase all fragments (additional search texts) made from these memories.

    If another memory replaced one of these memories, the other memory may have a fragment with the
    replaced text; such fragments are erased too.
    """
    of = Q(memory__in=memory_ids) | Q(version__memory__in=memory_ids)
    return _erase_fragments(user, Fragment.objects.filter(of, user=user))


def erase_earlier_texts(*, user: User, version_ids: Collection[int]) -> Counter[str]:
    """Erase the search fragments that contain the texts of these versions."""
    return _erase_fragments(user, Fragment.objects.filter(user=user, version__in=version_ids))


def erase_phrases(*, user: User, version_ids: Collection[int]) -> Counter[str]:
    """Erase the phrases on the "About you" page that were written for these versions."""
    return cascades.delete(PortraitPhrase.objects.filter(user=user, version__in=version_ids))


def _erase_fragments(user: User, fragments: QuerySet[Fragment]) -> Counter[str]:
    pks = list(fragments.values_list("pk", flat=True))
    erased = erase_index(user=user, kind=TargetKind.FRAGMENT, target_ids=pks)
    return erased + (cascades.delete(Fragment.objects.filter(pk__in=pks)) if pks else Counter())


def erase_hits(*, user: User, public_ids: Collection[str]) -> Counter[str]:
    """Erase recorded recall results, and blank the recorded queries that found them.

    `public_ids` holds the ids of the texts (memories, messages, …) that were found.
    """
    blank_questions(user=user, public_ids=public_ids)
    hits = RecallHit.objects.filter(user=user, target_public_id__in=public_ids)
    return cascades.delete(hits)


def blank_questions(*, user: User, public_ids: Collection[str]) -> None:
    """Blank the recorded queries that found the texts (memories, messages, …) with these ids."""
    hits = RecallHit.objects.filter(user=user, target_public_id__in=public_ids)
    asked = RecallTrace.objects.filter(user=user, pk__in=hits.values("trace")).exclude(query="")
    asked.update(query="")


def blank_questions_about(*, user: User, texts: Iterable[str]) -> None:
    """Blank the recorded queries that share a word, other than stop words, with these texts.

    If a query was asked before a text was learned and indexed, no recorded result links the query
    to the text. Blanking too many queries is better than keeping a forgotten word. Queries whose
    answer still exists are kept, since the remaining message contains them anyway.
    """
    said = {term for text in texts for term in segment.terms(text)}
    asked = _unanswered(user).exclude(query="").values_list("pk", "query")
    about = [pk for pk, query in asked if not said.isdisjoint(segment.terms(query))]
    RecallTrace.objects.filter(user=user, pk__in=about).update(query="")


def erase_traces(
    *,
    user: User,
    answers: Collection[int] = (),
    conversation: int | None = None,
    until: datetime | None = None,
) -> Counter[str]:
    """Erase the recall traces that belong to these answers.

    If `conversation` and `until` are given, also erase the conversation's traces up to that time.
    """
    concerned = Q(answer__in=answers)
    if conversation is not None and until is not None:
        concerned |= Q(conversation=conversation, created_at__lte=until)
    return cascades.delete(RecallTrace.objects.filter(concerned, user=user))


def erase_resembling(*, user: User, texts: Sequence[str]) -> Counter[str]:
    """Erase the recall traces and note lines that resemble one of these texts.

    Traces whose answer still exists are kept, since the remaining message repeats the text anyway.
    """
    wanted = Resemblance(texts)
    if not wanted:
        return Counter()
    asked = _unanswered(user).exclude(query="").values_list("pk", "query")
    traces = [pk for pk, text in asked if wanted.occurs_in(text)]
    notes = [
        pk
        for pk, text in DailyNote.everything.filter(user=user).values_list("pk", "text")
        if wanted.occurs_in(text)
    ]
    erased = cascades.delete(RecallTrace.objects.filter(user=user, pk__in=traces))
    return erased + daily_notes.erase_note_lines(user=user, lines=notes)


def _unanswered(user: User) -> QuerySet[RecallTrace]:
    return RecallTrace.objects.filter(user=user).filter(
        Q(answer__isnull=True) | Q(answer__hidden_at__isnull=False)
    )


def erase_copies(*, user: User, operation: Operation) -> Counter[str]:
    """Erase copies of the operation's erased texts from traces, notes, files, phrases and verdicts.

    A text is kept if another message or a version written by the user also contains it.
    """
    copies = RepeatedTexts(operation, user=user)
    erased = erase_hits(user=user, public_ids=copies.public_ids)
    erased += _erase_in_copies_of_files(user, copies)
    if copies:
        erased += _erase_in_rows(user, copies)
    if written := file_sync.write_note_copies(user).written:
        erased["files:copy"] += len(written)
    return erased


def _erase_in_rows(user: User, copies: RepeatedTexts) -> Counter[str]:
    own = {"user": user}
    traces = copies.among(RecallTrace.objects.filter(**own).values_list("pk", "query"))
    notes = copies.among(DailyNote.everything.filter(**own).values_list("pk", "text"))
    phrases = copies.among(PortraitPhrase.objects.filter(**own).values_list("pk", "text"))
    erased = cascades.delete(RecallTrace.objects.filter(**own, pk__in=traces))
    erased += cascades.delete(PortraitPhrase.objects.filter(**own, pk__in=phrases))
    erased += daily_notes.erase_note_lines(user=user, lines=notes)
    return erased + _blank_decisions(user, copies) + _erase_copied_lines(user, copies)


def _blank_decisions(user: User, copies: RepeatedTexts) -> Counter[str]:
    erased: Counter[str] = Counter()
    rows = Arbitration.objects.filter(user=user)
    columns = ("candidate_text", "target_text")
    said = rows.exclude(**dict.fromkeys(columns, "")).values_list("pk", *columns)
    texts = {(pk, n): text for pk, *row in said for n, text in enumerate(row) if text}
    places = list(texts)
    found = [places[n] for n in copies.among(enumerate(texts.values()))]
    for n, column in enumerate(columns):
        if pks := [pk for pk, at in found if at == n]:
            erased["memories_arbitration"] += rows.filter(pk__in=pks).update(**{column: ""})
    return erased


def _erase_in_copies_of_files(user: User, copies: RepeatedTexts) -> Counter[str]:
    named = set(copies.public_ids)

    def without(text: str) -> str:
        lines = text.splitlines(keepends=True)
        gone = copies.among(enumerate(lines)) if copies else set()
        kept = [line for n, line in enumerate(lines) if n not in gone]
        return "".join(line for line in kept if named.isdisjoint(_MARK.findall(line)))

    file_copies.lock_copies(user.pk)
    changed = file_copies.rewrite(
        user.pk, without, leaving=file_sync.unchanged_note_copies(user.pk)
    )
    return Counter({"files:copy": changed} if changed else {})


def _erase_copied_lines(user: User, copies: RepeatedTexts) -> Counter[str]:
    erased: Counter[str] = Counter()
    for model, pk, content in _files_of(user):
        lines = content.splitlines(keepends=True)
        gone = copies.among(enumerate(lines))
        if gone:
            kept = "".join(line for n, line in enumerate(lines) if n not in gone)
            model._base_manager.filter(pk=pk).update(content=kept)
            erased[f"files:{model._meta.model_name}_line"] += len(gone)
    for file in MemoryFile.objects.filter(user=user) if erased else ():
        line_index.update_index(file, user=user)
    return erased


def hide_notes(*, user: User, texts: Collection[str], at: datetime) -> None:
    """Hide the note lines that equal one of these texts, until they are erased.

    The lines are removed from memory files and their old versions at once, since files are always
    shown as a whole.
    """
    same = DailyNote.objects.filter(user=user, text__in=texts)
    files = set(same.filter(file__isnull=False).values_list("file", flat=True))
    same.update(hidden_at=at)
    if not files:
        return
    said = set(texts)
    file_copies.lock_copies(user.pk)
    for rows in (
        MemoryFile.everything.filter(user=user, pk__in=files),
        FileVersion.everything.filter(user=user, file__in=files),
    ):
        for pk, content in rows.values_list("pk", "content"):
            lines = content.splitlines(keepends=True)
            kept = "".join(line for line in lines if line_index.strip_marks(line) not in said)
            if kept != content:
                rows.filter(pk=pk).update(content=kept)


def erase_lines(*, user: User, public_ids: Collection[str]) -> Counter[str]:
    """Remove the lines of these memories from the memory files and their old versions."""
    wanted = set(public_ids)
    erased: Counter[str] = Counter()
    file_copies.lock_copies(user.pk)
    for model, pk, content in _files_of(user, marked=True):
        lines = content.splitlines(keepends=True)
        kept = [line for line in lines if wanted.isdisjoint(_MARK.findall(line))]
        if len(kept) < len(lines):
            model._base_manager.filter(pk=pk).update(content="".join(kept))
            erased[f"files:{model._meta.model_name}_line"] += len(lines) - len(kept)
    return erased


def _files_of(user: User, *, marked: bool = False) -> list[tuple[type[Model], int, str]]:
    models: tuple[type[Model], ...] = (MemoryFile, FileVersion)
    files, versions = (
        model._base_manager.filter(user=user, **{"content__contains": "<!--"} if marked else {})
        .order_by()
        .values_list(Value(number), "pk", "content")
        for number, model in enumerate(models)
    )
    return [
        (models[number], pk, content) for number, pk, content in files.union(versions, all=True)
    ]
