"""Build the texts of messages and turns for indexing and display, with secrets masked."""

from __future__ import annotations

from conversations.models import Message, Turn
from memories.extraction import masking


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

    This includes secrets that are recognizable only together with the other message of the turn.
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
