"""What a request to forget is about, without the words around it."""

from __future__ import annotations

import pytest

from memories.extraction.requests.request_subjects import clauses_of

SUBJECTS = {
    "please delete the bit about the canoe": ["the canoe"],
    "you don't need to know where my aunt lives": ["where my aunt lives"],
    "the ladder, take it out please": ["the ladder"],
    "what I pay for parking should not be stored": ["what I pay for parking"],
    "forget the canoe thing, thanks": ["the canoe"],
    "It is sold now, so forget the canoe": ["It is sold now", "the canoe"],
    "canoe": ["canoe"],
    "帮我把皮划艇那条删了吧": ["皮划艇"],
    "我姑姑住哪儿就别记了": ["我姑姑住哪儿"],
    "忘掉停车费的事": ["停车费"],
    "已经卖了，皮划艇那个不用记了": ["已经卖了", "皮划艇"],
    "forget the canoe completely, please": ["the canoe"],
    "forget absolutely everything to do with my canoe": ["my canoe"],
    "Everything about my canoe should be forgotten": ["my canoe"],
    "erase every memory of my canoe": ["my canoe"],
    "delete anything that concerns my canoe": ["my canoe"],
    "forget everything I told you about my canoe": ["my canoe"],
    "forget my canoe, all of it": ["my canoe"],
    "把我划船的事全部忘掉": ["我划船"],
    "关于划船的一切都删了吧": ["划船"],
    "把关于划船的所有内容统统删除": ["划船"],
    "彻底忘掉我划船的事": ["我划船"],
    "所有和划船有关的都别记": ["划船"],
    "请忘记我说过的所有关于划船的话": ["划船"],
    "我划船的那些事一概抹掉": ["我划船"],
    "把划船的事忘得一干二净": ["划船"],
}


@pytest.mark.parametrize("request_", SUBJECTS)
def test_the_words_around_the_subject_are_left_out(request_: str) -> None:
    assert clauses_of(request_) == SUBJECTS[request_]


@pytest.mark.parametrize(
    "request_",
    ["please delete that", "forget that one, ok?", "这条删了吧", "全部忘掉", "forget all of it"],
)
def test_a_request_that_only_points_has_no_subject(request_: str) -> None:
    assert clauses_of(request_) == []


def test_what_is_a_subject_already_keeps_its_words() -> None:
    assert clauses_of("I don't keep bees", whole=False) == ["I don't keep bees"]
    assert clauses_of("my canoe, please", whole=False) == ["my canoe"]


def test_what_a_statement_ends_with_is_not_cut() -> None:
    assert clauses_of("forget that my uncle doesn't know") == ["my uncle doesn't know"]
