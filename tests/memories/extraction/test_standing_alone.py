"""What is kept tells something by itself, however roundabout it was said."""

from datetime import datetime, timedelta, timezone

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Extraction, Said, TurnText

SPOKEN_AT = datetime(2026, 11, 21, 10, 0, tzinfo=timezone(timedelta(hours=8)))


def _extract(text: str) -> Extraction:
    return BundledExtractor().extract(TurnText(Said(text, SPOKEN_AT), Said("", SPOKEN_AT)))


def _contents(extraction: Extraction) -> list[str]:
    return [candidate.content for candidate in extraction.candidates]


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("帮我记一下，备用钥匙在张姐那儿，省得我老忘", "备用钥匙在张姐那儿"),
        (
            "Remember the spare key is under the pot so I don't lock myself out",
            "The spare key is under the pot",
        ),
        (
            "给猫看病的是周医生，在文三路那家宠物医院。记住周医生，下次我直接挂她的号。",
            "周医生在文三路那家宠物医院",
        ),
    ],
)
def test_the_reason_to_remember_is_no_part_of_what_is_remembered(said: str, content: str) -> None:
    assert content in _contents(_extract(said))


@pytest.mark.parametrize(
    "said", ["帮我记一下公司后台的密码是Kx9#mm21，省得我老忘", "Save this: the door code is 4410"]
)
def test_a_secret_with_nothing_beside_it_is_refused_even_when_asked_for(said: str) -> None:
    extraction = _extract(said)

    assert extraction.candidates == ()
    assert [refused.redacted for refused in extraction.refused] == [False]


@pytest.mark.parametrize(
    "said",
    ["记住老王", "I want to travel", "想去旅游", "I'm learning a new skill", "我想学一些新的技能"],
)
def test_what_tells_nothing_is_dropped(said: str) -> None:
    assert _contents(_extract(said)) == []


@pytest.mark.parametrize(
    ("said", "contents"),
    [
        ("My cousin who lives in Perth is a vet.", ["Cousin lives in Perth", "Cousin is a vet"]),
        ("We're picking our son Leo up from kindergarten.", ["Son is called Leo"]),
        ("My doctor says I have high blood pressure.", ["Has high blood pressure"]),
        ("The hospital where I work is short on beds.", ["Works at a hospital"]),
        ("honestly spicy food and I do not get along", ["Doesn't get along with spicy food"]),
        ("香菜这东西我是真受不了", ["受不了香菜"]),
        ("医生说我血糖偏高", ["血糖偏高"]),
        ("男朋友上周六跟我求婚了", ["2026年11月14日被男朋友求婚了"]),
    ],
)
def test_a_roundabout_sentence_is_read_as_what_it_says(said: str, contents: list[str]) -> None:
    assert _contents(_extract(said)) == contents
