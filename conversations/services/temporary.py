"""Temporary conversations: in Redis for a day, and nowhere else.

Nothing is learned from them, nothing is traced, and they make nobody appear: a person who is
named in one only need not exist. Redis without persistence may lose them earlier.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any

import orjson
import redis
from django.conf import settings
from django.utils import timezone
from django.utils.translation import gettext_noop
from redis.backoff import NoBackoff
from redis.retry import Retry

from conversations.models import ConversationKind, Role
from conversations.services.threads import check_external_id
from conversations.services.turns import MessageInput
from memcenter.lib import ids, tokens
from memcenter.lib.errors import Conflict, Invalid, NotFound
from ops.models import User
from ops.registry import Derived
from ops.restoring import Loading

logger = logging.getLogger(__name__)
_PREFIX = "mc:temporary:"
IS_TEMPORARY = gettext_noop("temporary conversations end where they began")


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
    """`owner` says whose it is without needing a row for the person."""

    public_id: str
    external_id: str | None
    owner: str
    title: str
    kind: str
    created_at: datetime
    updated_at: datetime
    message_count: int = 0
    last_message_at: datetime | None = None


@functools.cache
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
    """Make one; of this external id there is only one at a time, which is given back.

    Raises `NotFound` for a person who is being forgotten.
    """
    if external_id is not None:
        check_external_id(external_id, field="conversation_id")
        if found := find(user=user, reference=external_id):
            return found
    made = unsaved(user=user, external_id=external_id, title=title, kind=kind)
    with client().pipeline() as pipe:
        _put(pipe, made)
        pipe.hset(_index(made.owner), external_id or made.public_id, made.public_id)
        pipe.expire(_index(made.owner), _lifetime())
        pipe.execute()
    _check_still_there(user, made)
    return made


def _check_still_there(user: User, made: TemporaryConversation) -> None:
    """A forget that began meanwhile may have looked here before it was written."""
    if user.pk is not None and not User.objects.filter(pk=user.pk, hidden_at=None).exists():
        erase(made)
        raise NotFound("There is no such user.")


def unsaved(
    *, user: User, external_id: str | None, title: str = "", kind: str | None = None
) -> TemporaryConversation:
    """One that is nowhere yet: to recall for, where nothing is to be kept."""
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
    """The person's temporary conversation of our id or the client's.

    With Redis gone there is none: what is kept must go on without it.
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


def owner_of(public_id: str) -> User | None:
    """Whose it is, as far as the chat product names them; the row is not read and need not be."""
    try:
        found = _get(public_id)
    except redis.RedisError:
        return None
    if found is None or not found.owner.startswith("external:"):
        return None
    return User(external_id=found.owner.removeprefix("external:"))


def rename(conversation: TemporaryConversation, *, title: str) -> TemporaryConversation:
    renamed = replace(conversation, title=title.strip(), updated_at=timezone.now())
    _change(conversation, lambda pipe: _put(pipe, renamed))
    return renamed


def append(
    conversation: TemporaryConversation, *, messages: tuple[MessageInput, ...]
) -> tuple[list[TemporaryMessage], bool]:
    """Add what was said, in order; True beside it when all of it was there already.

    Raises `Conflict` when a client's id comes with another text, `Invalid` for an impossible one.
    """
    known = {one.external_id: one for one in read(conversation) if one.external_id is not None}
    said, fresh = [], []
    for message in messages:
        found = _known(known, message)
        said.append(found or _made(message))
        if found is None:
            fresh.append(said[-1])
    if fresh:
        _add(conversation, fresh)
    return said, not fresh


def cut(conversation: TemporaryConversation, *, count: int) -> TemporaryConversation:
    """Take away the newest messages; gives the conversation as it is then."""
    left = max(0, conversation.message_count - count)
    shorter = replace(conversation, message_count=left, updated_at=timezone.now())

    def take_away(pipe: Any) -> None:
        pipe.ltrim(_messages(conversation.public_id), 0, -count - 1)
        _put(pipe, shorter)

    _change(conversation, take_away)
    return shorter


def read(conversation: TemporaryConversation) -> list[TemporaryMessage]:
    """Its messages, oldest first."""
    rows = client().lrange(_messages(conversation.public_id), 0, -1)
    return [_message(orjson.loads(row)) for row in rows]


