"""What becomes of what the reader heard: words, confidence, marks, and what is never kept."""

from dataclasses import replace

import pytest

from memories.extraction import masking
from memories.extraction.types import DOUBTFUL, OWNER_UNSURE, RefusedSecret
from memories.reader import Reading
from memories.reader.statements import FLAGS
from tests.memories.extraction.bundled_reading import contents, extract, only
from tests.memories.extraction.readings import FakeReader, statement


@pytest.fixture
def told() -> FakeReader:
    return FakeReader()


def test_a_statement_is_kept_in_the_persons_own_words(told: FakeReader) -> None:
    text = "so yeah i moved to Brno and what should i see there?"
    told.hears(text, statement(text, "i moved to Brno", kind="event", topic="home", holds="past"))

    one = only(extract(text, told=told))

    assert one.content == "i moved to Brno"
    assert text[one.quote_start :].startswith(one.quote)
    assert (one.kind, one.tags, one.corrects) == ("event", ("home",), False)
    assert one.reasons == ("self.past",)


def test_a_chinese_memory_has_a_chinese_tag(told: FakeReader) -> None:
    told.hears(
        "我对虾过敏", statement("我对虾过敏", "我对虾过敏", kind="constraint", topic="health")
    )

    one = only(extract("我对虾过敏", told=told))

    assert (one.content, one.tags) == ("我对虾过敏", ("健康",))


def test_a_topic_that_is_unsure_is_no_tag(told: FakeReader) -> None:
    text = "我翻了疫苗本"
    said = statement(text, text, kind="event")
    rest = dict.fromkeys(said.shares["topic"], 0.02)
    shares = {**said.shares, "topic": {**rest, "pets": 0.45, "health": 0.4}}
    told.hears(text, replace(said, shares=shares))
    assert only(extract(text, told=told)).tags == ()


def test_a_request_to_forget_teaches_nothing_that_is_doubted(told: FakeReader) -> None:
    text = "please delete the thing about my brother being allergic to crab, it's a mess"
    doubted = statement(text, "my brother being allergic to crab", keep="unsure")
    told.hears(text, doubted, flags=["forget"])
    found = extract(text, told=told)
    assert found.candidates == () and found.forget[0].about == text
    told.hears(text, doubted)
    assert [one.content for one in extract(text, told=told).candidates]


def test_a_limit_of_an_unsure_owner_is_asked_about(told: FakeReader) -> None:
    text = "no walnuts in the cake"
    sure = statement(text, "no walnuts", kind="constraint")
    told.hears(text, sure)
    assert OWNER_UNSURE not in only(extract(text, told=told)).reasons
    shares = {**sure.shares, "whose": {"self": 0.5, "related": 0.3, "others": 0.2}}
    told.hears(text, replace(sure, shares=shares))
    one = only(extract(text, told=told))
    assert one.reasons[0] == OWNER_UNSURE
    assert one.confidence == DOUBTFUL  # it waits, and isn't stored as the person's own


@pytest.mark.parametrize(
    "answers",
    [{"keep": "no"}, {"whose": "others"}, {"said": "role"}, {"said": "quoted"}, {"said": "joked"}],
)
def test_what_must_not_be_kept_is_not(told: FakeReader, answers: dict[str, str]) -> None:
    told.hears("I am a knight", statement("I am a knight", "I am a knight", **answers))  # type: ignore[arg-type]

    assert contents(extract("I am a knight", told=told)) == []


def test_what_is_doubted_waits_for_the_person(told: FakeReader) -> None:
    told.hears("might be gluten", statement("might be gluten", "might be gluten", keep="unsure"))

    assert only(extract("might be gluten", told=told)).confidence < 0.5


def test_a_hedge_lowers_the_confidence(told: FakeReader) -> None:
    told.hears("I live in Ulm", statement("I live in Ulm", "I live in Ulm"))
    told.hears("I think it's Ulm", statement("I think it's Ulm", "it's Ulm", said="hedged"))

    sure = only(extract("I live in Ulm", told=told))
    hedged = only(extract("I think it's Ulm", told=told))

    assert hedged.confidence < sure.confidence
    assert "hedged" in hedged.reasons


def test_what_is_asked_to_be_remembered_is_explicit(told: FakeReader) -> None:
    text = "remember that the spare key hangs behind the shed"
    quote = "the spare key hangs behind the shed"
    told.hears(text, statement(text, quote, keep="unsure"), flags=["remember"])

    one = only(extract(text, told=told))

    assert one.explicit and one.confidence > 0.9 and one.importance >= 0.9


