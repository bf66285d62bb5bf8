"""LoCoMo files (Maharana et al. 2024): one long dialogue of two people, in sessions.

`{"speaker_a", "speaker_b", "session_1_date_time": "1:56 pm on 8 May, 2023", "session_1":
[{"speaker", "dia_id", "text", "blip_caption"?}, …], …}`, also under "conversation" and in a list,
as the original collection has them. A dialogue is one product user: speaker_a is the user,
speaker_b stands on the assistant's side, and both names stay on their messages.

Each session becomes a conversation of its own. Sessions lie days or weeks apart, and what ranks a
message also looks at its neighbours and at how well its conversation answers as a whole: in one
long conversation the last words of a session would be taken for the context of the next one's
first, and the window and the rolling summary would run over both.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from conversations.importing.formats import values
from conversations.importing.formats.types import (
    ASSISTANT,
    USER,
    ImportedConversation,
    ImportedMessage,
    ImportedPerson,
    Report,
    Skipped,
    Why,
)

APART = timedelta(minutes=1)
# The limit leaves room for the number that distinguishes two dialogues.
_ID_LENGTH = values.EXTERNAL_ID_LENGTH - 4
_SESSION = re.compile(r"session_(\d+)")
_TIME = "%I:%M %p on %d %B, %Y"


def matches(data: object) -> bool:
    if isinstance(data, list):
        return any(matches(one) for one in data if isinstance(one, dict))
    return isinstance(data, dict) and {"speaker_a", "speaker_b"} <= _dialogue(data).keys()


def read(data: list[Any] | dict[str, Any], *, report: Report) -> Iterator[ImportedPerson]:
    taken: set[str] = set()
    many = isinstance(data, list)
    for position, raw in enumerate(data if isinstance(data, list) else [data]):
        where = f"[{position}]" if many else ""
        try:
            person = _person(raw, where=where, taken=taken, report=report)
        except values.BadRow as bad:
            report(Skipped(where or "file", bad.why))
            continue
        taken.add(person.external_id)
        yield person


def _dialogue(row: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = row.get("conversation")
    return inner if isinstance(inner, dict) else row


def _person(raw: object, *, where: str, taken: set[str], report: Report) -> ImportedPerson:
    row = _dialogue(values.mapping(raw))
    roles = _roles(row)
    conversations = tuple(_sessions(row, roles=roles, where=where, report=report))
    if not conversations:
        raise values.BadRow(Why.EMPTY)
    return ImportedPerson(
        name=next(iter(roles)),
        external_id=values.unique("-".join(roles)[:_ID_LENGTH], taken),
        language=values.language_of(m.content for c in conversations for m in c.messages),
        conversations=conversations,
    )


def _roles(row: Mapping[str, Any]) -> dict[str, str]:
    """Return the role of each speaker, the user first."""
    user, other = values.label(row.get("speaker_a")), values.label(row.get("speaker_b"))
    if not user or not other or user == other:
        raise values.BadRow(Why.NO_NAME)
    return {user: USER, other: ASSISTANT}


def _sessions(
    row: Mapping[str, Any], *, roles: Mapping[str, str], where: str, report: Report
) -> Iterator[ImportedConversation]:
    # Dates of sessions that aren't in the file are common and harmless.
    numbers = sorted(int(found[1]) for key in row if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        here = f"{where}.session_{number}".lstrip(".")
        try:
            yield _session(row, number=number, roles=roles, where=here, report=report)
        except values.BadRow as bad:
            report(Skipped(here, bad.why))


def _session(
    row: Mapping[str, Any], *, number: int, roles: Mapping[str, str], where: str, report: Report
) -> ImportedConversation:
    rows = row[f"session_{number}"]
    if not isinstance(rows, list):
        raise values.BadRow(Why.NOT_A_LIST)
    started_at = _time(row.get(f"session_{number}_date_time"))
    messages = tuple(
        _messages(rows, started_at=started_at, roles=roles, where=where, report=report)
    )
    if not messages:
        raise values.BadRow(Why.EMPTY)
    return ImportedConversation(
        client_id=f"session_{number}",
        title=f"Session {number}, {started_at.day} {started_at:%B %Y}",
        kind="main",
        started_at=started_at,
        messages=messages,
    )


def _time(value: object) -> datetime:
    try:
        return datetime.strptime(str(value).strip(), _TIME).replace(tzinfo=UTC)
    except ValueError as error:
        raise values.BadRow(Why.BAD_TIME) from error


def _messages(
    rows: list[Any], *, started_at: datetime, roles: Mapping[str, str], where: str, report: Report
) -> Iterator[ImportedMessage]:
    taken: set[str] = set()
    for index, raw in enumerate(rows):
        here = f"{where}[{index}]"
        try:
            message = _message(raw, roles=roles, fallback=here, at=started_at + index * APART)
        except values.BadRow as bad:
            report(Skipped(here, bad.why))
            continue
        message_id = values.unique(message.client_id, taken)
        taken.add(message_id)
        yield message if message_id == message.client_id else _renamed(message, message_id)


def _renamed(message: ImportedMessage, client_id: str) -> ImportedMessage:
    return replace(message, client_id=client_id)


def _message(
    raw: object, *, roles: Mapping[str, str], fallback: str, at: datetime
) -> ImportedMessage:
    row = values.mapping(raw)
    speaker = values.label(row.get("speaker"))
    if speaker not in roles:
        raise values.BadRow(Why.BAD_SPEAKER)
    return ImportedMessage(
        client_id=values.client_id(row.get("dia_id") or fallback),
        role=roles[speaker],
        speaker=speaker,
        content=_content(row),
        created_at=at,
    )


def _content(row: Mapping[str, Any]) -> str:
    """Return the text, with the caption of a shared picture in brackets."""
    caption = values.label(row.get("blip_caption"))
    words = row.get("text")
    if not caption:
        return values.text(words)
    shown = f"[shares a photo: {caption}]"
    return f"{values.text(words)} {shown}" if values.label(words) else shown
