"""A sentence that only gives a new amount changes that amount, and nothing else of the memory."""

from datetime import UTC, datetime

import pytest

from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.corrections.new_values import new_amount
from memories.extraction.types import Candidate, KnownMemory, Verdict
from tests.memories.extraction.bundled_reading import extract
from tests.memories.extraction.readings import FakeReader, statement
from tests.pair_reader import FakePairs

NOW = datetime(2026, 11, 3, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "earlier", "again"),
    [
        ("it's 15 colonies now", "I keep 14 colonies up here", "I keep 15 colonies up here"),
        ("we're up to 15 colonies now", "I've got 14 colonies", "I've got 15 colonies"),
        ("it's actually 15 colonies, I miscounted", "I keep 14 colonies", "I keep 15 colonies"),
        ("the rent's 900 now", "my rent is 850 a month", "my rent is 900 a month"),
        ("isla's 7 now", "my daughter Isla is 6", "my daughter Isla is 7"),
        ("four kids now, the baby came", "I've three kids", "I've four kids"),
        ("turns out im a 9", "I take a size 8 shoe", "I take a size 9 shoe"),
        ("30k a week now", "I run about 20k a week", "I run about 30k a week"),
        ("make that 13, Tom started", "we have 12 staff here", "we have 13 staff here"),
        ("现在15箱了", "我有14箱蜂", "我有15箱蜂"),
        ("房租涨到8500了", "我们店房租一个月8000", "我们店房租一个月8500"),
        ("现在三个娃了，上周刚生", "我有两个娃", "我有三个娃"),
        ("现在68了", "我体重70公斤", "我体重68公斤"),
        ("现在一周4次", "我一周健身3次", "我一周健身4次"),
        ("现在25个了，刚转来一个", "我班上有24个学生", "我班上有25个学生"),
    ],
)
def test_a_new_amount_takes_the_place_of_the_old_one(said: str, earlier: str, again: str) -> None:
    found = new_amount(said, ["hello there", earlier])
    assert found is not None and (found.place, found.text) == (1, again)


@pytest.mark.parametrize(
    ("said", "earlier"),
    [
        ("it's 15 hives now", "I keep 14 colonies"),
        ("we have 2 lodgers now", "I've two kids"),
        ("I had 2 coffees", "I have 3 sisters"),
        ("it's 3pm now", "I get 2 days off"),
        ("现在7点了", "我有2只猫"),
        ("今天吃了2个包子", "我有3个姐姐"),
        ("it's 5 now", "Mia is 4 and Leo is 2"),
    ],
)
def test_an_amount_of_something_else_changes_nothing(said: str, earlier: str) -> None:
    assert new_amount(said, [earlier]) is None


@pytest.mark.parametrize(
    ("conflict", "kept"), [(0.9, [("I have 7 cats", "I have 2 cats")]), (0.4, [])]
)
def test_the_reader_must_find_that_the_new_amount_conflicts(
    conflict: float, kept: list[tuple[str, str]]
) -> None:
    old, new, said = "I have 2 cats", "I have 7 cats", "it's 7 now"
    told = FakeReader(conflict=conflict)
    told.hears(old, statement(old, old))
    told.hears(new, statement(new, new))
    found = extract(said, before=(old,), told=told).candidates
    assert [(one.content, one.overrules) for one in found] == kept


@pytest.mark.parametrize(
    ("said", "known", "text"),
    [
        ("it's 15 colonies now", "I keep 14 colonies up here", "I keep 15 colonies up here"),
        ("30k a week now", "I run about 20k a week", "I run about 30k a week"),
        ("[我]现在68了", "我体重70公斤", "我体重68公斤"),
        ("房租涨到8500了", "我们店房租一个月8000", "我们店房租一个月8500"),
    ],
)
def test_a_new_amount_of_another_conversation_changes_only_the_amount(
    said: str, known: str, text: str
) -> None:
    head = FakePairs()
    head.says(known, said, "newer", 0.97)
    candidate = Candidate("fact", said, 0.6, 0.9, quote=said, corrects=True)
    memory = KnownMemory(id="mem_1", kind="fact", content=known, similarity=0.5)
    decision = BundledArbiter(head).arbitrate(candidate, [memory], now=NOW)
    assert (decision.verdict, decision.content) == (Verdict.MERGE, text)