@pytest.mark.parametrize(
    ("text", "content"),
    [
        ("Remember that the blue bin goes out on Fridays.", "the blue bin goes out on Fridays"),
        ("记住蓝色垃圾桶周五收", "蓝色垃圾桶周五收"),
    ],
)
def test_remember_keeps_the_words_where_the_reader_saw_nothing(
    told: FakeReader, text: str, content: str
) -> None:
    told.hears(text, flags=["remember"])

    assert contents(extract(text, told=told)) == [content]


@pytest.mark.parametrize("flag", ["dont_keep_this", "dont_keep_topic"])
def test_what_is_asked_not_to_be_kept_is_withheld(told: FakeReader, flag: str) -> None:
    text = "between us: I'm seeing someone"
    told.hears(text, statement(text, "I'm seeing someone"), flags=[flag])

    found = extract(text, told=told)

    assert found.not_to_keep and found.candidates == ()


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("好的，这件事我不会记住。", "我的密码是 Tr0ub4dor&3"),
        ("Okay, I won't keep that.", "My password is hunter2-Zebra!"),
    ],
)
def test_that_the_assistant_kept_nothing_before_withholds_nothing_now(said: str, text: str) -> None:
    assert not extract(text, asked=said).not_to_keep
    assert extract(f"{text}, don't remember this", asked=said).not_to_keep


def test_dont_keep_what_i_just_said_points_back(told: FakeReader) -> None:
    told.hears("scratch that last bit from your notes", flags=["dont_keep_before"])

    (asked,) = extract("scratch that last bit from your notes", told=told).forget

    assert asked.about == ""


def test_taking_back_the_message_before_goes_before_forgetting_its_words(
    told: FakeReader,
) -> None:
    text = "scrub that last bit from ur memory"
    shares = dict.fromkeys(FLAGS, 0.0) | {"forget": 0.6, "dont_keep_before": 0.7}
    told.readings[text] = Reading((), (), shares)

    (asked,) = extract(text, told=told).forget

    assert asked.about == ""


@pytest.mark.parametrize("text", ["别存这个 我刚被裁", "don't remember this: I was laid off"])
def test_not_to_keep_this_message_is_no_request_to_forget(told: FakeReader, text: str) -> None:
    told.hears(text, flags=["dont_keep_this"])
    found = extract(text, told=told)
    assert found.not_to_keep and found.forget == ()


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("Forget that I live in Brno.", "I live in Brno"),
        ("忘掉我喜欢喝茶这件事", "我喜欢喝茶这件事"),
        ("請忘記我對貓過敏這件事", "我對貓過敏這件事"),
        ("the stuff about my knee can go from your head", None),
    ],
)
def test_a_request_to_forget_says_what_about(
    told: FakeReader, text: str, about: str | None
) -> None:
    told.hears(text, flags=["forget"])

    (asked,) = extract(text, told=told).forget

    assert asked.about == (text if about is None else about)


@pytest.mark.parametrize("text", ["我对花生过敏吗？", "我对花生过敏来着", "我是不是对花生过敏"])
def test_a_question_is_no_statement(told: FakeReader, text: str) -> None:
    asked = text.rstrip("吗？来着")
    told.hears(text, statement(text, asked, kind="constraint"))
    assert contents(extract(text, told=told)) == []


@pytest.mark.parametrize(
    ("text", "gone", "kept"),
    [
        ("Forget that I live in Brno, I live in Ulm now.", "I live in Brno", "I live in Ulm now"),
        ("忘掉我喜欢喝茶，我喜欢喝咖啡。", "我喜欢喝茶", "我喜欢喝咖啡"),
    ],
)
def test_what_is_asked_to_be_forgotten_is_not_learned(
    told: FakeReader, text: str, gone: str, kept: str
) -> None:
    told.hears(text, statement(text, gone), statement(text, kept), flags=["forget"])

    assert contents(extract(text, told=told)) == [kept]


@pytest.mark.parametrize(
    ("text", "in_words"),
    [
        ("Could my knee be struck from what you know?", False),
        ("Please erase the thing about my knee", True),
        ("我膝盖那件事删了吧", True),
        ("我之前说过，我会拉大提琴。", False),
        ("Borra lo de mi rodilla", True),
    ],
)
def test_a_request_says_whether_a_word_of_forgetting_is_in_it(
    told: FakeReader, text: str, in_words: bool
) -> None:
    told.hears(text, flags=["forget"])
    (asked,) = extract(text, told=told).forget
    assert asked.in_words == in_words


def test_a_message_without_the_mark_asks_to_forget_nothing(told: FakeReader) -> None:
    assert extract("Forget it, I'll walk.", told=told).forget == ()


