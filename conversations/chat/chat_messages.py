"""Select the message to answer: a new message, an edited message, or the last message again.

Stored and temporary chats are answered in the same way; they differ only in where messages are
recorded. A question is recorded before the model is called, so that it isn't lost if the model
fails.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, TypeVar

from conversations import selectors
from conversations.chat import answer_text
from conversations.chat.answer_text import Prepared
from conversations.forgetting import message_erasure, message_forgets
from conversations.models import Conversation, Message, Role, Turn
from conversations.recording import conversation_names, temporary, turns
from conversations.recording.temporary import TemporaryConversation, TemporaryMessage
from conversations.recording.turns import MessageInput
from foundation.errors import Conflict
from memories.forgetting.spoken_requests import ForgetOutcome
from memories.learning import remember_this
from memories.recall import traces
from ops.access import as_user
from ops.models import User

SAID_LATER = "Something newer has been said since. Reload the page to see it."
NOT_HERE = "This message isn’t here any more. Reload the page to see what is."
Chat = TypeVar("Chat", Conversation, TemporaryConversation)
StoredMessage = TypeVar("StoredMessage", Message, TemporaryMessage)


@dataclass
class _Thread(Generic[Chat, StoredMessage]):
    """A conversation with the person's newest message and the existing answer to it, if any.

    `said` holds the question and its answer: first the existing answer, later the new one. `shown`
    holds the public ids of the question and of the existing answer, which the page already shows
    when the new answer begins.
    """

    user: User
    conversation: Chat
    question: StoredMessage
    answer: StoredMessage | None = None
    is_accounted: ClassVar[bool] = True

    def __post_init__(self) -> None:
        self.said: list[StoredMessage] = [
            one for one in (self.question, self.answer) if one is not None
        ]
        self.shown = [one.public_id for one in self.said]

    @property
    def public_id(self) -> str:
        return self.conversation.public_id

    def prepare(self) -> Prepared:
        return answer_text.prepare(
            self.question.content,
            user=self.user,
            conversation=self.conversation,
            question=self.question,
            without=self.shown,
        )

    def keep(self, prepared: Prepared, reply: MessageInput) -> None:
        """Record the answer, unless it broke off and would replace an existing answer.

        Raise `NotFound` if the question was deleted, and `Conflict` if it was answered elsewhere or
        a newer message exists.
        """
        if self.answer is None or reply.completed:
            self._record(prepared, reply)

    def _record(self, prepared: Prepared, reply: MessageInput) -> None:
        raise NotImplementedError


@dataclass
class KeptThread(_Thread[Conversation, Message]):
    """A stored conversation with the person's newest message.

    To answer the message again, the whole turn is forgotten and a new turn is recorded, so that the
    message counts as newly said and can be learned from again. The old turn is replaced only when
    the new answer is complete or was stopped; if the answer fails, the old turn is kept.
    """

    turn: Turn | None = None

    def _record(self, prepared: Prepared, reply: MessageInput) -> None:
        with as_user(self.user):
            if self.turn is not None:
                self.said = self._replace_turn(reply, prepared.forget)
            else:
                self.said = [self.question, self._complete_turn(reply, prepared.forget)]
            traces.link_answer(
                user=self.user,
                request_id=prepared.found.request_id,
                answer=self.said[-1],
                quoted=prepared.quoted,
            )

    def _replace_turn(self, reply: MessageInput, forget: ForgetOutcome | None) -> list[Message]:
        assert self.answer is not None
        # Recording and forgetting lock the same row.
        Conversation.objects.select_for_update().filter(pk=self.conversation.pk).first()
        found = _last_kept(self.user, self.conversation)
        if found is None or found.shown != self.shown:
            raise Conflict(SAID_LATER)
        detached = remember_this.detach_from(self.question, user=self.user)
        message_forgets.forget_message(user=self.user, message=self.answer, cascade=True)
        turn = turns.record_turn(
            user=self.user,
            conversation=self.conversation,
            user_message=MessageInput(self.question.content, speaker=self.question.speaker),
            assistant_message=reply,
            forget=forget,
        )
        detached.attach_to(turn.turn)
        conversation_names.give_title(turn.conversation, self.question.content)
        return [turn.user_message, turn.assistant_message]

    def _complete_turn(self, reply: MessageInput, forget: ForgetOutcome | None) -> Message:
        if self.answer is not None:  # the earlier answer broke off
            message_forgets.forget_message(user=self.user, message=self.answer)
        return turns.record_answer(
            user=self.user, question=self.question, answer=reply, forget=forget
        ).message


@dataclass
class TemporaryThread(_Thread[TemporaryConversation, TemporaryMessage]):
    is_accounted: ClassVar[bool] = False

    def _record(self, prepared: Prepared, reply: MessageInput) -> None:
        now = _last_temporary(self.user, self.conversation)
        if now is None or now.shown != self.shown:
            raise Conflict(SAID_LATER)
        if self.answer is not None:
            self.conversation = temporary.delete_newest(self.conversation, count=1)
        made, _ = temporary.append(self.conversation, messages=(reply,))
        self.said = [self.question, made[0]]


Thread = KeptThread | TemporaryThread


@dataclass(frozen=True)
class EditableMessage:
    """A message that the person may edit, and the messages that the edit would delete.

    An edit deletes the old message and all later messages; `gone` lists their public ids, oldest
    first. If more than the last question and answer would be deleted, the person must confirm: the
    request must contain the id of the newest message that they saw. `is_last` is True if no such
    confirmation is needed. `is_first` is True if no message precedes the edited message. `pks`
    holds the primary keys of the messages in `gone`, unless the chat is temporary.
    """

    question: Message | TemporaryMessage
    gone: Sequence[str]
    is_last: bool
    is_first: bool
    pks: Sequence[int] = ()

    @property
    def newest(self) -> str:
        return self.gone[-1]

    @property
    def later(self) -> int:
        return len(self.gone) - 1


class UnconfirmedEdit(Conflict):
    """Raised if an edit would delete messages that the person wasn't shown."""


