from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import product

import pytest

from foundation.providers.base import Vectors
from foundation.providers.embedders import BundledEmbedder
from foundation.text import segment
from memories.retrieval.hybrid import rank
from memories.retrieval.query import Query, analyse
from memories.retrieval.ranking_types import Ranked, Unit
from memories.retrieval.signals import Corpus, query_vector, shift_to_statements
from memories.retrieval.weights import RELEVANCE_FLOOR
from tests.memories.retrieval import samples

EMBEDDER = BundledEmbedder()
MAY = datetime(2026, 5, 1, 9, tzinfo=UTC)
EVERYDAY = {
    "en": [
        f"My {who} likes {what} {when}"
        for who, what, when in product(
            ["uncle", "boss", "sister", "teacher", "friend", "aunt"],
            ["cooking", "chess", "long walks", "old songs"],
            ["on Sundays", "in winter", "after work"],
        )
    ],
    "zh": [
        f"我的{who}{when}喜欢{what}"
        for who, what, when in product(
            ["舅舅", "上司", "姐姐", "老师", "朋友", "姑姑"],
            ["做饭", "下棋", "散步", "听老歌"],
            ["星期天", "冬天", "下班后"],
        )
    ],
}


@cache
def vector_of(text: str) -> Vectors:
    vector: Vectors = EMBEDDER.embed([text])[0]
    return vector


def cosines_for(query: Query, texts: Sequence[str], *, statements: bool = False) -> list[float]:
    vector = query_vector(query, embedder=EMBEDDER)
    if statements:
        vector = shift_to_statements(vector, model=EMBEDDER.model)
    return [float(vector_of(text) @ vector) for text in texts]


def memories_for(query: Query, texts: Sequence[str]) -> list[Unit]:
    cosines = cosines_for(query, texts, statements=True)
    return [
        Unit("memory", str(number), text, segment.terms(text), cosine=cosine)
        for number, (text, cosine) in enumerate(zip(texts, cosines, strict=True))
    ]


def ask(question: str, texts: Sequence[str]) -> list[Ranked]:
    query = analyse(question)
    return rank(query, memories_for(query, texts))


