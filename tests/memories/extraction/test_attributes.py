"""Statements that give different attributes of one thing both hold, whatever the reader says."""

from __future__ import annotations

import pytest

from memories.extraction.arbitration.attributes import give_different_attributes
from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.types import Verdict
from memories.reader import reader
from tests.memories.extraction.test_arbitrate import NOW, candidate, decide, known

KEPT = (Verdict.ADD, Verdict.KEEP_BOTH)
OTHERS = [
    ("用户的公司名称是'TechCorp'，主营AI产品", "我的公司是科技行业的"),
    ("用户的公司名称是'TechCorp'，主营AI产品", "用户的公司是科技行业"),
    ("我们公司在深圳", "公司有两百人"),
    ("我的公司叫蓝鲸", "我的公司成立于2018年"),
    ("我的猫是灰色的", "我的猫今年三岁"),
    ("我的车是2021年买的", "我的车是比亚迪"),
    ("儿子的学校在城南", "儿子的学校有六百人"),
    ("房东来自温州", "房东五十岁"),
    ("公司规模是三百人", "公司地址在杭州"),
    ("My company is called Northwind", "My company is in the tech industry"),
    ("My cat's name is Biscuit", "My cat is three years old"),
    ("My cat is a tabby", "My cat is grey"),
    ("The user's car is from 2019", "My car is blue"),
    ("My son's school is in Bristol", "My son's school has 600 pupils"),
    ("Our landlord is from Ghana", "Our landlord is 61"),
    ("我女朋友叫小闵", "我女朋友属兔的"),
    ("我女朋友叫小闵", "我女朋友爱吃辣"),
    ("My boss is called Priya", "My boss is based in Oslo"),
    ("Theo is 9", "Theo's school is St Chads"),
]


@pytest.mark.parametrize("reads", ["same", "contradicts", "newer"])
@pytest.mark.parametrize(("old", "new"), OTHERS)
def test_statements_on_different_attributes_of_one_thing_are_both_kept(
    old: str, new: str, reads: str
) -> None:
    for first, second in ((old, new), (new, old)):
        assert decide(second, first, reads=reads, share=0.97).verdict in KEPT


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("我的公司是科技行业的", "我的公司是医疗行业的"),
        ("我的公司名称是星尘", "我的公司叫蓝鲸"),
        ("公司在深圳", "公司位于广州"),
        ("我的猫是灰色的", "我的猫是白色的"),
        ("我的老板叫王强", "我的老板是李明"),
        ("公司有两百人", "公司有三百人"),
        ("女儿是高中生", "女儿在读大学"),
        ("我的猫叫饼干，三岁", "我的猫五岁"),
        ("My company is in the tech industry", "My company is in the food industry"),
        ("My dog's name is Rex", "My dog is called Max"),
        ("My boss is Karen", "My boss is called Priya"),
        ("My cat is grey", "My cat's colour is white"),
        ("My company is based in Austin", "My company's headquarters is in Denver"),
        ("My car is electric", "My car is a diesel"),
        ("My cat is called Biscuit, he is three years old", "My cat is five years old"),
        ("My boss is called Priya", "My landlord is from Ghana"),
        ("My company is called Northwind", "My company isn't in the tech industry"),
    ],
)
def test_the_same_attribute_or_an_unclear_one_is_still_compared(old: str, new: str) -> None:
    for first, second in ((old, new), (new, old)):
        assert not give_different_attributes(first, second)


def test_a_correction_of_an_attribute_still_replaces() -> None:
    decision = decide("My dog is called Max", known("My dog's name is Rex"), reads="newer")
    assert decision.verdict is Verdict.REPLACE


@pytest.mark.parametrize("new", ["我的公司是科技行业的", "用户的公司是科技行业"])
def test_the_bundled_reader_keeps_the_name_of_the_company_beside_its_industry(new: str) -> None:
    """The example of document 002, section 4.1."""
    old = known("用户的公司名称是'TechCorp'，主营AI产品", similarity=0.6)
    decision = BundledArbiter(reader()).arbitrate(candidate(new), [old], now=NOW)
    assert decision.verdict in KEPT
