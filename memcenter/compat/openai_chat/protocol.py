"""Parse OpenAI's chat requests and answers, without side effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from foundation.errors import Invalid

Message = Mapping[str, Any]
_INSTRUCTIONS = ("system", "developer")


@dataclass(frozen=True)
class NewestMessage:
    """The newest user message of a request, with its context.

    `before` holds the texts of all messages up to and including the newest user message; two
    requests of the same turn have the same `before`. `first` is the first user message. `tools` are
    the tool calls of the turn with their results. `starts` are the positions of the user messages
    in the request.
    """

    text: str
    first: str
    before: tuple[str, ...]
    tools: tuple[Mapping[str, Any], ...]
    starts: tuple[int, ...] = ()


def messages_of(body: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the request's messages. Raise `Invalid` for `messages` if they are malformed."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Invalid.field("messages", "Give a list of at least one message.")
    for number, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise Invalid.field("messages", f"{number}: A message is an object with a role.")
    return messages


def newest_user_message(messages: Sequence[Message]) -> NewestMessage | None:
    """Return the newest user message, or None if there is none or it has no text."""
    asked = [number for number, message in enumerate(messages) if message["role"] == "user"]
    if not asked or not (text := text_of(messages[asked[-1]].get("content")).strip()):
        return None
    before = tuple(f"{message['role']}:{text_of(message.get('content'))}" for message in messages)
    return NewestMessage(
        text=text,
        first=text_of(messages[asked[0]].get("content")),
        before=before[: asked[-1] + 1],
        tools=tuple(_tools(messages[asked[-1] + 1 :])),
        starts=tuple(asked),
    )


def text_of(content: Any) -> str:
    """Return the text of a message's content, which may be a string or a list of parts."""
    if isinstance(content, str):
        return content.replace("\x00", "")
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") for part in content if isinstance(part, dict))
    return "\n".join(part for part in texts if isinstance(part, str)).replace("\x00", "")


def drop_first_messages(messages: Sequence[Message], count: int) -> list[Message]:
    """Return the messages without the first `count`, but keep system and developer messages."""
    kept = [message for message in messages[:count] if message["role"] in _INSTRUCTIONS]
    return [*kept, *messages[count:]]


def insert_block(messages: Sequence[Message], block: str) -> list[Message]:
    """Return the messages with the memory block in the system message at the beginning.

    If the request begins with a system or developer message, the block is appended to that message,
    since some models accept only one system message.
    """
    if not block:
        return list(messages)
    first = messages[0]
    if first["role"] not in _INSTRUCTIONS:
        return [{"role": "system", "content": block}, *messages]
    content = first.get("content")
    if isinstance(content, list):
        joined: Any = [*content, {"type": "text", "text": block}]
    else:
        joined = f"{content}\n\n{block}" if content else block
    return [{**first, "content": joined}, *messages[1:]]


def _tools(since: Sequence[Message]) -> list[dict[str, Any]]:
    outputs = {
        message.get("tool_call_id"): text_of(message.get("content"))
        for message in since
        if message["role"] == "tool"
    }
    calls = [
        call for message in since for call in message.get("tool_calls") or () if _is_call(call)
    ]
    return [
        {
            "name": call["function"].get("name", ""),
            "input": call["function"].get("arguments", ""),
            "output": outputs.get(call.get("id"), ""),
            "ok": call.get("id") in outputs,
        }
        for call in calls
    ]


def _is_call(call: Any) -> bool:
    return isinstance(call, dict) and isinstance(call.get("function"), dict)


class WholeAnswer:
    """Collects the text of an answer that is a single JSON object.

    `finished` is true if the answer is complete and contains no tool calls.
    """

    def __init__(self) -> None:
        self._bytes = bytearray()

    def feed(self, chunk: bytes) -> None:
        self._bytes += chunk

    @property
    def raw(self) -> bytes:
        return bytes(self._bytes)

    @property
    def text(self) -> str:
        content = _answer_message(self._choice()).get("content")
        return content if isinstance(content, str) else ""

    @property
    def finished(self) -> bool:
        choice = self._choice()
        return bool(choice.get("finish_reason")) and not _answer_message(choice).get("tool_calls")

    def _choice(self) -> Mapping[str, Any]:
        return _first_choice(self.raw)


class Streamed:
    """Collects the text of an answer that consists of server-sent events.

    A chunk may end within an event. `finished` has the same meaning as in `WholeAnswer`.
    """

    def __init__(self) -> None:
        self._rest = b""
        self._pieces: list[str] = []
        self._calls = self._ended = False

    def feed(self, chunk: bytes) -> None:
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            if line.startswith(b"data:"):
                self._add_choice(_first_choice(line[5:].strip()))

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    @property
    def finished(self) -> bool:
        return self._ended and not self._calls

    def _add_choice(self, choice: Mapping[str, Any]) -> None:
        delta = choice.get("delta")
        if isinstance(delta, dict):
            if isinstance(piece := delta.get("content"), str):
                self._pieces.append(piece)
            self._calls = self._calls or bool(delta.get("tool_calls"))
        self._ended = self._ended or bool(choice.get("finish_reason"))


def _first_choice(raw: bytes) -> Mapping[str, Any]:
    try:
        answer = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return {}
    choices = answer.get("choices") if isinstance(answer, dict) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index", 0) == 0:
            return choice
    return {}


def _answer_message(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    message = choice.get("message")
    return message if isinstance(message, dict) else {}
