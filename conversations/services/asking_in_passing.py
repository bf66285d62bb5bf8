"""What is to be answered in a temporary chat; as `asking`, in Redis alone."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conversations.models import Role
from conversations.services import preparing, temporary
from conversations.services.asking import SAID_LATER
from conversations.services.preparing import Prepared
from conversations.services.temporary import TemporaryConversation, TemporaryMessage
from conversations.services.threads import title_of
from conversations.services.turns import MessageInput
from memcenter.lib.errors import Conflict
from ops.models import User


@dataclass
class Passing:
    """The newest message of a temporary chat, with the answer that is there already."""

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
        return preparing.prepare_in_passing(
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


def ask(text: str, *, user: User, conversation: TemporaryConversation | None) -> Passing:
    """Say something new in a temporary chat; without one it begins one."""
    conversation = conversation or temporary.create(user=user, external_id=None)
    if not conversation.title:
        conversation = temporary.rename(conversation, title=title_of(text))
    (said,), _ = temporary.append(conversation, messages=(MessageInput(text),))
    count = conversation.message_count + 1
    return Passing(user, replace(conversation, message_count=count), said)


def last(*, user: User, conversation: TemporaryConversation) -> Passing:
    """What was asked last. Raises `Conflict` where nobody asked anything."""
    newest = temporary.read(conversation)[-2:]
    if newest and newest[-1].role == Role.USER:
        return Passing(user, conversation, newest[-1])
    if [one.role for one in newest] != [Role.USER, Role.ASSISTANT]:
        raise Conflict("There is nothing to answer here.")
    return Passing(user, conversation, newest[0], newest[1])


def edit(
    text: str, *, user: User, conversation: TemporaryConversation, message: str
) -> tuple[Passing, list[str]]:
    """Say the last message otherwise; gives the ids of what went beside it."""
    found = last(user=user, conversation=conversation)
    if found.question.public_id != message:
        raise Conflict(SAID_LATER)
    conversation = temporary.cut(conversation, count=len(found.shown))
    return ask(text, user=user, conversation=conversation), found.shown
