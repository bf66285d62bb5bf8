"""One exchange with the demo assistant in one go: recall, answer, and record or keep for a day."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.models import Conversation, Role
from conversations.services import speaking, temporary, threads, turns
from conversations.services.context import Context
from conversations.services.preparing import prepare, prepare_in_passing
from conversations.services.temporary import TemporaryConversation
from conversations.services.turns import MessageInput, RecordedTurn
from memories.services import traces
from memories.services.requests import Outcome
from ops.access import as_user
from ops.models import User


@dataclass(frozen=True)
class Exchange:
    """What was said and answered, what was recalled for it, and what became of a forget."""

    turn: RecordedTurn
    context: Context
    forget: Outcome | None


def exchange(text: str, *, user: User, conversation: Conversation) -> Exchange:
    """Answer `text` with the demo assistant and record the turn.

    "Forget that …" is settled before the answer, so that the answer can say what became of it. It
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
            forget=prepared.forget,
        )
        request_id = prepared.found.request_id
        traces.answered(user=user, request_id=request_id, answer=turn.assistant_message)
    return Exchange(turn, prepared.found, prepared.forget)


def exchange_in_passing(text: str, *, user: User, conversation: TemporaryConversation) -> None:
    """Answer `text` with the demo assistant and keep both in Redis; nothing else is written.

    A plain "forget that …" is done all the same. It opens its own transactions; call it outside of
    any.
    """
    prepared = prepare_in_passing(text, user=user, conversation=conversation)
    reply = speaking.demo_answer(prepared)
    if not conversation.title:
        conversation = temporary.rename(conversation, title=threads.title_of(text))
    said = MessageInput(text), MessageInput(reply, role=Role.ASSISTANT)
    temporary.append(conversation, messages=said)
