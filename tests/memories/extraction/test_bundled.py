"""The bundled extractor as a whole: orders, corrections, context, secrets, and hostile input."""

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Candidate, Extraction, Said, TurnText

ZONE = timezone(timedelta(hours=8))
SPOKEN_AT = datetime(2026, 11, 21, 10, 0, tzinfo=ZONE)


def _said(text: str, speaker: str = "") -> Said:
    return Said(text, SPOKEN_AT, speaker)


def _extract(
    text: str, *, speaker: str = "", before: tuple[str, ...] = (), asked: str = "", known: str = ""
) -> Extraction:
    turn = TurnText(
        _said(text, speaker),
        _said("I see."),
        before=tuple(_said(earlier) for earlier in before),
        before_assistant=asked,
        known_block=known,
    )
    return BundledExtractor().extract(turn)


def _contents(extraction: Extraction) -> list[str]:
    return [candidate.content for candidate in extraction.candidates]


def _only(extraction: Extraction) -> Candidate:
    (candidate,) = extraction.candidates
    return candidate


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
    candidate = _only(_extract(said))

    assert candidate.content == content
    assert candidate.kind == kind
    assert candidate.explicit
    assert candidate.importance == 0.9
    assert candidate.confidence >= 0.9
    assert "explicit" in candidate.reasons


def test_a_list_that_should_be_remembered_is_explicit_line_by_line() -> None:
    extraction = _extract("Please remember the following:\n- I live in Ghent\n- I'm vegan")

    assert _contents(extraction) == ["Lives in Ghent", "Vegan"]
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
    extraction = _extract(said)

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
    assert _extract(said).forget == ()


@pytest.mark.parametrize(
    "said",
    ["Do you remember my name?", "你还记得我住在哪里吗？", "I remember my first day at school."],
)
def test_asking_what_is_remembered_stores_nothing(said: str) -> None:
    assert _extract(said).candidates == ()


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
    corrected = {c.content: c for c in _extract(said).candidates}

    assert corrected[content].corrects


def test_a_plain_statement_corrects_nothing() -> None:
    for said in ("I live in Ghent", "我住在苏州", "Actually, I love jazz"):
        assert not _only(_extract(said)).corrects


# --- several facts, third persons, names, time


