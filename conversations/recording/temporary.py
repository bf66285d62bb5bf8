"""Temporary conversations, which are stored only in Redis.

They expire `TEMPORARY_HOURS` after they were created; Redis without persistence may lose them
earlier. Nothing is learned from them and no recall trace is recorded. Their owner may be a person
without a user row, and none is created.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeVar

import orjson
import redis
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_noop
from redis.backoff import NoBackoff
from redis.retry import Retry

from conversations.models import ConversationKind, Role
from conversations.recording.conversation_names import check_external_id
from conversations.recording.turns import MessageInput, mask_for_storage
from foundation import ids
from foundation.errors import Conflict, Invalid, NotFound
from foundation.process import once_per_process
from foundation.text import tokens
from ops.models import User
from ops.portable_rows import Loading
from ops.registry import ErasableData

logger = logging.getLogger(__name__)
_PREFIX = "mc:temporary:"
Result = TypeVar("Result")
IS_TEMPORARY = gettext_noop("temporary chats aren’t exported")


@dataclass(frozen=True)
class TemporaryMessage:
    public_id: str
    external_id: str | None
    role: str
    speaker: str
    content: str
    completed: bool
    created_at: datetime
    token_count: int
    stopped: bool = False


@dataclass(frozen=True)
class TemporaryConversation:
    """A temporary conversation. `owner` identifies the person, who may have no user row."""

    public_id: str
    external_id: str | None
    owner: str
    title: str
    kind: str
    created_at: datetime
    updated_at: datetime
    message_count: int = 0
    last_message_at: datetime | None = None


@once_per_process
def client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=2,
        socket_connect_timeout=2,
        retry=Retry(NoBackoff(), 0),
    )


def create(
    *, user: User, external_id: str | None, title: str = "", kind: str | None = None
) -> TemporaryConversation:
    """Create a temporary conversation, or return the existing one with this external id.

    Raise `NotFound` if the person is being forgotten, and `Invalid` if the external id is invalid.
    """
    if external_id is not None:
        check_external_id(external_id, field="conversation_id")
    made = unsaved_conversation(user=user, external_id=external_id, title=title, kind=kind)
    index, field = _index(made.owner), external_id or made.public_id

    def change(pipe: Any) -> TemporaryConversation:
        known = pipe.hget(index, field)
        if found := _get(_text(known), pipe) if known else None:
            return found
        pipe.multi()
        _put(pipe, made)
        pipe.hset(index, field, made.public_id)
        pipe.expire(index, _lifetime())
        return made

    one = _transact(change, index)
    # Check now: a request to forget the person may have cleared Redis just before the write.
    if user.pk is not None and not User.objects.filter(pk=user.pk, hidden_at=None).exists():
        erase(one)
        raise NotFound("This user doesn’t exist.")
    return one


def unsaved_conversation(
    *, user: User, external_id: str | None, title: str = "", kind: str | None = None
) -> TemporaryConversation:
    """Return a temporary conversation that isn't stored, for a recall that must store nothing."""
    now = timezone.now()
    return TemporaryConversation(
        public_id=ids.conversation_id(),
        external_id=external_id,
        owner=owner_key(user),
        title=title.strip(),
        kind=kind or ConversationKind.MAIN,
        created_at=now,
        updated_at=now,
    )


def find(*, user: User, reference: str) -> TemporaryConversation | None:
    """Return the person's temporary conversation with this id, which is our id or the client's id.

    Return None if Redis is down, so that stored conversations still work.
    """
    try:
        public_id: str | None = reference
        if not reference.startswith("conv_"):
            known = client().hget(_index(owner_key(user)), reference)
            public_id = _text(known) if known else None
        found = _get(public_id) if public_id else None
    except redis.RedisError:
        logger.warning("Redis can't be reached; temporary conversations are not found.")
        return None
    return found if found is not None and found.owner == owner_key(user) else None


def rename(conversation: TemporaryConversation, *, title: str) -> TemporaryConversation:
    def change(pipe: Any, current: TemporaryConversation) -> TemporaryConversation:
        renamed = replace(current, title=title.strip(), updated_at=timezone.now())
        pipe.multi()
        _put(pipe, renamed)
        return renamed

    return _change(conversation, change)


def append(
    conversation: TemporaryConversation, *, messages: tuple[MessageInput, ...]
) -> tuple[list[TemporaryMessage], bool]:
    """Append messages in order, and return them; also return whether all of them already existed.

    Raise `Conflict` if a client's id was used for another text or role, `Invalid` if an id, a role
    or a text is invalid, and `NotFound` if the conversation no longer exists.
    """

    def change(pipe: Any, current: TemporaryConversation) -> tuple[list[TemporaryMessage], bool]:
        existing = _read(pipe, current)
        known = {one.external_id: one for one in existing if one.external_id is not None}
        results = [_find_existing(known, message) or _new_message(message) for message in messages]
        fresh = [one for one in results if one not in existing]
        if fresh:
            pipe.multi()
            count = len(existing) + len(fresh)
            name = _messages(current.public_id)
            changed = replace(
                current,
                message_count=count,
                last_message_at=fresh[-1].created_at,
                updated_at=timezone.now(),
            )
            pipe.rpush(name, *(orjson.dumps(message) for message in fresh))
            pipe.expireat(name, int(current.created_at.timestamp()) + _lifetime())
            _put(pipe, changed)
        return results, not fresh

    return _change(conversation, change)


