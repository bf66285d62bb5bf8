"""Recall memories before the model is called, and record the turn afterwards.

If recall or recording fails, the error is logged and the chat continues.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

from django.conf import settings
from django.db import Error, connection
from redis.exceptions import RedisError

from conversations import selectors
from conversations.block import builder
from conversations.block.builder import BlockOptions, Context
from conversations.models import Conversation, ConversationKind, Message, Role
from conversations.recording import conversation_names, temporary, turns
from conversations.recording.turns import MessageInput
from foundation.errors import ApplicationError, ProviderError
from memcenter.compat.openai_chat.protocol import NewestMessage
from memories.recall import search
from memories.recall.candidate_pool import PreparedQuery
from ops.access import as_user
from ops.models import User

logger = logging.getLogger(__name__)
_SKIPPED = "Recall for a chat completion was skipped: %s"
_NOT_RECORDED = "A chat completion was not recorded: %s"


@dataclass(frozen=True)
class Exchange:
    """A turn with its user and conversation.

    `brief` is set for a temporary chat; `kept` says whether the turn is recorded.
    """

    user: User
    thread: str
    said: NewestMessage
    brief: bool = False
    kept: bool = True
    kind: str = ConversationKind.MAIN


@dataclass(frozen=True)
class Recalled:
    """The memory block to insert into the request.

    The summary in the block replaces the first `covered` messages of the request.
    """

    block: str = ""
    covered: int = 0


def thread_id(said: NewestMessage, *, user: User) -> str:
    """Return a conversation id derived from the first user message, for clients that send none."""
    return f"chat-{_mark(user, said.first)}"


def recall_block(exchange: Exchange) -> Recalled:
    """Return the memory block for a turn.

    The block is empty if the user isn't stored, or if recall fails or takes too long.

    Computing the embedding may take at most `MEMCENTER_RECALL_PATIENCE` seconds. After that, each
    SQL statement may take at most the remaining time.
    """
    if exchange.user.pk is None:  # unknown user: a temporary chat creates no user
        return Recalled()
    deadline = time.monotonic() + settings.RECALL_PATIENCE
    try:
        with as_user(exchange.user):
            speakers = selectors.speakers_of(exchange.user)
        preparing = _embedding().submit(search.prepare_query, exchange.said.text, speakers=speakers)
        prepared = preparing.result(timeout=deadline - time.monotonic())
        with as_user(exchange.user):
            seconds = deadline - time.monotonic()
            with connection.cursor() as cursor:
                milliseconds = str(max(1, int(seconds * 1000)))
                cursor.execute("SELECT set_config('statement_timeout', %s, true)", [milliseconds])
            return _recalled(prepared, exchange)
    except (ApplicationError, ProviderError, TimeoutError, Error, RedisError) as error:
        logger.warning(_SKIPPED, type(error).__name__)
        return Recalled()


def record(exchange: Exchange, *, answer: str, finished: bool) -> None:
    """Record the turn, unless it is already recorded (a client may repeat a request).

    Nothing is recorded if `exchange.kept` is false or the answer has no text. If the answer isn't
    `finished` (it was cut off or contains tool calls), both messages are stored without a turn,
    and the answer is marked as incomplete. A temporary chat stores every answer as finished.
    """
    if not exchange.kept or not answer.strip():
        return
    try:
        user = exchange.user
        if exchange.brief:
            thread = temporary.create(user=user, external_id=exchange.thread, kind=exchange.kind)
            temporary.append(thread, messages=_inputs(exchange, answer, finished=True))
            return
        said, reply = _inputs(exchange, answer, finished=finished)
        with as_user(user):
            conversation = conversation_names.find_or_create(
                user=user, reference=exchange.thread, kind=exchange.kind
            )
            if finished:
                turns.record_turn(
                    user=user,
                    conversation=conversation,
                    user_message=said,
                    assistant_message=reply,
                    tools=exchange.said.tools,
                )
                return
            for message in (said, reply):
                turns.record_message(user=user, conversation=conversation, message=message)
    except (ApplicationError, Error, RedisError) as error:
        logger.warning(_NOT_RECORDED, type(error).__name__)


def _recalled(prepared: PreparedQuery, exchange: Exchange) -> Recalled:
    options = BlockOptions(conversation_kind=exchange.kind, include_window=False)
    user = exchange.user
    if exchange.brief or not exchange.kept:
        thread = temporary.find(
            user=user, reference=exchange.thread
        ) or temporary.unsaved_conversation(
            user=user, external_id=exchange.thread, kind=exchange.kind
        )
        return Recalled(
            builder.build(prepared, user=user, conversation=thread, options=options).block
        )
    kept = Conversation.objects.filter(user=user, external_id=exchange.thread).first()
    found = builder.build(prepared, user=user, conversation=kept, options=options)
    covered = _covered(found, exchange, kept) if kept and settings.COMPACT_COMPLETIONS else 0
    return Recalled(found.block, covered)


def _covered(found: Context, exchange: Exchange, kept: Conversation) -> int:
    """Return the number of messages at the start of the request that the summary replaces.

    A turn is replaced only if the summary covers the whole turn, and if the request that recorded
    the turn started with the same messages.
    """
    summary, start = found.recalled.summary, found.recalled.window.first_number
    if summary is None or start is None or all(item.type != "summary" for item in found.items):
        return 0
    said = exchange.said
    starts = dict(zip(_marks(exchange), [*said.starts[1:], 0], strict=True))
    ids = [f"{mark}-a" for mark in list(starts)[:-1]]
    answered = Message.objects.filter(user=exchange.user, conversation=kept, external_id__in=ids)
    last = answered.filter(number__lte=min(summary.through_number, start - 1))
    newest = last.order_by("-number").values_list("external_id", flat=True).first()
    return starts[newest.removesuffix("-a")] if newest else 0


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
    """Return the thread pool of this process that computes embeddings.

    Since other threads compute them, a request can stop waiting for a slow embedding server.
    """
    return ThreadPoolExecutor(4, thread_name_prefix="embedding")


def _marks(exchange: Exchange) -> list[str]:
    """Return an id for each turn in the request: a hash of the messages up to its user message."""
    said = exchange.said
    _, *digests = _digests(exchange.user, exchange.thread, *said.before)
    return [digest for place, digest in enumerate(digests) if place in said.starts]


def _mark(user: User, *texts: str) -> str:
    return list(_digests(user, *texts))[-1]


def _digests(user: User, *texts: str) -> Iterator[str]:
    """Yield the keyed hash of the first text, of the first two texts, and so on."""
    owner = temporary.owner_key(user).encode()
    mark = hmac.new(settings.SECRET_KEY.encode(), owner, hashlib.sha256)
    for text in texts:
        mark.update(len(text).to_bytes(8, "big") + text.encode(errors="replace"))
        yield mark.hexdigest()[:32]
