"""Everything personal that stands in the tables of this app: how it leaves, returns and goes."""

from conversations.models import Conversation, Episode, Feedback, Message, Summary, Turn
from conversations.restored_rows import (
    ConversationRows,
    EpisodeRows,
    MessageRows,
    SummaryRows,
    TurnRows,
)
from conversations.services.temporary import TemporaryData
from ops.personal_rows import RowsUnder
from ops.registry import register

_TEXTS = (
    ("user_message", "turn__user_message__content"),
    ("assistant_message", "turn__assistant_message__content"),
)

register(
    TemporaryData(),
    RowsUnder(
        Feedback,
        order=40,
        parents=("message",),
        natural=("message",),
        conversation="message__conversation",
    ),
    SummaryRows(
        Summary,
        order=41,
        leave_out=("hidden_at",),
        inside=("conversation",),
        conversation="conversation",
    ),
    EpisodeRows(
        Episode,
        order=42,
        leave_out=("hidden_at",),
        natural=("turn",),
        conversation="conversation",
        also=_TEXTS,
    ),
    TurnRows(
        Turn,
        order=43,
        leave_out=("hidden_at",),
        natural=("user_message",),
        conversation="conversation",
    ),
    MessageRows(
        Message,
        order=44,
        leave_out=("hidden_at",),
        natural=("conversation", "external_id"),
        conversation="conversation",
    ),
    ConversationRows(
        Conversation,
        order=45,
        leave_out=("hidden_at",),
        natural=("external_id",),
        conversation="pk",
    ),
)
