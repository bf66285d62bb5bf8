"""Asking for an answer at the page, and reading what its stream said."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from django.core.signals import request_finished
from django.db import close_old_connections
from django.test import Client

from conversations.chat import answer_text, chat_messages
from conversations.chat.chat_messages import KeptThread, Thread
from conversations.models import Conversation, Message, Role, Turn
from conversations.recording.turns import MessageInput
from ops.access import as_user
from ops.models import User
from tests.memories.pages import address, htmx

STREAM = {"Accept": "text/event-stream"}


def events_of(response: Any) -> list[tuple[str, dict[str, Any]]]:
    """What a stream said, without its signs of life."""
    text = b"".join(response.streaming_content).decode()
    blocks = [block.split("\n") for block in text.split("\n\n") if block.startswith("event:")]
    return [(name[7:], json.loads(data[6:])) for name, data in blocks]


def hang_up(response: Any) -> None:
    """As a server does it; the signal would close what this test's transaction is in."""
    request_finished.disconnect(close_old_connections)
    response.close()
    request_finished.connect(close_old_connections)


def say(client: Client, conversation: Conversation, text: str) -> list[tuple[str, dict[str, Any]]]:
    url = address("conversation", conversation.public_id)
    return events_of(client.post(url, {"text": text}, headers=htmx("bubbles") | STREAM))


def again(client: Client, conversation: Conversation) -> dict[str, Any]:
    """What the stream of another answer ends with."""
    url = address("conversation_answer", conversation.public_id)
    return events_of(client.post(url, headers=htmx("bubbles") | STREAM))[-1][1]


def edit(
    client: Client, conversation: Conversation, message: Message, text: str, **more: str
) -> Any:
    url = address("conversation_edit", conversation.public_id)
    return client.post(url, {"text": text, "message": message.public_id} | more)


def texts_of(conversation: Conversation) -> list[str]:
    found = Message.objects.filter(conversation=conversation).order_by("number")
    return list(found.values_list("content", flat=True))


@dataclass(frozen=True)
class Exchange:
    user_message: Message
    assistant_message: Message
    turn: Turn


def exchange(text: str, *, user: User, conversation: Conversation) -> Exchange:
    """Say `text` in a stored conversation, and have the demo assistant answer it."""
    thread = chat_messages.ask(text, user=user, conversation=conversation)
    assert isinstance(thread, KeptThread)
    prepared = thread.prepare()
    reply = answer_text.demo_answer(prepared)
    thread.keep(prepared, MessageInput(reply, role=Role.ASSISTANT))
    question, answer = thread.said
    return Exchange(question, answer, Turn.objects.get(assistant_message=answer))


def thread_of(conversation: Conversation) -> Thread:
    with as_user(conversation.user):
        return chat_messages.last_question(user=conversation.user, conversation=conversation)
