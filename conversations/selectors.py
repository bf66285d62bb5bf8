"""Read-only queries for conversations, messages, turns, summaries and episodes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.db.models import Q, QuerySet

from conversations.models import Conversation, Episode, Message, Summary, Turn
from foundation.database import statements
from foundation.database.statements import Sql
from foundation.errors import Invalid, NotFound
from ops.models import User


@dataclass(frozen=True)
class Window:
    """The newest completed messages of a conversation, as chosen by `window_of`, oldest first."""

    messages: tuple[Message, ...]
    tokens: int

    @property
    def first_number(self) -> int | None:
        return self.messages[0].number if self.messages else None


def conversations_of(user: User, *, query: str = "") -> QuerySet[Conversation]:
    found = Conversation.objects.filter(user=user)
    return found.filter(title__icontains=query) if query else found


def messages_of(user: User, conversation: Conversation) -> QuerySet[Message]:
    return Message.objects.filter(user=user, conversation=conversation)


def message_of(user: User, reference: str, *, conversation: Conversation | None = None) -> Message:
    """Return the message with this id, which is our id or the client's own id.

    A client's ids are unique only within one conversation: `conversation` is required if two
    conversations use the same id. Raise `NotFound` if there is no such message, and `Invalid` if
    `conversation` is required but missing.
    """
    column = "public_id" if reference.startswith("msg_") else "external_id"
    rows = Message.objects.filter(user=user, **{column: reference})
    if conversation is not None:
        rows = rows.filter(conversation=conversation)
    found = rows.select_related("conversation", "feedback", "turn_as_reply__user_message")[:2]
    if len(found) > 1:
        text = "Several conversations have a message with this id. Say which one."
        raise Invalid.field("conversation_id", text)
    if not found:
        raise NotFound("This message doesn’t exist.")
    return found[0]


def window_of(user: User, conversation: Conversation) -> Window:
    """Return the newest completed messages that fit `WINDOW_MESSAGES` and `WINDOW_TOKENS`.

    The newest message is always included.
    """
    newest = _read(
        Message,
        "user_id = %s AND conversation_id = %s AND completed AND hidden_at IS NULL"
        " ORDER BY number DESC LIMIT %s",
        [user.pk, conversation.pk, settings.WINDOW_MESSAGES],
    )
    taken: list[Message] = []
    total = 0
    for message in newest:
        if taken and total + message.token_count > settings.WINDOW_TOKENS:
            break
        taken.append(message)
        total += message.token_count
    return Window(messages=tuple(reversed(taken)), tokens=total)


# Selects the first message of the window if a summary covers earlier messages.
_EDGE = """
WITH newest AS (
    SELECT number, public_id, token_count FROM conversations_message
     WHERE conversation_id = %s AND user_id = %s AND completed AND hidden_at IS NULL
     ORDER BY number DESC LIMIT %s),
fitting AS (
    SELECT number, public_id, row_number() OVER further AS place,
           sum(token_count) OVER further AS total
      FROM newest WINDOW further AS (ORDER BY number DESC)),
edge AS (
    SELECT number, public_id FROM fitting WHERE place = 1 OR total <= %s ORDER BY number LIMIT 1)
SELECT edge.public_id FROM edge
 WHERE EXISTS (SELECT 1 FROM conversations_summary s
                WHERE s.conversation_id = %s AND s.user_id = %s AND s.hidden_at IS NULL
                  AND s.from_number < edge.number)
