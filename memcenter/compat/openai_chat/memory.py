"""Recall before the model and record after it; neither ever fails the chat."""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.db import Error, connection
from redis.exceptions import RedisError

from conversations import selectors
from conversations.models import Conversation, ConversationKind, Message, Role
from conversations.services import context, temporary, temporary_context, threads, turns
from conversations.services.context import Context, Wanted
from conversations.services.temporary import TemporaryConversation
from conversations.services.turns import MessageInput
from memcenter.compat.openai_chat.reading import Said
from memcenter.lib.errors import ApplicationError, ProviderError
from memories.services import search
from memories.services.pool import PreparedQuery
from ops.access import as_user
from ops.models import User

logger = logging.getLogger(__name__)
_SKIPPED = "Recall for a chat completion was skipped: %s"
_NOT_RECORDED = "A chat completion was not recorded: %s"


@dataclass(frozen=True)
class Exchange:
    """Whose turn it is and where it belongs; `brief`: a temporary chat; `kept`: is recorded."""

    user: User
    thread: str
    said: Said
    brief: bool = False
    kept: bool = True
    kind: str = ConversationKind.MAIN


@dataclass(frozen=True)
class Recalled:
    """The memory block; the request's first `covered` messages are told by its summary."""

    block: str = ""
    covered: int = 0


def thread_id(said: Said, *, user: User) -> str:
    """The conversation's id where the client gives none: all its requests begin alike."""
    return f"chat-{_mark(user, said.first)}"


def recalled(exchange: Exchange) -> Recalled:
    """What the model is given, or nothing: recall that fails or takes too long is left out.

    The bound is `MEMCENTER_RECALL_PATIENCE` seconds, for embedding and for each statement.
    """
    if exchange.user.pk is None:  # nobody yet, and a temporary chat makes nobody appear
        return Recalled()
    deadline = time.monotonic() + settings.RECALL_PATIENCE
    try:
        with as_user(exchange.user):
            speakers = selectors.speakers_of(exchange.user)
        preparing = _embedding().submit(search.prepare_query, exchange.said.text, speakers=speakers)
        prepared = preparing.result(timeout=deadline - time.monotonic())
        with as_user(exchange.user):
            _give_up_after(deadline - time.monotonic())
            return _recalled(prepared, exchange)
    except (ApplicationError, ProviderError, TimeoutError, Error, RedisError) as error:
        logger.warning(_SKIPPED, type(error).__name__)
        return Recalled()


def record(exchange: Exchange, *, answer: str, finished: bool) -> None:
    """Keep the turn, once: a request that is sent again adds nothing. An answer that broke off
    is kept as what it is, and no turn is made of it."""
    if not exchange.kept or not answer.strip():
        return
    try:
        if exchange.brief:
            _record_briefly(exchange, answer)
            return
        with as_user(exchange.user):
            _record(exchange, answer, finished=finished)
    except (ApplicationError, Error, RedisError) as error:
        logger.warning(_NOT_RECORDED, type(error).__name__)


def _recalled(prepared: PreparedQuery, exchange: Exchange) -> Recalled:
    wanted = Wanted(conversation_kind=exchange.kind, include_window=False)
    user = exchange.user
    if exchange.brief or not exchange.kept:
        thread = _temporary(exchange)
        found = temporary_context.build(prepared, user=user, conversation=thread, wanted=wanted)
        return Recalled(found.block)
    kept = Conversation.objects.filter(user=user, external_id=exchange.thread).first()
    found = context.build(prepared, user=user, conversation=kept, wanted=wanted)
    covered = _covered(found, exchange, kept) if kept and settings.COMPACT_COMPLETIONS else 0
    return Recalled(found.block, covered)


def _covered(found: Context, exchange: Exchange, kept: Conversation) -> int:
    """How many of the request's first messages left the window and stand in the block's summary.

    Only whole turns that were recorded from requests that began as this one does.
    """
    summary, start = found.gathered.summary, found.gathered.window.first_number
    if summary is None or start is None or all(one.type != "summary" for one in found.items):
        return 0
    said = exchange.said
    starts = dict(zip(_marks(exchange), [*said.starts[1:], 0], strict=True))
    ids = [f"{mark}-a" for mark in list(starts)[:-1]]
    answered = Message.objects.filter(user=exchange.user, conversation=kept, external_id__in=ids)
    last = answered.filter(number__lte=min(summary.through_number, start - 1))
    newest = last.order_by("-number").values_list("external_id", flat=True).first()
    return starts[newest.removesuffix("-a")] if newest else 0


def _temporary(exchange: Exchange) -> TemporaryConversation:
    """The temporary conversation, without making it appear."""
    return temporary.find(user=exchange.user, reference=exchange.thread) or temporary.unsaved(
        user=exchange.user, external_id=exchange.thread, kind=exchange.kind
    )


def _record(exchange: Exchange, answer: str, *, finished: bool) -> None:
    conversation = threads.find_or_create(
        user=exchange.user, reference=exchange.thread, kind=exchange.kind
    )
    said, reply = _inputs(exchange, answer, finished=finished)
    if finished:
        turns.record_turn(
            user=exchange.user,
            conversation=conversation,
            user_message=said,
            assistant_message=reply,
            tools=exchange.said.tools,
        )
        return
    for message in (said, reply):
        turns.record_message(user=exchange.user, conversation=conversation, message=message)


def _record_briefly(exchange: Exchange, answer: str) -> None:
    thread = temporary.create(user=exchange.user, external_id=exchange.thread, kind=exchange.kind)
    temporary.append(thread, messages=_inputs(exchange, answer, finished=True))


def _inputs(
    exchange: Exchange, answer: str, *, finished: bool
) -> tuple[MessageInput, MessageInput]:
    mark = _mark(exchange.user, exchange.thread, *exchange.said.before)
    longest = settings.MAX_MESSAGE_CHARS
    said = MessageInput(exchange.said.text[:longest], external_id=f"{mark}-q")
    reply = MessageInput(
        answer.replace("\x00", "")[:longest],
        role=Role.ASSISTANT,
        external_id=f"{mark}-a" if finished else None,
        completed=finished,
    )
    return said, reply


@cache
def _embedding() -> ThreadPoolExecutor:
    """An embedder somewhere else may be slow: what waits for it here can go on without."""
    return ThreadPoolExecutor(4, thread_name_prefix="embedding")


def _give_up_after(seconds: float) -> None:
    with connection.cursor() as cursor:
        milliseconds = str(max(1, int(seconds * 1000)))
        cursor.execute("SELECT set_config('statement_timeout', %s, true)", [milliseconds])


def _marks(exchange: Exchange) -> list[str]:
    """What each turn of the request is known by, up to the newest."""
    said = exchange.said
    mark = _keyed(exchange.user, exchange.thread)
    found = []
    for place, text in enumerate(said.before):
        _take(mark, text)
        if place in said.starts:
            found.append(mark.hexdigest()[:32])
    return found


def _mark(user: User, *texts: str) -> str:
    """Keyed, so that the id gives no way to try out what was said."""
    return _keyed(user, *texts).hexdigest()[:32]


def _keyed(user: User, *texts: str) -> hmac.HMAC:
    owner = temporary.owner_key(user).encode()
    mark = hmac.new(settings.SECRET_KEY.encode(), owner, hashlib.sha256)
    for text in texts:
        _take(mark, text)
    return mark


def _take(mark: hmac.HMAC, text: str) -> None:
    mark.update(len(text).to_bytes(8, "big") + text.encode(errors="replace"))
