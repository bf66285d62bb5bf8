from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction.consolidate import LONGEST, BundledConsolidator, Joined, join

consolidate = BundledConsolidator().consolidate


@pytest.mark.parametrize(
    ("texts", "text"),
    [
        (
            ["Likes oolong tea", "Likes green tea", "Likes matcha"],
            "Likes oolong tea, green tea and matcha",
        ),
        (["喜欢乌龙茶", "喜欢喝绿茶", "喜欢抹茶"], "喜欢乌龙茶、喝绿茶和抹茶"),
        (["喜欢小说", "喜欢小狗", "喜欢散步"], "喜欢小说、小狗和散步"),
        (["读过《三体》", "读过《活着》", "读过《围城》"], "读过《三体》、《活着》和《围城》"),
        (["在学吉他", "在学法语", "在学编程"], "在学吉他、法语和编程"),
        (
            ["妈妈是医生", "妈妈住在北京", "妈妈养了一只猫"],
            "妈妈是医生，住在北京，养了一只猫",
        ),
        (["Has a cat", "Has a sister", "Has two cars"], "Has a cat, a sister and two cars"),
        (
            ["Anna likes tea", "Anna lives in Leeds", "Anna plays chess"],
            "Anna likes tea, lives in Leeds and plays chess",
        ),
        (
            ["Doesn't like cheese", "Doesn't like olives", "Doesn't like capers"],
            "Doesn't like cheese, olives or capers",
        ),
        (
            ["Likes tea, jazz and chess", "Likes hiking", "Likes rock and roll"],
            "Likes tea, jazz, chess, hiking, and rock and roll",
        ),
        (["喜欢茶、咖啡和可可", "喜欢可乐", "喜欢茶"], "喜欢茶、咖啡、可可和可乐"),
        (
            ["Prefers short answers", "Prefers short answers with code", "Prefers dark mode"],
            "Prefers short answers with code, and dark mode",
        ),
    ],
)
def test_what_begins_alike_becomes_one_list(texts: list[str], text: str) -> None:
    assert consolidate(texts) == [Joined(text, (0, 1, 2))]


@pytest.mark.parametrize(
    "texts",
    [
        ["Likes cheese", "Doesn't like olives", "Never eats capers", "Hates brie"],
        ["喜欢奶酪", "不喜欢橄榄", "讨厌香菜", "住在杭州"],
        ["Lives in Leeds", "Works at Acme", "Plays the cello"],
    ],
)
def test_what_has_no_words_in_common_stays_apart(texts: list[str]) -> None:
    assert consolidate(texts) == []


def test_a_pair_is_joined_only_where_few_remain() -> None:
    assert consolidate(["Likes tea", "Likes jazz", "Lives in Leeds"]) == [
        Joined("Likes tea and jazz", (0, 1))
    ]
    apart = ["Lives in Leeds", "Works at Acme", "Plays the cello"]
    assert consolidate(["Likes tea", "Likes jazz", *apart]) == []


def test_what_another_says_word_for_word_is_said_once() -> None:
    assert join(["Likes tea", "likes tea.", "Likes tea"]) == "Likes tea"
    assert join(["Likes tea", "Dislikes tea"]) == "Likes tea; Dislikes tea"


def test_a_list_that_would_be_too_long_is_cut_in_two() -> None:
    texts = [f"Likes the {number} very long name of a band that plays jazz" for number in range(12)]
    found = consolidate(texts)
    assert len(found) > 1 and all(len(one.content) <= LONGEST for one in found)


_WORDS = st.sampled_from(["tea", "jazz", "a cat", "茶", "《三体》", "rock and roll", "2023", ""])
_HEADS = st.sampled_from(["Likes ", "Has ", "喜欢", "不喜欢", "妈妈", "Lives in ", "Didn't ", ""])
_TEXT = st.tuples(_HEADS, _WORDS, _WORDS).map(lambda parts: " ".join(parts).strip() or "x")


@given(st.lists(st.one_of(_TEXT, st.text(min_size=1, max_size=40)), max_size=12))
def test_no_input_is_lost_or_used_twice(texts: list[str]) -> None:
    found = consolidate(texts)
    used = [place for one in found for place in one.inputs]
    assert len(used) == len(set(used)) and set(used) <= set(range(len(texts)))
    assert all(len(one.inputs) >= 2 and one.content.strip() for one in found)


@given(st.lists(_TEXT, min_size=3, max_size=8))
def test_every_sign_of_a_result_was_in_its_inputs(texts: list[str]) -> None:
    for one in consolidate(texts):
        said = "".join(texts[place] for place in one.inputs).casefold()
        added = set(one.content.casefold()) - set(said)
        assert added <= set("、和，；,; andor")