"""


def first_message_after_summary(user: User, conversation: Conversation) -> str:
    """Return the id of the window's first message; "" if no summary covers earlier messages.

    The window is defined by `window_of`.
    """
    keys = [conversation.pk, user.pk]
    values = [*keys, settings.WINDOW_MESSAGES, settings.WINDOW_TOKENS, *keys]
    found = statements.rows(_EDGE, values)
    return str(found[0][0]) if found else ""


def conversation_by(user: User, pk: int) -> Conversation | None:
    where = "id = %s AND user_id = %s AND hidden_at IS NULL"
    return next(iter(_read(Conversation, where, [pk, user.pk])), None)


def messages_between(
    user: User, conversation: Conversation, *, after: int, before: int, most: int
) -> list[Message]:
    """Return at most `most` completed messages with `after` < number < `before`, oldest first."""
    return _read(
        Message,
        "conversation_id = %s AND user_id = %s AND completed AND hidden_at IS NULL"
        " AND number > %s AND number < %s ORDER BY number LIMIT %s",
        [conversation.pk, user.pk, after, before, most],
    )


def summary_of(user: User, conversation: Conversation) -> Summary | None:
    where = "user_id = %s AND conversation_id = %s AND hidden_at IS NULL"
    found = _read(Summary, f"{where} ORDER BY version DESC LIMIT 1", [user.pk, conversation.pk])
    return found[0] if found else None


def _read(
    model: type[statements.Row], where: str, values: Sequence[object]
) -> list[statements.Row]:
    """Return rows read by one raw SQL statement; the ORM's overhead would exceed the query time."""
    columns, table = statements.columns(model, "m"), model._meta.db_table
    found = statements.rows(f"SELECT {columns} FROM {table} m WHERE {where}", values)
    return [statements.instance(model, row) for row in found]


def summaries_of(user: User, conversation: Conversation) -> QuerySet[Summary]:
    """Return all versions of the conversation's summary, the current one first."""
    return Summary.objects.filter(user=user, conversation=conversation).order_by("-version")


def episodes_of(user: User, conversation: Conversation) -> QuerySet[Episode]:
    return (
        Episode.objects.filter(user=user, conversation=conversation)
        .select_related("turn__user_message", "turn__assistant_message")
        .order_by("-created_at", "-pk")
    )


def whole_turns(user: User, where: Sql) -> list[Turn]:
    """Return turns with both messages and their conversation, read by a single SQL statement.

    The condition `where` may use the aliases `t`, `q`, `a` and `c` (turn, question, answer,
    conversation).
    """
    found = statements.rows(
        f"SELECT {_whole_turn_columns()} FROM conversations_turn t"
        "  JOIN conversations_message q ON q.id = t.user_message_id"
        "  JOIN conversations_message a ON a.id = t.assistant_message_id"
        "  JOIN conversations_conversation c ON c.id = t.conversation_id"
        f" WHERE t.user_id = %s AND t.hidden_at IS NULL AND {where.text}",
        [user.pk, *where.values],
    )
    return [_whole_turn(values) for values in found]


@cache
def _whole_turn_columns() -> str:
    parts = ((Turn, "t"), (Message, "q"), (Message, "a"), (Conversation, "c"))
    return ", ".join(statements.columns(model, alias) for model, alias in parts)


def _whole_turn(values: Sequence[object]) -> Turn:
    turn, rest = _split_row(Turn, values)
    turn.user_message, rest = _split_row(Message, rest)
    turn.assistant_message, rest = _split_row(Message, rest)
    turn.conversation, _ = _split_row(Conversation, rest)
    return turn


def _split_row(
    model: type[statements.Row], values: Sequence[object]
) -> tuple[statements.Row, Sequence[object]]:
    width = statements.width(model)
    return statements.instance(model, values[:width]), values[width:]


def turn_of(user: User, message: Message) -> Turn | None:
    contains_message = Q(user_message=message) | Q(assistant_message=message)
    return Turn.objects.filter(contains_message, user=user).select_related("user_message").first()


# An SQL expression for the names of the speakers in a person's conversations. `u` is the person's
# row. Endpoints pass the expression as `with_person`, so the names are loaded with the person.
SPEAKERS = (
    "ARRAY(SELECT DISTINCT unnest(c.speakers) FROM conversations_conversation c"
    " WHERE c.user_id = u.id AND c.hidden_at IS NULL AND c.speakers <> '{}')"
)


def speakers_of(user: User) -> tuple[str, ...]:
    """Return the names of the speakers in this person's conversations, in alphabetical order."""
    rows = statements.rows(f"SELECT {SPEAKERS} FROM ops_user u WHERE u.id = %s", [user.pk])
    return tuple(sorted(name for (names,) in rows for name in names))
