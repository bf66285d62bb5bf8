import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.text import segment


def test_english_words_are_stemmed_and_stop_words_dropped() -> None:
    assert segment.terms("What are the Dogs running to?") == ["dog", "run"]


def test_a_text_of_stop_words_only_keeps_its_words() -> None:
    assert segment.terms("Who are you?") == ["who", "are", "you"]
    assert segment.terms("你是谁") != []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Who is Will?", "will"),
        ("Where does Will work?", "will"),
        ("Will works at the bakery", "will"),
        ("Will’s sister is a nurse", "will"),
        ("What does May like?", "may"),
        ("Where does An live?", "an"),
        ("An lives in Ghent", "an"),
        ("My brother Don is here. Don't ask", "don"),
        ("谁认识王小明？", "王小明"),
        ("誰認識王小明？", "王小明"),
        ("李娜在哪里上班", "李娜"),
    ],
)
def test_names_that_are_words_too_are_kept(text: str, name: str) -> None:
    assert name in segment.terms(text)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("Will you come?", "will"),
        ("Will the train leave on time?", "will"),
        ("An apple a day", "an"),
        ("An hour later", "an"),
        ("I will come. An end.", "will"),
        ("I'm here, Don't ask about trains", "don't"),
        ("What Will The New Law Change", "will"),
    ],
)
def test_the_same_words_where_nobody_is_named_are_not(text: str, word: str) -> None:
    assert word not in segment.terms(text)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("Allergic to penicillin since 2019", "what happened in 2019"),
        ("房租是12,500元", "12500"),
        ("会议在2026-03-05", "2026-03-05的会议"),
        ("我用Python写爬虫", "python 爬虫"),
        ("我在Costco買了烏龍茶", "costco 乌龙茶"),
    ],
)
def test_numbers_dates_and_mixed_languages_meet(stored: str, asked: str) -> None:
    assert set(segment.terms(asked)) & set(segment.terms(stored))


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("My order is QX-7731.", "qx-7731"),
        ("Write to Ann.Lee@example.com today", "ann.lee@example.com"),
        ("born on 1987-03-05", "1987-03-05"),
        ("runs on 10.0.0.12", "10.0.0.12"),
        ("I write C++ and C#", "c++"),
        ("the flight CA1832", "ca1832"),
        ("航班号是CA1832，别忘了", "ca1832"),
        ("rent of 12,500 euros", "12500"),
    ],
)
def test_ids_numbers_and_addresses_stay_whole(text: str, whole: str) -> None:
    assert whole in segment.terms(text)


def test_an_id_is_found_by_its_parts_too() -> None:
    assert {"qx", "7731"} <= set(segment.terms("QX-7731"))


def test_possessives_and_accents_do_not_hide_a_word() -> None:
    assert segment.terms("José’s") == segment.terms("jose")


def test_traditional_and_simplified_chinese_give_the_same_words() -> None:
    assert segment.terms("我對花生過敏，後來住在臺北") == segment.terms(
        "我对花生过敏，后来住在台北"
    )


def test_full_width_letters_are_the_same_as_narrow_ones() -> None:
    assert segment.terms("ＱＸ７７３１") == segment.terms("qx7731")


def test_long_chinese_words_are_found_by_the_words_inside() -> None:
    assert {"清华", "大学", "清华大学"} <= set(segment.terms("女儿在清华大学读书"))


@pytest.mark.parametrize(
    ("statement", "question", "shared"),
    [
        ("我养了一只叫团子的猫", "团子打疫苗了吗？", "团子"),
        ("用户对花生过敏", "我能吃花生酱吗", "花生"),
        ("我的导师叫慕容雪梅", "慕容雪梅是谁", "雪梅"),
    ],
)
def test_chinese_meets_across_different_segmentations(
    statement: str, question: str, shared: str
) -> None:
    assert shared in set(segment.terms(statement)) & set(segment.terms(question))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("我对花生过敏", "zh"),
        ("我用 Python 和 Django 写后端", "zh"),
        ("I am allergic to peanuts", "en"),
        ("What does 你好 mean?", "en"),
        ("2024-05-01", "en"),
        ("", "en"),
    ],
)
def test_the_language_is_the_one_most_of_the_text_is_in(text: str, expected: str) -> None:
    assert segment.language(text) == expected


@settings(deadline=None)
@given(st.text(max_size=200))
def test_terms_are_the_same_each_time_and_fit_an_index(text: str) -> None:
    found = segment.terms(text)
    assert found == segment.terms(text)
    assert all(0 < len(term) <= 64 and "\x00" not in term for term in found)


@settings(deadline=None)
@given(st.text(alphabet=st.characters(categories=["Lu", "Ll", "Nd"]), min_size=1, max_size=40))
def test_a_text_with_letters_is_never_left_without_a_term(text: str) -> None:
    assert segment.terms(text)
