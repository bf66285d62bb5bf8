import numpy as np
import pytest

from memories.retrieval.query import Date, analyse
from memories.retrieval.signals import query_vector
from tests.hashing_embedder import HashingEmbedder


def test_a_question_is_read_with_the_speakers_it_names() -> None:
    query = analyse("When did Caroline's dog run away?", speakers=["Caroline", "Melanie"])
    assert query.named == ("Caroline",)
    assert query.asks_when and query.language == "en"
    assert query.dense_text == "When did dog run away"


def test_a_chinese_name_is_found_inside_a_sentence() -> None:
    query = analyse("小明什么时候去的杭州？", speakers=["小明", "小红", ""])
    assert query.named == ("小明",) and query.asks_when and query.language == "zh"
    assert "杭州" in query.terms


def test_part_of_a_word_is_not_a_name() -> None:
    assert analyse("Where is the annual report?", speakers=["Ann"]).named == ()


def test_a_question_that_is_only_a_name_still_has_something_to_embed() -> None:
    assert analyse("Caroline?", speakers=["Caroline"]).dense_text == "Caroline"
    assert analyse("？").dense_text == "？"
    assert analyse("").dense_text == ""


def test_dates_in_the_question_are_kept() -> None:
    assert analyse("我5月6号做了什么？").dates == (Date(None, 5, 6),)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("How is Zorbulon going these days?", "zorbulon"),
        ("What is QX-7731 about?", "qx-7731"),
        ("饕餮现在怎么样", "饕餮"),
        ("我还能吃阿莫西林吗", "阿莫西林"),
    ],
)
def test_words_rare_in_the_language_are_known_as_such(text: str, term: str) -> None:
    assert analyse(text).unusual == (term,)


@pytest.mark.parametrize("text", ["How was my day at work?", "我今天的工作怎么样", "in 2023"])
def test_everyday_words_are_not_rare(text: str) -> None:
    assert analyse(text).unusual == ()


def test_the_query_vector_is_that_of_the_dense_text() -> None:
    embedder = HashingEmbedder(dimensions=64)
    query = analyse("What does Ann's black cat eat?", speakers=["Ann"])
    expected = embedder.embed(["What does black cat eat"])[0]
    assert np.allclose(query_vector(query, embedder=embedder), expected)


@pytest.mark.parametrize(
    ("text", "of_oneself"),
    [
        ("What's my job?", True),
        ("Do I have siblings?", True),
        ("我开什么车", True),
        ("我住哪裡？", True),
        ("What is the capital of Peru?", False),
        ("I agree with you", False),
        ("秘鲁有多少人口？", False),
        ("我同意你的看法", False),
    ],
)
def test_a_question_about_the_one_who_asks_is_told_from_others(text: str, of_oneself: bool) -> None:
    assert analyse(text).asks_of_oneself is of_oneself


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("what do you know about theo", ("theo",)),
        ("What do you remember about my kids?", ("kid",)),
        ("tell me everything about Theo, please", ("theo",)),
        ("你知道豆豆哪些事", ("豆豆",)),
        ("what do you know about me", ()),
        ("Which car do I drive?", ()),
        ("我想知道明天几点开会", ()),
    ],
)
def test_the_subject_of_a_question_is_found(text: str, subject: tuple[str, ...]) -> None:
    assert analyse(text).subject == subject
