""" "Forget X" takes X and nothing else; whatever isn't plain is a question."""

from __future__ import annotations

import pytest

from conversations.models import Conversation
from memories.models import Change, Memory, MemoryStatus
from memories.services import requests
from memories.services.requests import FORGOTTEN, NEEDS_CHOICE, NOTHING_FOUND, Outcome
from ops.access import as_user
from ops.models import Operation, Receipt, User
from ops.services import worker
from tests.factories import make_conversation, make_memory, make_turn, make_version

pytestmark = pytest.mark.django_db


def settled(about: str, *, user: User) -> Outcome:
    asked = requests.asked_about(about)
    with as_user(user):
        return requests.answer(requests.find(asked, user=user), user=user)


def told(user: User, *contents: str) -> list[Memory]:
    return [make_memory(user, content) for content in contents]


def left() -> list[str]:
    return list(Memory.objects.order_by("pk").values_list("content", flat=True))


PLAIN = {
    "home": ("Forget that I live in Brno.", "Lives in Brno", "Plays the cello"),
    "in the first person": ("forget that I live in Brno please", "I live in Brno", "Plays chess"),
    "denied": ("Forget that I don't eat pork", "Doesn't eat pork", "Plays the cello"),
    "of somebody else": ("Forget my sister is a nurse", "Sister is a nurse", "Plays chess"),
    "喝茶": ("忘掉我喜欢喝茶。", "喜欢喝茶", "住在布尔诺"),
    "这件事": ("请忘掉我对猫过敏这件事", "对猫过敏", "喜欢喝绿茶"),
}


@pytest.mark.parametrize("case", PLAIN)
def test_the_one_plain_match_is_forgotten_and_nothing_else(alice: User, case: str) -> None:
    request, memory, other = PLAIN[case]
    wanted, _ = told(alice, memory, other)
    outcome = settled(request, user=alice)
    assert (outcome.status, outcome.memory_ids) == (FORGOTTEN, [wanted.public_id])
    worker.drain()
    assert left() == [other]
    assert Receipt.objects.get().chosen == "only_match"


# What was erased, or would have been, beside or instead of what was meant.
NEAR = {
    "part of": ("Forget that I live in Brno.", "Lives in Brno", "Works in Brno at the hospital"),
    "a wish": ("Forget my job please.", "Wants a new job", "Works as a nurse"),
    "ended": ("Forget my job.", "Quit the job at Acme", "Plays the cello"),
    "ended beside": ("Forget that I work at Acme", "Works at Acme", "Quit the job at Acme"),
    "negated": ("忘掉我喜欢喝茶。", "不喜欢喝茶的人", "住在布尔诺"),
    "negated beside": ("忘掉我喜欢喝茶。", "喜欢喝茶", "不喜欢喝绿茶"),
    "denied": ("Forget that I like tea", "Doesn't like tea", "Plays the cello"),
    "another limb": ("Forget my knee injury.", "Has a shoulder injury", "Plays the cello"),
    "said otherwise": ("Forget my sister's birthday", "Sister was born on May 3", "Plays chess"),
    "twice": ("Forget that I live in Brno.", "Lives in Brno", "I live in Brno"),
    "past": ("Forget that I live in Brno", "Lived in Brno", "Plays the cello"),
    "somebody else's": ("Forget that I am a nurse", "Sister is a nurse", "Plays the cello"),
    "turned round": ("Forget that Anna likes Tom", "Tom likes Anna", "Plays the cello"),
    "a person, not a state": ("Forget my boss.", "Is the boss", "Plays the cello"),
    "a thing, not a state": ("Forget my nurse.", "Nurse", "Plays the cello"),
    "我的老板": ("忘掉我的老板", "老板", "会拉大提琴"),
    "more than asked": ("Forget that I like tea", "Likes tea and hates coffee", "Plays chess"),
}


