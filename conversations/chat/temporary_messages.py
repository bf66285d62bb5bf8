"""The message to answer in a temporary chat: like `asking`, but only in Redis."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conversations.chat import preparation
from conversations.chat.chat_messages import SAID_LATER
from conversations.chat.preparation import Prepared
from conversations.models import Role
from conversations.recording import temporary
from conversations.recording.conversation_names import title_of
from conversations.recording.temporary import TemporaryConversation, TemporaryMessage
from conversations.recording.turns import MessageInput
from memcenter.lib.errors import Conflict
from ops.models import User


@dataclass
class TemporaryThread:
    """The newest message of a temporary chat, with its present answer if any."""

    user: User
    conversation: TemporaryConversation
    question: TemporaryMessage
    answer: TemporaryMessage | None = None
    is_accounted = False

    def __post_init__(self) -> None:
        self.said: list[TemporaryMessage] = [
            self.question,
            *([self.answer] if self.answer else []),
        ]

    @property
    def public_id(self) -> str:
        return self.conversation.public_id

    @property
    def shown(self) -> list[str]:
        return [one.public_id for one in (self.question, self.answer) if one is not None]

    def prepare(self) -> Prepared:
        return preparation.prepare_in_passing(
            self.question.content,
            user=self.user,
            conversation=self.conversation,
            without=self.shown,
        )

    def keep(self, prepared: Prepared, reply: MessageInput) -> None:
        if self.answer is not None and not reply.completed:
            return
        now = last(user=self.user, conversation=self.conversation)
        if now.shown != self.shown:
            raise Conflict(SAID_LATER)
        if self.answer is not None:
            self.conversation = temporary.cut(self.conversation, count=1)
        made, _ = temporary.append(self.conversation, messages=(reply,))
        self.said = [self.question, made[0]]


def ask(text: str, *, user: User, conversation: TemporaryConversation | None) -> TemporaryThread:
    """Add a new message to a temporary chat, or to a new one if none is given."""
    conversation = conversation or temporary.create(user=user, external_id=None)
    if not conversation.title:
        conversation = temporary.rename(conversation, title=title_of(text))
    (said,), _ = temporary.append(conversation, messages=(MessageInput(text),))
    count = conversation.message_count + 1
    return TemporaryThread(user, replace(conversation, message_count=count), said)


def last(*, user: User, conversation: TemporaryConversation) -> TemporaryThread:
    """Return the last question. Raises `Conflict` if the chat has no question."""
    newest = temporary.read(conversation)[-2:]
    if newest and newest[-1].role == Role.USER:
        return TemporaryThread(user, conversation, newest[-1])
    if [one.role for one in newest] != [Role.USER, Role.ASSISTANT]:
        raise Conflict("There is nothing to answer here.")
    return TemporaryThread(user, conversation, newest[0], newest[1])


def edit(
    text: str, *, user: User, conversation: TemporaryConversation, message: str
) -> tuple[TemporaryThread, list[str]]:
    """Replace the text of the last message; return the ids of the messages deleted with it."""
    found = last(user=user, conversation=conversation)
    if found.question.public_id != message:
        raise Conflict(SAID_LATER)
    conversation = temporary.cut(conversation, count=len(found.shown))
    return ask(text, user=user, conversation=conversation), found.shown
