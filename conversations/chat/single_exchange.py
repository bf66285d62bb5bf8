"""One exchange with the demo assistant in a single call: recall, answer and record."""

from __future__ import annotations

from dataclasses import dataclass

from conversations.block.context import Context
from conversations.chat import answer_text
from conversations.chat.preparation import prepare, prepare_in_passing
from conversations.models import Conversation, Role
from conversations.recording import conversation_names, temporary, turns
from conversations.recording.temporary import TemporaryConversation
from conversations.recording.turns import MessageInput, RecordedTurn
from memories.forgetting.spoken_requests import Outcome
from memories.recall import traces
from ops.access import as_user
from ops.models import User


@dataclass(frozen=True)
class Exchange:
    """The question, the answer, the recalled context and the outcome of a request to forget."""

    turn: RecordedTurn
    context: Context
    forget: Outcome | None


def exchange(text: str, *, user: User, conversation: Conversation) -> Exchange:
    """Answer `text` with the demo assistant and record the turn.

    A request to forget is carried out before the answer, so that the answer can tell its outcome.
    Opens its own transactions; call it outside of any. Raises as `record_turn` does.
    """
    prepared = prepare(text, user=user, conversation=conversation)
    reply = answer_text.demo_answer(prepared)
    with as_user(user):
        conversation_names.give_title(conversation, text)
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
    """Answer `text` with the demo assistant and store both in Redis only.

    An unambiguous request to forget is carried out all the same. Opens its own transactions; call
    it outside of any.
    """
    prepared = prepare_in_passing(text, user=user, conversation=conversation)
    reply = answer_text.demo_answer(prepared)
    if not conversation.title:
        conversation = temporary.rename(conversation, title=conversation_names.title_of(text))
    said = MessageInput(text), MessageInput(reply, role=Role.ASSISTANT)
    temporary.append(conversation, messages=said)