@dataclass(frozen=True)
class EditedQuestion:
    """The result of an edit: the new message, and the deleted messages and memories.

    `gone` holds the public ids of the deleted messages. `memories` holds the texts of the deleted
    memories.
    """

    thread: Thread
    gone: Sequence[str]
    memories: Sequence[str] = ()


def ask(
    text: str,
    *,
    user: User,
    conversation: Conversation | TemporaryConversation | None,
    is_temporary: bool = False,
) -> Thread:
    """Record a new message, and create a conversation if `conversation` is None.

    With `is_temporary`, the created conversation is temporary. Opens its own transactions. Raise
    the same errors as `record_message`.
    """
    if conversation is None and is_temporary:
        conversation = temporary.create(user=user, external_id=None)
    if isinstance(conversation, TemporaryConversation):
        return _record_temporary_question(text, user=user, conversation=conversation)
    with as_user(user):
        if conversation is None:
            conversation = conversation_names.create(user=user, external_id=None)
        return _record_question(text, user=user, conversation=conversation)


def last_question(*, user: User, conversation: Conversation | TemporaryConversation) -> Thread:
    """Return the conversation's last question, so that it can be answered, or answered again.

    Runs in the caller's transaction. Raise `Conflict` if the conversation doesn't end with a
    question or the answer to a question.
    """
    if isinstance(conversation, TemporaryConversation):
        found: Thread | None = _last_temporary(user, conversation)
    else:
        found = _last_kept(user, conversation)
    if found is None:
        raise Conflict("There’s no message to answer here.")
    return found


def editable(
    *, user: User, conversation: Conversation | TemporaryConversation, message: str = ""
) -> EditableMessage:
    """Return the person's message with this id, and the messages that an edit would delete.

    Without `message`, return the person's last message. Runs in the caller's transaction. Raise
    `Conflict` if there is no such message.
    """
    if isinstance(conversation, TemporaryConversation):
        messages = temporary.read(conversation)
        at = max((at for at, one in enumerate(messages) if _may_edit(one, message)), default=None)
        if at is None:
            raise Conflict(NOT_HERE)
        rows = [(one.public_id, one.role) for one in messages[at:]]
        return _editable(messages[at], rows, is_first=at == 0)
    own = selectors.messages_of(user, conversation)
    questions = own.filter(role=Role.USER, **({"public_id": message} if message else {}))
    question = questions.order_by("-number").first()
    if question is None:
        raise Conflict(NOT_HERE)
    pks = message_erasure.later_message_pks(question, user=user)
    later = own.filter(pk__in=pks).order_by("number")
    rows = list(later.values_list("public_id", "role"))
    found = _editable(question, rows, is_first=conversation.message_count <= len(rows))
    return replace(found, pks=pks)


