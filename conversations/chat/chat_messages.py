"""The message to answer: a new one, the last one again, or an edited last one.

A question is recorded before the model is called, so that a failure never loses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from conversations import selectors
from conversations.chat import preparation
from conversations.chat.preparation import Prepared
from conversations.forgetting import forget_preview, message_forgets
from conversations.models import Conversation, Message, Role, Turn
from conversations.recording import conversation_names, turns
from conversations.recording.turns import MessageInput
from memcenter.lib.errors import Conflict
from memories.forgetting.spoken_requests import Outcome
from memories.learning import told_messages
from memories.recall import traces
from ops.access import as_user
from ops.models import User

SAID_LATER = "Something newer has been said since. Reload the page to see it."


@dataclass
class KeptThread:
    """The newest message of a person in a kept conversation, with its present answer if any.

    Answering it again replaces the whole turn through the forgetting services, so that its words
    count as told anew and can be learned again. The old turn is replaced only when the new answer
    is complete; if that fails, the old turn stays. `said` holds the messages of the final turn.
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
        """The public ids of the messages before the question is answered."""
        return [one.public_id for one in (self.question, self.answer) if one is not None]

    def prepare(self) -> Prepared:
        return preparation.prepare(
            self.question.content,
            user=self.user,
            conversation=self.conversation,
            question=self.question,
            without=self.shown,
        )

    def keep(self, prepared: Prepared, reply: MessageInput) -> None:
        """Raise `NotFound` if the question was deleted, `Conflict` if it has an answer."""
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
        carried = told_messages.take_from(self.question, user=self.user)
        message_forgets.forget_message(user=self.user, message=self.answer, cascade=True)
        turn = turns.record_turn(
            user=self.user,
            conversation=self.conversation,
            user_message=MessageInput(self.question.content, speaker=self.question.speaker),
            assistant_message=reply,
            forget=forget,
        )
        carried.rest_on(turn.turn)
        conversation_names.give_title(turn.conversation, self.question.content)
        return [turn.user_message, turn.assistant_message]

    def _completed(self, reply: MessageInput, forget: Outcome | None) -> Message:
        if self.answer is not None:  # it had broken off
            message_forgets.forget_message(user=self.user, message=self.answer)
        return turns.record_answer(
            user=self.user, question=self.question, answer=reply, forget=forget
        ).message


@dataclass(frozen=True)
class Edited:
    """The edited message, the public ids of deleted messages and the texts of deleted memories."""

    thread: KeptThread
    gone: Sequence[str]
    memories: Sequence[str]


def ask(text: str, *, user: User, conversation: Conversation | None) -> KeptThread:
    """Record a new message, in a new conversation if none is given. Raises as `record_message`."""
    with as_user(user):
        if conversation is None:
            conversation = conversation_names.create(user=user, external_id=None)
        return _said(text, user=user, conversation=conversation)


def last(*, user: User, conversation: Conversation) -> KeptThread:
    """Return the last question, to be answered (again). Runs in the caller's transaction.

    Raises `Conflict` if the conversation has no question.
    """
    found = _last(user, conversation)
    if found is None:
        raise Conflict("There is nothing to answer here.")
    return found


def edit(text: str, *, user: User, conversation: Conversation, message: str) -> Edited:
    """Replace the text of the last message, which must have this public id.

    The transaction that records the new text also forgets the old one, its answer and everything
    derived from them. Raises `Conflict` if the message is no longer the last.
    """
    with as_user(user, changing=True):
        found = _last(user, conversation)
        if found is None or found.question.public_id != message:
            raise Conflict(SAID_LATER)
        lost = forget_preview.of_message(found.question, user=user).memories
        for one in found.said if found.turn is None else found.said[:1]:
            message_forgets.forget_message(user=user, message=one, cascade=True)
        conversation = conversation_names.resolve(user=user, reference=conversation.public_id)
        thread = _said(text, user=user, conversation=conversation)
    return Edited(thread, found.shown, [one.content for one in lost])


def _said(text: str, *, user: User, conversation: Conversation) -> KeptThread:
    conversation_names.give_title(conversation, text)
    recorded = turns.record_message(
        user=user, conversation=conversation, message=MessageInput(text)
    )
    return KeptThread(user, conversation, recorded.message)


def _last(user: User, conversation: Conversation) -> KeptThread | None:
    """Return the newest message if the person wrote it, else the one before it with its answer."""
    found = selectors.messages_of(user, conversation).order_by("-number")[:2]
    newest = list(found)
    if newest and newest[0].role == Role.USER:
        return KeptThread(user, conversation, newest[0])
    if [one.role for one in newest] != [Role.ASSISTANT, Role.USER]:
        return None
    answer, question = newest
    return KeptThread(user, conversation, question, answer, selectors.turn_of(user, answer))


def _check_last(thread: KeptThread) -> None:
    """Check under the lock that recording and forgetting also take."""
    Conversation.objects.select_for_update().filter(pk=thread.conversation.pk).first()
    found = _last(thread.user, thread.conversation)
    if found is None or found.shown != thread.shown:
        raise Conflict(SAID_LATER)
