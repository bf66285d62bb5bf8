"""Slips that a message repairs itself: only the right words are learned, from the whole span."""

import pytest

from memories.extraction.corrections.self_repairs import repaired_text, self_repairs
from tests.memories.extraction.bundled_reading import contents, extract, only


def no_conflict(old: str, new: str) -> float:
    return 0.0


def meant(said: str) -> str:
    return repaired_text(said, self_repairs(said, no_conflict))


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("eggs at the market, thursdays. no wait fridays", "eggs at the market, fridays"),
        (
            "choir is on wednesdays, wait no thursday, and it's loud",
            "choir is on thursdays, and it's loud",
        ),
        ("my son starts school in may. actually june", "my son starts school in june"),
        ("choir is tuesday the 3rd, no wait wednesday the 4th", "choir is wednesday the 4th"),
        ("my flight is 3 may, no wait 4 may", "my flight is 4 may"),
        ("dentist next tuesday, sorry i mean wednesday", "dentist next wednesday"),
        ("we moved here 4 years ago, no wait 5", "we moved here 5 years ago"),
        ("i take 20mg, sorry i mean 25mg, every morning", "i take 25mg, every morning"),
        ("party is at 3pm, no wait 4", "party is at 4pm"),
        ("i have 2 dogs, no wait 3 cats", "i have 3 cats"),
        ("my wife's called jane. i mean jean", "my wife's called jean"),
        ("I take metformin, no wait, gliclazide", "I take gliclazide"),
        ("my hip hurts. sorry, not hip, knee", "my knee hurts"),
        ("I moved on monday no wait tuesday in 2015, sorry, 2016", "I moved on tuesday in 2016"),
        ("我周四去夜市摆摊，哎不对是周五", "我周五去夜市摆摊"),
        ("下周三去北京，哦不，下周四", "下周四去北京"),
        ("我每周二，不对，每周三去打羽毛球", "我每周三去打羽毛球"),
        ("我老婆生日是三月五号，啊不对是三月六号", "我老婆生日是三月六号"),
        ("我搬来四年了，不对五年", "我搬来五年了"),
        ("我有两个儿子，错了，三个", "我有三个儿子"),
        ("我35了，哦不对36岁", "我36岁了"),
        ("我对花生过敏，不对，是腰果", "我对腰果过敏"),
        ("我左腿骨折了，不对，不是左腿是右腿", "我右腿骨折了"),
        ("its Mira not Mara, no wait, Myra", "its Myra not Mara"),
        ("its Tom, not Dan. no wait, Ben", "its Ben, not Dan"),
        ("choir is on monday not tuesday, no wait, wednesday", "choir is on wednesday not tuesday"),
        ("她叫小闵不是小敏，不对，是小冥", "她叫小冥不是小敏"),
        ("her name is Mara, sorry, Mira, oh no, Myra", "her name is Myra"),
        ("she's not coming tuesday, no wait, wednesday", "she's not coming wednesday"),
    ],
)
def test_the_right_words_stand_in_place_of_the_wrong_ones(said: str, text: str) -> None:
    assert meant(said) == text


@pytest.mark.parametrize(
    "said",
    [
        "I work thursdays. no fridays",
        "i can't come thursday, actually friday works better",
        "there was no wait at the clinic on tuesday. monday i go back",
        "it takes 2 hours. correction, two and a half",
        "choir is on tuesday. no wait thursday is when mum comes",
        "i love it, no wait, seriously",
        "I like it, well, liked it",
        "its Mira not Mara, sorry, typo",
        "no wait fridays",
        "不对不对，是下午三点",
        "医生说我的腰不对劲，周三再去",
        "我周四休息，不是周五",
    ],
)
def test_what_repairs_no_value_stays(said: str) -> None:
    assert meant(said) == said


@pytest.mark.parametrize(
    ("said", "wrong", "right"),
    [
        ("my sister lives in leeds no wait york with her two kids", "leeds", "york"),
        ("我妈住南京，说错了，住苏州", "南京", "苏州"),
        ("我弟叫小名，打错了是小明", "小名", "小明"),
    ],
)
def test_other_words_are_replaced_if_the_reader_sees_a_conflict(
    said: str, wrong: str, right: str
) -> None:
    asked = []

    def conflict(old: str, new: str) -> float:
        asked.append((old, new))
        return 0.9

    (repair,) = self_repairs(said, conflict)
    assert wrong not in repair.text and right in repair.text
    assert all(wrong in old and right in new for old, new in asked)


@pytest.mark.parametrize(
    ("before", "said", "content"),
    [
        (
            "I'm at my mum's on mondays",
            "I sell eggs at hexham market, thursdays. no wait fridays",
            "I sell eggs at hexham market, fridays",
        ),
        ("我每周一去陪我妈", "我每周四去夜市摆摊，哎不对是周五", "我每周五去夜市摆摊"),
        ("My sister is called Anna", "my brother is Tom, oops i mean Tim", "my brother is Tim"),
        ("我妹叫小雨", "我弟叫小名，打错了是小明", "我弟叫小明"),
    ],
)
def test_a_slip_is_repaired_in_its_own_message_and_not_in_the_one_before(
    before: str, said: str, content: str
) -> None:
    one = only(extract(said, before=(before,)))
    assert (one.content, one.overrules, one.quote) == (content, "", said)


def test_quotes_stay_where_they_are_in_the_message() -> None:
    said = "choir is on wednesdays, wait no thursdays, and we sing Bach every week"
    found = extract(said)
    assert "choir is on thursdays" in contents(found)
    for one in found.candidates:
        assert said[one.quote_start : one.quote_start + len(one.quote)] == one.quote


@pytest.mark.parametrize("said", ["my pin is 4821, no wait 4812", "我的密码是4821，不对，是4812"])
def test_both_secrets_of_a_slip_are_found(said: str) -> None:
    found = extract(said)
    covered = "".join(said[start:end] for start, end in found.secrets)
    assert "4821" in covered and "4812" in covered and not found.candidates


def test_a_statement_that_may_be_taken_back_waits_for_review() -> None:
    said = "my sister lives in Leeds. no wait, that was my cousin"
    first = extract(said).candidates[0]
    assert "Leeds" in first.content and first.confidence < 0.5


def test_many_slips_and_long_texts_are_left_alone() -> None:
    said = "on monday, no wait tuesday, no wait friday, " * 100
    assert self_repairs(said, no_conflict) == []
    assert len(self_repairs(said[:400], no_conflict)) == 4


@pytest.mark.parametrize(
    ("before", "said", "right"),
    [
        ("my sister Mara is moving in", "its Mira not Mara, no wait, Myra", "my sister Myra"),
        ("my sister Mara is moving in", "typo, I meant Mira. no wait, Myra", "my sister Myra"),
    ],
)
def test_a_name_that_is_corrected_twice_is_the_last_one(before: str, said: str, right: str) -> None:
    found = only(extract(said, before=(before,)))
    assert found.content.startswith(right) and found.overrules == before
