"""Apply a user's edit of a curated memory file to the memories that the file shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext as _

from foundation.errors import Invalid, Stale
from memories.extraction.masking import SECRET, cover_secrets, mark_covered_secrets, screen
from memories.extraction.types import RefusedSecret
from memories.files import file_contents, grammar
from memories.files.changes import (
    Changes,
    CurrentMemory,
    DisputedChange,
    NewStatement,
    find_changes,
)
from memories.files.grammar import Document, Line, Role, parse
from memories.models import Kind, Memory, MemoryStatus, Origin, Tombstone
from memories.writing import curation, direct_writes, memory_writes, verdict_writes
from memories.writing.direct_writes import MemoryInput, Prepared
from memories.writing.memory_writes import SourceInput
from ops.models import User

MOST_CHANGES = 1_000
_Text = tuple[str, str]  # the text and the kind of a memory


@dataclass(frozen=True)
class TypedFile:
    """The text of an edited curated file, and the state with which the edit is compared.

    `base` is the version that was edited, and `other_file` is the other curated file. `elsewhere`
    holds the ids of the memories that now have a line in the other file. `by_program` is True if a
    program made the edit: its new statements then await review if the user has chosen to confirm
    memories that programs write.
    """

    path: str
    text: str
    base: Document
    other_file: Document
    elsewhere: frozenset[str]
    by_program: bool = False


@dataclass(frozen=True)
class Edit:
    """A checked edit with its embedded texts, ready to be applied in a transaction."""

    typed: TypedFile
    edited: Document
    texts: Mapping[_Text, Prepared]
    refused: Sequence[RefusedSecret] = ()


@dataclass
class EditEffect:
    """The effect of an edit, as lists of memory ids.

    `became` maps the positions of lines to the ids of their memories, or to None for lines to
    remove. `grammar.render` uses this mapping.
    """

    created: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    recycled: list[str] = field(default_factory=list)
    to_review: list[str] = field(default_factory=list)
    became: dict[int, str | None] = field(default_factory=dict)

    @property
    def counts(self) -> dict[str, int]:
        names = ("created", "updated", "recycled", "to_review")
        return {name: len(getattr(self, name)) for name in names}


def prepare(
    typed: TypedFile, *, known: Sequence[CurrentMemory], keep_secrets_out: bool = False
) -> Edit:
    """Check an edit and embed its texts. Call it outside a transaction.

    Raise `Invalid` if more than `MOST_CHANGES` lines change, or if lines are too long or consist
    only of a secret; the error then names these lines. With `keep_secrets_out`, a line that is only
    a secret isn't an error: an existing line keeps its old text, a new line is dropped, and the
    rest of the edit is applied.
    """
    edited, refused, problems = _screened(parse(typed.text), typed.base)
    _check([*problems, *([] if keep_secrets_out else _problem_texts(refused))])
    plan = _plan(typed, edited, known)
    said = list(dict.fromkeys(_texts_to_embed(plan, known)))
    if len(said) + len(plan.removed) > MOST_CHANGES:
        raise Invalid.field("content", "At most 1,000 lines can be changed at once.")
    texts = {
        (text, kind): direct_writes.prepare(MemoryInput(text, kind=kind), origin=Origin.FILE)
        for text, kind in said
    }
    return Edit(typed, edited, texts, [secret for found in refused.values() for secret in found])


def mask_note_secrets(text: str, base: Document) -> str:
    """Return a user's own note with secrets masked; lines that `base` also has are unchanged.

    Raise `Invalid`, with the line numbers, if other lines are too long or consist only of a secret.
    """
    screened, refused, problems = _screened(parse(text), base)
    _check([*problems, *_problem_texts(refused)])
    return screened.text


def lock(edit: Edit, *, user: User) -> None:
    """Lock the memories that the edit refers to. Call it before any file is locked."""
    ids = {line.id for line in (*edit.edited.lines, *edit.typed.base.lines) if line.id}
    rows = Memory.objects.select_for_update(of=("self",)).filter(user=user, public_id__in=ids)
    list(rows.order_by("pk").values_list("pk", flat=True))


def carry_out(edit: Edit, *, user: User) -> EditEffect:
    """Apply the edit to the memories, in the caller's transaction.

    The changes are computed again from the current memories. Raise `Stale` if these changes need a
    text that `prepare` didn't embed, and `Conflict` (`memory_off`) if the edit adds statements or
    other text while long-term memory is off.
    """
    known = file_contents.active_memories(user)
    plan = _plan(edit.typed, edit.edited, known)
    if not set(_texts_to_embed(plan, known)) <= set(edit.texts):
        raise Stale(_("The memories have changed. Please check again."))
    if plan.created or any(change.content for change in plan.disputed) or _adds_text(edit):
        direct_writes.check_on(user)
    work = _Work(edit, user, {memory.id: memory for memory in known})
    work.carry_out(plan)
    memory_writes.record_refusals(edit.refused, user_id=user.pk)
    return work.done


def _adds_text(edit: Edit) -> bool:
    before = {line.raw.strip() for line in edit.typed.base.lines}
    return any(
        line.raw.strip() and line.raw.strip() not in before
        for line in edit.edited.lines
        if line.role == Role.FREE or (line.role == Role.HEADING and not line.kind)
    )


class _Work:
    def __init__(self, edit: Edit, user: User, known: Mapping[str, CurrentMemory]) -> None:
        self.edit, self.user, self.known = edit, user, known
        self.done = EditEffect()

    def carry_out(self, plan: Changes) -> None:
        self.done.became.update(dict.fromkeys(plan.repeated))
        for one in plan.edited:
            self._edit(one.id, one.content, one.kind)
        if plan.removed:
            gone = curation.apply_to_many(user=self.user, ids=plan.removed, action="recycle")
            self.done.recycled += [id for id, result in gone if result == "done"]
        for created in plan.created:
            self._create(created)
        for disputed in plan.disputed:
            self._dispute(disputed)

    def _edit(self, id: str, content: str | None, kind: str | None) -> None:
        changes = {"kind": kind} if kind else {}
        text = None
        if content is not None:
            kind = kind or self.known[id].kind
            text, changes = self.edit.texts[content, kind], {**changes, "content": content}
        memory = Memory.objects.get(user=self.user, public_id=id)
        edit = curation.Edit(changes, text)
        memory = curation.edit(edit, user=self.user, memory=memory, actor=Origin.FILE)
        waits = text is not None and memory.status == MemoryStatus.CANDIDATE
        (self.done.to_review if waits else self.done.updated).append(id)

    def _create(self, statement: NewStatement) -> None:
        self.done.became[statement.place] = None
        if statement.formerly and is_forgotten(statement.formerly, user=self.user):
            return
        if statement.formerly and self._restore_from_bin(statement):
            return
        written = direct_writes.remember(
            self.edit.texts[statement.content, statement.kind or Kind.FACT],
            user=self.user,
            reference=self.edit.typed.path,
            by_program=self.edit.typed.by_program,
        )
        memory = written.memory
        if written.result == "updated":
            self.done.updated.append(memory.public_id)
        elif written.result == "created" and memory.status == MemoryStatus.CANDIDATE:
            self.done.to_review.append(memory.public_id)
        elif written.result == "created":
            self.done.created.append(memory.public_id)
            self.done.became[statement.place] = memory.public_id

    def _restore_from_bin(self, statement: NewStatement) -> bool:
        binned = Memory.visible.filter(user=self.user, deleted_at__isnull=False)
        memory = binned.filter(public_id=statement.formerly, content=statement.content).first()
        if memory is None:
            return False
        curation.restore_from_bin(user=self.user, memory=memory)
        self.done.created.append(memory.public_id)
        self.done.became[statement.place] = memory.public_id
        return True

    def _dispute(self, change: DisputedChange) -> None:
        memory = Memory.objects.filter(user=self.user, public_id=change.id).first()
        if change.content is None:
            if memory is not None:
                now = timezone.now()
                Memory.objects.filter(pk=memory.pk).update(removal_asked_at=now)
                self.done.to_review.append(change.id)
            return
        if memory is None and is_forgotten(change.id, user=self.user):
            return
        waiting = Memory.objects.filter(
            user=self.user, status=MemoryStatus.CANDIDATE, content=change.content
        )
        if waiting.exists():
            return
        prepared = self.edit.texts[change.content, _kind_of(change, self.known)]
        draft = prepared.draft
        if memory is not None and not change.kind:
            draft = replace(draft, kind=memory.kind)
        made = verdict_writes.propose_replacement(
            draft,
            prepared.vector,
            user=self.user,
            of=memory,
            source=SourceInput(origin=Origin.FILE, reference=self.edit.typed.path),
        )
        self.done.to_review.append(made.public_id)


def is_forgotten(public_id: str, *, user: User) -> bool:
    """Return True if the memory has been forgotten or is being forgotten.

    If a file still has the line of such a memory, the line must not be learned again.
    """
    hidden = Memory.everything.filter(user=user, public_id=public_id, hidden_at__isnull=False)
    if hidden.exists():
        return True
    return Tombstone.objects.filter(user=user, memory_public_id=public_id).exists()


def _plan(typed: TypedFile, edited: Document, known: Sequence[CurrentMemory]) -> Changes:
    """Compute the changes that an edited file requests.

    A memory counts as newer than the file if its text or kind differs from its line in the version
    on which the edit is based, or in the user's other file, or if it has no such line.
    """
    lines = (line for file in (typed.other_file, typed.base) for line in file.lines if line.id)
    seen = {line.id: (line.text.strip(), line.kind) for line in lines}
    compared = [
        replace(
            memory,
            newer=seen.get(memory.id)
            not in ((memory.text.strip(), memory.kind), (memory.text, "")),
        )
        for memory in known
    ]
    return find_changes(typed.base, edited, memories=compared, elsewhere=typed.elsewhere)


def _texts_to_embed(plan: Changes, known: Sequence[CurrentMemory]) -> Iterator[_Text]:
    by_id = {memory.id: memory for memory in known}
    for edited in plan.edited:
        if edited.content is not None:
            yield edited.content, edited.kind or by_id[edited.id].kind
    for created in plan.created:
        yield created.content, created.kind or Kind.FACT
    for disputed in plan.disputed:
        if disputed.content is not None:
            yield disputed.content, _kind_of(disputed, by_id)


def _kind_of(disputed: DisputedChange, known: Mapping[str, CurrentMemory]) -> str:
    memory = known.get(disputed.id)
    return disputed.kind or (memory.kind if memory else Kind.FACT)


def _screened(
    edited: Document, base: Document
) -> tuple[Document, dict[int, Sequence[RefusedSecret]], list[str]]:
    as_was = {line.raw for line in base.lines}
    covered = cover_secrets(edited.text)
    place = 0
    own = {line.id: line.raw for line in base.lines if line.id}
    kept: list[str] = []
    refused: dict[int, Sequence[RefusedSecret]] = {}
    problems: list[str] = []
    for number, line in enumerate(edited.lines, start=1):
        shown, place = covered[place : place + len(line.raw)], place + len(line.raw)
        if line.raw in as_was or not line.raw.strip():
            kept.append(line.raw)
            continue
        if len(line.text) > settings.MAX_MEMORY_CHARS:
            most = f"{settings.MAX_MEMORY_CHARS:,}"
            problems.append(f"Line {number}: a memory has at most {most} characters.")
        words = line.text or line.raw.removesuffix(line.end)
        found = screen(words)
        if found.drop:
            refused[number] = found.refused
            kept.append(own.get(line.id, ""))
        elif found.text == words and SECRET in shown:  # a secret only in the context of other lines
            kept.append(mark_covered_secrets(shown))
        else:
            kept.append(line.raw if found.text == words else _with_text(line, found.text))
    return parse("".join(kept)), refused, problems


def _problem_texts(refused: Mapping[int, Sequence[RefusedSecret]]) -> list[str]:
    return [f"Line {number}: this looks like a secret." for number in refused]


def _check(problems: Sequence[str]) -> None:
    if problems:
        raise Invalid(problems[0], fields={"content": problems[:20]})


def _with_text(line: Line, text: str) -> str:
    if line.role is Role.MEMORY:
        return grammar.memory_line(text, id=line.id, kind=line.kind, end=line.end).raw
    start = "- " if line.role is Role.NEW else ""
    return f"{start}{grammar.encode_line(text)}{line.end}"
