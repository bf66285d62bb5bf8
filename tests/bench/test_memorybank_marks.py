import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MARKS = ROOT / "bench" / "data" / "memorybank_marks.json"
SHARED = ROOT.parent / "shared" / "data" / "memorybank"
LANGUAGES = ["cn.json", "en.json"]


def marks(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(MARKS.read_text())["files"][name]
    return found


def test_the_marks_hold_no_text_of_the_data() -> None:
    words = set(re.findall(r'"(.*?)"', MARKS.read_text()))

    told = {one for one in words if not re.fullmatch(r"2023-\d\d-\d\d|[0-9a-f]{64}", one)}

    assert told == {"files", "sha256", "users", *LANGUAGES}


@pytest.mark.parametrize(("name", "answered"), [("cn.json", 56), ("en.json", 55)])
def test_as_many_questions_are_marked_as_the_readme_says(name: str, answered: int) -> None:
    questions = [question for user in marks(name)["users"] for question in user]

    assert len(questions) == 56
    assert sum(question is not None for question in questions) == answered
    assert [] not in questions


@pytest.mark.parametrize("name", LANGUAGES)
def test_the_turns_of_a_question_are_in_order_and_marked_once(name: str) -> None:
    for user in marks(name)["users"]:
        for question in filter(None, user):
            once = {(day, index) for day, index in question}
            assert question == [list(turn) for turn in sorted(once)]


@pytest.mark.shared_data
@pytest.mark.skipif(not SHARED.exists(), reason="../shared/data isn't here")
@pytest.mark.parametrize("name", LANGUAGES)
def test_every_mark_is_a_turn_of_the_file_that_was_read(name: str) -> None:
    raw = (SHARED / name).read_bytes()
    people = json.loads(raw)
    found = marks(name)

    assert hashlib.sha256(raw).hexdigest() == found["sha256"]
    assert len(found["users"]) == len(people)
    for person, questions in zip(people, found["users"], strict=True):
        assert len(questions) == len(person["probing_questions"])
        for day, index in (turn for question in questions for turn in question or []):
            assert 0 <= index < len(person["history"][day])
