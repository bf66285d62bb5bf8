"""Describe a user's searchable texts: one `Shelf` (eligible rows, columns) for each text type.

Each type belongs to a layer that the user can switch off, such as long-term memory.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from conversations.models import Conversation, Message, Turn
from memcenter.lib.database import statements
from memcenter.lib.database.statements import Sql
from memcenter.lib.text import tokens
from memories.extraction import masking
from memories.models import Fragment, Kind, Memory, MemoryStatus, MemoryVersion, Project, TargetKind
from memories.recall.candidate_pool import (
    EpisodeRow,
    MemoryRow,
    MessageRow,
    NoteRow,
    Shelf,
    SummaryRow,
)
from memories.retrieval.units import Unit
from ops.models import User, UserSettings

_IN_CONVERSATION = "JOIN conversations_conversation c ON c.id = r.conversation_id"
TYPES = ("memory", "message", "episode", "summary", "note")


@dataclass(frozen=True)
class Filters:
    """The filters of a search.

    `kinds`, `tag`, `status`, `project` and `personal` apply only to memories. `project` selects the
    memories of that project, `personal` selects memories without a project, and the two can be
    combined. `doubted` adds constraints that wait for review. `archived` adds memories
    that were archived because they were unused.
    """

    conversation: Conversation | None = None
    project: Project | None = None
    personal: bool = False
    kinds: Sequence[str] = ()
    tag: str = ""
    status: str = MemoryStatus.ACTIVE
    doubted: bool = False
    archived: bool = False
    since: datetime | None = None
    until: datetime | None = None


def shelves(
    types: Sequence[str], *, user: User, own: UserSettings, filters: Filters
) -> list[Shelf]:
    """Return the `Shelf` of each text type, except for types whose layer is switched off."""
    off = {
        "memory": not own.longterm_enabled,
        "note": not own.longterm_enabled,
        "episode": not own.episodic_enabled,
        "summary": not own.summary_enabled,
        "message": False,
    }
    build = {
        "memory": memory_shelf,
        "note": _notes,
        "episode": episode_shelf,
        "summary": _summaries,
        "message": _messages,
    }
    return [build[type_](user, filters=filters) for type_ in types if not off[type_]]


_MEMORY = (
    "r.id, r.public_id, r.kind, r.content, r.summary, r.status, r.pinned, r.standing,"
    " r.importance, r.occurred_at, r.created_at, r.last_accessed_at, r.feedback"
)


def memory_shelf(user: User, *, filters: Filters) -> Shelf:
    """Return the `Shelf` with the memories that match `filters` and may be recalled now."""
    eligible = Sql(
        f"r.user_id = %s AND {_status(filters)} AND r.hidden_at IS NULL AND r.deleted_at IS NULL"
        " AND (r.valid_from IS NULL OR r.valid_from <= statement_timestamp())"
        " AND (r.valid_until IS NULL OR r.valid_until > statement_timestamp())",
        (user.pk, str(filters.status)),
    )
    if filters.kinds:
        eligible = eligible.also("r.kind = ANY(%s::text[])", list(map(str, filters.kinds)))
    if filters.tag:
        eligible = eligible.also("r.tags @> %s::varchar[]", [filters.tag])
    eligible = _of_project(eligible, filters)
    return _memories(_with_filters(eligible, filters))


def _status(filters: Filters) -> str:
    if filters.doubted:
        return "(r.status = %s OR (r.status = 'candidate' AND r.kind = 'constraint'))"
    if filters.archived:
        return "(r.status = %s OR (r.status = 'archived' AND r.archived_at IS NOT NULL))"
    return "r.status = %s"


def shelf_of(eligible: QuerySet[Memory]) -> Shelf:
    """Return the `Shelf` with the memories that a queryset selects."""
    text, values = eligible.order_by().values("pk").query.sql_with_params()
    return _memories(Sql(f"r.id IN ({text})", tuple(values)))


def _memories(eligible: Sql) -> Shelf:
    return Shelf(
        TargetKind.MEMORY,
        table="memories_memory",
        eligible=eligible,
        columns=_MEMORY,
        row=MemoryRow._make,
        unit=_memory_unit,
    )


def _of_project(eligible: Sql, filters: Filters) -> Sql:
    if filters.project is None:
        return eligible.also("r.project_id IS NULL") if filters.personal else eligible
    if filters.personal:
        return eligible.also("(r.project_id IS NULL OR r.project_id = %s)", filters.project.pk)
    return eligible.also("r.project_id = %s", filters.project.pk)


def _memory_unit(row: MemoryRow, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="memory",
        id=row.public_id,
        text=row.content,
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.occurred_at or row.created_at,
    )


def _messages(user: User, *, filters: Filters) -> Shelf:
    eligible = Sql("r.user_id = %s AND r.hidden_at IS NULL AND c.hidden_at IS NULL", (user.pk,))
    eligible = _with_filters(eligible, filters, of_conversation=True)
    return Shelf(
        TargetKind.MESSAGE,
        table="conversations_message",
        joined=_IN_CONVERSATION,
        eligible=eligible,
        columns=(
            "r.id, r.public_id, r.content, r.number, r.speaker, r.created_at, c.public_id,"
            " r.secrets"
        ),
        row=MessageRow._make,
        unit=_message_unit,
        whole=True,
        neighbours=_neighbours_in(eligible),
    )


def _neighbours_in(eligible: Sql) -> Callable[[Iterable[int]], set[int]]:
    def neighbours(ids: Iterable[int]) -> set[int]:
        found = statements.rows(
            f"SELECT r.id FROM conversations_message n"
            f" JOIN (conversations_message r {_IN_CONVERSATION})"
            " ON r.conversation_id = n.conversation_id AND r.number IN (n.number - 1, n.number + 1)"
            f" WHERE n.id = ANY(%s::bigint[]) AND {eligible.text}",
            [sorted(ids), *eligible.values],
        )
        return {pk for (pk,) in found}

    return neighbours


def _message_unit(row: MessageRow, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="message",
        id=row.public_id,
        text=row.content,
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.created_at,
        conversation=row.conversation,
        position=row.number,
        session=f"{row.conversation} {row.created_at.date()}",
        speaker=row.speaker,
    )


_OF_EPISODE = f"""{_IN_CONVERSATION}
  JOIN conversations_turn t ON t.id = r.turn_id
  JOIN conversations_message said ON said.id = t.user_message_id
  JOIN conversations_message reply ON reply.id = t.assistant_message_id"""


def episode_shelf(user: User, *, filters: Filters, before_number: int | None = None) -> Shelf:
    """Return the `Shelf` with the episodes that match `filters`.

    With `before_number`, only episodes whose reply has a lower number are included.
    """
    eligible = Sql("r.user_id = %s AND r.hidden_at IS NULL AND t.hidden_at IS NULL", (user.pk,))
    eligible = _with_filters(eligible, filters, of_conversation=True)
    if before_number is not None:
        eligible = eligible.also("reply.number < %s", before_number)
    return Shelf(
        TargetKind.EPISODE,
        table="conversations_episode",
        joined=_OF_EPISODE,
        eligible=eligible,
        columns=(
            "r.id, r.public_id, said.content, reply.content, reply.number, said.speaker,"
            " r.created_at, c.public_id, said.public_id, reply.public_id, said.secrets,"
            " reply.secrets"
        ),
        row=EpisodeRow._make,
        unit=_episode_unit,
        whole=True,
    )


def _episode_unit(row: EpisodeRow, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="episode",
        id=row.public_id,
        text=turn_text(row.said, row.reply),
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.created_at,
        conversation=row.conversation,
        # A turn has about two messages, so neighbouring turns get neighbouring positions.
        position=row.number // 2,
        session=f"{row.conversation} {row.created_at.date()}",
        speaker=row.speaker,
    )


def episode_text(turn: Turn) -> str:
    """Return a turn as one text for display and indexing, with secrets masked."""
    return turn_text(*masked_turn(turn))


def masked_turn(turn: Turn) -> tuple[str, str]:
    """Return the user message and the reply of a turn, with secrets masked."""
    said, reply = masking.masked_together(
        [turn.user_message.content, turn.assistant_message.content],
        places=[turn.user_message.secrets, turn.assistant_message.secrets],
    )
    return said, reply


WITH_TURN = ("turn_as_question__assistant_message", "turn_as_reply__user_message")


def masked_message(message: Message) -> str:
    """Return a message's text with its secrets masked.

    This includes secrets that only the other message of the same turn reveals.
    """
    together = [message]
    if hasattr(message, "turn_as_question"):
        together.append(message.turn_as_question.assistant_message)
    if hasattr(message, "turn_as_reply"):
        together.append(message.turn_as_reply.user_message)
    return masking.masked_together(
        [each.content for each in together], places=[each.secrets for each in together]
    )[0]


def turn_text(said: str, reply: str) -> str:
    return f"{said}\n{reply}"


def _summaries(user: User, *, filters: Filters) -> Shelf:
    eligible = Sql("r.user_id = %s AND r.hidden_at IS NULL", (user.pk,))
    eligible = _with_filters(eligible, filters, of_conversation=True)
    newest = eligible.text.replace("r.", "s.")
    return Shelf(
        TargetKind.SUMMARY,
        table="conversations_summary",
        joined=_IN_CONVERSATION,
        eligible=eligible.also(
            f"r.id IN (SELECT DISTINCT ON (s.conversation_id) s.id FROM conversations_summary s"
            f" WHERE {newest} ORDER BY s.conversation_id, s.version DESC)",
            *eligible.values,
        ),
        columns="r.id, r.public_id, r.text, r.created_at, c.public_id",
        row=SummaryRow._make,
        unit=_summary_unit,
    )


def _summary_unit(row: SummaryRow, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="summary",
        id=row.public_id,
        text=row.text,
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.created_at,
        conversation=row.conversation,
    )


def _notes(user: User, *, filters: Filters) -> Shelf:
    eligible = Sql("r.user_id = %s AND r.hidden_at IS NULL", (user.pk,))
    return Shelf(
        TargetKind.NOTE,
        table="memories_dailynote",
        eligible=_with_filters(eligible, filters),
        columns="r.id, r.public_id, r.text, r.created_at",
        row=NoteRow._make,
        unit=_note_unit,
    )


def _note_unit(row: NoteRow, terms: list[str], cosine: float | None, length: int) -> Unit:
    return Unit(
        type="note",
        id=row.public_id,
        text=row.text,
        terms=terms,
        cosine=cosine,
        length=length,
        at=row.created_at,
    )


def _with_filters(eligible: Sql, filters: Filters, *, of_conversation: bool = False) -> Sql:
    """Add the time filter and, if `of_conversation` is True, the conversation filter."""
    if of_conversation and filters.conversation is not None:
        eligible = eligible.also("r.conversation_id = %s", filters.conversation.pk)
    if filters.since is not None:
        eligible = eligible.also("r.created_at >= %s", filters.since)
    if filters.until is not None:
        eligible = eligible.also("r.created_at < %s", filters.until)
    return eligible


MOST_EARLIER_TEXTS = 5  # per memory; the oldest are kept, since later texts often say less
_FIRST = 1_000_000  # first number of earlier texts, far above the fragment numbers of a long text


def keep_earlier_text(
    memory: Memory, version: MemoryVersion, *, of: tuple[TargetKind, int]
) -> bool:
    """Index the text of a version, so that a search for that text finds the memory.

    Return whether the text was added. The version may belong to another memory. The words and the
    vector are copied from the target `of`. Safe to repeat.
    """
    if not version.content:
        return False
    known = list(Fragment.objects.filter(memory=memory, version__isnull=False))
    if len(known) >= MOST_EARLIER_TEXTS or any(
        earlier.version_id == version.pk for earlier in known
    ):
        return False
    fragment = Fragment.objects.create(
        user_id=memory.user_id,
        memory=memory,
        version=version,
        number=max((earlier.number for earlier in known), default=_FIRST - 1) + 1,
        text=version.content,
        token_count=tokens.count(version.content),
    )
    kind, target = of
    statements.rows(_COPY, [fragment.pk, memory.user_id, str(kind), target] * 2)
    return True


_COPY = """
WITH words AS (
    INSERT INTO memories_lexicalentry
        (user_id, target_kind, target_id, conversation_id, terms, length)
    SELECT user_id, 'fragment', %s, conversation_id, terms, length FROM memories_lexicalentry
     WHERE user_id = %s AND target_kind = %s AND target_id = %s)
