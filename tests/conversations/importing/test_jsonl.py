import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from conversations.importing.formats import jsonl
from conversations.importing.formats.values import ImportedPerson, SkippedPart, SkipReason
from tests.conversations.importing.parts import unpaired

NOW = datetime(2026, 3, 10, 20, 30, tzinfo=UTC)


def turn(**more: Any) -> dict[str, Any]:
    return {
        "user": "maya",
        "conversation": "rota",
        "user_message": "I'm off nights now.",
        "assistant_message": "At last!",
        "occurred_at": "2026-03-02T18:05:00Z",
        **more,
    }


def message(**more: Any) -> dict[str, Any]:
    return {"user": "maya", "conversation": "rota", "role": "user", "content": "Hello?", **more}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "lines.jsonl"


def read(file: Path, *rows: Any) -> tuple[list[ImportedPerson], list[SkippedPart]]:
    lines = [row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows]
    file.write_bytes(b"\n".join(lines))
    skipped: list[SkippedPart] = []
    return list(jsonl.read(file, now=NOW, report=skipped.append)), skipped


def test_a_turn_on_a_line_is_a_turn(file: Path) -> None:
    [person], skipped = read(file, turn(title="Rota", name="Maya"))

    [talk] = person.conversations
    [found] = talk.turns
    assert (person.external_id, person.name, person.language) == ("maya", "Maya", "en")
    assert (talk.client_id, talk.title, talk.kind) == ("rota", "Rota", "main")
    assert (found.user.content, found.assistant.content) == ("I'm off nights now.", "At last!")
    assert talk.started_at == found.user.created_at == datetime(2026, 3, 2, 18, 5, tzinfo=UTC)
    assert found.assistant.created_at > found.user.created_at
    assert skipped == []


def test_the_body_of_the_turns_endpoint_is_a_line(file: Path) -> None:
    body = {
        "user_id": "maya",
        "conversation_id": "rota",
        "conversation_kind": "group",
        "user_message": {"content": "Hi", "speaker": "Jo", "created_at": "2026-03-02T19:00+01:00"},
        "assistant_message": {"content": "Hello", "created_at": "2026-03-02T18:00:09Z"},
        "user_message_id": "q1",
        "assistant_message_id": "a1",
    }

    [person], _ = read(file, body)

    [talk] = person.conversations
    assert (person.external_id, talk.client_id, talk.kind) == ("maya", "rota", "group")
    assert [(m.client_id, m.speaker, m.created_at) for m in talk.messages] == [
        ("q1", "Jo", datetime(2026, 3, 2, 18, tzinfo=UTC)),
        ("a1", "", datetime(2026, 3, 2, 18, 0, 9, tzinfo=UTC)),
    ]


def test_single_messages_become_a_turn_when_they_answer(file: Path) -> None:
    [person], _ = read(
        file,
        message(speaker="Maya"),
        message(role="assistant", content="Half a", completed=False),
        message(content="Still there?"),
        message(role="assistant", content="Here!"),
    )

    [talk] = person.conversations
    assert [m.content for m in unpaired(talk)] == ["Hello?", "Half a"]
    assert [t.assistant.content for t in talk.turns] == ["Here!"]
    assert talk.messages[0].speaker == "Maya"


def test_a_turn_without_a_reply_yet_is_a_message(file: Path) -> None:
    [person], skipped = read(file, turn(assistant_message=None))

    assert [m.role for m in unpaired(person.conversations[0])] == ["user"]
    assert skipped == []


def test_people_and_conversations_may_be_mixed(file: Path) -> None:
    people, _ = read(
        file,
        turn(user="maya", conversation="a"),
        turn(user="lin"),
        turn(user="maya", conversation="b"),
        turn(user="maya", conversation="a"),
    )

    assert [one.external_id for one in people] == ["maya", "lin"]
    assert [(c.client_id, len(c.turns)) for c in people[0].conversations] == [("a", 2), ("b", 1)]


def test_names_and_titles_may_come_on_any_line_and_the_first_decides(file: Path) -> None:
    [person], _ = read(
        file,
        turn(),
        turn(name="Maya", language="zh-Hans", title="First", timezone="Asia/Shanghai"),
        turn(name="Other", language="en", title="Second", timezone="UTC"),
    )

    assert (person.name, person.language, person.timezone) == ("Maya", "zh", "Asia/Shanghai")
    assert person.conversations[0].title == "First"


def test_without_a_user_the_lines_are_the_importers_own(file: Path) -> None:
    row = turn()
    del row["user"], row["conversation"]

    [person], skipped = read(file, row)

    assert person.external_id == ""
    assert [c.client_id for c in person.conversations] == ["imported"]
    assert skipped == []


def test_days_ago_are_counted_in_the_zone_of_the_line(file: Path) -> None:
    # 20:30 UTC on the 10th is already the 11th in Hangzhou.
    row = turn(days_ago=3, time="08:15", timezone="Asia/Shanghai")

    [person], _ = read(file, row)

    assert person.conversations[0].started_at == datetime(2026, 3, 8, 0, 15, tzinfo=UTC)


