"""The values read from a file, before anything is written."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

USER = "user"
ASSISTANT = "assistant"


class Why(StrEnum):
    """Why something was skipped. A fixed set, shown to people; never quotes content."""

    NOT_JSON = "not valid JSON in UTF-8"
    NOT_AN_OBJECT = "not a JSON object"
    NOT_A_LIST = "not a JSON list"
    NO_TEXT = "the message has no text"
    BAD_CHARACTERS = "the text holds characters that can't be stored"
    BAD_ID = "an id is empty, too long or holds control characters"
    REPEATED_ID = "the id of the message is used twice in its conversation"
    BAD_TIME = "the time can't be read"
    BAD_ZONE = "the time zone is unknown"
    BAD_DAY = "the day isn't a date"
    BAD_ROLE = "the role is neither user nor assistant"
    BAD_KIND = "the kind of conversation is neither main nor group"
    BAD_SPEAKER = "the speaker is none of the two of this dialogue"
    NO_NAME = "the person has no name"
    EMPTY = "nothing in it can be imported"
    NO_MEMORY = "the line is no memory"


@dataclass(frozen=True)
class Skipped:
    """A skipped place: a line, or a path of positions into the JSON."""

    where: str
    why: Why


Report = Callable[[Skipped], None]


@dataclass(frozen=True)
class ImportedMessage:
    """`client_id` is unique in its conversation; `speaker` is a name, empty is the user.

    `dated` tells whether the file says when it was said; otherwise `created_at` was made up.
    """

    client_id: str
    role: str
    speaker: str
    content: str
    created_at: datetime
    completed: bool = True
    dated: bool = True


@dataclass(frozen=True)
class ImportedTurn:
    user: ImportedMessage
    assistant: ImportedMessage


@dataclass(frozen=True)
class ImportedConversation:
    client_id: str
    title: str
    kind: str
    started_at: datetime
    messages: tuple[ImportedMessage, ...]

    def parts(self) -> Iterator[ImportedTurn | ImportedMessage]:
        """Yield all messages in order, a user's message with its completed reply as a turn."""
        waiting: ImportedMessage | None = None
        for message in self.messages:
            if waiting is not None and _answers(message):
                yield ImportedTurn(waiting, message)
                waiting = None
                continue
            if waiting is not None:
                yield waiting
            waiting = message if _asks(message) else None
            if waiting is None:
                yield message
        if waiting is not None:
            yield waiting

    @property
    def turns(self) -> tuple[ImportedTurn, ...]:
        return tuple(part for part in self.parts() if isinstance(part, ImportedTurn))


@dataclass(frozen=True)
class ImportedPerson:
    """One product user. An empty `external_id` means the user who imports the file.

    `language` is "zh" or "en"; `timezone` is an IANA name.
    """

    name: str
    external_id: str
    language: str
    conversations: tuple[ImportedConversation, ...]
    timezone: str = "UTC"


@dataclass(frozen=True)
class ImportedMemory:
    """A statement that another program remembered."""

    content: str
    kind: str
    created_at: datetime | None = None
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""


def _asks(message: ImportedMessage) -> bool:
    return message.role == USER and message.completed


def _answers(message: ImportedMessage) -> bool:
    return message.role == ASSISTANT and message.completed
