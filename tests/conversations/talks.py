"""Two turns with all that is kept of them, and the ways to have them forgotten."""

from dataclasses import dataclass

from conversations.forgetting import message_forgets
from conversations.models import Conversation, Feedback, Message, Rating, Turn
from memories.models import Arbitration, Memory, Refusal
from ops.access import as_user
from ops.models import Operation, User
from tests.factories import (
    make_conversation,
    make_episode,
    make_memory,
    make_summary,
    make_trace,
    make_turn,
)

TEA = "I drink green tea every morning before work"
JAZZ = "I play the double bass in a jazz trio"


@dataclass(frozen=True)
class Talk:
    """Two turns with all that is kept of them; the memory `tea` rests on the first one only."""

    conversation: Conversation
    tea_turn: Turn
    jazz_turn: Turn
    tea: Memory
    jazz: Memory


def make_talk(user: User) -> Talk:
    conversation = make_conversation(user, title=TEA[:20])
    tea_turn, jazz_turn = make_turn(conversation, TEA), make_turn(conversation, JAZZ)
    for turn in (tea_turn, jazz_turn):
        make_episode(turn)
        make_trace(
            user,
            turn.user_message.content,
            answer=turn.assistant_message,
            conversation=conversation,
        )
        Feedback.objects.create(
            user=user, message=turn.assistant_message, rating=Rating.POSITIVE, comment="thanks"
        )
        Refusal.objects.create(user=user, turn=turn, category="password")
    make_summary(conversation, "Alice drinks tea and plays jazz", through=4)
    tea = make_memory(user, "Alice drinks green tea every morning", turns=[tea_turn])
    jazz = make_memory(user, "Alice plays the double bass in a jazz trio", turns=[jazz_turn])
    Arbitration.objects.create(
        user=user, turn=tea_turn, memory=tea, verdict="ADD", candidate_text="tea", decided_by="rule"
    )
    conversation.refresh_from_db()
    return Talk(conversation, tea_turn, jazz_turn, tea, jazz)


def forget_message(message: Message, *, cascade: bool = False) -> Operation:
    with as_user(message.user):
        return message_forgets.forget_message(user=message.user, message=message, cascade=cascade)


def forget_conversation(conversation: Conversation, *, memories: bool = True) -> Operation:
    user = conversation.user
    with as_user(user):
        return message_forgets.forget_conversation(
            user=user, conversation=conversation, forget_memories=memories
        )


def clear(conversation: Conversation, *, memories: bool = True) -> Operation:
    user = conversation.user
    with as_user(user):
        return message_forgets.clear_conversation(
            user=user, conversation=conversation, forget_memories=memories
        )