def test_days_ago_keep_the_zone_of_the_person(file: Path) -> None:
    [person], _ = read(
        file,
        turn(days_ago=3, time="08:15", timezone="Asia/Shanghai"),
        turn(days_ago=2, time="08:15", conversation="later"),
    )

    assert person.conversations[1].started_at == datetime(2026, 3, 9, 0, 15, tzinfo=UTC)


def test_a_line_without_a_time_follows_the_one_before(file: Path) -> None:
    row = turn()
    del row["occurred_at"]

    [person], _ = read(file, turn(), row, row)

    times = [m.created_at for m in person.conversations[0].messages]
    assert times == sorted(set(times))
    assert times[2] - times[1] == timedelta(seconds=1)


def test_a_file_without_any_time_lies_before_now(file: Path) -> None:
    row = turn()
    del row["occurred_at"]

    [person], _ = read(file, *[row] * 500)

    assert max(m.created_at for m in person.conversations[0].messages) < NOW


def test_ids_of_our_own_kind_are_marked_as_imported(file: Path) -> None:
    [person], _ = read(file, turn(conversation="conv_1", user_message_id="msg_1"))

    [talk] = person.conversations
    assert talk.client_id == "imported-conv_1"
    assert talk.messages[0].client_id == "imported-msg_1"


def test_messages_without_ids_are_counted(file: Path) -> None:
    [person], _ = read(file, turn(), turn())

    assert [m.client_id for m in person.conversations[0].messages] == ["1", "2", "3", "4"]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        (b"{", SkipReason.NOT_JSON),
        (b'{"user": "\xff"}', SkipReason.NOT_JSON),
        (b"[" * 100_000, SkipReason.NOT_JSON),
        ([1], SkipReason.NOT_AN_OBJECT),
        ("text", SkipReason.NOT_AN_OBJECT),
        ({}, SkipReason.BAD_ROLE),
        (message(role="system"), SkipReason.BAD_ROLE),
        (message(role=["user"]), SkipReason.BAD_ROLE),
        (message(content=""), SkipReason.NO_TEXT),
        (message(content={"a": 1}), SkipReason.NO_TEXT),
        (turn(user_message=None), SkipReason.NO_TEXT),
        (turn(user_message=" \n"), SkipReason.NO_TEXT),
        (turn(assistant_message=""), SkipReason.NO_TEXT),
        (turn(assistant_message={"content": 3}), SkipReason.NO_TEXT),
        (turn(user_message="a\0b"), SkipReason.BAD_CHARACTERS),
        (turn(user=""), SkipReason.BAD_ID),
        (turn(user=True), SkipReason.BAD_ID),
        (turn(user="x" * 65), SkipReason.BAD_ID),
        (turn(user="a\tb"), SkipReason.BAD_ID),
        (turn(conversation={"id": 1}), SkipReason.BAD_ID),
        (turn(kind="party"), SkipReason.BAD_KIND),
        (turn(kind=["main"]), SkipReason.BAD_KIND),
        (turn(occurred_at="yesterday"), SkipReason.BAD_TIME),
        (turn(occurred_at=12), SkipReason.BAD_TIME),
        (turn(occurred_at="0001-01-01T00:00:00+14:00"), SkipReason.BAD_TIME),
        (turn(user_message={"content": "Hi", "created_at": "?"}), SkipReason.BAD_TIME),
        (turn(days_ago="3"), SkipReason.BAD_TIME),
        (turn(days_ago=True), SkipReason.BAD_TIME),
        (turn(days_ago=10**12), SkipReason.BAD_TIME),
        (turn(days_ago=1, time="noon"), SkipReason.BAD_TIME),
        (turn(days_ago=1, time=12), SkipReason.BAD_TIME),
        (turn(timezone="Mars/Base"), SkipReason.BAD_ZONE),
        (turn(timezone="../etc"), SkipReason.BAD_ZONE),
        (turn(timezone=5), SkipReason.BAD_ZONE),
        (turn(user_message_id="same", assistant_message_id="same"), SkipReason.REPEATED_ID),
        (turn(user_message_id="accepted"), SkipReason.REPEATED_ID),
    ],
)
def test_a_broken_line_is_skipped_and_the_others_are_read(
    file: Path, row: Any, why: SkipReason
) -> None:
    people, skipped = read(file, turn(user_message_id="accepted"), row, b"", turn())

    assert [one.external_id for one in people] == ["maya"]
    assert [len(c.turns) for c in people[0].conversations] == [2]
    assert skipped == [SkippedPart("line 2", why)]


def test_half_a_turn_is_not_taken(file: Path) -> None:
    people, _ = read(file, turn(user="lin", assistant_message={"content": ""}))

    assert people == []


def test_a_byte_order_mark_is_no_reason_to_skip(file: Path) -> None:
    people, skipped = read(file, b"\xef\xbb\xbf" + json.dumps(turn()).encode())

    assert len(people) == 1
    assert skipped == []