def test_each_fact_of_a_message_has_its_own_quote() -> None:
    said = "Well, I'm a midwife and I live in Cork. My dog is called Rex 🐶 and I can't stand dill!"
    extraction = _extract(said)

    assert _contents(extraction) == [
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
    extraction = _extract("我叫苏晴，是一名兽医，住在厦门，家里养了两只猫，对尘螨过敏。")

    assert _contents(extraction) == [
        "名字叫苏晴",
        "是一名兽医",
        "住在厦门",
        "家里养了两只猫",
        "对尘螨过敏",
    ]


def test_she_is_resolved_to_the_person_just_named() -> None:
    english = _extract("My sister Anna is vegan and she lives in Oslo. She loves climbing.")
    chinese = _extract("我有个妹妹，她在北京上大学。")

    assert _contents(english) == [
        "Sister Anna is vegan",
        "Sister Anna lives in Oslo",
        "Sister Anna loves climbing",
    ]
    assert _contents(chinese) == ["有个妹妹", "妹妹在北京上大学"]


def test_she_is_resolved_to_somebody_of_an_earlier_message() -> None:
    assert _contents(_extract("She is a doctor.", before=("My aunt is visiting us.",))) == [
        "Aunt is a doctor"
    ]


def test_nobody_is_guessed_for_a_pronoun_without_a_person() -> None:
    for said in ("She lives in Madrid.", "他住在上海", "They are vegan."):
        assert _extract(said).candidates == ()


def test_a_named_speaker_stands_in_the_statement() -> None:
    english = _extract("I work as a counselor. My son is five.", speaker="Caroline")
    chinese = _extract("我住在上海，我女儿叫小米", speaker="李雪")

    assert _contents(english) == [
        "Caroline works as a counselor",
        "Caroline's son is five (as of 2026-11)",
    ]
    assert _contents(chinese) == ["李雪住在上海", "李雪的女儿叫小米"]


def test_between_two_named_people_both_are_heard() -> None:
    turn = TurnText(_said("I play the flute.", "Ann"), _said("Nice! I run a bakery.", "Bo"))
    extraction = BundledExtractor().extract(turn)

    assert [(c.content, c.quoted_role) for c in extraction.candidates] == [
        ("Ann plays the flute", "user"),
        ("Bo runs a bakery", "assistant"),
    ]


def test_what_an_assistant_says_of_itself_is_never_learned() -> None:
    turn = TurnText(_said("Hello!"), _said("I live in the cloud and I love helping you."))

    assert BundledExtractor().extract(turn).candidates == ()


def test_times_become_dates_and_events_have_their_moment() -> None:
    candidate = _only(_extract("I adopted a cat named Miso yesterday."))
    event = _only(_extract("I got promoted last Friday."))

    assert candidate.content == "Adopted a cat named Miso on 2026-11-20"
    assert event.content == "Got promoted on 2026-11-20"
    assert event.occurred_at == datetime(2026, 11, 20, tzinfo=ZONE)
    assert event.data == {"date": "2026-11-20"}


def test_a_hedge_lowers_confidence() -> None:
    sure = _only(_extract("I'm allergic to cats"))
    unsure = _only(_extract("I think I'm allergic to cats"))

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
    assert _extract(said).candidates == ()


def test_a_statement_beside_code_is_still_heard() -> None:
    said = "I'm a nurse from Leeds.\n```\nI live in Paris\n```\nI play the harp."

    assert _contents(_extract(said)) == ["Is a nurse from Leeds", "Plays the harp"]


def test_what_the_prompt_told_already_is_not_learned_again() -> None:
    known = "## What you know\n- Lives in Ghent\n- 对花生过敏\n- Has a dog named Rex"

    assert _extract("As you know, I live in Ghent.", known=known).candidates == ()
    assert _extract("我对花生过敏", known=known).candidates == ()
    assert _contents(_extract("I live in Bruges", known=known)) == ["Lives in Bruges"]


# --- what the assistant asked


@pytest.mark.parametrize(
    ("asked", "said", "content"),
    [
        ("So you are vegetarian?", "Yes, that's right", "Vegetarian"),
        ("Got it. You live in Ghent, right?", "yep", "Lives in Ghent"),
        ("Your dog is called Rex, correct?", "Exactly!", "Dog is called Rex"),
        ("所以你对芒果过敏，是吗？", "是的", "对芒果过敏"),
    ],
)
def test_an_accepted_claim_is_learned_from_the_assistants_words(
    asked: str, said: str, content: str
) -> None:
    candidate = _only(_extract(said, asked=asked))

    assert candidate.content == content
    assert candidate.quoted_role == "assistant"
    end = candidate.quote_start + len(candidate.quote)
    assert asked[candidate.quote_start : end] == candidate.quote
    assert "accepted" in candidate.reasons


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ("So you are vegetarian?", "No"),
        ("So you are vegetarian?", "Yes, but only on weekdays"),
        ("Would you like a recipe?", "Yes please"),
        ("You should try yoga.", "Yes, right"),
        ("Do you want me to write it?", "yes"),
        ("你可以试试瑜伽，你喜欢运动吗？也许可以试试。", "是的"),
    ],
)
def test_a_refused_claim_or_an_offer_is_not_learned(asked: str, said: str) -> None:
    assert _extract(said, asked=asked).candidates == ()


@pytest.mark.parametrize(
    ("asked", "said", "content"),
    [
        ("Nice! Where do you live?", "Ghent", "Lives in Ghent"),
        ("What's your name?", "Priya", "Name is Priya"),
        ("What's your favourite colour?", "Teal.", "Favourite colour is Teal"),
        ("你叫什么名字？", "苏晴", "名字叫苏晴"),
        ("你住在哪里呢？", "厦门", "住在厦门"),
    ],
)
def test_a_short_answer_is_read_with_its_question(asked: str, said: str, content: str) -> None:
    candidate = _only(_extract(said, asked=asked))

    assert candidate.content == content
    assert candidate.quote in said


# --- secrets


def test_a_secret_never_becomes_a_memory() -> None:
    for said in ("Remember that my password is hunter2", "记住我的密码是hunter2", "My PIN is 4821"):
        extraction = _extract(said)
        assert extraction.candidates == ()
        assert [refused.category for refused in extraction.refused] == ["password"]
        assert not extraction.refused[0].redacted


