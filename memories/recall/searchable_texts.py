"""Describe a user's searchable texts: a `SearchScope` (eligible rows, columns) for each text type.

Each type except messages belongs to a layer that the user can switch off, such as long-term memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from conversations.models import Conversation
from foundation.database import statements
from foundation.database.statements import Sql
from memories.indexing.conversation_texts import turn_text
from memories.models import Memory, MemoryStatus, Project, TargetKind
from memories.recall.candidate_pool import (
    EpisodeRow,
    MemoryRow,
    MessageRow,
    NoteRow,
    SearchScope,
    SummaryRow,
)
from ops.models import User, UserSettings

_IN_CONVERSATION = "JOIN conversations_conversation c ON c.id = r.conversation_id"
TYPES = ("memory", "message", "episode", "summary", "note")


@dataclass(frozen=True)
class Filters:
    """The filters of a search.

    `conversation` doesn't apply to memories and notes. `since` and `until` limit the creation time.
    All other filters apply only to memories: `project` selects the memories of that project,
    `personal` selects memories without a project, and together they select all of these. `doubted`
    adds constraints that await review. `archived` adds memories that were archived because they
    were unused, unless `doubted` is set.
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


def search_scopes(
    types: Sequence[str], *, user: User, own: UserSettings, filters: Filters
) -> list[SearchScope]:
    """Return the `SearchScope` of each text type, except for types whose layer is switched off."""
    off = {
        "memory": not own.longterm_enabled,
        "note": not own.longterm_enabled,
        "episode": not own.episodic_enabled,
        "summary": not own.summary_enabled,
        "message": False,
    }
    build = {
        "memory": memory_scope,
        "note": _notes,
        "episode": episode_scope,
        "summary": _summaries,
        "message": _messages,
    }
    return [build[type_](user, filters=filters) for type_ in types if not off[type_]]


_MEMORY = (
    "r.id, r.public_id, r.kind, r.content, r.summary, r.status, r.pinned, r.standing,"
    " r.importance, r.occurred_at, r.created_at, r.last_accessed_at, r.feedback"
)


def memory_scope(user: User, *, filters: Filters) -> SearchScope:
    """Return the `SearchScope` with the memories that match `filters` and may be recalled now."""
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


def scope_of(eligible: QuerySet[Memory]) -> SearchScope:
    """Return the `SearchScope` with the memories that a queryset selects."""
    text, values = eligible.order_by().values("pk").query.sql_with_params()
    return _memories(Sql(f"r.id IN ({text})", tuple(values)))


def _memories(eligible: Sql) -> SearchScope:
    return SearchScope(
        TargetKind.MEMORY,
        table="memories_memory",
        eligible=eligible,
        columns=_MEMORY,
        row=MemoryRow._make,
        fields=lambda row: {"text": row.content, "at": row.occurred_at or row.created_at},
    )


def _of_project(eligible: Sql, filters: Filters) -> Sql:
    if filters.project is None:
        return eligible.also("r.project_id IS NULL") if filters.personal else eligible
    if filters.personal:
        return eligible.also("(r.project_id IS NULL OR r.project_id = %s)", filters.project.pk)
    return eligible.also("r.project_id = %s", filters.project.pk)


def _messages(user: User, *, filters: Filters) -> SearchScope:
    eligible = Sql("r.user_id = %s AND r.hidden_at IS NULL AND c.hidden_at IS NULL", (user.pk,))
    eligible = _with_filters(eligible, filters, of_conversation=True)
    return SearchScope(
        TargetKind.MESSAGE,
        table="conversations_message",
        joined=_IN_CONVERSATION,
        eligible=eligible,
        columns=(
            "r.id, r.public_id, r.content, r.number, r.speaker, r.created_at, c.public_id,"
            " r.secrets"
        ),
        row=MessageRow._make,
        fields=lambda row: _in_session(row, text=row.content, position=row.number),
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


def _in_session(row: MessageRow | EpisodeRow, *, text: str, position: int) -> dict[str, Any]:
    return {
        "text": text,
        "at": row.created_at,
        "conversation": row.conversation,
        "position": position,
        "session": f"{row.conversation} {row.created_at.date()}",
        "speaker": row.speaker,
    }


_OF_EPISODE = f"""{_IN_CONVERSATION}
  JOIN conversations_turn t ON t.id = r.turn_id
  JOIN conversations_message said ON said.id = t.user_message_id
  JOIN conversations_message reply ON reply.id = t.assistant_message_id"""


def episode_scope(user: User, *, filters: Filters, before_number: int | None = None) -> SearchScope:
    """Return the `SearchScope` with the episodes that match `filters`.

    With `before_number`, only episodes whose reply has a lower number are included.
    """
    eligible = Sql("r.user_id = %s AND r.hidden_at IS NULL AND t.hidden_at IS NULL", (user.pk,))
    eligible = _with_filters(eligible, filters, of_conversation=True)
    if before_number is not None:
        eligible = eligible.also("reply.number < %s", before_number)
    return SearchScope(
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
        # A turn usually has two messages, so half the message number approximates the turn number.
        fields=lambda row: _in_session(
            row, text=turn_text(row.said, row.reply), position=row.number // 2
        ),
        whole=True,
    )


def _summaries(user: User, *, filters: Filters) -> SearchScope:
    eligible = Sql("r.user_id = %s AND r.hidden_at IS NULL", (user.pk,))
    eligible = _with_filters(eligible, filters, of_conversation=True)
    newest = eligible.text.replace("r.", "s.")
    return SearchScope(
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
        fields=lambda row: {
            "text": row.text,
            "at": row.created_at,
            "conversation": row.conversation,
        },
    )


def _notes(user: User, *, filters: Filters) -> SearchScope:
    eligible = Sql("r.user_id = %s AND r.hidden_at IS NULL", (user.pk,))
    return SearchScope(
        TargetKind.NOTE,
        table="memories_dailynote",
        eligible=_with_filters(eligible, filters),
        columns="r.id, r.public_id, r.text, r.created_at",
        row=NoteRow._make,
        fields=lambda row: {"text": row.text, "at": row.created_at},
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