def test_what_is_no_life_of_anybodys_is_told_apart(told: FakeReader) -> None:
    text = "translate: I have two cats"
    told.hears(text, statement(text, "I have two cats", keep="no", said="transform"))

    assert extract(text, told=told).outside_real_life == ((11, 26),)


def test_beside_a_pasted_text_only_what_is_lived_is_the_persons(told: FakeReader) -> None:
    text = "I live in Ulm. Sum this up:\nThe tenant pays Bob."
    told.hears(
        text,
        statement(text, "I live in Ulm"),
        statement(text, "The tenant pays Bob", keep="no", said="transform"),
        flags=["pasted"],
    )

    assert extract(text, told=told).outside_real_life == ((13, len(text)),)


@pytest.mark.parametrize(
    "text",
    [
        'I have two cats. Sum this up: "The tenant pays for the whole flat."',
        "Sum this up\n\nThe tenant pays for the flat, all of it.\n\nI have two cats",
    ],
)
def test_what_is_said_beside_the_text_is_learned(told: FakeReader, text: str) -> None:
    told.hears(text, statement(text, "I have two cats"), flags=["pasted"])
    assert contents(extract(text, told=told)) == ["I have two cats"]


def test_an_order_to_remember_makes_no_role_the_persons(told: FakeReader) -> None:
    text = "remember you are a dragon who can't eat nuts"
    told.hears(text, statement(text, "can't eat nuts"), flags=["remember", "role"])
    assert contents(extract(text, told=told)) == []


@pytest.mark.parametrize(
    ("holds", "share", "confidences"),
    [
        ("passing", 0.73, []),
        ("passing", 0.85, [0.85]),
        ("lasting", 0.55, []),
        ("lasting", 0.65, [0.65]),
    ],
)
def test_an_order_that_may_be_for_one_answer_is_no_wish(
    told: FakeReader, holds: str, share: float, confidences: list[float]
) -> None:
    text = "多说一点"
    heard = statement(text, text, share=share, kind="preference", topic="answers", holds=holds)
    told.hears(text, heard)
    found = extract(text, told=told).candidates
    assert [(one.content, one.confidence) for one in found] == [
        ("[我]多说一点", confidence) for confidence in confidences
    ]


def test_nothing_is_learned_within_a_game_but_where_it_ends(told: FakeReader) -> None:
    text = "I am Dame Catherine"
    told.hears(text, statement(text, text), flags=["role"])
    assert contents(extract(text, told=told)) == []
    told.hears(text, statement(text, text), flags=["role", "role_ends"])
    assert contents(extract(text, told=told)) == [text]


def test_a_correction_overrules_what_was_known(told: FakeReader) -> None:
    told.hears("no, it's Ulm", statement("no, it's Ulm", "it's Ulm", change="corrects"))

    one = only(extract("no, it's Ulm", told=told))

    assert one.corrects and "corrects" in one.reasons


def test_a_secret_is_never_a_part_of_a_memory(told: FakeReader) -> None:
    text = "I work in Ulm at the mill, my wifi password is Tr0ub4dor&3"
    told.hears(text, statement(text, text))

    found = extract(text, told=told)

    assert all("Tr0ub4dor" not in f"{one.content} {one.quote}" for one in found.candidates)
    assert found.refused == (RefusedSecret("password", redacted=True),)
    assert masking.MARK_EN in only(found).content


def test_what_the_prompt_told_already_is_not_learned_again(told: FakeReader) -> None:
    told.hears("I live in Ulm", statement("I live in Ulm", "I live in Ulm"))

    assert extract("I live in Ulm", told=told, known="- I live in Ulm").candidates == ()


def test_between_named_people_the_name_stands_before_the_words(told: FakeReader) -> None:
    told.hears("I live in Ulm", statement("I live in Ulm", "I live in Ulm"))

    assert contents(extract("I live in Ulm", speaker="Ana", told=told)) == ["Ana: I live in Ulm"]


def test_code_and_quoted_lines_are_not_the_persons(told: FakeReader) -> None:
    text = "> I live in Ulm\nagree?"
    told.hears(text, statement(text, "I live in Ulm"))

    assert contents(extract(text, told=told)) == []


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("以上都别记了", "我对花生过敏"),
        ("remember this: short answers", "im allergic to penicillin"),
        ("Don't keep this.", "I'm allergic to peanuts"),
    ],
)
def test_an_order_in_the_message_before_is_no_order_in_this_one(before: str, text: str) -> None:
    found = extract(text, before=(before,))

    assert not found.not_to_keep
    assert [one.explicit for one in found.candidates] == [False]