def erase(conversation: TemporaryConversation, *, messages_only: bool = False) -> None:
    name = conversation.public_id
    with client().pipeline() as pipe:
        pipe.delete(_messages(name))
        if messages_only:
            _put(pipe, replace(conversation, message_count=0, last_message_at=None))
        else:
            pipe.delete(_PREFIX + name)
            pipe.hdel(_index(conversation.owner), conversation.external_id or name)
        pipe.execute()


def all_of(user: User) -> list[TemporaryConversation]:
    names = client().hvals(_index(owner_key(user)))
    return [found for name in names if (found := _get(_text(name))) is not None]


def erase_all(user: User) -> int:
    """Erase every temporary conversation of a person; gives how many there were."""
    found = all_of(user)
    for conversation in found:
        erase(conversation)
    client().delete(_index(owner_key(user)))
    return len(found)


class TemporaryData(Derived):
    """How temporary conversations leave and are erased, for the registry of personal data."""

    name = "temporary_conversation"
    order = 1

    def export(self, user: User) -> Iterator[Mapping[str, Any]]:
        for conversation in all_of(user):
            messages = [asdict(message) for message in read(conversation)]
            yield {**asdict(conversation), "messages": messages}

    def load(self, loading: Loading, rows: Iterable[Mapping[str, Any]]) -> None:
        if any(True for _ in rows):
            loading.leave_out(self.name, IS_TEMPORARY)

    def erase(self, user_id: int) -> Mapping[str, int]:
        user = User.objects.filter(pk=user_id).first()
        return {"temporary_conversation": erase_all(user) if user else 0}

    def count(self, user: User) -> int:
        return len(all_of(user))


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


def _change(conversation: TemporaryConversation, act: Callable[[Any], None]) -> None:
    """Write into one that is there. Raises `NotFound` when it was erased meanwhile.

    Else a call that was on its way would write again what a forget had erased, for whoever has the
    same external id next.
    """
    name = _PREFIX + conversation.public_id

    def change(pipe: Any) -> None:
        if not pipe.exists(name):
            raise NotFound("There is no such conversation.")
        pipe.multi()
        act(pipe)

    client().transaction(change, name)


def _put(target: Any, conversation: TemporaryConversation) -> None:
    """Write its row; it still ends a day after it began."""
    ends = int(conversation.created_at.timestamp()) + _lifetime()
    target.set(_PREFIX + conversation.public_id, orjson.dumps(conversation), exat=ends)


def _get(public_id: str) -> TemporaryConversation | None:
    raw = client().get(_PREFIX + public_id)
    if raw is None:
        return None
    fields = orjson.loads(raw)
    for name in ("created_at", "updated_at", "last_message_at"):
        fields[name] = fields[name] and datetime.fromisoformat(fields[name])
    return TemporaryConversation(**fields)


def _message(fields: dict[str, Any]) -> TemporaryMessage:
    return TemporaryMessage(**fields | {"created_at": datetime.fromisoformat(fields["created_at"])})


def _known(known: Mapping[str, TemporaryMessage], message: MessageInput) -> TemporaryMessage | None:
    if message.external_id is None:
        return None
    check_external_id(message.external_id, field="message_id")
    found = known.get(message.external_id)
    if found is not None and (found.content, found.role) != (message.content, message.role):
        raise Conflict("This id was used for another message.")
    return found


def _made(message: MessageInput) -> TemporaryMessage:
    if message.role not in Role.values:
        raise Invalid.field("role", f"Must be one of {', '.join(Role.values)}.")
    if not message.content.strip():
        raise Invalid.field("content", "The text must not be empty.")
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


def _add(conversation: TemporaryConversation, messages: list[TemporaryMessage]) -> None:
    name = _messages(conversation.public_id)
    changed = replace(
        conversation,
        message_count=conversation.message_count + len(messages),
        last_message_at=messages[-1].created_at,
        updated_at=timezone.now(),
    )
    ends = int(conversation.created_at.timestamp()) + _lifetime()

    def say(pipe: Any) -> None:
        pipe.rpush(name, *(orjson.dumps(message) for message in messages))
        pipe.expireat(name, ends)
        _put(pipe, changed)

    _change(conversation, say)
