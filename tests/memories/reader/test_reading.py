"""The reader on real and on hostile texts: every place it names lies in what it was given."""

import multiprocessing
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from memories.reader import Reader, Reading, inputs, reader, statements
from memories.reader.inputs import Input
from memories.reader.reading import Model
from memories.reader.statements import Scores
from memories.reader.tokenizer import BEGIN, END, SPACE, UNKNOWN, Token, Tokenizer

LANGUAGES = [
    "I live in Lisbon with my sister, who's a nurse.",
    "我住在天水，下周去看牙医。",
    "名古屋に住んでいて、猫が二匹います。",
    "Ich wohne in Köln und esse keine Erdnüsse.",
    "Vivo en Málaga y soy alérgica al polen.",
    "J'habite à Besançon, je déteste les œufs.",
]
HOSTILE = [
    "",
    " \n\t ",
    "\x00",
    "\ud800 lone",
    "ﬃ ﷺ ㎏ ⅷ",
    "e\u0301a\u0308o\u0302",
    "İstanbul ß ſ",
    "\u202eevil\u202c \u200b\u200d\ufeff",
    "👩‍👩‍👧‍👦🇩🇪",
    "ａｂｃ１２３　全角",
    "\u3000\u3000space\u00a0\u2003",
    "𝒽𝑒𝓁𝓁𝑜 𐍈",
    "a" * 300,
    "▁▁ <s></s>",
]
TEXTS = st.one_of(
    st.text(max_size=120),
    st.lists(
        st.sampled_from(
            ["I ", "我", "住在", "love ", "ß", "\x00", "\u200d", "👩‍👧", "\n", ". ", "ﬃ", "。", "7"]
        ),
        max_size=30,
    ).map("".join),
)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return reader()._model.tokenizer


@pytest.fixture(scope="module")
def another() -> Reader:
    return Reader(Model())


def plain(text: str, tokenizer: Tokenizer) -> str:
    """The text as the vocabulary spells it, without spaces."""
    normal = "".join(tokenizer._normal.get(ord(sign), sign) for sign in text)
    return normal.replace(" ", "").replace(SPACE, "")


def read_tokens(text: str, tokenizer: Tokenizer) -> list[Token]:
    parts = inputs.windows(tokenizer, text)
    return [token for one in parts for token in one.tokens if token]


def places(found: Reading) -> list[tuple[int, int]]:
    statements = [(one.start, one.end) for one in found.statements]
    return statements + [(one.start, one.end) for one in found.secrets]


# --- tokens


@pytest.mark.parametrize("text", [*LANGUAGES, *HOSTILE])
def test_tokens_cover_the_text_in_order_and_stand_for_it(text: str, tokenizer: Tokenizer) -> None:
    tokens = tokenizer.tokens(text)
    pieces = _pieces(tokenizer)

    assert [one.start for one in tokens] == sorted(one.start for one in tokens)
    covered = {at for one in tokens for at in range(one.start, one.end)}
    assert all(at in covered or not plain(text[at], tokenizer) for at in range(len(text)))
    for one in tokens:
        assert 0 <= one.start <= one.end <= max(1, len(text))
        if one.id != UNKNOWN:
            piece = pieces[one.id].replace(SPACE, "")
            assert piece in plain(text[one.start : one.end], tokenizer)


def _pieces(tokenizer: Tokenizer) -> dict[int, str]:
    return {int(tokenizer._ids[tokenizer._trie[one]]): one for one in tokenizer._trie}


@settings(deadline=None)
@given(text=TEXTS)
def test_any_text_becomes_tokens_that_lie_in_it(text: str) -> None:
    for one in reader()._model.tokenizer.tokens(text):
        assert 0 <= one.start <= one.end <= max(1, len(text))


@settings(deadline=None)
@given(text=TEXTS, most=st.integers(0, 40))
def test_the_first_tokens_of_a_text_are_the_same_as_among_all(text: str, most: int) -> None:
    tokenizer = reader()._model.tokenizer
    assert tokenizer.tokens(text, most=most) == tokenizer.tokens(text)[:most]


