"""What is to be answered: something new, the last message once more, or what it should have been.

A question is recorded before anything is asked of a model: whatever fails then, it is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conversations import selectors
from conversations.models import Conversation, Message, Role, Turn
from conversations.services import (
    consequences,
    forgetting,
    preparing,
    threads,
    turns,
)
from conversations.services.preparing import Prepared
from conversations.services.turns import MessageInput
from memcenter.lib.errors import Conflict
from memories.services import traces
from memories.services.requests import Outcome
from ops.access import as_user
from ops.models import User

SAID_LATER = "Something was said after it meanwhile. Reload the page to see it."


@dataclass
class Kept:
    """The newest message of a person, with the answer that is there already.

    Answered once more, the whole turn gives way to a new one through the forgetting services: the
    very words are said anew, so that what they teach can be learned again. That happens only when
    the new answer is whole; until then, and where it fails, the old one stays. `said` are the
    messages of the turn at last.
    """

    user: User
    conversation: Conversation
    question: Message
    answer: Message | None = None
    turn: Turn | None = None
    is_accounted = True

    def __post_init__(self) -> None:
        self.said: list[Message] = [self.question, *([self.answer] if self.answer else [])]

    @property
    def public_id(self) -> str:
        return self.conversation.public_id

    @property
    def shown(self) -> list[str]:
        """The public ids of the messages as they are before it is answered."""
        return [one.public_id for one in (self.question, self.answer) if one is not None]

    def prepare(self) -> Prepared:
        return preparing.prepare(
            self.question.content,
            user=self.user,
            conversation=self.conversation,
            question=self.question,
            without=self.shown,
        )

    def keep(self, prepared: Prepared, reply: MessageInput) -> None:
        """Raises `NotFound` when the question went meanwhile, `Conflict` when it is answered."""
        if self.answer is not None and not reply.completed:
            return  # one half of an answer is no better than the one that is there
        with as_user(self.user):
            if self.turn is not None:
                self.said = self._anew(reply, prepared.forget)
            else:
                self.said = [self.question, self._completed(reply, prepared.forget)]
            request_id = prepared.found.request_id
            traces.answered(user=self.user, request_id=request_id, answer=self.said[-1])

    def _anew(self, reply: MessageInput, forget: Outcome | None) -> list[Message]:
        assert self.answer is not None
        _check_last(self)
        forgetting.forget_message(user=self.user, message=self.answer, cascade=True)
        turn = turns.record_turn(
            user=self.user,
            conversation=self.conversation,
            user_message=MessageInput(self.question.content, speaker=self.question.speaker),
            assistant_message=reply,
            forget=forget,
        )
        threads.give_title(turn.conversation, self.question.content)
        return [turn.user_message, turn.assistant_message]

    def _completed(self, reply: MessageInput, forget: Outcome | None) -> Message:
        if self.answer is not None:  # it had broken off
            forgetting.forget_message(user=self.user, message=self.answer)
        return turns.record_answer(
            user=self.user, question=self.question, answer=reply, forget=forget
        ).message


@dataclass(frozen=True)
class Edited:
    """The message as it is now, and what went: public ids of messages, texts of memories."""

    thread: Kept
    gone: Sequence[str]
    memories: Sequence[str]


def ask(text: str, *, user: User, conversation: Conversation | None) -> Kept:
    """Record something new; without a conversation it begins one. Raises as `record_message`."""
    with as_user(user):
        if conversation is None:
            conversation = threads.create(user=user, external_id=None)
        return _said(text, user=user, conversation=conversation)


def last(*, user: User, conversation: Conversation) -> Kept:
    """What was asked last, to be answered (again); in the caller's transaction.

    Raises `Conflict` where nobody asked anything.
    """
    found = _last(user, conversation)
    if found is None:
        raise Conflict("There is nothing to answer here.")
    return found


def edit(text: str, *, user: User, conversation: Conversation, message: str) -> Edited:
    """Say the last message (of this public id) otherwise.

    The earlier wording is forgotten with its answer and all that rests on them, in the
    transaction that records the new one. Raises `Conflict` when it isn't the last any more.
    """
    with as_user(user, changing=True):
        found = _last(user, conversation)
        if found is None or found.question.public_id != message:
            raise Conflict(SAID_LATER)
        lost = consequences.of_message(found.question, user=user).memories
        for one in found.said if found.turn is None else found.said[:1]:
            forgetting.forget_message(user=user, message=one, cascade=True)
        conversation = threads.resolve(user=user, reference=conversation.public_id)
        thread = _said(text, user=user, conversation=conversation)
    return Edited(thread, found.shown, [one.content for one in lost])


def _said(text: str, *, user: User, conversation: Conversation) -> Kept:
    threads.give_title(conversation, text)
    recorded = turns.record_message(
        user=user, conversation=conversation, message=MessageInput(text)
    )
    return Kept(user, conversation, recorded.message)


def _last(user: User, conversation: Conversation) -> Kept | None:
    """The newest message where it is the person's, or the one before it with its answer."""
    found = selectors.messages_of(user, conversation).order_by("-number")[:2]
    newest = list(found)
    if newest and newest[0].role == Role.USER:
        return Kept(user, conversation, newest[0])
    if [one.role for one in newest] != [Role.ASSISTANT, Role.USER]:
        return None
    answer, question = newest
    return Kept(user, conversation, question, answer, selectors.turn_of(user, answer))


def _check_last(thread: Kept) -> None:
    """Under the lock that recording and forgetting take too."""
    Conversation.objects.select_for_update().filter(pk=thread.conversation.pk).first()
    found = _last(thread.user, thread.conversation)
    if found is None or found.shown != thread.shown:
        raise Conflict(SAID_LATER)
