"""Record the conversations of one person from a file, one transaction per turn or message."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conversations.importing.formats.values import (
    ImportedConversation,
    ImportedMessage,
    ImportedPerson,
    ImportedTurn,
)
from conversations.models import Conversation, MessageTime
from conversations.recording import conversation_names, turns
from foundation.errors import ApplicationError, Invalid
from ops.access import as_system, as_user
from ops.accounts import users
from ops.models import Priority, User

INTERFACE_LANGUAGES = {"zh": "zh-hans", "en": "en"}


@dataclass(frozen=True)
class NotRecorded:
    """A message that was skipped, identified by the ids in the file.

    `reason` never quotes the text of the message.
    """

    conversation: str
    message: str
    reason: str


@dataclass(frozen=True)
class Progress:
    """The progress of an import, reported after each turn or message.

    `conversation` is the number of the current conversation, out of `conversations`. `messages`
    counts the messages of the person that were processed so far, out of `total`.
    """

    conversation: int
    conversations: int
    messages: int
    total: int
    conversation_is_done: bool


@dataclass
class Loaded:
    """The numbers of new rows, and the messages that were skipped.

    `repeated` is the number of messages that already existed.
    """

    conversations: int = 0
    messages: int = 0
    turns: int = 0
    repeated: int = 0
    skipped: tuple[NotRecorded, ...] = ()


OnProgress = Callable[[Progress], None]


def find_or_create_account(person: ImportedPerson, *, external_id: str) -> User:
    """Return the user with this external id, and create the user if necessary.

    Take the name and the language from the file if the user has none, and the time zone if the
    user's time zone is UTC. Raise `Invalid` if the id is invalid, and `Conflict` while the user is
    being forgotten.
    """
    users.check_external_id(external_id)
    with as_system():
        user = users.find_or_create(external_id)
        if person.name and not user.display_name:
            user.display_name = person.name
            user.save(update_fields=["display_name", "updated_at"])
        decided = users.settings_of(user)
        changes = {}
        if not decided.language:
            changes["language"] = INTERFACE_LANGUAGES.get(person.language, "")
        if decided.timezone == "UTC":
            changes["timezone"] = person.timezone
        if changes:
            users.change_settings(user=user, changes=changes)
    return user


def load_person(
    person: ImportedPerson, *, user: User, on_progress: OnProgress = lambda progress: None
) -> Loaded:
    """Record all conversations of the person for `user`, and enqueue learning at low priority.

    Each turn or message is recorded completely or not at all, under the ids of the file, so a
    second run completes an interrupted import without duplicates. Messages that can't be recorded
    are skipped and listed. Raise `Conflict` (`being_forgotten`) if a request to forget the user
    arrives meanwhile.
    """
    loading = _Loading(user, person, on_progress)
    for conversation in person.conversations:
        loading.import_conversation(conversation)
    return loading.loaded


class _Loading:
    def __init__(self, user: User, person: ImportedPerson, on_progress: OnProgress) -> None:
        self._user = user
        self._report = on_progress
        self._count = len(person.conversations)
        self._total = sum(len(one.messages) for one in person.conversations)
        self._number = self._processed = 0
        self.loaded = Loaded()

    def import_conversation(self, source: ImportedConversation) -> None:
        self._number += 1
        try:
            with as_user(self._user):
                conversation = conversation_names.find_or_create(
                    user=self._user,
                    reference=source.client_id,
                    kind=source.kind,
                    title=source.title,
                )
        except ApplicationError as error:
            self._skip(source, source.messages, error)
            self._advance(len(source.messages), is_done=True)
            return
        self._import_parts(source, conversation)

    def _import_parts(self, source: ImportedConversation, conversation: Conversation) -> None:
        known = conversation.last_number
        before = self.loaded.messages
        left = len(source.messages)
        for part in source.parts():
            messages = (part.user, part.assistant) if isinstance(part, ImportedTurn) else (part,)
            try:
                self._record(part, conversation, known=known)
            except Invalid:
                # If one message of a turn can't be recorded, record only the other one.
                for message in messages:
                    try:
                        self._record(message, conversation, known=known)
                    except ApplicationError as error:
                        self._skip(source, (message,), error)
            except ApplicationError as error:
                self._skip(source, messages, error)
            left -= len(messages)
            self._advance(len(messages), is_done=left == 0)
        self.loaded.conversations += known == 0 and self.loaded.messages > before

    def _record(
        self, part: ImportedTurn | ImportedMessage, conversation: Conversation, *, known: int
    ) -> None:
        with as_user(self._user):
            if isinstance(part, ImportedTurn):
                turn = turns.record_turn(
                    user=self._user,
                    conversation=conversation,
                    user_message=_input(part.user),
                    assistant_message=_input(part.assistant),
                    occurred_at=part.user.created_at,
                    priority=Priority.BULK,
                )
                found, new_turn = [turn.user_message, turn.assistant_message], not turn.repeated
            else:
                recorded = turns.record_message(
                    user=self._user,
                    conversation=conversation,
                    message=_input(part),
                    priority=Priority.BULK,
                )
                found = [recorded.message]
                new_turn = recorded.turn is not None and not recorded.repeated
        new = sum(message.number > known for message in found)
        self.loaded.messages += new
        self.loaded.repeated += len(found) - new
        self.loaded.turns += new_turn

    def _skip(
        self,
        source: ImportedConversation,
        messages: tuple[ImportedMessage, ...],
        error: ApplicationError,
    ) -> None:
        if error.code == "being_forgotten":
            raise error
        self.loaded.skipped += tuple(
            NotRecorded(source.client_id, one.client_id, error.message) for one in messages
        )

    def _advance(self, count: int, *, is_done: bool) -> None:
        self._processed += count
        self._report(Progress(self._number, self._count, self._processed, self._total, is_done))


def _input(message: ImportedMessage) -> turns.MessageInput:
    return turns.MessageInput(
        content=message.content,
        role=message.role,
        external_id=message.client_id,
        created_at=message.created_at,
        speaker=message.speaker,
        completed=message.completed,
        told=MessageTime.DATED if message.dated else MessageTime.UNDATED,
    )
