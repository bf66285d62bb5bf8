"""The rows that search reads: only the columns that are ranked, shown or put into a prompt."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple


class MemoryRow(NamedTuple):
    pk: int
    public_id: str
    kind: str
    content: str
    summary: str
    status: str
    pinned: bool
    standing: bool
    importance: float
    occurred_at: datetime | None
    created_at: datetime
    last_accessed_at: datetime | None
    feedback: str


class MessageRow(NamedTuple):
    pk: int
    public_id: str
    content: str
    number: int
    speaker: str
    created_at: datetime
    conversation: str
    secrets: list[int]


class EpisodeRow(NamedTuple):
    """An episode; `number` is the reply's number in the conversation."""

    pk: int
    public_id: str
    said: str
    reply: str
    number: int
    speaker: str
    created_at: datetime
    conversation: str
    user_message: str
    assistant_message: str
    said_secrets: list[int]
    reply_secrets: list[int]


class SummaryRow(NamedTuple):
    pk: int
    public_id: str
    text: str
    created_at: datetime
    conversation: str


class NoteRow(NamedTuple):
    pk: int
    public_id: str
    text: str
    created_at: datetime
