import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from conversations.importing.formats import file_rows
from conversations.importing.formats.values import SkippedPart, SkipReason
from foundation.errors import Invalid

SHARED = Path(__file__).parents[4] / "shared" / "data"

BANK = [{"user": "小雨", "history": {"2023-04-27": [{"query": "你好", "response": "你好呀"}]}}]
DIALOGUE = {
    "speaker_a": "Ana",
    "speaker_b": "Ben",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [{"speaker": "Ana", "dia_id": "D1:1", "text": "Hi"}],
}
LINE = {"user": "maya", "user_message": "Hi", "assistant_message": "Hello"}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "upload"


def written(file: Path, data: Any, **options: Any) -> Path:
    file.write_text(json.dumps(data, ensure_ascii=False, **options), encoding="utf-8")
    return file


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("data", "name"),
    [
        (BANK, "小雨"),
        (DIALOGUE, "Ana"),
        ([DIALOGUE], "Ana"),
        ([{"conversation": DIALOGUE, "qa": []}], "Ana"),
    ],
)
def test_a_json_file_is_told_by_what_is_in_it(
    file: Path, data: Any, name: str, indent: int | None
) -> None:
    [person] = file_rows.read_people(written(file, data, indent=indent))

    assert person.name == name
    assert len(person.conversations) == 1


def test_lines_are_told_from_one_json_value(file: Path) -> None:
    [person] = file_rows.read_people(written(file, LINE))

    assert person.external_id == "maya"


def test_lines_may_begin_with_broken_ones(file: Path) -> None:
    skipped: list[SkippedPart] = []
    file.write_text('\n\n{"half\n' + json.dumps(LINE), encoding="utf-8")

    people = list(file_rows.read_people(file, report=skipped.append))

    assert [one.external_id for one in people] == ["maya"]
    assert skipped == [SkippedPart("line 3", SkipReason.NOT_JSON)]


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\n\n",
        b"hello",
        b"\xff\xfe\x00",
        b"null",
        b"7",
        b"[]",
        b"{}",
        b'[{"user": "no history"}]',
        b'{"speaker_a": "only one"}',
        b'{"role": "user"}',
        b"[" * 100_000,
        b"PK\x03\x04",
    ],
)
def test_an_unknown_file_is_refused_before_the_first_person(file: Path, content: bytes) -> None:
    file.write_bytes(content)

    with pytest.raises(Invalid) as refused:
        file_rows.read_people(file)

    assert list(refused.value.fields) == ["file"]


def test_now_can_be_given(file: Path) -> None:
    row = LINE | {"days_ago": 2, "time": "07:00"}

    [person] = file_rows.read_people(written(file, row), now=datetime(2026, 3, 10, 12, tzinfo=UTC))

    assert person.conversations[0].started_at == datetime(2026, 3, 8, 7, tzinfo=UTC)


def test_what_is_skipped_need_not_be_heard(file: Path) -> None:
    people = list(file_rows.read_people(written(file, [*BANK, "?"])))

    assert len(people) == 1


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data isn't here")
@pytest.mark.parametrize(
    ("path", "people", "messages"),
    [
        ("memorybank/cn.json", 8, 626),
        ("memorybank/en.json", 8, 618),
        ("locomo/26.json", 1, 419),
        ("locomo/41.json", 1, 663),
    ],
)
def test_the_shared_conversations_are_read_without_loss(
    path: str, people: int, messages: int
) -> None:
    skipped: list[SkippedPart] = []

    found = list(file_rows.read_people(SHARED / path, report=skipped.append))

    assert len(found) == people
    assert sum(len(c.messages) for one in found for c in one.conversations) == messages
    assert skipped == []
