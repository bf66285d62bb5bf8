"""Everything personal that stands in the tables of this app: how it leaves and how it goes."""

from conversations.models import Conversation, Episode, Feedback, Message, Summary, Turn
from conversations.services.temporary import TemporaryData
from ops.personal_rows import RowsUnder
from ops.registry import Rows, register

register(
    TemporaryData(),
    RowsUnder(Feedback, order=40, parents=("message",)),
    Rows(Summary, order=41, leave_out=("hidden_at",)),
    Rows(Episode, order=42, leave_out=("hidden_at",)),
    Rows(Turn, order=43, leave_out=("hidden_at",)),
    Rows(Message, order=44, leave_out=("hidden_at",)),
    Rows(Conversation, order=45, leave_out=("hidden_at",)),
)