@pytest.mark.parametrize("case", NEAR)
def test_what_is_not_plain_is_a_question_and_nothing_goes(alice: User, case: str) -> None:
    request, *memories = NEAR[case]
    first, _ = told(alice, *memories)
    outcome = settled(request, user=alice)
    assert outcome.status == NEEDS_CHOICE
    assert first.public_id in outcome.memory_ids
    assert left() == memories and not Operation.objects.exists()


def test_what_is_only_of_the_same_everyday_concept_stays(alice: User) -> None:
    told(alice, "Works as a nurse", "Drives a lorry for a bakery company")
    assert settled("Forget that I work as a nurse.", user=alice).status == FORGOTTEN
    assert left() == ["Drives a lorry for a bakery company"]


def test_what_shares_nothing_is_not_in_the_question(alice: User) -> None:
    home, work, cello = told(
        alice, "Lives in Brno", "Works in Brno at the hospital", "Plays the cello"
    )
    outcome = settled("Forget that I live in Brno.", user=alice)
    assert outcome.memory_ids == [home.public_id, work.public_id]
    assert cello.public_id not in outcome.memory_ids


@pytest.mark.parametrize(
    ("request_", "memory"),
    [("Forget that I have a motorbike.", "Lives in Leeds"), ("忘掉我会滑雪", "对花生过敏")],
)
def test_where_nothing_is_like_it_that_is_said(alice: User, request_: str, memory: str) -> None:
    told(alice, memory)
    assert settled(request_, user=alice).status == NOTHING_FOUND
    assert left() == [memory]


@pytest.mark.parametrize("status", [MemoryStatus.DISABLED, MemoryStatus.CANDIDATE])
def test_what_is_not_in_use_is_meant_as_well(alice: User, status: str) -> None:
    make_memory(alice, "Lives in Brno", status=status)
    assert settled("Forget that I live in Brno", user=alice).status == FORGOTTEN


def test_what_stands_near_stands_in_the_way_whatever_its_status(alice: User) -> None:
    told(alice, "Lives in Brno")
    make_memory(alice, "Works in Brno", status=MemoryStatus.DISABLED)
    assert settled("Forget that I live in Brno", user=alice).status == NEEDS_CHOICE


def test_what_a_memory_said_before_is_found_and_asked_about(alice: User) -> None:
    memory = make_memory(alice, "Works as a nurse")
    Memory.objects.update(content="Quit the post at Acme")
    make_version(memory, "Quit the post at Acme", change=Change.REPLACED)
    outcome = settled("Forget that I work as a nurse", user=alice)
    assert (outcome.status, outcome.memory_ids) == (NEEDS_CHOICE, [memory.public_id])


def test_a_match_whose_history_tells_of_something_else_is_asked_about(alice: User) -> None:
    memory = make_memory(alice, "Works as a nurse")
    Memory.objects.update(content="Quit the post at Acme")
    make_version(memory, "Quit the post at Acme", change=Change.REPLACED)
    assert settled("Forget that I quit the post at Acme", user=alice).status == NEEDS_CHOICE


def test_nobody_elses_memory_is_found(alice: User, mallory: User) -> None:
    told(mallory, "Lives in Brno")
    assert settled("Forget that I live in Brno", user=alice).status == NOTHING_FOUND


def test_the_messages_that_told_it_are_offered(alice: User) -> None:
    conversation = make_conversation(alice, title="I live in Brno.")
    turn = make_turn(conversation, "I live in Brno.")
    make_memory(alice, "Lives in Brno", turns=[turn])
    outcome = settled("Forget that I live in Brno", user=alice)
    assert outcome.message_ids == [turn.user_message.public_id]
    assert Conversation.objects.get().title == ""


@pytest.mark.parametrize(
    ("said", "asks"),
    [
        ("Forget that I live in Brno?", False),
        ("Can you forget that I live in Brno?", True),
        ("Forget that I live in Brno.", True),
        ("Don't forget that I live in Brno.", False),
        ("I forgot my keys.", False),
    ],
)
def test_what_is_a_request_to_forget(said: str, asks: bool) -> None:
    assert requests.asks_to_forget(said) is asks
