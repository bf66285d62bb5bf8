"""Store a memory that a user or a program writes explicitly, on a page or through an API.

`remember` compares the memory with the known memories in the same call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

import orjson
from django.conf import settings
from django.utils import timezone

from foundation.database.statements import Batch
from foundation.errors import Conflict, Invalid
from foundation.providers.base import Vectors
from foundation.providers.embedders import BundledEmbedder
from foundation.text import tokens
from memories import language_steps, projects
from memories.extraction.masking import screen
from memories.extraction.wording.languages import ANSWERS
from memories.indexing import search_index
from memories.models import Kind, Memory, MemoryStatus, Origin
from memories.writing import memory_writes, model_revision, verdict_writes
from memories.writing.memory_writes import Draft, SourceInput
from memories.writing.verdict_writes import AppliedVerdict
from ops.accounts import users
from ops.models import User, UserSettings

_WRITTEN_IMPORTANCE = 0.7
_WRITTEN_CONFIDENCE = 0.95
# Limits the embedding to about a second, since the caller waits.
_IMMEDIATE_TOKENS = 4_000
MAX_TAGS, MAX_TAG = 20, memory_writes.MAX_TAG


@dataclass(frozen=True)
class MemoryInput:
    """The values that a caller gives for a memory; missing values get defaults."""

    content: str
    kind: str | None = None
    tags: Sequence[str] = ()
    importance: float | None = None
    confidence: float | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    project_key: str | None = None
    project_name: str | None = None
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    summary: str = ""
    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names_project(self) -> bool:
        return self.project_key is not None or self.project_name is not None


@dataclass(frozen=True)
class Prepared:
    """A checked input and its draft, whose text is masked and embedded.

    `redacted` is True if part of the text was masked.
    """

    given: MemoryInput
    draft: Draft
    vector: Vectors  # used for comparison; for a very long text, the vector of its beginning
    redacted: bool


@dataclass(frozen=True)
class WriteResult(AppliedVerdict):
    """The result of a write; `redacted` is True if part of the text was masked."""

    redacted: bool = False


def prepare(
    given: MemoryInput, *, origin: Origin, longest: int | None = None, describes: bool = True
) -> Prepared:
    """Check an input and embed its text; call this function outside a transaction.

    `longest` is the maximum length of the text (by default `MAX_MEMORY_CHARS`). Secrets in the text
    are masked. The vectors of a very long text are computed later by an operation. If `describes`
    is True, a short text without tags or data gets the tags and data that the reader model finds.
    Raise `Invalid`, which names the fields, if values are invalid or the text is only a secret.
    """
    _check(given, longest=longest or settings.MAX_MEMORY_CHARS)
    screened = screen(given.content.strip())
    if screened.drop:
        raise Invalid.field("content", "This looks like a secret, and secrets are not remembered.")
    vector, vectors, pieces = _embedded(screened.text)
    tags = tuple(dict.fromkeys(tag.strip() for tag in given.tags if tag.strip()))
    extractor = language_steps.bundled_extractor()
    kind = memory_writes.check_kind(given.kind or Kind.FACT)
    is_bundled = search_index.embedder().model == BundledEmbedder.model
    marks = extractor.marks_of(
        screened.text,
        spoken_at=timezone.now(),
        kind=kind,
        vector=vector if is_bundled else None,
    )
    draft = Draft(
        content=screened.text,
        kind=kind,
        vectors=vectors,
        pieces=pieces,
        importance=_WRITTEN_IMPORTANCE if given.importance is None else given.importance,
        confidence=_WRITTEN_CONFIDENCE if given.confidence is None else given.confidence,
        summary=given.summary,
        tags=tags or (marks.tags if describes else ()),
        standing=marks.says_how_to_answer or not ANSWERS.isdisjoint(tags),
        data=given.data or (marks.data if describes else {}),
        origin=origin,
        occurred_at=given.occurred_at,
        valid_from=given.valid_from,
        valid_until=given.valid_until,
        agent_id=given.agent_id,
        app_id=given.app_id,
        run_id=given.run_id,
        metadata=given.metadata,
    )
    redacted = screened.text != given.content.strip()
    return Prepared(given, draft, vector, redacted)


def _embedded(text: str) -> tuple[Vectors, Vectors | None, list[str]]:
    beginning = tokens.truncate(text[: 8 * _IMMEDIATE_TOKENS], limit=_IMMEDIATE_TOKENS)
    if beginning == text:
        vectors, pieces = search_index.embed_memory(text)
        return vectors[0], vectors, pieces
    return search_index.embed_memory(beginning)[0][0], None, []


def remember(
    prepared: Prepared,
    *,
    user: User,
    reference: str = "",
    by_program: bool = False,
    source: SourceInput | None = None,
) -> WriteResult:
    """Compare the text with the known memories and store it.

    The bundled arbiter decides at once, so that the response can report the outcome. If the user
    wants to confirm memories, texts written by programs await review; texts from the user's own
    pages never do. Set `by_program` if a program writes the text and the draft's origin doesn't
    show this. `source` is the source of the text; None stands for the call itself. Raise `Invalid`
    if the project's key is invalid, and `Conflict` while memory is off (`memory_off`) or the user
    is being forgotten (`being_forgotten`).
    """
    batch = Batch()
    settings_of_user, space = users.hold_settings(user, batch), search_index.hold_space(batch)
    known = None
    if not prepared.given.names_project:
        known = verdict_writes.add_known_query(
            batch, prepared.vector, user=user, content=prepared.draft.content, project=None
        )
    own = _checked(settings_of_user())
    given, project = prepared.given, None
    if given.names_project:
        project = projects.find_or_create(user=user, key=given.project_key, name=given.project_name)
    draft = replace(prepared.draft, project=project)
    by_program = by_program or draft.origin in (Origin.API, Origin.AGENT)
    waits = own.confirm_before_remembering and by_program
    source = source or SourceInput(origin=draft.origin, reference=reference)
    decided = verdict_writes.decide_and_apply(
        model_revision.candidate_of(draft),
        draft,
        prepared.vector,
        user=user,
        source=source,
        turn=source.turn,
        always_review=waits,
        known=known() if known else None,
        space=space(),
    )
    return WriteResult(
        *(decided.memory, decided.result, decided.verdict, decided.superseded),
        redacted=prepared.redacted,
    )


def store(prepared: Sequence[Prepared], *, user: User) -> list[Memory]:
    """Store memories without comparing them with known memories.

    If the user wants to confirm memories, the new memories await review. Raise `Conflict` while
    memory is off (`memory_off`) or the user is being forgotten (`being_forgotten`).
    """
    batch = Batch()
    settings_of_user, space = users.hold_settings(user, batch), search_index.hold_space(batch)
    own = _checked(settings_of_user())
    status = MemoryStatus.CANDIDATE if own.confirm_before_remembering else MemoryStatus.ACTIVE
    held = space()
    return [
        memory_writes.create(
            one.draft,
            user=user,
            source=SourceInput(origin=one.draft.origin),
            status=status,
            space=held,
        )
        for one in prepared
    ]


def check_on(user: User) -> UserSettings:
    """Return the user's settings, locked until the transaction ends.

    Raise `Conflict` while long-term memory is off or the user is being forgotten.
    """
    return _checked(users.hold_settings(user, Batch())())


def _checked(own: UserSettings) -> UserSettings:
    if not own.longterm_enabled:
        raise Conflict("Long-term memory is turned off for this user.", code="memory_off")
    return own


def _check(given: MemoryInput, *, longest: int) -> None:
    problems: dict[str, list[str]] = {}
    if not given.content.strip():
        problems["content"] = ["The text must not be empty."]
    elif len(given.content) > longest:
        problems["content"] = [f"A memory has at most {longest:,} characters."]
    for name in ("importance", "confidence"):
        value = getattr(given, name)
        if value is not None and not 0 <= value <= 1:
            problems[name] = ["Must lie between 0 and 1."]
    if len(given.tags) > MAX_TAGS or any(len(tag) > MAX_TAG for tag in given.tags):
        problems["tags"] = [f"At most {MAX_TAGS} tags of at most {MAX_TAG} characters."]
    for name in ("data", "metadata"):
        if len(orjson.dumps(getattr(given, name))) > settings.MAX_MEMORY_CHARS * 2:
            problems[name] = ["This is too large."]
    if given.valid_from and given.valid_until and given.valid_from > given.valid_until:
        problems["valid_until"] = ["Must not lie before valid_from."]
    if problems:
        raise Invalid("The memory is not valid.", fields=problems)


def kind_of(text: str) -> str:
    """Return the kind of memory that the reader model finds in a text.

    Return "fact" if the model finds no kind or several kinds.
    """
    return language_steps.bundled_extractor().kind_of(text) or Kind.FACT.value
