"""Our own JSON lines format, with one turn or message per line. The demo data uses it too.

A turn has the fields of the body of `POST /turns`:

    {"user": "maya", "conversation": "rota", "user_message": "I'm off nights now.",
     "assistant_message": "At last!", "occurred_at": "2026-03-02T18:05:00Z"}

A single message has the fields of the body of `POST …/messages`:

    {"user": "maya", "conversation": "rota", "role": "user", "content": "Hello?"}

| field | meaning |
|---|---|
| `user` / `user_id` | the person's `external_id`; default: the user who imports the file |
| `name`, `language`, `timezone` | of the person; the first given value counts |
| `conversation` / `conversation_id` | the client's own id; default: one for all lines |
| `title`, `kind` / `conversation_kind` | of the conversation; the first given value counts |
| `user_message`, `assistant_message` | a string, or `{content, created_at?, speaker?}` |
| `user_message_id`, `assistant_message_id`, `message_id` | default: position in the conversation |
| `role`, `content`, `completed` | of a single message; `role` is `user` or `assistant` |
| `speaker` | the name of the speaker; on a turn, of the user |
| `occurred_at` / `created_at` | ISO 8601; UTC if no time zone is given |
| `days_ago` + `time` | alternative: that many days before today in `timezone`, at "HH:MM" |

A line without a time is dated one second after the previous line of its conversation; the first
line of a conversation is then dated one day before the import. Lines of several people and
conversations may be mixed: people are returned in the order of their first line, and their messages
in the order of the lines. Blank lines and unknown fields are ignored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from conversations.importing.formats import values
from conversations.importing.formats.values import (
    ASSISTANT,
    USER,
    ImportedConversation,
    ImportedMessage,
    ImportedPerson,
    Report,
    SkipReason,
)

KINDS = ("main", "group")
LANGUAGES = {"en": "en", "zh": "zh", "zh-hans": "zh", "zh-cn": "zh"}
DEFAULT_CONVERSATION = "imported"
REPLY_AFTER = timedelta(seconds=20)


@dataclass
class _OpenConversation:
    title: str = ""
    kind: str = ""
    messages: dict[str, ImportedMessage] = field(default_factory=dict)

    def next_time(self, now: datetime) -> datetime:
        if not self.messages:
            # One day ago, so that a file without times doesn't end in the future.
            return now - timedelta(days=1)
        return next(reversed(self.messages.values())).created_at + timedelta(seconds=1)

    @property
    def is_dated(self) -> bool:
        """Return True if the file gives a time for the last message or for an earlier one."""
        return bool(self.messages) and next(reversed(self.messages.values())).dated


@dataclass(frozen=True)
class _MessageTime:
    """The time of a message.

    `dated` is False if neither this nor an earlier line of the conversation has a time; `moment` is
    then made up.
    """

    moment: datetime
    dated: bool


@dataclass
class _Person:
    name: str = ""
    language: str = ""
    timezone: str = ""
    talks: dict[str, _OpenConversation] = field(default_factory=dict)


def matches_line(raw: bytes) -> bool:
    try:
        row = values.mapping(values.parse(raw))
    except values.BadRow:
        return False
    return "user_message" in row or {"role", "content"} <= row.keys()


def read(path: Path, *, now: datetime, report: Report) -> Iterator[ImportedPerson]:
    people: dict[str, _Person] = {}
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, start=1):
            with values.report_bad_row(f"line {number}", report):
                if raw.strip():
                    _add_line(people, values.mapping(values.parse(raw)), now=now)
    for external_id, person in people.items():
        texts = (m.content for talk in person.talks.values() for m in talk.messages.values())
        yield ImportedPerson(
            name=person.name or external_id,
            external_id=external_id,
            language=person.language or values.language_of(texts),
            conversations=tuple(
                ImportedConversation(
                    client_id=client_id,
                    title=talk.title,
                    kind=talk.kind or "main",
                    started_at=next(iter(talk.messages.values())).created_at,
                    messages=tuple(talk.messages.values()),
                )
                for client_id, talk in person.talks.items()
            ),
            timezone=person.timezone or "UTC",
        )


def _add_line(people: dict[str, _Person], row: Mapping[str, Any], *, now: datetime) -> None:
    """Add the turn or message of one line. If `BadRow` is raised, nothing was added."""
    reference = _first_given(row, "user", "user_id")
    longest = values.EXTERNAL_ID_LENGTH
    external_id = "" if reference is None else values.identifier(reference, longest=longest)
    talk_id = values.client_id(
        _first_given(row, "conversation", "conversation_id") or DEFAULT_CONVERSATION
    )
    person = people.get(external_id) or _Person()
    talk = person.talks.get(talk_id) or _OpenConversation()
    kind = _kind(row)
    zone = _zone(row.get("timezone") or person.timezone or "UTC")
    moment = _time(row, zone=zone, now=now)
    at = _MessageTime(moment or talk.next_time(now), dated=moment is not None or talk.is_dated)
    found = (
        _turn(row, at=at, talk=talk)
        if "user_message" in row
        else [_single_message(row, at=at, talk=talk)]
    )
    ids = [message.client_id for message in found]
    if len(set(ids)) < len(ids) or any(one in talk.messages for one in ids):
        raise values.BadRow(SkipReason.REPEATED_ID)
    for message in found:
        talk.messages[message.client_id] = message
    talk.title = talk.title or values.label(row.get("title"), longest=values.TITLE_LENGTH)
    talk.kind = talk.kind or kind
    person.name = person.name or values.label(row.get("name"))
    person.language = person.language or LANGUAGES.get(
        values.label(row.get("language")).lower(), ""
    )
    person.timezone = person.timezone or (zone.key if row.get("timezone") else "")
    person.talks[talk_id] = talk
    people[external_id] = person


def _first_given(row: Mapping[str, Any], *names: str) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _kind(row: Mapping[str, Any]) -> str:
    kind = _first_given(row, "kind", "conversation_kind")
    if kind is not None and kind not in KINDS:
        raise values.BadRow(SkipReason.BAD_KIND)
    return kind or ""


def _zone(name: object) -> ZoneInfo:
    try:
        return ZoneInfo(values.label(name))
    except (ValueError, LookupError, OSError) as error:
        raise values.BadRow(SkipReason.BAD_ZONE) from error


def _time(row: Mapping[str, Any], *, zone: ZoneInfo, now: datetime) -> datetime | None:
    if "days_ago" in row:
        days, clock = row["days_ago"], row.get("time", "12:00")
        if isinstance(days, bool) or not isinstance(days, int) or not isinstance(clock, str):
            raise values.BadRow(SkipReason.BAD_TIME)
        try:
            day = (now.astimezone(zone) - timedelta(days=days)).date()
            said_at = datetime.combine(day, time.fromisoformat(clock), tzinfo=zone)
            return said_at.astimezone(UTC)
        except (ValueError, OverflowError) as error:
            raise values.BadRow(SkipReason.BAD_TIME) from error
    written = _first_given(row, "occurred_at", "created_at")
    return None if written is None else values.moment(written)


def _turn(
    row: Mapping[str, Any], *, at: _MessageTime, talk: _OpenConversation
) -> list[ImportedMessage]:
    question = _turn_message(row, "user_message", role=USER, at=at, number=len(talk.messages) + 1)
    if row.get("assistant_message") is None:
        return [question]
    later = _MessageTime(question.created_at + REPLY_AFTER, question.dated)
    number = len(talk.messages) + 2
    return [
        question,
        _turn_message(row, "assistant_message", role=ASSISTANT, at=later, number=number),
    ]


def _turn_message(
    row: Mapping[str, Any], side: str, *, role: str, at: _MessageTime, number: int
) -> ImportedMessage:
    message = row[side] if isinstance(row[side], dict) else {"content": row[side]}
    speaker = message.get("speaker") or (row.get("speaker") if role == USER else None)
    said_at = message.get("created_at")
    return ImportedMessage(
        client_id=values.client_id(row.get(f"{side}_id") or number),
        role=role,
        speaker=values.label(speaker),
        content=values.text(message.get("content")),
        created_at=at.moment if said_at is None else values.moment(said_at),
        dated=at.dated or said_at is not None,
    )


def _single_message(
    row: Mapping[str, Any], *, at: _MessageTime, talk: _OpenConversation
) -> ImportedMessage:
    role = row.get("role")
    if role not in (USER, ASSISTANT):
        raise values.BadRow(SkipReason.BAD_ROLE)
    return ImportedMessage(
        client_id=values.client_id(row.get("message_id") or len(talk.messages) + 1),
        role=role,
        speaker=values.label(row.get("speaker")),
        content=values.text(row.get("content")),
        created_at=at.moment,
        dated=at.dated,
        completed=row.get("completed") is not False,
    )
