"""One exchange with the demo assistant in one go: recall, answer, and record or keep for a day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conversations.models import Conversation, Role
from conversations.services import speaking, temporary, threads, turns
from conversations.services.context import Context
from conversations.services.preparing import prepare, prepare_in_passing
from conversations.services.temporary import TemporaryConversation
from conversations.services.threads import title_from
from conversations.services.turns import MessageInput, RecordedTurn
from memories.services import traces
from ops.access import as_user
from ops.models import User


@dataclass(frozen=True)
class Exchange:
    """What was said and answered, what was recalled for it, and what it made us forget."""

    turn: RecordedTurn
    context: Context
    forgotten: Sequence[str]


def exchange(text: str, *, user: User, conversation: Conversation) -> Exchange:
    """Answer `text` with the demo assistant and record the turn.

    "Forget that …" is done before the answer, so that the answer can say what was forgotten. It
    opens its own transactions; call it outside of any. Raises as `record_turn` does.
    """
    prepared = prepare(text, user=user, conversation=conversation)
    reply = speaking.demo_answer(prepared)
    with as_user(user):
        threads.give_title(conversation, text)
        turn = turns.record_turn(
            user=user,
            conversation=conversation,
            user_message=MessageInput(text),
            assistant_message=MessageInput(reply),
            forget_done=prepared.forgotten is not None,
        )
        request_id = prepared.found.request_id
        traces.answered(user=user, request_id=request_id, answer=turn.assistant_message)
    return Exchange(turn, prepared.found, prepared.forgotten or [])


def exchange_in_passing(text: str, *, user: User, conversation: TemporaryConversation) -> None:
    """Answer `text` with the demo assistant and keep both in Redis; nothing else is written.

    "Forget that …" is done all the same: it was asked for, and the answer says what went. It opens
    its own transactions; call it outside of any.
    """
    prepared = prepare_in_passing(text, user=user, conversation=conversation)
    reply = speaking.demo_answer(prepared)
    if not conversation.title:
        conversation = temporary.rename(conversation, title=title_from(text))
    said = MessageInput(text), MessageInput(reply, role=Role.ASSISTANT)
    temporary.append(conversation, messages=said)
