import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.pages.explanation import Part, diff_words


def test_one_word_that_changed_stands_alone_in_english() -> None:
    assert diff_words("Prefers short answers", "Prefers long answers") == [
        Part("same", "Prefers "),
        Part("removed", "short"),
        Part("added", "long"),
        Part("same", " answers"),
    ]


def test_chinese_changes_by_words_and_not_by_characters() -> None:
    assert diff_words("我喜欢简洁的回答", "我喜欢详细的回答") == [
        Part("same", "我喜欢"),
        Part("removed", "简洁"),
        Part("added", "详细"),
        Part("same", "的回答"),
    ]


def test_neighbouring_changes_read_as_one() -> None:
    assert diff_words("lives in New York", "lives in San Francisco") == [
        Part("same", "lives in "),
        Part("removed", "New York"),
        Part("added", "San Francisco"),
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("My name is Dana.", "it's just me and the dog."),
        ("I moved to Porto in May with the cat", "I want to learn the cello in the evening"),
        ("我叫小林，住在杭州", "周末我和同事在公司打球"),
    ],
)
def test_texts_with_little_in_common_stay_whole(old: str, new: str) -> None:
    assert diff_words(old, new) == [Part("removed", old), Part("added", new)]


def test_one_long_change_is_still_a_change_of_words() -> None:
    parts = diff_words("Is vegan", "Is mostly vegetarian, except on holidays at the sea")
    assert parts[0] == Part("same", "Is ") and len(parts) == 3


def test_equal_texts_are_one_part() -> None:
    assert diff_words("the same", "the same") == [Part("same", "the same")]


def test_two_empty_texts_have_no_parts() -> None:
    assert diff_words("", "") == []


@given(st.text(max_size=60), st.text(max_size=60))
def test_the_parts_give_both_texts_back(old: str, new: str) -> None:
    parts = diff_words(old, new)
    assert "".join(part.text for part in parts if part.change != "added") == old
    assert "".join(part.text for part in parts if part.change != "removed") == new


def test_what_recurs_too_often_is_compared_by_sentences_or_whole() -> None:
    told = "api key: " * 2_000

    assert diff_words(told, f"{told}now") == [Part("removed", told), Part("added", f"{told}now")]


def test_many_matches_of_the_same_word_are_too_often() -> None:
    old, new = (" ".join(f"{mark}{at} so" for at in range(300)) for mark in "ab")

    assert diff_words(old, new) == [Part("removed", old), Part("added", new)]


def test_a_memory_of_a_hundred_words_is_compared_by_words() -> None:
    words = [f"word{at}" for at in range(100)]

    parts = diff_words(" ".join(words), " ".join([*words[:50], "other", *words[51:]]))

    assert [part.text for part in parts if part.change != "same"] == ["word50", "other"]


def test_long_texts_are_compared_by_sentences() -> None:
    lines = [f"Line {at} says this and that." for at in range(200)]
    old, new = "\n".join(lines), "\n".join([*lines[:100], "One more.", *lines[100:]])

    changed = [part for part in diff_words(old, new) if part.change != "same"]

    assert changed == [Part("added", "One more.\n")]