@pytest.mark.parametrize("unit", ["I like tea. ", "我喜欢喝茶。", "hahaha", "+", "  ", "的"])
def test_the_first_tokens_of_a_long_text_are_the_same_as_among_all(
    unit: str, tokenizer: Tokenizer
) -> None:
    assert tokenizer.tokens(unit * 300, most=100) == tokenizer.tokens(unit * 300)[:100]


# --- processes


def test_a_process_forked_after_the_model_was_loaded_reads_the_same() -> None:
    text = "My sister Zofia moved to Gdynia last year, and I can't eat nuts."
    ours = reader().read(text)
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=lambda: sender.send(reader().read(text)))
    child.start()
    sender.close()
    assert receiver.recv() == ours and ours.statements
    child.join()


# --- windows


@pytest.mark.parametrize("unit", ["I like tea. ", "我喜欢喝茶。", "word ", "好", "x7!"])
def test_of_a_long_text_the_beginning_and_the_end_are_read(unit: str, tokenizer: Tokenizer) -> None:
    text = "My name is Ida. " + (unit * 40_000)[:40_000] + " My dog is called Rex."
    tokens = read_tokens(text, tokenizer)

    assert len(tokens) == inputs.READ == 2_048
    assert text[tokens[0].start :].lstrip().startswith("My")
    assert tokens[-1].end == len(text)
    first, last = tokens[:1_536], tokens[-512:]
    assert all(one.end <= other.end for one, other in pairwise(first))
    assert first[-1].end < last[0].start
    assert last[0].start > len(text) - 4_100


def test_each_window_fits_the_encoder_with_all_that_stood_before(tokenizer: Tokenizer) -> None:
    long = LANGUAGES[0] * 200
    for one in inputs.windows(tokenizer, long, before=[long, long, long], assistant=long):
        assert _fits(one)
    for text in (*LANGUAGES, *HOSTILE):
        (one,) = inputs.windows(tokenizer, text, before=[long], assistant=text)
        assert _fits(one)
        assert sum(one.pooled) > 0
    assert _fits(inputs.build_pair_input(tokenizer, long, long))


def _fits(one: Input) -> bool:
    same = len(one.ids) == len(one.segments) == len(one.pooled) == len(one.tokens)
    return same and len(one.ids) <= inputs.LONGEST and (one.ids[0], one.ids[-1]) == (BEGIN, END)


# --- reading


@pytest.mark.parametrize("text", LANGUAGES)
def test_a_plain_sentence_about_oneself_is_a_statement(text: str) -> None:
    found = reader().read(text)

    assert found.statements
    assert all(0 <= start < end <= len(text) for start, end in places(found))
    for head, answers in statements.SPAN_HEADS.items():
        shares = found.statements[0].shares[head]
        assert tuple(shares) == answers and sum(shares.values()) == pytest.approx(1, abs=1e-3)


@pytest.mark.parametrize("text", LANGUAGES)
def test_a_text_is_read_the_same_way_twice(text: str, another: Reader) -> None:
    before, asked = [LANGUAGES[0]], "Where do you live?"
    first = reader().read(text, before=before, assistant=asked)

    assert reader().read(text, before=before, assistant=asked) == first
    assert another.read(text, before=before, assistant=asked) == first


@settings(max_examples=60, deadline=None)
@given(text=TEXTS, before=st.lists(TEXTS, max_size=4), assistant=TEXTS)
@example(text="I live in Saint-Étienne-du-Rouvray, donaudampfschifffahrt", before=[], assistant="")
@example(text="", before=[], assistant="住在")
def test_every_place_lies_in_the_text_and_cuts_no_word(
    text: str, before: list[str], assistant: str
) -> None:
    found = reader().read(text, before=before, assistant=assistant)

    assert set(found.flags) == set(statements.FLAGS)
    assert all(0 <= share <= 1 for share in found.flags.values())
    for start, end in places(found):
        assert 0 <= start <= end <= len(text)
    for one in found.statements:
        assert not _is_cut(text, one.start) and not _is_cut(text, one.end)