def messages_for(query: Query, said: Sequence[tuple[str, str]]) -> list[Unit]:
    cosines = cosines_for(query, [text for _, text in said])
    return [
        Unit(
            *("message", f"m{number}", text, segment.terms(text)),
            cosine=cosines[number],
            at=MAY + timedelta(days=number // 3),
            conversation="c",
            position=number,
            speaker=speaker,
        )
        for number, (speaker, text) in enumerate(said)
    ]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_rare_exact_word_in_one_memory_of_a_hundred_comes_first(language: str) -> None:
    sample = samples.load(language)
    others = (sample.memories + EVERYDAY[language])[:99]
    assert len(others) == 99
    for memory, word in sample.rare:
        for frame in ("{}", *sample.frames):
            best = ask(frame.format(word), [*others, memory])[0]
            assert best.unit.text == memory, (frame, word, best.unit.text)


@pytest.mark.parametrize(("language", "least"), [("en", 26), ("zh", 25)])
def test_most_questions_find_the_memory_that_answers_them(language: str, least: int) -> None:
    sample = samples.load(language)
    right = [
        memory
        for memory, question in sample.asked
        if ask(question, sample.memories)[0].unit.text == memory
    ]
    assert len(right) >= least


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_floor_lets_related_memories_pass_and_hardly_any_unrelated(language: str) -> None:
    sample = samples.load(language)
    passed = 0
    for memory, question in sample.asked:
        relevance = {each.unit.text: each.relevance for each in ask(question, sample.memories)}
        passed += relevance[memory] >= RELEVANCE_FLOOR
    noise = sum(
        ask(question, sample.memories)[0].relevance >= RELEVANCE_FLOOR
        for question in sample.unrelated
    )
    assert passed >= 0.75 * len(sample.asked)
    assert noise <= 0.1 * len(sample.unrelated)


def test_an_answer_is_found_by_the_question_before_it() -> None:
    said = [
        ("user", "Good morning"),
        ("assistant", "How many people are in your badminton team?"),
        ("user", "Eight, all from the office"),
        ("user", "Tell me about volcanoes"),
        ("assistant", "They form where plates meet"),
        ("user", "Thanks"),
    ]
    query = analyse("How big is my badminton team?")
    best = [each.unit.id for each in rank(query, messages_for(query, said), limit=2)]
    assert set(best) == {"m1", "m2"}


def test_the_named_speakers_own_words_come_before_the_others() -> None:
    small_talk = [("Ann", "Nice weather"), ("Bob", "Indeed"), ("Ann", "See you"), ("Bob", "Bye")]
    said = [("Ann", "I adopted a puppy"), *small_talk, ("Bob", "I adopted a puppy")]
    for name, expected in (("Ann", "m0"), ("Bob", "m5")):
        query = analyse(f"What did {name} adopt?", speakers=["Ann", "Bob"])
        assert rank(query, messages_for(query, said))[0].unit.id == expected


def test_the_day_a_question_names_decides_between_like_messages() -> None:
    said = [("", "我今天做了一道菜"), *[("", "天气不错")] * 5, ("", "我今天做了一道菜")]
    for day, expected in (("5月1号", "m0"), ("5月3号", "m6")):
        query = analyse(f"{day}我做了什么菜？")
        assert rank(query, messages_for(query, said))[0].unit.id == expected


def test_messages_of_an_unrelated_pool_stay_under_the_floor() -> None:
    query = analyse("What is the capital of France?")
    said = [("user", "我养了一只猫"), ("assistant", "它叫什么名字？"), ("user", "团子")]
    assert all(each.relevance < RELEVANCE_FLOOR for each in rank(query, messages_for(query, said)))


def test_a_unit_without_a_vector_is_found_by_its_words() -> None:
    query = analyse("Zorbulon")
    units = [
        Unit("memory", "a", "I test the Zorbulon", segment.terms("I test the Zorbulon")),
        Unit("memory", "b", "I like tea", segment.terms("I like tea"), cosine=0.4),
    ]
    best = rank(query, units)[0]
    assert best.unit.id == "a" and best.relevance >= RELEVANCE_FLOOR


def test_every_relevance_is_shown_with_its_features_and_within_bounds() -> None:
    query = analyse("When did I adopt the puppy?")
    said = messages_for(query, [("user", "I adopted a puppy yesterday"), ("assistant", "Nice!")])
    ranked = rank(query, [*said, *memories_for(query, ["I have a puppy"])])
    assert {each.unit.type for each in ranked} == {"message", "memory"}
    for each in ranked:
        assert 0 <= each.relevance <= 1
        assert {"dense", "lexical", "on_date"} <= set(each.features)
    assert [each.relevance for each in ranked] == sorted(
        (each.relevance for each in ranked), reverse=True
    )


def test_the_limit_gives_the_beginning_of_the_whole_ranking() -> None:
    texts = samples.load("en").memories
    query = analyse("What do I do on weekends?")
    units = memories_for(query, texts)
    assert rank(query, units, limit=5) == rank(query, units)[:5]
    assert rank(query, []) == []


def test_a_word_that_is_common_outside_the_pool_counts_for_little() -> None:
    query = analyse("tea")
    units = [Unit("memory", "a", "tea", ["tea"], cosine=0.3)]
    common = Corpus(total=1_000, average_length=5, document_frequency={"tea": 990})
    rare = Corpus(total=1_000, average_length=5, document_frequency={"tea": 1})
    shown = [rank(query, units, corpus=each)[0].features["lexical"] for each in (common, rare)]
    assert shown[0] < 0.1 < shown[1]


@pytest.mark.parametrize(
    ("question", "answer", "others"),
    [
        ("我对什么过敏？", "Is allergic to penicillin", ["Takes long walks", "Hates overtime"]),
        ("Which city do I live in?", "住在重庆", ["喜欢下雨天", "家里有一架旧钢琴"]),
        ("我在哪裡工作？", "在银行工作", ["喜欢下雨天", "养了三只鹦鹉"]),
        ("我的 MacBook 是哪年买的？", "2023年买了MacBook", ["2021年买了房", "喜欢苹果"]),
    ],
)
def test_a_question_finds_its_memory_across_languages_and_scripts(
    question: str, answer: str, others: list[str]
) -> None:
    best = ask(question, [*others, answer])[0]
    assert best.unit.text == answer
    assert best.relevance >= RELEVANCE_FLOOR


def test_what_another_embedder_made_is_not_mapped() -> None:
    vector = vector_of("Where do I live?")
    assert shift_to_statements(vector, model="another") is vector
    moved = shift_to_statements(vector, model=EMBEDDER.model)
    assert float(moved @ moved) == pytest.approx(1.0, abs=1e-4)
    assert float(moved @ vector_of("Lives in Leeds")) > float(vector @ vector_of("Lives in Leeds"))
