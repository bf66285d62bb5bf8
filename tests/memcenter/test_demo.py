from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

import memcenter
from conversations.importing.formats import file_rows
from conversations.importing.formats.values import ImportedPerson, SkippedPart
from tests.conversations.importing.parts import unpaired

DEMO = Path(memcenter.__file__).parent / "demo"
NOW = datetime(2026, 3, 10, 0, 30, tzinfo=UTC)


def person(name: str, *, now: datetime = NOW) -> ImportedPerson:
    skipped: list[SkippedPart] = []
    [found] = file_rows.read_people(DEMO / f"{name}.jsonl", report=skipped.append, now=now)
    assert skipped == []
    return found


def test_the_demo_has_somebody_who_speaks_chinese_and_somebody_who_speaks_english() -> None:
    assert sorted(one.name for one in DEMO.glob("*.jsonl")) == ["lin-xiao.jsonl", "maya.jsonl"]
    assert [(one.name, one.language) for one in (person("lin-xiao"), person("maya"))] == [
        ("林晓", "zh"),
        ("Maya", "en"),
    ]


@pytest.mark.parametrize("name", ["lin-xiao", "maya"])
def test_the_conversations_have_titles_and_every_message_is_in_a_turn(name: str) -> None:
    talks = person(name).conversations

    assert len(talks) == 8
    assert all(talk.title and not unpaired(talk) for talk in talks)
    assert sum(len(talk.turns) for talk in talks) >= 40


@pytest.mark.parametrize("name", ["lin-xiao", "maya"])
@pytest.mark.parametrize("hour", [0, 12, 23])
def test_the_demo_is_always_of_the_last_weeks_and_in_order(name: str, hour: int) -> None:
    now = NOW.replace(hour=hour)

    times = [m.created_at for talk in person(name, now=now).conversations for m in talk.messages]

    assert all(earlier < later for earlier, later in pairwise(times))
    assert now - timedelta(days=50) < times[0]
    assert times[-1] < now


@pytest.mark.parametrize("name", ["lin-xiao", "maya"])
def test_loading_the_demo_again_on_another_day_repeats_the_same_ids(name: str) -> None:
    def ids(now: datetime) -> list[tuple[str, str]]:
        talks = person(name, now=now).conversations
        return [(talk.client_id, m.client_id) for talk in talks for m in talk.messages]

    assert ids(NOW) == ids(NOW + timedelta(days=9))
    assert len(set(ids(NOW))) == len(ids(NOW))
