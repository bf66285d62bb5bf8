import pytest

from foundation.text import segment
from memories.retrieval.query import analyse, asked_about, matched_concepts


@pytest.mark.parametrize(
    ("question", "name", "memory"),
    [
        ("What's my profession?", "work", "Is a nurse"),
        ("我是做什么工作的", "work", "在医院当护士"),
        ("我是做什麼工作的", "work", "在醫院當護士"),
        ("What's my job?", "work", "在医院当护士"),
        ("Recommend a snack", "food", "Is allergic to peanuts"),
        ("我家有什么宠物？", "pet", "Has a dog named Biscuit"),
    ],
)
def test_a_question_about_something_general_meets_what_says_it_in_particular(
    question: str, name: str, memory: str
) -> None:
    asked = asked_about(question)
    assert name in {one.name for one in asked}
    assert matched_concepts(asked, segment.terms(memory)) > 0


@pytest.mark.parametrize("chatter", ["ok", "Thanks, that's great!", "好的", "哈哈哈", "1 + 1", ""])
def test_chatter_is_about_nothing(chatter: str) -> None:
    assert asked_about(chatter) == ()
    assert matched_concepts((), ["nurs"]) == 0.0


def test_an_english_word_within_chinese_asks() -> None:
    assert [one.name for one in asked_about("帮我做一份年终PPT")] == ["presentation"]
    assert [one.name for one in asked_about("我的job怎么样")] == ["work"]


def test_only_whole_english_words_ask() -> None:
    assert "pet" not in {one.name for one in asked_about("What is a category?")}


def test_the_words_of_its_concepts_are_sought_beside_its_own() -> None:
    query = analyse("What's my profession?")
    assert set(query.terms) < set(query.sought)
    assert "nurs" in query.sought and "护士" in query.sought
    assert analyse("ok").sought == analyse("ok").terms
