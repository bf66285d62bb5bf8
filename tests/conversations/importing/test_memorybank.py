from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from conversations.importing.formats import datasets
from conversations.importing.formats.values import ImportedPerson, SkippedPart, SkipReason
from tests.conversations.importing.parts import unpaired


def entry(query: str = "你好", response: str = "你好呀") -> dict[str, Any]:
    return {"query": query, "response": response}


def person(history: Any, name: Any = "小雨") -> dict[str, Any]:
    return {"user": name, "history": history, "probing_questions": ["问什么？"]}


def read(*people: Any) -> tuple[list[ImportedPerson], list[SkippedPart]]:
    skipped: list[SkippedPart] = []
    return list(datasets.read_memorybank(list(people), report=skipped.append)), skipped


def test_each_day_is_a_conversation_named_by_its_date() -> None:
    [found], skipped = read(person({"2023-04-28": [entry()], "2023-04-27": [entry(), entry()]}))

    assert [c.client_id for c in found.conversations] == ["2023-04-27", "2023-04-28"]
    assert [c.title for c in found.conversations] == ["2023-04-27", "2023-04-28"]
    assert [len(c.turns) for c in found.conversations] == [2, 1]
    assert skipped == []


def test_the_query_is_the_users_and_the_response_the_assistants() -> None:
    [found], _ = read(person({"2023-04-27": [entry("我养了只猫", "叫什么名字？")]}))

    [turn] = found.conversations[0].turns

    assert (turn.user.content, turn.assistant.content) == ("我养了只猫", "叫什么名字？")
    assert (turn.user.role, turn.assistant.role) == ("user", "assistant")
    assert turn.user.speaker == ""


def test_ids_name_the_day_and_the_place_in_it() -> None:
    [found], _ = read(person({"2023-04-27": [entry(), entry()]}))

    assert [m.client_id for m in found.conversations[0].messages] == [
        "2023-04-27:0:query",
        "2023-04-27:0:response",
        "2023-04-27:1:query",
        "2023-04-27:1:response",
    ]


def test_a_broken_entry_leaves_the_places_of_the_others_as_they_are() -> None:
    [found], skipped = read(person({"2023-04-27": [entry(), "?", entry()]}))

    assert found.conversations[0].messages[2].client_id == "2023-04-27:2:query"
    assert skipped == [SkippedPart("[0].history.2023-04-27[1]", SkipReason.NOT_AN_OBJECT)]


@pytest.mark.parametrize("count", [1, 2, 7, 40, 500])
def test_times_ascend_and_stay_on_the_day_from_los_angeles_to_shanghai(count: int) -> None:
    [found], _ = read(person({"2023-04-27": [entry()] * count}))

    times = [m.created_at for m in found.conversations[0].messages]

    assert times == sorted(set(times))
    assert found.conversations[0].started_at == times[0]
    for hours in (-8, 0, 8):
        zone = timezone(timedelta(hours=hours))
        assert {at.astimezone(zone).date().isoformat() for at in times} == {"2023-04-27"}


def test_reading_twice_gives_the_same() -> None:
    rows = person({"2023-04-27": [entry(), entry("再见", "明天见")]})

    assert read(rows) == read(rows)


def test_a_question_without_a_response_is_kept_as_a_message() -> None:
    [found], skipped = read(person({"2023-04-27": [{"query": "在吗"}, entry()]}))

    assert [m.content for m in unpaired(found.conversations[0])] == ["在吗"]
    assert skipped == [SkippedPart("[0].history.2023-04-27[0].response", SkipReason.NO_TEXT)]


def test_a_day_that_is_no_date_is_skipped_without_repeating_it() -> None:
    [found], skipped = read(
        person({"我的生日": [entry()], "20230427": [], "2023-04-28": [entry()]})
    )

    assert [c.client_id for c in found.conversations] == ["2023-04-28"]
    assert skipped == [SkippedPart("[0].history", SkipReason.BAD_DAY)] * 2


def test_an_empty_day_makes_no_conversation_and_no_complaint() -> None:
    [found], skipped = read(person({"2023-04-27": [], "2023-04-28": [entry()]}))

    assert [c.client_id for c in found.conversations] == ["2023-04-28"]
    assert skipped == []


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("nobody", SkipReason.NOT_AN_OBJECT),
        (None, SkipReason.NOT_AN_OBJECT),
        (person({"2023-04-27": [entry()]}, name=""), SkipReason.NO_NAME),
        (person({"2023-04-27": [entry()]}, name=7), SkipReason.NO_NAME),
        (person({"2023-04-27": [entry()]}, name="x" * 65), SkipReason.BAD_ID),
        (person(["2023-04-27"]), SkipReason.NOT_AN_OBJECT),
        (person(None), SkipReason.NOT_AN_OBJECT),
        (person({}), SkipReason.EMPTY),
        (person({"2023-04-27": [entry("", " ")]}), SkipReason.EMPTY),
    ],
)
def test_a_person_who_can_not_be_read_is_skipped_and_the_next_one_read(
    row: Any, why: SkipReason
) -> None:
    found, skipped = read(row, person({"2023-04-27": [entry()]}))

    assert [one.name for one in found] == ["小雨"]
    assert skipped[-1] == SkippedPart("[0]", why)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("\0", SkipReason.BAD_CHARACTERS),
        ("a\ud800", SkipReason.BAD_CHARACTERS),
        (3, SkipReason.NO_TEXT),
    ],
)
def test_text_that_can_not_be_stored_is_skipped(text: Any, why: SkipReason) -> None:
    [found], skipped = read(person({"2023-04-27": [entry(text, "嗯"), entry()]}))

    assert len(found.conversations[0].messages) == 3
    assert skipped == [SkippedPart("[0].history.2023-04-27[0].query", why)]


def test_a_day_that_is_no_list_is_skipped() -> None:
    _, skipped = read(person({"2023-04-27": {}, "2023-04-28": [entry()]}))

    assert skipped == [SkippedPart("[0].history.2023-04-27", SkipReason.NOT_A_LIST)]


def test_two_people_of_one_name_are_two_users() -> None:
    rows = person({"2023-04-27": [entry()]})

    found, _ = read(rows, rows, rows)

    assert [one.external_id for one in found] == ["小雨", "小雨-2", "小雨-3"]
    assert {one.name for one in found} == {"小雨"}


def test_the_language_is_the_one_that_was_spoken() -> None:
    found, _ = read(
        person({"2023-04-27": [entry("我在看《Emotional Intelligence》这本书", "好看吗")]}),
        person({"2023-04-27": [entry("I learned to cook 回锅肉 today", "Sounds good")]}, "Ann"),
    )

    assert [one.language for one in found] == ["zh", "en"]


def test_people_come_one_by_one() -> None:
    skipped: list[SkippedPart] = []
    people = datasets.read_memorybank(
        [person({"2023-04-27": [entry()]}), "?"], report=skipped.append
    )

    assert next(people).name == "小雨"
    assert skipped == []


def test_the_first_message_of_a_day_is_said_at_eight_utc() -> None:
    [found], _ = read(person({"2023-04-27": [entry()]}))

    assert found.conversations[0].started_at == datetime(2023, 4, 27, 8, tzinfo=UTC)