def _may_edit(one: TemporaryMessage, message: str) -> bool:
    return one.role == Role.USER and message in ("", one.public_id)


def _editable(
    question: Message | TemporaryMessage, rows: Sequence[tuple[str, str]], *, is_first: bool
) -> EditableMessage:
    is_last = [role for _, role in rows[1:]] in ([], [Role.ASSISTANT])
    return EditableMessage(question, [one for one, _ in rows], is_last=is_last, is_first=is_first)


def edit(
    text: str,
    *,
    user: User,
    conversation: Conversation | TemporaryConversation,
    message: str,
    newest: str = "",
) -> EditedQuestion:
    """Replace the text of a person's message and continue the conversation from there.

    The transaction that records the new text also forgets the old text, all later messages and
    everything derived from them. `newest` is the id of the newest message in the list of deletions
    that the person confirmed. Raise `Conflict` if the message to edit doesn't exist, and
    `UnconfirmedEdit` if the edit would delete messages outside that list.
    """
    if isinstance(conversation, TemporaryConversation):
        found = _confirmed(user, conversation, message, newest)
        shorter = temporary.delete_newest(conversation, count=len(found.gone))
        return EditedQuestion(
            _record_temporary_question(text, user=user, conversation=shorter), found.gone
        )
    with as_user(user, changing=True):
        locked = message_forgets.lock(user, conversation.pk)
        found = _confirmed(user, conversation, message, newest)
        lost = message_erasure.consequences_of_messages(
            found.pks, user=user, conversation=conversation.pk
        ).memories
        message_forgets.forget_messages(user, locked, found.pks)
        kept = conversation_names.resolve(user=user, reference=conversation.public_id)
        thread = _record_question(text, user=user, conversation=kept)
    return EditedQuestion(thread, found.gone, [one.content for one in lost])


def _confirmed(
    user: User, conversation: Conversation | TemporaryConversation, message: str, newest: str
) -> EditableMessage:
    if not message:
        raise Conflict(NOT_HERE)
    found = editable(user=user, conversation=conversation, message=message)
    if not found.is_last and found.newest != newest:
        raise UnconfirmedEdit(SAID_LATER)
    return found


def _record_question(text: str, *, user: User, conversation: Conversation) -> KeptThread:
    conversation_names.give_title(conversation, text)
    recorded = turns.record_message(
        user=user, conversation=conversation, message=MessageInput(text)
    )
    return KeptThread(user, conversation, recorded.message)


def _record_temporary_question(
    text: str, *, user: User, conversation: TemporaryConversation
) -> TemporaryThread:
    (message,), _ = temporary.append(conversation, messages=(MessageInput(text),))
    count = conversation.message_count + 1
    return TemporaryThread(user, replace(conversation, message_count=count), message)


def _last_kept(user: User, conversation: Conversation) -> KeptThread | None:
    found = _question(selectors.messages_of(user, conversation).order_by("-number")[:2])
    if found is None:
        return None
    question, answer = found
    turn = selectors.turn_of(user, answer) if answer else None
    return KeptThread(user, conversation, question, answer, turn)


def _last_temporary(user: User, conversation: TemporaryConversation) -> TemporaryThread | None:
    found = _question(temporary.read(conversation)[:-3:-1])
    return TemporaryThread(user, conversation, *found) if found else None


def _question(newest: Iterable[StoredMessage]) -> tuple[StoredMessage, StoredMessage | None] | None:
    """Return the question and its answer, if any, from the two newest messages (newest first).

    Return None if neither of them is a question.
    """
    match list(newest):
        case [asked, *_] if asked.role == Role.USER:
            return asked, None
        case [answer, asked] if (answer.role, asked.role) == (Role.ASSISTANT, Role.USER):
            return asked, answer
    return None
