"""Parse the input of `add`: the owner, the messages and the labels of what is learned from them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memcenter.compat.mem0 import values
from memcenter.compat.mem0.filters import ANY, ENTITIES
from memcenter.lib import ids as made_ids
from memcenter.lib.errors import Invalid

THREADS = "mem0:"
UNANSWERED = "…"
_LONGEST_THREAD = 200
_MOST_MESSAGES = 500


@dataclass(frozen=True)
class Ids:
    user: str | None = None
    agent: str = ""
    app: str = ""
    run: str = ""

    @property
    def thread(self) -> str:
        """Return the conversation for these messages: one for each run, agent and app."""
        told = {"run": self.run, "agent": self.agent, "app": self.app}
        name = THREADS + ";".join(f"{what}={name}" for what, name in told.items() if name)
        if len(name) <= _LONGEST_THREAD:
            return name
        return THREADS + hashlib.sha256(name.encode()).hexdigest()

    @property
    def labels(self) -> dict[str, str]:
        given = {"agent_id": self.agent, "app_id": self.app, "run_id": self.run}
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class Given:
    """A validated `add` call."""

    ids: Ids
    messages: list[tuple[str, str]]
    infer: bool
    metadata: Mapping[str, Any]
    at: datetime | None
    until: datetime | None

    def labels(self) -> dict[str, Any]:
        """Return the labels, including a mark that identifies everything from the same call."""
        given: dict[str, Any] = {"call": made_ids.request_id(), **self.ids.labels}
        if self.metadata:
            given["metadata"] = dict(self.metadata)
        if self.until is not None:
            given["valid_until"] = self.until.isoformat()
        if self.at is not None:
            given["occurred_at"] = self.at.isoformat()
        return given


def added(body: Mapping[str, Any]) -> Given:
    """Validate the input. Raises `Invalid` naming the field."""
    at = body.get("timestamp")
    return Given(
        ids=ids_of(body),
        messages=list(_messages(body.get("messages"))),
        infer=body.get("infer") is not False,
        metadata=values.metadata(body.get("metadata")),
        at=None if at is None else values.moment(at, field="timestamp"),
        until=values.expiry(body.get("expiration_date")),
    )


def ids_of(body: Mapping[str, Any]) -> Ids:
    """Read the ids from the top level or from `filters`, where they may be inside an AND."""
    found: dict[str, str] = {}
    for place in (*_flat(body.get("filters")), body):
        for key in ENTITIES:
            if place.get(key) is not None:
                found[key] = values.name(place[key], field=key)
    if not found or ANY in found.values():
        raise Invalid.field("user_id", "Give user_id, agent_id, app_id or run_id, each by name.")
    return Ids(
        found.get("user_id"),
        found.get("agent_id", ""),
        found.get("app_id", ""),
        found.get("run_id", ""),
    )


def pairs(messages: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Pair user messages with answers as turns; a placeholder stands for a missing side."""
    turns: list[tuple[str, str]] = []
    said: str | None = None
    for role, text in messages:
        if role == "user":
            if said is not None:
                turns.append((said, UNANSWERED))
            said = text
        else:
            turns.append((said or UNANSWERED, text))
            said = None
    if said is not None:
        turns.append((said, UNANSWERED))
    return turns


def _flat(filters: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(filters, dict):
        inner = filters.get("AND")
        for one in inner if isinstance(inner, list) else ():
            if isinstance(one, dict):
                yield one
        yield filters


def _messages(given: Any) -> Iterator[tuple[str, str]]:
    """Return the messages of user and assistant, without instructions and tool calls."""
    if isinstance(given, str):
        given = [{"role": "user", "content": given}]
    listed = [given] if isinstance(given, dict) else given
    if not isinstance(listed, list) or len(listed) > _MOST_MESSAGES:
        raise Invalid.field("messages", f"Give a list of at most {_MOST_MESSAGES} messages.")
    some = False
    for one in listed:
        if not isinstance(one, dict):
            raise Invalid.field("messages", "Each message has a role and a content.")
        text = _text(one.get("content"))
        if one.get("role") in ("user", "assistant") and text.strip():
            some = True
            yield one["role"], text
    if not some:
        raise Invalid.field("messages", "Nobody says anything in them.")


def _text(content: Any) -> str:
    """Return the text of a content, which may consist of parts such as pictures."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else [content]
    texts = [one["text"] for one in parts if isinstance(one, dict) and "text" in one]
    return "\n".join(text for text in texts if isinstance(text, str))