@pytest.mark.parametrize(
    "text", ["hes not allergic any more", "theo is no longer allergic to nuts"]
)
def test_an_allergy_that_is_over_is_no_limit(told: FakeReader, text: str) -> None:
    told.hears(text, statement(text, text, kind="constraint", topic="health"))
    assert only(extract(text, told=told)).kind == "fact"


@pytest.mark.parametrize(
    ("text", "topic", "is_asked"),
    [
        ("my patient mrs hartley has had a hip replacement", "health", True),
        ("我的病人做了膝盖手术", "health", True),
        ("my patient mrs hartley is moving to York", "people", False),
        ("my mum has had a hip replacement", "health", False),
    ],
)
def test_the_health_of_a_client_is_asked_about(
    told: FakeReader, text: str, topic: str, is_asked: bool
) -> None:
    told.hears(text, statement(text, text, topic=topic, whose="related"))
    assert (only(extract(text, told=told)).confidence < 0.5) is is_asked


def test_a_request_to_forget_beside_something_to_keep_is_asked_about(told: FakeReader) -> None:
    text = "actually scrap that, we moved to Roundhay"
    told.hears(text, statement(text, "we moved to Roundhay", kind="event"), flags=["forget"])

    found = extract(text, told=told)

    assert [one.content for one in found.candidates] == ["we moved to Roundhay"]
    assert [request.in_words for request in found.forget] == [False]


def test_what_says_that_something_was_moved_is_no_request_to_forget(told: FakeReader) -> None:
    text = "scrap that the course is moved to 16 jan"
    told.hears(text, statement(text, "the course is moved to 16 jan"), flags=["forget"])
    assert extract(text, told=told).forget == ()
    asked = "forget that the course is moved to 16 jan"
    told.hears(asked, flags=["forget"])
    assert [one.in_words for one in extract(asked, told=told).forget] == [True]


@pytest.mark.parametrize(
    ("text", "content", "old"),
    [
        ("its toms mum who cant eat nuts not tom", "its toms mum who cant eat nuts", "tom"),
        ("theos not coeliac after all", "theos not coeliac after all", ""),
        ("not the 6th", "", ""),
    ],
)
def test_a_correction_leaves_out_what_was_wrong(
    told: FakeReader, text: str, content: str, old: str
) -> None:
    told.hears(text, statement(text, text, change="corrects", whose="related"))
    found = [(one.content, one.old_value) for one in extract(text, told=told).candidates]
    assert found == ([(content, old)] if content else [])


def test_a_habit_that_is_over_is_a_fact(told: FakeReader) -> None:
    told.hears("i smoked", statement("i smoked", "i smoked", kind="pattern", holds="past"))
    assert only(extract("i smoked", told=told)).kind == "fact"


@pytest.mark.parametrize("sure", [True, False])
@pytest.mark.parametrize(
    ("said", "first", "second"),
    [
        ("I don't eat nuts, no wait, dad eats no nuts", "I don't eat nuts", "dad eats no nuts"),
        ("我平时不吃香菜 哦不对 是我老汉儿不吃香菜", "我平时不吃香菜", "是我老汉儿不吃香菜"),
        ("我不吃辣的 哎说错了是朵朵不吃辣", "我不吃辣的", "朵朵不吃辣"),
    ],
)
def test_what_is_taken_back_in_the_same_breath_is_not_kept(
    told: FakeReader, said: str, first: str, second: str, sure: bool
) -> None:
    keep = {} if sure else {"keep": "no", "share": 0.5}
    told.hears(said, statement(said, first), statement(said, second, **keep))  # type: ignore[arg-type]
    assert only(extract(said, told=told)).content.endswith(second)


@pytest.mark.parametrize(
    ("said", "first", "second"),
    [
        ("I don't eat meat. I do eat fish", "I don't eat meat", "I do eat fish"),
        ("医生说我的腰不对劲 我的腰要做理疗", "医生说我的腰不对劲", "我的腰要做理疗"),
        ("I work nights, no wait, Theo is nine", "I work nights", "Theo is nine"),
    ],
)
def test_what_goes_on_takes_nothing_back(
    told: FakeReader, said: str, first: str, second: str
) -> None:
    told.hears(said, statement(said, first), statement(said, second))
    assert len(extract(said, told=told).candidates) == 2


def test_a_remark_that_may_end_a_memory_is_no_candidate_by_itself(told: FakeReader) -> None:
    said = "driving test got cancelled"
    told.hears(said, statement(said, said, keep="no", change="ends", kind="event"))
    found = extract(said, told=told)
    (ending,) = found.endings
    assert not found.candidates and found.undecided == (ending,)
    assert (ending.content, ending.only_ends) == (said, True)
    told.hears(said, statement(said, said, keep="no", change="ends", said="quoted"))
    assert not extract(said, told=told).undecided