def delete_newest(conversation: TemporaryConversation, *, count: int) -> TemporaryConversation:
    """Delete the `count` newest messages, and return the updated conversation.

    Raise `NotFound` if the conversation no longer exists.
    """

    def change(pipe: Any, current: TemporaryConversation) -> TemporaryConversation:
        name = _messages(current.public_id)
        left = max(0, pipe.llen(name) - count)
        shorter = replace(current, message_count=left, updated_at=timezone.now())
        pipe.multi()
        pipe.ltrim(name, 0, -count - 1)
        _put(pipe, shorter)
        return shorter

    return _change(conversation, change)


def read(conversation: TemporaryConversation) -> list[TemporaryMessage]:
    """Return the messages, oldest first."""
    return _read(client(), conversation)


def erase(conversation: TemporaryConversation, *, messages_only: bool = False) -> None:
    if messages_only:

        def change(pipe: Any, current: TemporaryConversation) -> None:
            pipe.multi()
            pipe.delete(_messages(current.public_id))
            _put(pipe, replace(current, message_count=0, last_message_at=None))

        _change(conversation, change)
        return
    name = conversation.public_id
    with client().pipeline() as pipe:
        pipe.delete(_messages(name))
        pipe.delete(_PREFIX + name)
        pipe.hdel(_index(conversation.owner), conversation.external_id or name)
        pipe.execute()


def list_conversations(user: User) -> list[TemporaryConversation]:
    names = client().hvals(_index(owner_key(user)))
    return [found for name in names if (found := _get(_text(name))) is not None]


def erase_all(user: User) -> int:
    found = list_conversations(user)
    for conversation in found:
        erase(conversation)
    client().delete(_index(owner_key(user)))
    return len(found)


class TemporaryData(ErasableData):
    """Registers temporary conversations as personal data, so that they are erased and counted.

    Exports leave them out, since a file would keep them for longer than `TEMPORARY_HOURS`.
    """

    name = "temporary_conversation"
    order = 1

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        if any(True for _ in rows):
            loading.leave_out(self.name, IS_TEMPORARY)

    def erase(self, user_id: int) -> Mapping[str, int]:
        user = User.objects.filter(pk=user_id).first()
        return {"temporary_conversation": erase_all(user) if user else 0}

    def count(self, user: User) -> int:
        return len(list_conversations(user))


def owner_key(user: User) -> str:
    if user.external_id is not None:
        return f"external:{user.external_id}"
    return f"subject:{user.subject}"


def _index(owner: str) -> str:
    return f"{_PREFIX}of:{owner}"


def _messages(public_id: str) -> str:
    return f"{_PREFIX}{public_id}:messages"


def _text(raw: bytes | str) -> str:
    return raw.decode() if isinstance(raw, bytes) else raw


def _lifetime() -> int:
    return int(settings.TEMPORARY_HOURS) * 3_600


def _change(
    conversation: TemporaryConversation, act: Callable[[Any, TemporaryConversation], Result]
) -> Result:
    """Change a conversation atomically with `act`. Raise `NotFound` if it no longer exists.

    `act` reads, calls `pipe.multi()` and writes. It is called again if the conversation or its
    messages changed in between, so a late call can't restore erased data.
    """
    name = _PREFIX + conversation.public_id

    def change(pipe: Any) -> Result:
        current = _get(conversation.public_id, pipe)
        if current is None:
            raise NotFound("This conversation doesn’t exist.")
        return act(pipe, current)

    return _transact(change, name, _messages(conversation.public_id))


def _transact(change: Callable[[Any], Result], *watched: str) -> Result:
    """Call `change` in a Redis transaction and return its result.

    `change` is called again whenever a watched key has changed in the meantime.
    """
    connected: Any = client()
    result: Result = connected.transaction(change, *watched, value_from_callable=True)
    return result


def _put(target: Any, conversation: TemporaryConversation) -> None:
    ends = int(conversation.created_at.timestamp()) + _lifetime()
    target.set(_PREFIX + conversation.public_id, orjson.dumps(conversation), exat=ends)


def _read(source: Any, conversation: TemporaryConversation) -> list[TemporaryMessage]:
    found = []
    for row in source.lrange(_messages(conversation.public_id), 0, -1):
        fields = orjson.loads(row)
        fields["created_at"] = datetime.fromisoformat(fields["created_at"])
        found.append(TemporaryMessage(**fields))
    return found


def _get(public_id: str, source: Any = None) -> TemporaryConversation | None:
    raw = (source or client()).get(_PREFIX + public_id)
    if raw is None:
        return None
    fields = orjson.loads(raw)
    for name in ("created_at", "updated_at", "last_message_at"):
        fields[name] = fields[name] and datetime.fromisoformat(fields[name])
    return TemporaryConversation(**fields)


def _find_existing(
    known: Mapping[str, TemporaryMessage], message: MessageInput
) -> TemporaryMessage | None:
    if message.external_id is None:
        return None
    check_external_id(message.external_id, field="message_id")
    found = known.get(message.external_id)
    [message] = mask_for_storage(message)
    if found is not None and (found.content, found.role) != (message.content, message.role):
        raise Conflict("This id was used for another message.")
    return found


def _new_message(message: MessageInput) -> TemporaryMessage:
    if message.role not in Role.values:
        raise Invalid.field("role", f"Must be one of {', '.join(Role.values)}.")
    if not message.content.strip():
        raise Invalid.field("content", "The text must not be empty.")
    [message] = mask_for_storage(message)
    return TemporaryMessage(
        public_id=ids.message_id(),
        external_id=message.external_id,
        role=message.role,
        speaker=message.speaker,
        content=message.content,
        completed=message.completed,
        created_at=message.created_at or timezone.now(),
        token_count=tokens.count(message.content),
        stopped=message.stopped,
    )