INSERT INTO memories_vector
    (space_id, user_id, target_kind, target_id, conversation_id, embedding)
SELECT space_id, user_id, 'fragment', %s, conversation_id, embedding FROM memories_vector
 WHERE user_id = %s AND target_kind = %s AND target_id = %s
"""


def share_earlier_texts(
    learned: Sequence[Memory], *, user: User, successors: Collection[tuple[int, int]] = ()
) -> None:
    """Let a search for an earlier text of a memory also find other memories from the same turn.

    Only memories on the same topic share their earlier texts. For example, "I quit Acme and joined
    Initech" becomes two memories. Only the first names the old job, but a question about it should
    also find the second, which is true now. Each pair of memory ids in `successors` (owner of the
    earlier text, other memory) shares texts regardless of topic. Safe to repeat.
    """
    if len(learned) < 2:
        return
    for event in learned:
        if event.kind == Kind.EVENT:
            _keep_related_text(event, learned, user=user)
    found = Fragment.objects.filter(
        user=user, memory__in=learned, version__isnull=False
    ).select_related("memory", "version")
    for fragment in found.order_by("pk"):
        for memory in learned:
            alike = not set(memory.tags).isdisjoint(fragment.memory.tags)
            alike = alike or (fragment.memory_id, memory.pk) in successors
            if alike and memory.pk != fragment.memory_id and fragment.version is not None:
                keep_earlier_text(memory, fragment.version, of=(TargetKind.FRAGMENT, fragment.pk))


def _keep_related_text(event: Memory, learned: Sequence[Memory], *, user: User) -> None:
    """Let a search for the text of a known memory on the same topic also find the event.

    The known memory that shares the most words with the event is chosen.
    """
    own = [user.pk, event.pk]
    known = statements.rows(
        _ABOUT, [*own, user.pk, [memory.pk for memory in learned], event.project_id, event.tags]
    )
    for target, version in known:
        kept = MemoryVersion.objects.filter(pk=version).first()
        if kept is not None:
            keep_earlier_text(event, kept, of=(TargetKind.MEMORY, target))


_ABOUT = """
WITH event AS (SELECT terms FROM memories_lexicalentry
                WHERE user_id = %s AND target_kind = 'memory' AND target_id = %s)
SELECT m.id, v.id FROM event CROSS JOIN memories_memory m
  JOIN memories_memoryversion v ON v.memory_id = m.id AND v.number = m.current_version
  JOIN memories_lexicalentry e
    ON e.user_id = m.user_id AND e.target_kind = 'memory' AND e.target_id = m.id
  JOIN LATERAL (SELECT count(DISTINCT one) AS words FROM unnest(e.terms) AS one
                 WHERE one = ANY(event.terms) AND length(one) > 1) AS shared ON shared.words > 0
 WHERE m.user_id = %s AND m.status = 'active' AND m.kind <> 'event'
   AND m.hidden_at IS NULL AND m.deleted_at IS NULL AND NOT m.id = ANY(%s::bigint[])
   AND m.project_id IS NOT DISTINCT FROM %s::bigint
   AND m.tags && %s::varchar[]
 ORDER BY shared.words DESC, m.id DESC
 LIMIT 1
"""
