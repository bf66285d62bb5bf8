"""Research datasets: LoCoMo (Maharana et al. 2024) and MemoryBank (Zhong et al. 2023).

A LoCoMo object is one long dialogue of two people, in sessions: `{"speaker_a", "speaker_b",
"session_1_date_time": "1:56 pm on 8 May, 2023", "session_1": [{"speaker", "dia_id", "text",
"blip_caption"?}, …], …}`. As in the original collection, the object may be nested under
"conversation", and several objects may form a list. Each dialogue is imported as one user:
speaker_a is the user, speaker_b takes the role of the assistant, and both names are kept on their
messages.

Each session becomes a separate conversation, because sessions are days or weeks apart. In one long
conversation, the end of a session would count as context of the next session, in the ranking, the
window and the rolling summary.

MemoryBank lists the exchanges of each person, grouped by day: `[{"user": name, "history":
{"2023-04-27": [{"query": …, "response": …}, …]}}]`; `query` is the user's message and
`response` the assistant's. Each day becomes one conversation, named by its date.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from conversations.importing.formats import values
from conversations.importing.formats.values import (
    ASSISTANT,
    USER,
    ImportedConversation,
    ImportedMessage,
    ImportedPerson,
    Report,
    SkippedPart,
    SkipReason,
)

APART = timedelta(minutes=1)
# The limit leaves room for a number that distinguishes two dialogues of the same speakers.
_ID_LENGTH = values.EXTERNAL_ID_LENGTH - 4
_SESSION = re.compile(r"session_(\d+)")
_TIME = "%I:%M %p on %d %B, %Y"
# MemoryBank has dates without times. 08:00 to 16:00 UTC is on the same date from Los Angeles to
# Shanghai, so a message stays on its date in all time zones between them.
DAY_BEGINS = time(8, tzinfo=UTC)
DAY_LASTS = timedelta(hours=8)
SIDES = (("query", USER), ("response", ASSISTANT))


def is_locomo(data: object) -> bool:
    if isinstance(data, list):
        return any(is_locomo(one) for one in data if isinstance(one, dict))
    return isinstance(data, dict) and {"speaker_a", "speaker_b"} <= _dialogue(data).keys()


def read_locomo(data: list[Any] | dict[str, Any], *, report: Report) -> Iterator[ImportedPerson]:
    if isinstance(data, list):
        yield from _people(data, _person, report=report)
        return
    with values.report_bad_row("file", report):
        yield _person(data, where="", taken=set(), report=report)


def _people(
    rows: list[Any], person_of: Callable[..., ImportedPerson], *, report: Report
) -> Iterator[ImportedPerson]:
    taken: set[str] = set()
    for position, raw in enumerate(rows):
        where = f"[{position}]"
        with values.report_bad_row(where, report):
            person = person_of(raw, where=where, taken=taken, report=report)
            taken.add(person.external_id)
            yield person


def _dialogue(row: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = row.get("conversation")
    return inner if isinstance(inner, dict) else row


def _person(raw: object, *, where: str, taken: set[str], report: Report) -> ImportedPerson:
    row = _dialogue(values.mapping(raw))
    user, other = values.label(row.get("speaker_a")), values.label(row.get("speaker_b"))
    if not user or not other or user == other:
        raise values.BadRow(SkipReason.NO_NAME)
    sessions = _sessions(row, roles={user: USER, other: ASSISTANT}, where=where, report=report)
    return _with_conversations(user, values.unique(f"{user}-{other}"[:_ID_LENGTH], taken), sessions)


def _with_conversations(
    name: str, external_id: str, found: Iterator[ImportedConversation]
) -> ImportedPerson:
    conversations = tuple(found)
    if not conversations:
        raise values.BadRow(SkipReason.EMPTY)
    return ImportedPerson(
        name=name,
        external_id=external_id,
        language=values.language_of(m.content for c in conversations for m in c.messages),
        conversations=conversations,
    )


def _sessions(
    row: Mapping[str, Any], *, roles: Mapping[str, str], where: str, report: Report
) -> Iterator[ImportedConversation]:
    # Many files contain dates of sessions that don't exist; these dates are ignored.
    numbers = sorted(int(found[1]) for key in row if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        place = f"{where}.session_{number}".lstrip(".")
        with values.report_bad_row(place, report):
            rows = row[f"session_{number}"]
            if not isinstance(rows, list):
                raise values.BadRow(SkipReason.NOT_A_LIST)
            try:
                written = str(row.get(f"session_{number}_date_time")).strip()
                started_at = datetime.strptime(written, _TIME).replace(tzinfo=UTC)
            except ValueError as error:
                raise values.BadRow(SkipReason.BAD_TIME) from error
            messages = tuple(
                _messages(rows, started_at=started_at, roles=roles, where=place, report=report)
            )
            if not messages:
                raise values.BadRow(SkipReason.EMPTY)
            yield ImportedConversation(
                client_id=f"session_{number}",
                title=f"Session {number}, {started_at.day} {started_at:%B %Y}",
                kind="main",
                started_at=started_at,
                messages=messages,
            )


def _messages(
    rows: list[Any], *, started_at: datetime, roles: Mapping[str, str], where: str, report: Report
) -> Iterator[ImportedMessage]:
    taken: set[str] = set()
    for index, raw in enumerate(rows):
        place = f"{where}[{index}]"
        with values.report_bad_row(place, report):
            row = values.mapping(raw)
            speaker = values.label(row.get("speaker"))
            if speaker not in roles:
                raise values.BadRow(SkipReason.BAD_SPEAKER)
            client_id = values.unique(values.client_id(row.get("dia_id") or place), taken)
            content, at = _content(row), started_at + index * APART
            taken.add(client_id)
            yield ImportedMessage(client_id, roles[speaker], speaker, content, at)


def _content(row: Mapping[str, Any]) -> str:
    caption = values.label(row.get("blip_caption"))
    words = row.get("text")
    if not caption:
        return values.text(words)
    photo = f"[shares a photo: {caption}]"
    return f"{values.text(words)} {photo}" if values.label(words) else photo


def is_memorybank(data: object) -> bool:
    return (
        isinstance(data, list)
        and any(isinstance(one, dict) and "history" in one for one in data)
        and not any(isinstance(one, dict) and "speaker_a" in one for one in data)
    )


def read_memorybank(data: list[Any], *, report: Report) -> Iterator[ImportedPerson]:
    yield from _people(data, _memorybank_person, report=report)


def memorybank_message_id(day: str, index: int, side: str) -> str:
    """Return the id of a message, such as `2023-04-27:3:query`. `index` counts from 0."""
    return f"{day}:{index}:{side}"


def _memorybank_person(
    raw: object, *, where: str, taken: set[str], report: Report
) -> ImportedPerson:
    row = values.mapping(raw)
    name = values.label(row.get("user"))
    if not name:
        raise values.BadRow(SkipReason.NO_NAME)
    external_id = values.identifier(values.unique(name, taken), longest=values.EXTERNAL_ID_LENGTH)
    days = _days(row.get("history"), where=f"{where}.history", report=report)
    return _with_conversations(name, external_id, days)


def _days(history: object, *, where: str, report: Report) -> Iterator[ImportedConversation]:
    for key, rows in sorted(values.mapping(history).items()):
        day = _date(key)
        if day is None:
            report(SkippedPart(where, SkipReason.BAD_DAY))
        elif not isinstance(rows, list):
            report(SkippedPart(f"{where}.{day}", SkipReason.NOT_A_LIST))
        elif messages := tuple(
            _memorybank_messages(rows, day=day, where=f"{where}.{day}", report=report)
        ):
            yield ImportedConversation(
                client_id=day.isoformat(),
                title=day.isoformat(),
                kind="main",
                started_at=messages[0].created_at,
                messages=messages,
            )


def _date(key: str) -> date | None:
    try:
        day = date.fromisoformat(key)
    except ValueError:
        return None
    # Other spellings of a date ("20230427") would give two conversations the same id.
    return day if day.isoformat() == key else None


def _memorybank_messages(
    rows: list[Any], *, day: date, where: str, report: Report
) -> Iterator[ImportedMessage]:
    step = DAY_LASTS / max(len(rows), 1)
    for index, raw in enumerate(rows):
        said_at = datetime.combine(day, DAY_BEGINS) + index * step
        place = f"{where}[{index}]"
        if not isinstance(raw, dict):
            report(SkippedPart(place, SkipReason.NOT_AN_OBJECT))
            continue
        for later, (side, role) in enumerate(SIDES):
            with values.report_bad_row(f"{place}.{side}", report):
                yield ImportedMessage(
                    client_id=memorybank_message_id(day.isoformat(), index, side),
                    role=role,
                    speaker="",
                    content=values.text(raw.get(side)),
                    created_at=said_at + later * timedelta(seconds=20),
                )
