import re

import pytest

from memories.extraction.arbitrate import read
from memories.extraction.arbitration.exclusive import exclude_each_other, table
from memories.extraction.arbitration.framing import clash_in_one_frame, otherwise_often

EXCLUDE = [
    ("Is left-handed", "Writes with the right hand"),
    ("Can't swim", "Swims two kilometres before breakfast"),
    ("Never went to university", "Studied law at university"),
    ("Mother has passed away", "Has lunch with mum every Sunday"),
    ("Owns the flat", "Pays rent to a landlord for the flat"),
    ("Is single", "Wife is a vet"),
    ("家里没有车", "每天开车送孩子上学"),
    ("月光族，一分钱没存", "在攒钱买房"),
    ("身上没有纹身", "手腕上纹了只燕子"),
    ("從不熬夜", "经常两三点才睡"),
    ("是独生女", "跟姐姐感情最好"),
]
BESIDE_EACH_OTHER = [
    ("Is vegetarian", "Sister eats bacon every morning"),
    ("Used to smoke", "Never smokes"),
    ("Wants to learn to swim", "Can't swim"),
    ("Has no siblings", "Wife has two brothers"),
    ("The gym is open on Sundays", "The library is closed on Sundays"),
    ("不喝酒", "老公每晚都要喝二两白酒"),
    ("想养只猫", "没养宠物"),
    ("以前抽烟", "不抽烟"),
]


@pytest.mark.parametrize(("one", "other"), EXCLUDE)
def test_two_values_of_one_attribute_exclude_each_other(one: str, other: str) -> None:
    assert exclude_each_other(read(one), read(other))
    assert exclude_each_other(read(other), read(one))


@pytest.mark.parametrize(("one", "other"), BESIDE_EACH_OTHER)
def test_wishes_the_past_and_other_people_exclude_nothing(one: str, other: str) -> None:
    assert not exclude_each_other(read(one), read(other))
    assert not exclude_each_other(read(other), read(one))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_attribute_has_two_values_or_none_in_a_language(language: str) -> None:
    for attribute in table(language):
        assert len(attribute.values) != 1, attribute.name
        for form in attribute.values.values():
            assert not re.search(form, "")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The wedding was in Florence", "The wedding was in Glasgow"),
        ("Best friend is Marta", "Best friend is Quentin"),
        ("经理姓邓", "经理姓崔"),
    ],
)
def test_what_there_is_one_of_has_one_value(one: str, other: str) -> None:
    assert clash_in_one_frame(read(one), read(other))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Is in a band", "Is in a book club"),
        ("Is allergic to cats", "Is allergic to dogs"),
        ("Went to Lisbon", "Went to Porto"),
        ("喜欢用公制单位", "喜欢用深色模式"),
        ("周末在家看书", "周末在公园跑步"),
    ],
)
def test_what_there_may_be_many_of_clashes_with_nothing(one: str, other: str) -> None:
    assert not clash_in_one_frame(read(one), read(other))


def test_the_same_done_less_often_is_something_else() -> None:
    nightly, monthly = read("Backups run nightly"), read("Backups run once a month")
    assert otherwise_often(nightly, monthly)
    assert not otherwise_often(read("Calls mum every day"), read("Calls dad every week"))
