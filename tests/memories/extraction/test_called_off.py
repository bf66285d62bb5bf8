"""Plans that are called off: the memory of the plan ends."""

import pytest

from memories.extraction.called_off import called_off
from tests.memories.extraction.bundled_reading import extract
from tests.memories.extraction.readings import FakeReader, statement

GIG, PARTY = "got a gig at the louisiana 9th dec", "我12月9号去看演出"


@pytest.mark.parametrize(
    ("said", "plan"),
    [
        ("actually scrap that gig its cancelled", GIG),
        ("that gig's off now", GIG),
        ("that's off", GIG),
        ("that gig has been called off. what a shame", GIG),
        ("那个演出取消了", PARTY),
        ("算了，那个不去了", PARTY),
    ],
)
def test_what_is_called_off_ends_the_memory_of_the_plan(said: str, plan: str) -> None:
    told = FakeReader()
    told.hears(plan, statement(plan, plan, kind="event"))
    told.hears(said, statement(said, said[-5:], kind="event", change="ends"))
    (one,) = extract(said, before=(plan, "ok"), told=told).candidates
    assert (one.overrules, one.corrects, one.occurred_at) == (plan, True, None)
    assert one.content.startswith(f"[{plan}] ") and one.quote in said


@pytest.mark.parametrize(
    ("said", "heard"),
    [("actually scrap that gig its cancelled", "its cancelled"), ("那个演出取消了", "演出取消了")],
)
def test_a_plan_of_another_conversation_is_named_and_reviewed(said: str, heard: str) -> None:
    told = FakeReader()
    told.hears(said, statement(said, heard, kind="event", change="ends"))
    (one,) = extract(said, before=("hello",), told=told).candidates
    assert (one.content, one.overrules) == (said, "") and one.confidence < 0.5


@pytest.mark.parametrize("said", ["that's off", "那个取消了"])
def test_what_names_no_plan_is_never_a_memory(said: str) -> None:
    told = FakeReader()
    told.hears(said, statement(said, said, kind="event", change="ends"))
    assert not extract(said, before=("I live in Leeds",), told=told).candidates


@pytest.mark.parametrize(
    "said",
    [
        "scrap that",
        "scrap that, the course is moved to the 16th",
        "my day off is monday",
        "I was cancelled on",
        "取消了",
        "会议室那个人取消了订单吗",
    ],
)
def test_other_sentences_call_nothing_off(said: str) -> None:
    assert not list(called_off(said))
