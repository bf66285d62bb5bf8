"""The bundled extractor on secrets, on short replies, and on anything at all."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.extraction.types import Extraction
from tests.memories.extraction.bundled_reading import contents, extract, only
from tests.memories.extraction.readings import FakeReader, statement

# --- what the assistant asked


@pytest.mark.parametrize(
    ("asked", "said", "claim"),
    [
        ("So you are vegetarian?", "Yes, that's right", "So you are vegetarian?"),
        ("Got it. You live in Ghent, right?", "yep", "You live in Ghent, right?"),
        ("Your dog is called Rex, correct?", "Exactly!", "Your dog is called Rex, correct?"),
        ("所以你对芒果过敏，是吗？", "是的", "所以你对芒果过敏，是吗？"),
    ],
)
def test_an_accepted_claim_is_learned_from_the_assistants_words(
    asked: str, said: str, claim: str
) -> None:
    candidate = only(extract(said, asked=asked, told=FakeReader()))

    assert candidate.content == f"[{claim}] {said}"
    assert candidate.quoted_role == "assistant"
    end = candidate.quote_start + len(candidate.quote)
    assert asked[candidate.quote_start : end] == candidate.quote == claim
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
    assert extract(said, asked=asked, told=FakeReader()).candidates == ()


@pytest.mark.parametrize(
    ("asked", "said", "answer"),
    [
        ("Where do you live?", "Ghent", "[Where do you live?] Ghent"),
        ("What's your favourite colour?", "Teal.", "[What's your favourite colour?] Teal"),
        ("你叫什么名字？", "苏晴", "[你叫什么名字？]苏晴"),
        ("你住在哪里呢？", "厦门", "[你住在哪里呢？]厦门"),
    ],
)
def test_a_short_answer_is_kept_with_its_question(asked: str, said: str, answer: str) -> None:
    told, quote = FakeReader(), said.strip(".")
    told.hears(said, statement(said, quote))
    candidate = only(extract(said, asked=asked, told=told))

    assert candidate.content == answer
    assert candidate.quote == quote
    assert "names" not in candidate.data


@pytest.mark.parametrize(
    ("note", "kept"),
    [
        ("User prefers tea", "User prefers tea"),
        ("The user lives in Leeds.", "The user lives in Leeds"),
        ("Allergic to nuts", "Allergic to nuts"),
        ("用户对花生过敏。", "用户对花生过敏"),
    ],
)
def test_an_agents_note_about_the_person_is_kept_as_it_is(note: str, kept: str) -> None:
    assert only(extract(note)).content == kept


# --- secrets


def test_a_secret_never_becomes_a_memory() -> None:
    for said in ("Remember that my password is hunter2", "记住我的密码是hunter2", "My PIN is 4821"):
        extraction = extract(said)
        assert extraction.candidates == ()
        assert [refused.category for refused in extraction.refused] == ["password"]
        assert not extraction.refused[0].redacted


@pytest.mark.parametrize(
    ("said", "secret", "mark"),
    [
        (
            "Remember that the cabin key safe code is 7734 and it hangs by the door",
            "7734",
            "[redacted]",
        ),
        ("请记住我家门禁密码是8842#，在左边的大门", "8842#", "[已隐去]"),
    ],
)
def test_a_good_statement_is_kept_without_its_secret(said: str, secret: str, mark: str) -> None:
    told = FakeReader()
    told.hears(said, flags=["remember"])
    extraction = extract(said, told=told)

    (content,) = contents(extraction)
    assert mark in content and secret not in content
    assert extraction.refused[0].redacted


def test_facts_beside_a_secret_are_learned_and_the_secret_refused() -> None:
    extraction = extract("I live in Ghent. My card is 4111 1111 1111 1111.")

    assert contents(extraction) == ["I live in Ghent"]
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
    "AKIAQX7VJ5MZR8WKPDNT",
]


@settings(max_examples=150, deadline=None)
@given(frame=st.sampled_from(_FRAMES), secret=st.sampled_from(_PLANTED), tail=st.text(max_size=30))
def test_no_candidate_contains_a_planted_secret(frame: str, secret: str, tail: str) -> None:
    said = f"{frame.format(secret)} {tail}"
    extraction = extract(said)

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
    for candidate in extract(said, asked=asked, before=(asked,)).candidates:
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
    extraction = extract((unit * 32_000)[:32_000])

    assert len(extraction.candidates) <= 40


def test_empty_messages_yield_nothing() -> None:
    assert extract("") == Extraction()
    assert extract(" \n\t ") == Extraction()
