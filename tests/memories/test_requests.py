""" "Forget X" takes X and nothing else; whatever isn't plain is a question."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conversations.models import Conversation
from memories import language_steps
from memories.extraction.types import ForgetRequest
from memories.forgetting import spoken_requests
from memories.forgetting.spoken_requests import (
    FORGOTTEN,
    NEEDS_CHOICE,
    NOTHING_FOUND,
    ForgetOutcome,
)
from memories.models import Change, Memory, MemoryStatus
from memories.reader import reader
from ops.access import as_user
from ops.models import Operation, Receipt, User
from ops.queue import worker
from tests.factories import make_conversation, make_memory, make_turn, make_version
from tests.memcenter.rest.client import Api, answer
from tests.pair_reader import FakePairs

pytestmark = pytest.mark.django_db


def settled(about: str, *, user: User) -> ForgetOutcome:
    asked = spoken_requests.requests_of_api_text(about)
    with as_user(user):
        return spoken_requests.answer(spoken_requests.find(asked, user=user), user=user)


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
def test_the_one_plain_match_is_forgotten_and_nothing_else(
    alice: User, pairs: FakePairs, case: str
) -> None:
    request, memory, other = PLAIN[case]
    pairs.means(memory)
    wanted, _ = told(alice, memory, other)
    outcome = settled(request, user=alice)
    assert (outcome.status, outcome.memory_ids) == (FORGOTTEN, [wanted.public_id])
    worker.drain()
    assert left() == [other]
    assert Receipt.objects.get().chosen == "only_match"


def test_without_a_word_of_forgetting_nothing_goes_before_it_was_asked(
    alice: User, pairs: FakePairs
) -> None:
    """The reader may take any message for a request, as "I play the cello" after a paste."""
    pairs.means("Plays the cello")
    told(alice, "Plays the cello", "Lives in Brno")
    request = ForgetRequest("I play the cello.", "I play the cello.", in_words=False)
    asked = spoken_requests.prepare([request])
    with as_user(alice):
        found = spoken_requests.find(asked, user=alice)
        assert spoken_requests.answer(found, user=alice).status == NEEDS_CHOICE
    assert left() == ["Plays the cello", "Lives in Brno"]


@pytest.mark.parametrize(
    ("about", "memory"),
    [
        ("Forget where I work", "I work shifts, eight to six"),
        ("Forget where my sister lives", "My sister lives in Gdynia"),
        ("关于我在哪上班，忘掉", "上班打卡是早八晚六"),
        ("My mother always forgets to turn off the gas", "Mother has gas at home"),
        ("我妈总是忘记关煤气", "妈妈家是煤气罐"),
        ("have you forgotten that my boss is leaving in june", "My boss is leaving in June"),
        ("Have you already forgotten my boss is leaving", "My boss is leaving in June"),
        ("Forget my boss, and don’t forget my sister", "My boss is leaving in June"),
        ("我的生日你忘了？", "生日是6月3日"),
    ],
)
def test_what_names_its_subject_by_a_question_or_orders_nothing_is_never_clear(
    alice: User, pairs: FakePairs, about: str, memory: str
) -> None:
    pairs.means(memory)
    told(alice, memory, "Plays the cello")
    assert settled(about, user=alice).status == NEEDS_CHOICE
    assert left() == [memory, "Plays the cello"]


@pytest.mark.parametrize(
    ("request_", "memory"),
    [("忘掉我的肩伤", "Has a shoulder injury"), ("Forget my shoulder injury.", "肩膀受伤了")],
)
def test_a_memory_in_another_language_is_likely_but_never_goes_unasked(
    alice: User, request_: str, memory: str
) -> None:
    others = ("Allergic to peanuts", "Plays the cello", "住在布尔诺", "每周二跑步")
    wanted, *_ = told(alice, memory, *others)
    outcome = settled(request_, user=alice)
    assert (outcome.status, outcome.likely_ids) == (NEEDS_CHOICE, [wanted.public_id])
    assert left() == [memory, *others]


HOME, WORK = "Lives in Brno", "Works in Brno at the hospital"
AS_NEAR, CELLO = "Lives in Brno with Ana", "Plays the cello"
POLLEN = "Allergic to the pollen in Brno"
# Two memories, and how sure the pair head is that each is meant.
UNPLAIN = {
    "two are near": ((HOME, 0.95), (AS_NEAR, 0.0)),
    "the nearest is denied": ((HOME, 0.19), (WORK, 0.95)),
    "the head is sure of one that says something else": ((HOME, 0.07), (POLLEN, 0.99)),
    "neither is meant": ((HOME, 0.1), (WORK, 0.1)),
}


@pytest.mark.parametrize("case", UNPLAIN)
def test_what_is_not_plain_is_a_question_and_nothing_goes(
    alice: User, pairs: FakePairs, case: str
) -> None:
    for text, share in UNPLAIN[case]:
        pairs.means(text, share)
    texts = [text for text, _ in UNPLAIN[case]]
    told(alice, *texts)
    outcome = settled("Forget that I live in Brno.", user=alice)
    assert outcome.status == NEEDS_CHOICE and len(outcome.memory_ids) == 2
    assert left() == texts and not Operation.objects.exists()


def test_what_shares_no_word_with_the_request_is_asked_about(alice: User, pairs: FakePairs) -> None:
    pairs.means("Works as a nurse", 0.99)
    told(alice, "Works as a nurse", CELLO)
    assert settled("Forget my profession.", user=alice).status == NEEDS_CHOICE
    assert left() == ["Works as a nurse", CELLO]


def test_one_that_is_far_nearer_goes_though_others_are_similar(
    alice: User, pairs: FakePairs
) -> None:
    pairs.means(HOME, 0.95)
    pairs.means(WORK, 0.3)
    told(alice, HOME, WORK)
    assert settled("Forget that I live in Brno.", user=alice).status == FORGOTTEN
    assert left() == [WORK]


def test_where_the_pair_head_prefers_another_than_the_nearest_it_is_asked(
    alice: User, pairs: FakePairs
) -> None:
    pairs.means(HOME, 0.2)
    pairs.means(WORK, 0.95)
    told(alice, HOME, WORK)
    assert settled("Forget that I live in Brno.", user=alice).status == NEEDS_CHOICE
    assert left() == [HOME, WORK]


# What the request says, the memory that similarity finds and the reader takes for meant.
ELSE = {
    "an intention": ("Forget my car.", "Is saving for an electric car", CELLO),
    "a denial": ("Forget the birthdays.", "Doesn't celebrate birthdays", CELLO),
    "no shared word": ("Forget what I do for a living.", "Works as a nurse", CELLO),
    "one of two with the word": ("Forget my cello.", CELLO, "Borrowed a cello from Ana"),
    "想": ("忘掉我的车", "想买车", "在布尔诺工作"),
    "a relative": ("Forget the thing about my tattoos", "My mum hates tattoos", CELLO),
    "not a relative": ("Forget my mum's allergy to nuts", "Allergic to nuts", CELLO),
    "女儿": ("忘掉我喝奶茶", "我女儿爱喝奶茶", "在布尔诺工作"),
    "a reason": (
        "Discard the fact about the will, solicitor's orders",
        "My solicitor is Ann",
        CELLO,
    ),
}


@pytest.mark.parametrize("case", ELSE)
def test_what_is_near_but_says_something_else_is_a_question(
    alice: User, pairs: FakePairs, case: str
) -> None:
    request, near, other = ELSE[case]
    pairs.means(near, 0.8)
    near_one, _ = told(alice, near, other)
    outcome = settled(request, user=alice)
    assert outcome.status == NEEDS_CHOICE and near_one.public_id in outcome.memory_ids
    assert left() == [near, other]


def test_an_indirect_request_lists_what_may_be_meant_though_it_shares_nothing(
    alice: User, pairs: FakePairs
) -> None:
    pairs.means(CELLO, 0.3)
    _, sober = told(alice, CELLO, "Sober since June 2022")
    outcome = settled("Forget my clean date", user=alice)
    assert outcome.status == NEEDS_CHOICE and sober.public_id in outcome.memory_ids


@pytest.mark.parametrize("request_", ["delete that one please", "这条删了吧"])
def test_a_request_that_only_points_lists_the_latest_memories(
    alice: User, mallory: User, request_: str
) -> None:
    told(mallory, POLLEN)
    cello, home = told(alice, CELLO, HOME)
    asked = spoken_requests.prepare([ForgetRequest(request_, request_)])
    with as_user(alice):
        outcome = spoken_requests.answer(spoken_requests.find(asked, user=alice), user=alice)
    assert outcome.reported_status == spoken_requests.UNSURE
    assert outcome.memory_ids == [home.public_id, cello.public_id]


def test_the_list_of_an_indirect_request_is_short(alice: User, pairs: FakePairs) -> None:
    told(alice, *(f"Bought chair number {number} in Ulm" for number in range(30)))
    pairs.means("Bought chair number 7 in Ulm", 0.3)
    assert len(settled("Forget my clean date", user=alice).memory_ids) <= 10


def test_what_cannot_be_read_in_time_stands_in_the_way(
    alice: User, pairs: FakePairs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spoken_requests, "_COMPARED", 1)
    pairs.means(HOME)
    told(alice, HOME, "Lives in Brno with Ana")
    assert settled("Forget that I live in Brno.", user=alice).status == NEEDS_CHOICE


def test_what_is_only_of_the_same_everyday_concept_stays(alice: User, pairs: FakePairs) -> None:
    pairs.means("Works as a nurse")
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
    [
        ("Forget that I have a motorbike.", "Lives in Leeds"),
        ("忘掉我会滑雪", "对花生过敏"),
        ("Don’t forget that I live in Leeds", "Lives in Leeds"),
    ],
)
def test_where_nothing_is_like_it_that_is_said(alice: User, request_: str, memory: str) -> None:
    told(alice, memory)
    assert settled(request_, user=alice).status == NOTHING_FOUND
    assert left() == [memory]


@pytest.mark.parametrize("status", [MemoryStatus.DISABLED, MemoryStatus.CANDIDATE])
def test_what_is_not_in_use_is_meant_as_well(alice: User, pairs: FakePairs, status: str) -> None:
    pairs.means(HOME)
    make_memory(alice, "Lives in Brno", status=status)
    assert settled("Forget that I live in Brno", user=alice).status == FORGOTTEN


def test_what_is_as_near_stands_in_the_way_whatever_its_status(
    alice: User, pairs: FakePairs
) -> None:
    pairs.means(HOME)
    told(alice, HOME)
    make_memory(alice, AS_NEAR, status=MemoryStatus.DISABLED)
    assert settled("Forget that I live in Brno", user=alice).status == NEEDS_CHOICE


def test_what_a_memory_said_before_is_found_and_asked_about(alice: User, pairs: FakePairs) -> None:
    pairs.means("Works as a nurse")
    memory = make_memory(alice, "Works as a nurse")
    Memory.objects.update(content="Quit the post at Acme")
    make_version(memory, "Quit the post at Acme", change=Change.REPLACED)
    outcome = settled("Forget that I work as a nurse", user=alice)
    assert (outcome.status, outcome.memory_ids) == (NEEDS_CHOICE, [memory.public_id])


def test_a_match_whose_history_tells_of_something_else_is_asked_about(
    alice: User, pairs: FakePairs
) -> None:
    pairs.means("Quit the post at Acme")
    memory = make_memory(alice, "Works as a nurse")
    Memory.objects.update(content="Quit the post at Acme")
    make_version(memory, "Quit the post at Acme", change=Change.REPLACED)
    assert settled("Forget that I quit the post at Acme", user=alice).status == NEEDS_CHOICE


def test_nobody_elses_memory_is_found(alice: User, mallory: User) -> None:
    told(mallory, "Lives in Brno")
    assert settled("Forget that I live in Brno", user=alice).status == NOTHING_FOUND


def test_the_messages_that_told_it_are_offered(alice: User, pairs: FakePairs) -> None:
    pairs.means(HOME)
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
    assert spoken_requests.asks_to_forget(said) is asks


# Requests that once took something else: the request, the memories, and the only one that may go.
AUDITED = {
    "job": (
        "Forget my job.",
        ("Works as a nurse", "Quit the job at Acme", "Wants a new job"),
        "Works as a nurse",
    ),
    "home": (
        "Forget that I live in Brno.",
        ("Lives in Brno", "Works in Brno at the hospital"),
        "Lives in Brno",
    ),
    "喝茶": ("忘掉我喜欢喝茶。", ("喜欢喝茶", "不喜欢喝茶的人"), "喜欢喝茶"),
    "knee": (
        "Forget my knee injury.",
        ("Has a knee injury", "Has a shoulder injury"),
        "Has a knee injury",
    ),
    "birthday": (
        "forget my sister's birthday",
        ("My sister's birthday is on 4 May", "My sister lives in Bergen", "My birthday is in June"),
        "My sister's birthday is on 4 May",
    ),
    "a word": ("forget coffee", ("Drinks coffee at noon", "Allergic to coffee"), ""),
    "忘掉茶": ("忘掉茶", ("喜欢喝茶", "对薄荷茶过敏"), ""),
}


@pytest.mark.parametrize("case", AUDITED)
def test_said_in_a_turn_it_takes_what_is_plainly_meant_or_asks(
    alice: User, alice_key: str, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    monkeypatch.setattr(language_steps, "pair_reader", reader)
    language_steps.bundled_arbiter.cache_clear()
    request, contents, meant = AUDITED[case]
    api = Api(alice_key)
    told(alice, *contents)
    turn = {"conversation_id": "c1", "user_message": request, "assistant_message": "Let me see."}
    operation = answer(api.post("/turns", turn), 201)["op_ids"][0]
    worker.drain()
    outcome = answer(api.get(f"/memory/ops/{operation}"))["forget"]
    gone = set(contents) - set(left())
    assert outcome["status"] == (FORGOTTEN if gone else NEEDS_CHOICE)
    assert gone <= {meant} and outcome["memory_ids"]


@pytest.mark.parametrize("request_", ["Forget that I have a motorbike.", "forget the sailing boat"])
def test_a_turn_whose_request_matched_nothing_says_so(
    alice: User, alice_key: str, request_: str
) -> None:
    told(alice, "Likes tea")
    turn = {"conversation_id": "c1", "user_message": request_, "assistant_message": "Let me see."}
    operation = answer(Api(alice_key).post("/turns", turn), 201)["op_ids"][0]
    worker.drain()
    nothing = {
        "status": NOTHING_FOUND,
        "memory_ids": [],
        "message_ids": [],
        "likely_ids": [],
    }
    assert answer(Api(alice_key).get(f"/memory/ops/{operation}"))["forget"] == nothing
    assert left() == ["Likes tea"]


# A request for everything, the match, and a memory with the same name.
EVERYTHING = {
    "completely": ("forget about Sandra completely", "Seeing Sandra", "Sandra hates skittles"),
    "everything": ("Forget everything about Sandra.", "Seeing Sandra", "Sandra hates skittles"),
    "what I said": ("Forget what I said about Sandra", "Seeing Sandra", "Sandra is a baker"),
    "彻底": ("把阿芳的事彻底忘掉", "在和阿芳谈恋爱", "阿芳不喜欢下棋"),
    "一切": ("忘掉关于阿芳的一切", "在和阿芳谈恋爱", "阿芳不喜欢下棋"),
}


@pytest.mark.parametrize("case", EVERYTHING)
def test_a_request_for_everything_is_a_question_if_other_memories_have_the_name(
    alice: User, pairs: FakePairs, case: str
) -> None:
    request, match, other = EVERYTHING[case]
    pairs.means(match, 0.99)
    told(alice, match, other, CELLO)
    outcome = settled(request, user=alice)
    assert outcome.status == NEEDS_CHOICE
    assert left() == [match, other, CELLO]


# A request for everything of one topic, and memories of this topic.
TOPICS = {
    "about": ("Forget everything about my bees.", "I keep bees on the roof", "My bees are calm"),
    "to do with": ("Delete all to do with my bees", "I keep bees on the roof", "My bees are calm"),
    "全部": ("把我养蜂的事全部忘掉。", "我在屋顶上养蜂", "我养的蜂住在两个绿色蜂箱里"),
    "一切": ("关于养蜂的一切都忘掉", "我在屋顶上养蜂", "养了两箱蜂"),
}


@pytest.mark.parametrize("case", TOPICS)
@pytest.mark.usefixtures("learned_pairs")
def test_a_request_for_everything_of_a_topic_is_sure_which_memories_it_means(
    alice: User, case: str
) -> None:
    request, *of_topic = TOPICS[case]
    made = [one.public_id for one in told(alice, *of_topic, CELLO)]
    outcome = settled(request, user=alice)
    assert outcome.status == NEEDS_CHOICE
    assert set(outcome.likely_ids) == set(made[:2])
    assert len(left()) == 3


SMOKING, OTHERS = (
    "smoking: packed it in in january, never again",
    ("the naproxen finished last week", "not sure ill stay wi calmac", "want to do the nc500"),
)


@pytest.mark.parametrize("shares", [(0.6, 0.6, 0.6), (0.99, 0.9, 0.6)])
def test_what_only_the_pair_head_takes_for_meant_is_not_ticked(
    alice: User, pairs: FakePairs, shares: tuple[float, ...]
) -> None:
    """The pair head takes many memories for meant that share nothing with the request."""
    pairs.means(SMOKING, 0.99)
    for text, share in zip(OTHERS, shares, strict=True):
        pairs.means(text, share)
    smoking, *_ = made = told(alice, SMOKING, *OTHERS)
    outcome = settled("forget what i said about smoking", user=alice)
    assert outcome.status == NEEDS_CHOICE
    assert set(outcome.memory_ids) == {one.public_id for one in made}
    assert outcome.likely_ids == [smoking.public_id]


# A request for everything about somebody, what names them, and what doesn't.
PEOPLE = {
    "a relative": (
        "forget everything about my brother Iain",
        ("brother Iain: drives the bin lorry", "Iain lives in Lerwick not Stornoway"),
        ("My brother Rab is a joiner", "Stornoway is too windy", CELLO),
    ),
    "a name": (
        "Please delete everything about Marcus, we split up",
        ("Marcus still has a key to my flat", "Marcus works at the garage"),
        ("Split up the garden beds", CELLO),
    ),
    "王强": (
        "把关于我前夫王强的事全部忘掉",
        ("前夫王强在开出租车", "王强住在成都"),
        ("我的房子在上海", "喜欢喝绿茶"),
    ),
}


@pytest.mark.parametrize("case", PEOPLE)
def test_a_request_for_everything_about_somebody_ticks_whatever_names_them(
    alice: User, pairs: FakePairs, case: str
) -> None:
    request, naming, others = PEOPLE[case]
    pairs.means(naming[0], 0.6)
    wanted = told(alice, *naming)
    told(alice, *others)
    outcome = settled(request, user=alice)
    assert outcome.status == NEEDS_CHOICE
    assert set(outcome.likely_ids) == {one.public_id for one in wanted}


def test_what_is_to_be_kept_is_not_ticked(alice: User, pairs: FakePairs) -> None:
    wanted, _, kept = told(
        alice, "Fertility history", "Fertility clinic bill", "Noah has a stutter"
    )
    pairs.means(wanted.content)
    pairs.means("Fertility clinic bill")
    outcome = settled("The fertility history: out. Keep everything else about Noah.", user=alice)
    assert outcome.status == NEEDS_CHOICE and kept.public_id not in outcome.likely_ids


@pytest.mark.parametrize(("share", "is_ticked"), [(0.03, False), (0.9, True)])
def test_what_has_the_words_is_ticked_unless_the_pair_head_denies_it(
    alice: User, pairs: FakePairs, share: float, is_ticked: bool
) -> None:
    own, other = "I've a boat called Curlew", "my brother sold his canal boat"
    pairs.means(own)
    pairs.means(other, share)
    _, brothers = told(alice, own, other, CELLO)[:2]
    outcome = settled("please forget everything about the boat", user=alice)
    assert outcome.status == NEEDS_CHOICE
    assert (brothers.public_id in outcome.likely_ids) is is_ticked


def test_the_memory_that_all_signals_prefer_is_ticked(alice: User, pairs: FakePairs) -> None:
    """Most requests that lead to a question mean the best match, though it shares few words."""
    best = "My flat was in Kothrud"
    pairs.means(best, 0.9)
    wanted, *_ = told(alice, best, "Amol likes Kothrud", CELLO)
    outcome = settled("forget where my previous landlord in Kothrud had his place", user=alice)
    assert outcome.status == NEEDS_CHOICE
    assert outcome.likely_ids == [wanted.public_id]


def test_a_request_for_everything_is_a_question_if_another_memory_is_meant_in_other_words(
    alice: User, pairs: FakePairs
) -> None:
    pairs.means(HOME)
    pairs.means("Rents a flat by the river", 0.7)
    told(alice, HOME, "Rents a flat by the river", CELLO)
    assert settled("Forget everything about Brno.", user=alice).status == NEEDS_CHOICE


def test_a_request_for_everything_lists_what_came_from_the_same_turn_and_the_next(
    alice: User, pairs: FakePairs
) -> None:
    conversation = make_conversation(alice)
    first = make_turn(conversation, "seeing sandra, she works at the co op")
    second = make_turn(conversation, "her birthdays 3rd march. I play the cello")
    sandra = make_memory(alice, "Seeing Sandra", turns=[first])
    shop = make_memory(alice, "Works at the co op", turns=[first])
    birthday = make_memory(alice, "her birthdays 3rd march", turns=[second])
    cello = make_memory(alice, CELLO, turns=[second])
    pairs.means("Seeing Sandra", 0.99)
    outcome = settled("forget about Sandra completely", user=alice)
    assert outcome.status == NEEDS_CHOICE
    listed = {sandra.public_id, shop.public_id, birthday.public_id}
    assert listed <= set(outcome.memory_ids)
    assert cello.public_id not in outcome.memory_ids
    assert sandra.public_id in outcome.likely_ids and shop.public_id not in outcome.likely_ids


def test_everything_about_something_with_a_single_memory_is_forgotten(
    alice: User, pairs: FakePairs
) -> None:
    pairs.means(HOME)
    told(alice, HOME, CELLO)
    assert settled("Forget everything about Brno.", user=alice).status == FORGOTTEN


def test_what_came_from_the_same_message_as_a_clear_match_is_offered(
    alice: User, mallory: User, pairs: FakePairs
) -> None:
    turn = make_turn(make_conversation(alice), "I live in Brno, the interview is on the 3rd")
    make_memory(mallory, "Has a secret", turns=[make_turn(make_conversation(mallory), "x")])
    make_memory(alice, HOME, turns=[turn])
    interview = make_memory(alice, "Interview on the 3rd of December", turns=[turn])
    told(alice, CELLO)
    pairs.means(HOME)
    outcome = settled("Forget that I live in Brno.", user=alice)
    assert outcome.status == FORGOTTEN
    assert outcome.also_ids == [interview.public_id]
    assert ForgetOutcome.from_payload(outcome.as_payload) == outcome
    assert left() == ["Has a secret", "Interview on the 3rd of December", CELLO]


@pytest.mark.parametrize("interface", ["rest", "turn"])
def test_every_interface_names_what_came_from_the_same_message(
    alice: User, alice_key: str, pairs: FakePairs, interface: str
) -> None:
    request = "Forget that I live in Brno."
    body = {"scope": "memory", "about": request}
    calls: dict[str, Callable[[], dict[str, Any]]] = {
        "rest": lambda: answer(Api(alice_key).post("/memory/forget", body), 202),
        "turn": lambda: forgotten_in_a_turn(alice_key, request),
    }
    turn = make_turn(make_conversation(alice), "I live in Brno, the interview is on the 3rd")
    make_memory(alice, HOME, turns=[turn])
    interview = make_memory(alice, "Interview on the 3rd of December", turns=[turn])
    told(alice, CELLO)
    pairs.means(HOME)
    found = calls[interface]()
    assert found["also_ids"] == [interview.public_id], found


def forgotten_in_a_turn(key: str, said: str) -> dict[str, Any]:
    """The outcome of a request to forget in a recorded turn, by the operation that reads it."""
    told = {"conversation_id": "c-9", "user_message": said, "assistant_message": "Done."}
    recorded = answer(Api(key).post("/turns", told), 201)
    worker.drain()
    operations = [answer(Api(key).get(f"/memory/ops/{one}")) for one in recorded["op_ids"]]
    [outcome] = [one["forget"] for one in operations if "forget" in one]
    found: dict[str, Any] = outcome
    return found