def test_a_good_statement_is_kept_without_its_secret() -> None:
    extraction = _extract("Remember that the cabin key safe code is 7734 and it hangs by the door")
    chinese = _extract("请记住我家门禁密码是8842#，在左边的大门")

    assert "[redacted]" in _contents(extraction)[0]
    assert "[已隐去]" in _contents(chinese)[0]
    assert extraction.refused[0].redacted and chinese.refused[0].redacted


def test_facts_beside_a_secret_are_learned_and_the_secret_refused() -> None:
    extraction = _extract("I live in Ghent. My card is 4111 1111 1111 1111.")

    assert _contents(extraction) == ["Lives in Ghent"]
    assert [(r.category, r.redacted) for r in extraction.refused] == [("card", False)]


# --- anything at all

_FRAMES = [
    "I live in Ghent and {}",
    "my password is {}",
    "Remember that {}",
    "Remember my api key is {}",
    "{} is my password and I love tea",
    "我的密码是{}，我喜欢喝茶",
    "记住我的密钥是{}",
    "Card: {}. I'm vegan.",
    "请记住{}，我住在厦门",
    "forget that my token is {}",
    "I use {} at work",
]
_PLANTED = [
    "4111111111111111",
    "sk-live-a1B2c3D4e5F6g7H8i9J0",
    "11010519491231002X",
    "GB29NWBK60161331926819",
    "ghp_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6",
    "078-05-1120",
    "AKIAIOSFODNN7EXAMPLE",
]


@settings(max_examples=150, deadline=None)
@given(frame=st.sampled_from(_FRAMES), secret=st.sampled_from(_PLANTED), tail=st.text(max_size=30))
def test_no_candidate_contains_a_planted_secret(frame: str, secret: str, tail: str) -> None:
    said = f"{frame.format(secret)} {tail}"
    extraction = _extract(said)

    assert secret not in repr(extraction)
    assert extraction.refused


_PIECES = st.sampled_from(
    [
        "I ",
        "my ",
        "I'm ",
        "love ",
        "我",
        "喜欢",
        "住在",
        "remember that ",
        "忘掉",
        "on Friday",
        "明天",
        "，",
        "。",
        "\n",
        "? ",
        '"',
        "`",
        "🎉",
        "\u200d",
        "İ",
        "ß",
        "４",
        "[",
        "%",
        "{x}",
        "\\",
        "\x00",
        "my dog ",
        "2月30日",
        "in 999 years",
        "999年前",
        "password is ",
        "9999-99-99",
        "and ",
        "because ",
    ]
)
_TEXTS = st.one_of(st.text(max_size=200), st.lists(_PIECES, max_size=40).map("".join))


@settings(max_examples=300, deadline=None)
@given(said=_TEXTS, asked=_TEXTS)
def test_any_text_is_read_without_error_and_every_quote_is_in_place(said: str, asked: str) -> None:
    for candidate in _extract(said, asked=asked, before=(asked,)).candidates:
        source = asked if candidate.quoted_role == "assistant" else said
        end = candidate.quote_start + len(candidate.quote)
        assert candidate.quote
        assert source[candidate.quote_start : end] == candidate.quote
        assert 0 <= candidate.importance <= 1 and 0 <= candidate.confidence <= 1
        assert candidate.content.strip()


@pytest.mark.parametrize(
    "unit",
    [
        "I love ",
        "I'm ",
        "my dog ",
        "remember that ",
        "is my favourite ",
        "and I ",
        "每天",
        "我喜欢，",
        '"',
        "`",
        "(",
        "我的",
        "，健身",
        "I like cats. ",
        "我喜欢猫。",
        "A_b1",
        "\n",
        "if ",
        "😀",
    ],
)
def test_the_longest_message_of_repetitions_is_read_to_its_end(unit: str) -> None:
    extraction = _extract((unit * 32_000)[:32_000])

    assert len(extraction.candidates) <= 40


def test_empty_messages_yield_nothing() -> None:
    assert _extract("") == Extraction()
    assert _extract(" \n\t ") == Extraction()
