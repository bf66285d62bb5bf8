"""The registry of this app's personal data: export, import and erase of every table."""

from conversations.importing.import_rows import (
    ConversationRows,
    EpisodeRows,
    MessageRows,
    SummaryRows,
    TurnRows,
)
from conversations.models import Conversation, Episode, Feedback, Message, Summary, Turn
from conversations.recording.temporary import TemporaryData
from ops.registry import register
from ops.transfer.personal_rows import RowsUnder

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
