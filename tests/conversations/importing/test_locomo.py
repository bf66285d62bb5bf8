from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from conversations.importing.formats import datasets
from conversations.importing.formats.values import ImportedPerson, SkippedPart, SkipReason
from tests.conversations.importing.parts import unpaired

DATE = "1:56 pm on 8 May, 2023"


def said(speaker: Any, dia_id: Any, text: Any = "Hi there", **more: Any) -> dict[str, Any]:
    return {"speaker": speaker, "dia_id": dia_id, "text": text, **more}


def dialogue(**more: Any) -> dict[str, Any]:
    return {
        "speaker_a": "Ana",
        "speaker_b": "Ben",
        "session_1_date_time": DATE,
        "session_1": [said("Ana", "D1:1"), said("Ben", "D1:2")],
        "qa": [],
        **more,
    }


def read(data: Any) -> tuple[list[ImportedPerson], list[SkippedPart]]:
    skipped: list[SkippedPart] = []
    return list(datasets.read_locomo(data, report=skipped.append)), skipped


def test_a_dialogue_is_one_person_with_the_name_of_the_first_speaker() -> None:
    [person], skipped = read(dialogue())

    assert (person.name, person.external_id, person.language) == ("Ana", "Ana-Ben", "en")
    assert skipped == []


def test_speaker_a_is_the_user_and_both_keep_their_names() -> None:
    [person], _ = read(dialogue())

    assert [(m.role, m.speaker) for m in person.conversations[0].messages] == [
        ("user", "Ana"),
        ("assistant", "Ben"),
    ]


def test_sessions_are_conversations_in_the_order_of_their_numbers() -> None:
    rows = [said("Ana", "x")]
    data = dialogue(session_10=rows, session_10_date_time=DATE, session_2=rows)

    [person], _ = read(data | {"session_2_date_time": "12:09 am on 13 September, 2023"})

    assert [c.client_id for c in person.conversations] == ["session_1", "session_2", "session_10"]
    assert person.conversations[1].started_at == datetime(2023, 9, 13, 0, 9, tzinfo=UTC)
    assert person.conversations[1].title == "Session 2, 13 September 2023"


def test_messages_of_a_session_are_a_minute_apart() -> None:
    [person], _ = read(dialogue())

    first, second = person.conversations[0].messages

    assert first.created_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert second.created_at - first.created_at == timedelta(minutes=1)


def test_the_ids_are_those_of_the_file() -> None:
    [person], _ = read(dialogue())

    assert [m.client_id for m in person.conversations[0].messages] == ["D1:1", "D1:2"]


def test_an_id_that_comes_twice_in_a_session_is_told_apart() -> None:
    rows = [said("Ana", "D1:1"), said("Ana", "D1:1"), said("Ben", "D1:1")]

    [person], _ = read(dialogue(session_1=rows))

    ids = [m.client_id for m in person.conversations[0].messages]
    assert ids == ["D1:1", "D1:1-2", "D1:1-3"]


def test_a_message_without_an_id_gets_one_by_its_place() -> None:
    [person], _ = read(dialogue(session_1=[said("Ana", None), said("Ben", "")]))

    ids = [m.client_id for m in person.conversations[0].messages]
    assert ids == ["session_1[0]", "session_1[1]"]


def test_several_messages_of_one_speaker_are_kept_in_order() -> None:
    rows = [said("Ben", 1, "b1"), said("Ana", 2, "a1"), said("Ana", 3, "a2"), said("Ben", 4, "b2")]

    [person], _ = read(dialogue(session_1=rows))

    talk = person.conversations[0]
    assert [m.content for m in talk.messages] == ["b1", "a1", "a2", "b2"]
    assert [m.content for m in unpaired(talk)] == ["b1", "a1"]
    assert [t.user.content for t in talk.turns] == ["a2"]


def test_what_a_picture_shows_stands_in_brackets_after_the_words() -> None:
    rows = [
        said("Ana", 1, "Look!", blip_caption="a photo of a dog"),
        said("Ben", 2, "", blip_caption="a cat\non a mat"),
        said("Ana", 3, "Nice", blip_caption=None),
    ]

    [person], skipped = read(dialogue(session_1=rows))

    assert [m.content for m in person.conversations[0].messages] == [
        "Look! [shares a photo: a photo of a dog]",
        "[shares a photo: a cat on a mat]",
        "Nice",
    ]
    assert skipped == []


def test_a_date_without_its_session_means_nothing() -> None:
    [person], skipped = read(dialogue(session_9_date_time=DATE))

    assert len(person.conversations) == 1
    assert skipped == []


@pytest.mark.parametrize(
    ("rows", "date", "why"),
    [
        ([said("Ana", 1)], "yesterday", SkipReason.BAD_TIME),
        ([said("Ana", 1)], "1:56 pm on 31 June, 2023", SkipReason.BAD_TIME),
        ([said("Ana", 1)], None, SkipReason.BAD_TIME),
        ({}, DATE, SkipReason.NOT_A_LIST),
        ([], DATE, SkipReason.EMPTY),
    ],
)
def test_a_session_that_can_not_be_read_is_skipped(rows: Any, date: Any, why: SkipReason) -> None:
    [person], skipped = read(dialogue(session_2=rows, session_2_date_time=date))

    assert [c.client_id for c in person.conversations] == ["session_1"]
    assert skipped == [SkippedPart("session_2", why)]


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("hello", SkipReason.NOT_AN_OBJECT),
        (said("Eve", 1), SkipReason.BAD_SPEAKER),
        (said(None, 1), SkipReason.BAD_SPEAKER),
        (said("Ana", 1, None), SkipReason.NO_TEXT),
        (said("Ana", 1, "nul\0"), SkipReason.BAD_CHARACTERS),
        (said("Ana", [1]), SkipReason.BAD_ID),
        (said("Ana", "x" * 300), SkipReason.BAD_ID),
    ],
)
def test_a_message_that_can_not_be_read_is_skipped(row: Any, why: SkipReason) -> None:
    [person], skipped = read(dialogue(session_1=[said("Ana", "D1:1"), row, said("Ben", "D1:3")]))

    assert [m.client_id for m in person.conversations[0].messages] == ["D1:1", "D1:3"]
    assert skipped == [SkippedPart("session_1[1]", why)]


def test_the_wrapped_dialogues_of_the_original_collection_are_read() -> None:
    wrapped = {"sample_id": "conv-1", "qa": [], "conversation": dialogue()}

    people, skipped = read([wrapped, 5, wrapped])

    assert [one.external_id for one in people] == ["Ana-Ben", "Ana-Ben-2"]
    assert skipped == [SkippedPart("[1]", SkipReason.NOT_AN_OBJECT)]


@pytest.mark.parametrize("other", ["", "Ana", None])
def test_a_dialogue_without_two_names_is_skipped(other: Any) -> None:
    people, skipped = read(dialogue(speaker_b=other))

    assert people == []
    assert skipped == [SkippedPart("file", SkipReason.NO_NAME)]


def test_a_dialogue_without_sessions_is_skipped() -> None:
    people, skipped = read({"speaker_a": "Ana", "speaker_b": "Ben"})

    assert people == []
    assert skipped == [SkippedPart("file", SkipReason.EMPTY)]


def test_long_names_still_give_an_id_that_fits() -> None:
    long = dialogue(speaker_a="A" * 60, session_1=[said("A" * 60, 1)])

    people, _ = read([long, long])

    assert [len(one.external_id) <= 64 for one in people] == [True, True]
    assert people[0].external_id != people[1].external_id
