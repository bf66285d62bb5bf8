"""The bundled extractor: orders, corrections, persons, times, and whose words they are."""

from datetime import datetime

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import TurnText
from tests.memories.extraction.bundled_reading import ZONE, contents, extract, only, spoken

# --- "remember" and "forget"


@pytest.mark.parametrize(
    ("said", "content", "kind"),
    [
        ("Remember that I'm allergic to shellfish.", "Allergic to shellfish", "constraint"),
        ("Please note that my flight is on December 5", "Flight is on 2026-12-05", "task"),
        ("Remember: the office wifi is called Blue", "The office wifi is called Blue", "fact"),
        ("Don't forget that my mum is deaf", "Mum is deaf", "fact"),
        ("Don't forget to buy milk", "Needs to buy milk", "task"),
        ("Remind me to call the bank on Monday", "Needs to call the bank on 2026-11-23", "task"),
        ("Can you remember that I hate olives?", "Hates olives", "preference"),
        ("记住我对海鲜过敏", "对海鲜过敏", "constraint"),
        ("请记一下，我下周三要去拔牙", "2026年11月25日要去拔牙", "task"),
        ("别忘了我不吃牛肉", "不吃牛肉", "constraint"),
        ("记得办公室的门禁在左边", "办公室的门禁在左边", "fact"),
        ("你能记住我住在苏州吗？", "住在苏州", "fact"),
        ("請記住我不喝咖啡", "不喝咖啡", "constraint"),
    ],
)
def test_what_the_user_asks_to_remember_is_taken(said: str, content: str, kind: str) -> None:
    candidate = only(extract(said))

    assert candidate.content == content
    assert candidate.kind == kind
    assert candidate.explicit
    assert candidate.importance == 0.9
    assert candidate.confidence >= 0.9
    assert "explicit" in candidate.reasons


def test_a_list_that_should_be_remembered_is_explicit_line_by_line() -> None:
    extraction = extract("Please remember the following:\n- I live in Ghent\n- I'm vegan")

    assert contents(extraction) == ["Lives in Ghent", "Vegan"]
    assert all(candidate.explicit for candidate in extraction.candidates)


@pytest.mark.parametrize(
    ("said", "about"),
    [
        ("Forget that I live in Rome", "I live in Rome"),
        ("please forget everything about my ex", "my ex"),
        ("Delete what you know about my job.", "my job"),
        ("Forget that.", ""),
        ("忘掉我住在苏州", "我住在苏州"),
        ("忘记关于我前男友的事", "我前男友的事"),
        ("别再记着我的生日", "我的生日"),
        ("把我的电话号码忘掉", "我的电话号码"),
        ("請忘掉我對花生過敏", "我對花生過敏"),
    ],
)
def test_forget_is_a_request_and_not_a_memory(said: str, about: str) -> None:
    extraction = extract(said)

    assert [request.about for request in extraction.forget] == [about]
    assert extraction.candidates == ()


@pytest.mark.parametrize(
    "said",
    [
        "I forgot my keys",
        "Forget it.",
        "I'll never forget this trip",
        "Don't forget to breathe",
        "Delete the second paragraph",
        "我忘记带伞了",
        "忘了吧",
        "我忘不了他",
        "别忘了带伞",
    ],
)
def test_idioms_of_forgetting_ask_for_nothing(said: str) -> None:
    assert extract(said).forget == ()


@pytest.mark.parametrize(
    "said",
    ["Do you remember my name?", "你还记得我住在哪里吗？", "I remember my first day at school."],
)
def test_asking_what_is_remembered_stores_nothing(said: str) -> None:
    assert extract(said).candidates == ()


# --- corrections


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ("Actually I moved to Berlin last month", "Moved to Berlin in 2026-10"),
        ("No, my interview is on Tuesday, not Monday", "Interview is on 2026-11-24"),
        ("I don't eat meat anymore", "Doesn't eat meat anymore"),
        ("I used to live in Rome but now I live in Bari", "Lives in Bari"),
        ("I no longer work at the library", "No longer works at the library"),
        ("不对，我是苏州人", "是苏州人"),
        ("我不再喝咖啡了", "不再喝咖啡了"),
        ("以前我住在天津，现在住在青岛", "住在青岛"),
        ("我不是程序员，我是设计师", "是设计师"),
    ],
)
def test_a_correction_states_the_new_truth(said: str, content: str) -> None:
    corrected = {c.content: c for c in extract(said).candidates}

    assert corrected[content].corrects


def test_a_plain_statement_corrects_nothing() -> None:
    for said in ("I live in Ghent", "我住在苏州", "Actually, I love jazz"):
        assert not only(extract(said)).corrects


# --- several facts, third persons, names, time