def _is_cut(text: str, at: int) -> bool:
    """Whether two letters of a script with spaces stand on both sides of a place."""
    beside = text[at - 1 : at + 1] if 0 < at < len(text) else ""
    return len(beside) == 2 and all(one.isalnum() and one < "\u2e80" for one in beside)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_signs_are_read_without_an_error(text: str) -> None:
    found = reader().read(text, before=[text], assistant=text)

    assert all(0 <= start <= end <= len(text) for start, end in places(found))


# --- comparing


@settings(max_examples=30, deadline=None)
@given(known=TEXTS, new=TEXTS)
def test_the_shares_of_the_relations_add_up_to_one(known: str, new: str) -> None:
    (shares,) = reader().relations([(known, new)])

    assert tuple(shares) == (*statements.PAIRS, statements.UNRELATED_BY_ENCODER)
    assert sum(shares[name] for name in statements.PAIRS) == pytest.approx(1, abs=1e-3)
    assert 0 <= shares[statements.UNRELATED_BY_ENCODER] <= 1
    assert 0 <= reader().probability_request_means(known, new) <= 1


def test_a_pair_is_compared_the_same_way_alone_and_among_others() -> None:
    one, other = ("I live in Lisbon", "I live in Porto now"), ("我喜欢茶", "我有一只猫")

    assert reader().relations([one, other]) == [
        *reader().relations([one]),
        *reader().relations([other]),
    ]
    assert reader().relations([]) == []


# --- what was read already


class Counted(Model):
    """The model of this process, which counts its inputs."""

    def __init__(self) -> None:
        self.model = reader()._model
        self.folder, self.tokenizer, self.count = self.model.folder, self.model.tokenizer, 0

    def scores(self, one: Input) -> tuple[Scores, Scores, Scores]:
        self.count += 1
        return self.model.scores(one)


def test_a_text_is_read_once_in_the_same_context() -> None:
    model = Counted()
    again = Reader(model)
    first = again.read(LANGUAGES[0])
    assert again.read(LANGUAGES[0]) == first == reader().read(LANGUAGES[0])
    assert model.count == 1
    again.read(LANGUAGES[0], before=["Where do you live?"])
    again.read(LANGUAGES[0], assistant="Where do you live?")
    assert model.count == 3


def test_no_statement_begins_within_a_chinese_word_of_time() -> None:
    text = "房东说明年三月房租涨到九千五，现在是八千"
    starts = [text[one.start :] for one in reader().read(text).statements]
    assert starts
    assert not any(rest.startswith("年三月") for rest in starts)


def test_the_latest_readings_are_few_and_hold_no_text() -> None:
    again = Reader(Counted())
    for number in range(100):
        again.read(f"{LANGUAGES[0]} {number}")
    again.read("word " * 1_000)  # too long to be kept
    assert len(again._latest._known) == 64
    assert "Lisbon" not in repr(again._latest._known)
    assert b"Lisbon" not in b"".join(again._latest._known)


# --- the file


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("TAGS", ("outside", "inside", "begin")),
        ("FLAGS", statements.FLAGS[::-1]),
        ("PAIRS", statements.PAIRS[:-1]),
        ("SPAN_HEADS", {**statements.SPAN_HEADS, "whose": ("related", "self", "others")}),
    ],
)
def test_a_file_that_answers_other_questions_is_refused(
    name: str, other: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"memories.reader.reading.{name}", other)

    with pytest.raises(ValueError, match="another question"):
        Model()


@pytest.mark.parametrize(
    "text",
    ["my budgie taliesin stopped talking since we moved him", "ich wohne in köln mit zwei katzen"],
)
def test_capitals_are_read_as_small_letters_are(text: str, tokenizer: Tokenizer) -> None:
    assert tokenizer.tokens(text.upper()) == tokenizer.tokens(text)
    assert reader().read(text.upper()).statements == reader().read(text).statements


@pytest.mark.parametrize("code", ["AKIAIOSFODNN7EXAMPLE", "NASA and ESA", "WIFI: HORSE BATTERY"])
def test_a_code_or_a_name_in_capitals_stays_as_it_is(code: str, tokenizer: Tokenizer) -> None:
    assert tokenizer.tokens(code) != tokenizer.tokens(code.lower())
