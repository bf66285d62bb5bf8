"""MemoryBank files (Zhong et al. 2023): people, their days, and what was said on each.

`[{"user": name, "history": {"2023-04-27": [{"query": …, "response": …}, …]}}]`; `query` is the
user and `response` the assistant. Each day becomes one conversation, named by its date.
"""

from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, time, timedelta
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

# The files have dates without times. 08:00 to 16:00 UTC is on the same date from Los Angeles to
# Shanghai, so a message stays on its date in whatever time zone it is shown.
DAY_BEGINS = time(8, tzinfo=UTC)
DAY_LASTS = timedelta(hours=8)
SIDES = (("query", USER), ("response", ASSISTANT))


def matches(data: object) -> bool:
    return (
        isinstance(data, list)
        and any(isinstance(one, dict) and "history" in one for one in data)
        and not any(isinstance(one, dict) and "speaker_a" in one for one in data)
    )


def read(data: list[Any], *, report: Report) -> Iterator[ImportedPerson]:
    taken: set[str] = set()
    for position, raw in enumerate(data):
        where = f"[{position}]"
        try:
            person = _person(raw, where=where, taken=taken, report=report)
        except values.BadRow as bad:
            report(Skipped(where, bad.why))
            continue
        taken.add(person.external_id)
        yield person


def message_id(day: str, index: int, side: str) -> str:
    """Return an id such as `2023-04-27:3:query`; `index` counts from 0."""
    return f"{day}:{index}:{side}"


def _person(raw: object, *, where: str, taken: set[str], report: Report) -> ImportedPerson:
    row = values.mapping(raw)
    name = values.label(row.get("user"))
    if not name:
        raise values.BadRow(Why.NO_NAME)
    external_id = values.identifier(values.unique(name, taken), longest=values.EXTERNAL_ID_LENGTH)
    conversations = tuple(_days(row.get("history"), where=f"{where}.history", report=report))
    if not conversations:
        raise values.BadRow(Why.EMPTY)
    return ImportedPerson(
        name=name,
        external_id=external_id,
        language=values.language_of(m.content for c in conversations for m in c.messages),
        conversations=conversations,
    )


def _days(history: object, *, where: str, report: Report) -> Iterator[ImportedConversation]:
    for key, rows in sorted(values.mapping(history).items()):
        day = _date(key)
        if day is None:
            report(Skipped(where, Why.BAD_DAY))
        elif not isinstance(rows, list):
            report(Skipped(f"{where}.{day}", Why.NOT_A_LIST))
        elif messages := tuple(_messages(rows, day=day, where=f"{where}.{day}", report=report)):
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


def _messages(
    rows: list[Any], *, day: date, where: str, report: Report
) -> Iterator[ImportedMessage]:
    step = DAY_LASTS / max(len(rows), 1)
    for index, raw in enumerate(rows):
        said_at = datetime.combine(day, DAY_BEGINS) + index * step
        here = f"{where}[{index}]"
        try:
            row = values.mapping(raw)
        except values.BadRow as bad:
            report(Skipped(here, bad.why))
            continue
        yield from _entry(row, day=day, index=index, said_at=said_at, where=here, report=report)


def _entry(
    row: Mapping[str, Any],
    *,
    day: date,
    index: int,
    said_at: datetime,
    where: str,
    report: Report,
) -> Iterator[ImportedMessage]:
    for later, (side, role) in enumerate(SIDES):
        try:
            content = values.text(row.get(side))
        except values.BadRow as bad:
            report(Skipped(f"{where}.{side}", bad.why))
            continue
        yield ImportedMessage(
            client_id=message_id(day.isoformat(), index, side),
            role=role,
            speaker="",
            content=content,
            created_at=said_at + later * timedelta(seconds=20),
        )