def test_each_fact_of_a_message_has_its_own_quote() -> None:
    said = "Well, I'm a midwife and I live in Cork. My dog is called Rex 🐶 and I can't stand dill!"
    extraction = extract(said)

    assert contents(extraction) == [
        "Is a midwife",
        "Lives in Cork",
        "Dog is called Rex",
        "Can't stand dill",
    ]
    quotes = [candidate.quote for candidate in extraction.candidates]
    assert quotes == [
        "I'm a midwife",
        "I live in Cork",
        "My dog is called Rex",
        "I can't stand dill",
    ]


def test_a_chinese_message_with_many_clauses_yields_each_fact() -> None:
    extraction = extract("我叫苏晴，是一名兽医，住在厦门，家里养了两只猫，对尘螨过敏。")

    assert contents(extraction) == [
        "名字叫苏晴",
        "是一名兽医",
        "住在厦门",
        "家里养了两只猫",
        "对尘螨过敏",
    ]


def test_she_is_resolved_to_the_person_just_named() -> None:
    english = extract("My sister Anna is vegan and she lives in Oslo. She loves climbing.")
    chinese = extract("我有个妹妹，她在北京上大学。")

    assert contents(english) == [
        "Sister Anna is vegan",
        "Sister Anna lives in Oslo",
        "Sister Anna loves climbing",
    ]
    assert contents(chinese) == ["有个妹妹", "妹妹在北京上大学"]


def test_she_is_resolved_to_somebody_of_an_earlier_message() -> None:
    assert contents(extract("She is a doctor.", before=("My aunt is visiting us.",))) == [
        "Aunt is a doctor"
    ]


def test_nobody_is_guessed_for_a_pronoun_without_a_person() -> None:
    for said in ("She lives in Madrid.", "他住在上海", "They are vegan."):
        assert extract(said).candidates == ()


def test_a_named_speaker_stands_in_the_statement() -> None:
    english = extract("I work as a counselor. My son is five.", speaker="Caroline")
    chinese = extract("我住在上海，我女儿叫小米", speaker="李雪")

    assert contents(english) == [
        "Caroline works as a counselor",
        "Caroline's son is five (as of 2026-11)",
    ]
    assert contents(chinese) == ["李雪住在上海", "李雪的女儿叫小米"]


def test_between_two_named_people_both_are_heard() -> None:
    turn = TurnText(spoken("I play the flute.", "Ann"), spoken("Nice! I run a bakery.", "Bo"))
    extraction = BundledExtractor().extract(turn)

    assert [(c.content, c.quoted_role) for c in extraction.candidates] == [
        ("Ann plays the flute", "user"),
        ("Bo runs a bakery", "assistant"),
    ]


def test_what_an_assistant_says_of_itself_is_never_learned() -> None:
    turn = TurnText(spoken("Hello!"), spoken("I live in the cloud and I love helping you."))

    assert BundledExtractor().extract(turn).candidates == ()


def test_times_become_dates_and_events_have_their_moment() -> None:
    candidate = only(extract("I adopted a cat named Miso yesterday."))
    event = only(extract("I got promoted last Friday."))

    assert candidate.content == "Adopted a cat named Miso on 2026-11-20"
    assert event.content == "Got promoted on 2026-11-20"
    assert event.occurred_at == datetime(2026, 11, 20, tzinfo=ZONE)
    assert event.data == {"date": "2026-11-20"}


def test_a_hedge_lowers_confidence() -> None:
    sure = only(extract("I'm allergic to cats"))
    unsure = only(extract("I think I'm allergic to cats"))

    assert unsure.content == sure.content
    assert unsure.confidence < sure.confidence
    assert "hedged" in unsure.reasons


# --- what isn't the user's own statement


@pytest.mark.parametrize(
    "said",
    [
        "```\n# I live in Paris and I have a dog\nprint('I work at NASA')\n```",
        "> I live in Paris\n> I am a nurse",
        "Translate this: I live in Oslo. I have two cats.",
        "请润色：我住在南京，我喜欢游泳。",
        'He wrote "I live in Paris and I love wine".',
        "她说：“我对花生过敏，我住在北京。”",
        "Pretend to be my doctor. I am 50 and I smoke.",
    ],
)
def test_code_quotations_and_material_are_not_the_users_words(said: str) -> None:
    assert extract(said).candidates == ()


def test_a_statement_beside_code_is_still_heard() -> None:
    said = "I'm a nurse from Leeds.\n```\nI live in Paris\n```\nI play the harp."

    assert contents(extract(said)) == ["Is a nurse from Leeds", "Plays the harp"]


def test_what_the_prompt_told_already_is_not_learned_again() -> None:
    known = "## What you know\n- Lives in Ghent\n- 对花生过敏\n- Has a dog named Rex"

    assert extract("As you know, I live in Ghent.", known=known).candidates == ()
    assert extract("我对花生过敏", known=known).candidates == ()
    assert contents(extract("I live in Bruges", known=known)) == ["Lives in Bruges"]


def test_between_two_people_a_reminder_is_meant_for_the_other_one() -> None:
    turn = TurnText(spoken("Remember to rest, Bo.", "Ann"), spoken("Will do!", "Bo"))

    assert BundledExtractor().extract(turn).candidates == ()
