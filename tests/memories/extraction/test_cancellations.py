"""Plans that are called off: the memory of the plan ends."""

import pytest

from memories.extraction.corrections.cancellations import cancellations
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


OLIVES, OLIVEN = "I really like olives", "我特别喜欢吃橄榄"


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("the thing about me liking olives is wrong actually", OLIVES),
        ("what I said about liking olives isn't true. anyway, dinner?", OLIVES),
        ("刚才说喜欢橄榄是错的", OLIVEN),
        ("我喜欢橄榄那句是假的", OLIVEN),
        ("喜欢橄榄那个不对", OLIVEN),
        ("never mind what I said about liking olives", OLIVES),
        ("我刚才说的喜欢橄榄不算", OLIVEN),
    ],
)
def test_what_is_called_wrong_ends_the_memory_that_it_means(said: str, fact: str) -> None:
    (one,) = extract(said, before=(fact, "hello there")).candidates
    assert (one.overrules, one.corrects) == (fact, True)
    assert one.content.startswith(f"[{fact}] ") and one.quote in said


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        ("the olive oil bit in the recipe is wrong", "I live in Leeds"),
        ("is it wrong that the olives thing isn't true?", OLIVES),
        ("第三题的答案是错的", OLIVEN),
    ],
)
def test_what_is_wrong_about_other_things_ends_no_memory(said: str, fact: str) -> None:
    assert not extract(said, before=(fact,)).candidates


@pytest.mark.parametrize("said", ["scratch that, I don't like olives", "说错了，我不喜欢橄榄"])
def test_the_opposite_of_what_was_said_corrects_it(said: str) -> None:
    (one,) = extract(said, before=(OLIVES, OLIVEN)).candidates
    assert one.corrects


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
    assert not list(cancellations(said))


@pytest.mark.parametrize(
    "said",
    [
        "never mind what I said about olives",
        "the thing about my sister in York is wrong",
        "what I told you about Leeds isn't true",
        "我之前说的橄榄那个不算",
    ],
)
def test_what_another_conversation_said_is_taken_back_by_a_question(said: str) -> None:
    found = extract(said, before=("hello there",), told=FakeReader())
    (request,) = found.forget
    assert not found.candidates and (request.about, request.in_words) == (said, False)


@pytest.mark.parametrize("said", ["my answer to question 3 is wrong", "never mind", "第三题是错的"])
def test_what_says_nothing_of_an_earlier_statement_asks_nothing(said: str) -> None:
    assert not extract(said, before=("hello there",), told=FakeReader()).forget
