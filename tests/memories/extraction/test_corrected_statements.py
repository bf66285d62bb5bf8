"""Messages that put an earlier statement right in words of their own."""

from collections.abc import Callable
from functools import partial

import pytest

from memories.extraction.bundled import BundledExtractor
from memories.extraction.corrections import corrected_statements
from memories.extraction.corrections.corrected_statements import EarlierChanges
from memories.extraction.corrections.values import with_new_value
from memories.extraction.masking import COVER, SECRET
from memories.extraction.message_reading.statement_labels import KEEP
from memories.extraction.types import CORRECTABLE, Candidate, TurnText
from memories.reader.pair_layers import PairComparison
from memories.reader.statements import PAIRS
from tests.memories.extraction.bundled_reading import extract, spoken
from tests.memories.extraction.readings import FakeReader, statement

BIRTHDAY, FINGERS = "cake for sonny, bday 14 nov", "24, fat thumbs"
WEEKLY, MOVED = "我周三练快板", "挪四上头去了"


def compared(
    known: str, said: str, wrong: str = "", right: str = "", *, share: float = 0.95
) -> PairComparison:
    rest = dict.fromkeys(PAIRS, 0.0) | {"contradicts": share, "unrelated": 1 - share}
    if not wrong:
        return PairComparison(rest)
    first, second = known.index(wrong), said.index(right)
    return PairComparison(rest, (first, first + len(wrong)), (second, second + len(right)))


def told(
    said: str,
    known: str,
    found: PairComparison,
    *,
    puts_right: float = 0.9,
    flags: tuple[str, ...] = (),
) -> FakeReader:
    reader = FakeReader()
    reader.hears(known, statement(known, known, holds="habit", kind="pattern"))
    reader.hears(said, puts_right=puts_right, flags=flags)
    reader.compared[known, said] = found
    return reader


@pytest.mark.parametrize(
    ("known", "said", "wrong", "right", "meant"),
    [
        (BIRTHDAY, FINGERS, "14", "24", "cake for sonny, bday 24 nov"),
        (WEEKLY, MOVED, "三", "四", "我周四练快板"),
    ],
)
def test_the_right_words_take_the_place_of_the_wrong_ones(
    known: str, said: str, wrong: str, right: str, meant: str
) -> None:
    reader = told(said, known, compared(known, said, wrong, right))
    reader.hears(meant, statement(meant, meant, holds="habit", kind="pattern"))
    (one,) = extract(said, before=(known, "ok thanks"), told=reader).candidates
    assert one.content.startswith(meant[:8]) and right in one.content
    assert one.corrects and one.overrules.startswith(known[:5])
    assert one.quote == said[one.quote_start :][: len(one.quote)] and right in one.quote


@pytest.mark.parametrize(
    ("known", "wrong", "meant"),
    [
        ("choir is every second tuesday", "second", "choir is every second wednesday"),
        ("choir is on tuesdays", "tuesdays", "choir is on wednesdays"),
    ],
)
def test_a_day_takes_the_place_of_the_only_day(known: str, wrong: str, meant: str) -> None:
    said = "its wednesdays"
    reader = told(said, known, compared(known, said, wrong, "wednesdays"))
    reader.hears(meant, statement(meant, meant, holds="habit", kind="pattern"))
    (one,) = extract(said, before=(known, "ok thanks"), told=reader).candidates
    assert (one.content, one.overrules) == (meant, known)


@pytest.mark.parametrize(
    ("known", "said", "wrong", "right"),
    [
        (BIRTHDAY, "sonny turns on the 24, fat thumbs", "14", "24"),
        (WEEKLY, "快板挪四上头去了", "三", "四"),
    ],
)
def test_a_far_message_is_understood(known: str, said: str, wrong: str, right: str) -> None:
    meant = known.replace(wrong, right)
    reader = told(said, known, compared(known, said, wrong, right))
    reader.hears(meant, statement(meant, meant, holds="habit", kind="pattern"))
    others = [spoken(f"Number {number} is read") for number in range(CORRECTABLE)]
    for later, found in ((others[1:], 1), (others, 0)):
        turn = TurnText(spoken(said), spoken("I see.")).following([spoken(known), *later])
        assert len(turn.before) + len(turn.older) == CORRECTABLE
        assert len(BundledExtractor(reader).extract(turn).candidates) == found


def test_the_messages_that_share_most_words_are_compared() -> None:
    said = "sonny turns on the 24, fat thumbs"
    before = ["Nothing is read"] * 30
    before[20] = BIRTHDAY
    read: list[int] = []

    def again(place: int) -> list[Candidate]:
        read.append(place)
        return [Candidate("fact", before[place], 0.5, 0.9, before[place])]

    changes(said, before, again, lambda known, text: compared(known, text, share=0.1))
    assert read == [20, *range(11)]


def changes(
    said: str,
    before: list[str],
    again: Callable[[int], list[Candidate]],
    compare: Callable[[str, str], PairComparison],
) -> EarlierChanges:
    by_words = partial(corrected_statements.similarities, embedder=None)
    return corrected_statements.find_earlier_changes(
        said, before, again, compare, lambda *_: 1.0, by_words
    )


@pytest.mark.parametrize(
    ("found", "puts_right", "flags"),
    [
        (compared(BIRTHDAY, FINGERS, "14", "24", share=0.7), 0.9, ()),
        (compared(BIRTHDAY, FINGERS, "14", "24"), 0.1, ()),
        (compared(BIRTHDAY, FINGERS, "14", "24"), 0.9, ("role",)),
        (compared(BIRTHDAY, FINGERS, "14", "24"), 0.9, ("pasted",)),
        (compared(BIRTHDAY, FINGERS, share=0.7), 0.9, ()),
    ],
)
def test_nothing_changes_without_a_sure_correction_of_ones_own(
    found: PairComparison, puts_right: float, flags: tuple[str, ...]
) -> None:
    reader = told(FINGERS, BIRTHDAY, found, puts_right=puts_right, flags=flags)
    assert not extract(FINGERS, before=(BIRTHDAY,), told=reader).candidates


def test_a_statement_of_the_message_overrules_if_the_words_are_unclear() -> None:
    known, said = "teagan moved to tulsa in aug", "autocorrect. teagan is in tucson"
    reader = told(said, known, compared(known, said))
    reader.hears(said, statement(said, "teagan is in tucson"), puts_right=0.9)
    (one,) = extract(said, before=(known,), told=reader).candidates
    assert (one.content, one.corrects) == ("teagan is in tucson", True)
    assert one.overrules.startswith("teagan moved to tulsa")


def test_what_is_true_of_a_relative_overrules_nothing_about_the_person() -> None:
    known, said = "i moved to tulsa in aug", "autocorrect. my sister is in tucson"
    reader = told(said, known, compared(known, said))
    reader.hears(said, statement(said, "my sister is in tucson", whose="related"), puts_right=0.9)
    (one,) = extract(said, before=(known,), told=reader).candidates
    assert (one.content, one.corrects, one.overrules) == ("my sister is in tucson", False, "")


@pytest.mark.parametrize(("share", "conflict", "found"), [(0.97, 0.9, 1), (0.97, 0.1, 0)])
def test_a_doubtful_statement_of_the_new_value_is_kept(
    share: float, conflict: float, found: int
) -> None:
    known, said = "My sister Gosia lives in Gdansk", "I have to say: Gosia is in Gdynia"
    reader = told(said, known, compared(known, said, share=share))
    doubted = statement(said, "Gosia is in Gdynia", share=0.5)
    reader.hears(said, doubted, puts_right=0.9)
    reader.conflict = conflict
    heard = extract(said, before=(known,), told=reader).candidates
    kept = [one for one in heard if one.content == "Gosia is in Gdynia"]
    assert [(one.confidence, one.overrules) for one in kept] == [(KEEP, known)] * found


def test_long_messages_are_compared_in_parts_and_not_without_end() -> None:
    said = "Nothing of note happened here today at all. " * 200
    asked: list[str] = []

    def compare(known: str, text: str) -> PairComparison:
        asked.append(text)
        return compared(known, text, share=0.1)

    known = Candidate("fact", BIRTHDAY, 0.5, 0.9, BIRTHDAY)
    assert changes(said, [BIRTHDAY], lambda place: [known], compare) == EarlierChanges()
    assert 1 < len(asked) <= 16 and max(map(len, asked)) < 400


@pytest.mark.parametrize(
    ("known", "said", "wrong", "right"),
    [
        ("doing Year 10", "my mother in Nsukka uses ogiri", "10", "Nsukka"),
        ("got 2 grand", "nearly half way to 15k", "2", "15k"),
        ("on 31 an hr", "roster is 2 n 1 now", "31", "2 n 1"),
        ("11 students she has", "mock test is 34 marks", "11", "34"),
        ("practice is on tuesday", "it was march", "tuesday", "march"),
        ("I live in Leeds", "We moved to York in May", "Leeds", "We"),
        ("学三个星期手绘", "我改到十一月去了", "三", "十一"),
        ("上小学四年级", "开学都俩月了", "四", "俩"),
    ],
)
def test_another_sort_of_words_is_no_correction(
    known: str, said: str, wrong: str, right: str
) -> None:
    reader = told(said, known, compared(known, said, wrong, right, share=0.8))
    assert not extract(said, before=(known,), told=reader).candidates


def test_words_take_the_place_of_others_only_if_both_readings_conflict() -> None:
    known, said, meant = "Ana lives in Trelew", "Ana's town is Gaiman", "Ana lives in Gaiman"
    for conflict, found in ((0.5, [meant]), (0.1, [])):
        reader = told(said, known, compared(known, said, "Trelew", "Gaiman", share=0.75))
        reader.hears(meant, statement(meant, meant, holds="habit", kind="pattern"))
        reader.conflict = conflict
        heard = extract(said, before=(known,), told=reader).candidates
        assert [one.content for one in heard] == found


def test_without_a_word_in_common_a_change_must_be_surer() -> None:
    known, meant = "Ana lives in Trelew", "Ana lives in Gaiman"
    for said, found in (("Ana's town is Gaiman", [meant]), ("the town is Gaiman", [])):
        reader = told(said, known, compared(known, said, "Trelew", "Gaiman", share=0.65))
        reader.hears(meant, statement(meant, meant, holds="habit", kind="pattern"))
        heard = extract(said, before=(known,), told=reader).candidates
        assert [one.content for one in heard] == found


def test_a_sure_change_without_a_statement_waits_for_review() -> None:
    reader = told(FINGERS, BIRTHDAY, compared(BIRTHDAY, FINGERS, share=0.96))
    (one,) = extract(FINGERS, before=(BIRTHDAY,), told=reader).candidates
    assert (one.content, one.overrules) == (f"[{BIRTHDAY}] {FINGERS}", BIRTHDAY)
    assert one.confidence < 0.5 and "ends" not in one.reasons


def test_a_statement_that_names_no_value_takes_the_place_of_what_it_changes() -> None:
    known, said = "my brother Finbarr is on dialysis", "Finbarr got the call, has a new kidney"
    reader = told(said, known, compared(known, said))
    reader.hears(said, statement(said, "has a new kidney"), puts_right=0.9)
    reader.conflict = 0.1
    reader.compared[known, "has a new kidney"] = compared(known, said, share=0.8)
    (one,) = extract(said, before=(known,), told=reader).candidates
    assert (one.content, one.overrules) == ("has a new kidney", known)


@pytest.mark.parametrize(
    ("said", "meant"),
    [("noodle is actually a corn snake", ""), ("the corn snake", "my snake is called corn snake")],
)
def test_the_subject_of_a_message_is_not_what_it_corrects(said: str, meant: str) -> None:
    known, wrongly = "my snake is called noodle", "my snake is called corn snake"
    reader = told(said, known, compared(known, said, "noodle", "corn snake", share=0.7))
    reader.hears(wrongly, statement(wrongly, wrongly))
    found = extract(said, before=(known,), told=reader).candidates
    assert "".join(one.content for one in found) == meant


def test_of_several_statements_that_which_changes_most_probably_changes() -> None:
    said = "the pizza work is over"
    known = [Candidate("fact", f"pizza {word}", 0.5, 0.9, word) for word in ("work", "eater")]
    shares = {"pizza work": 0.97, "pizza eater": 0.85}
    found = changes(said, ["pizza"], lambda _: known, lambda text, _: ends(shares[text]))
    assert [pair.known.content for pair in found.ended] == ["pizza work"]


@pytest.mark.parametrize(
    ("text", "said", "meant"),
    [
        ("we're going in May with the parish", "it's June", "we're going in June with the parish"),
        ("she lands on the eighteenth of December", "it's the twenty-second she lands now",
         "she lands on the twenty-second of December"),
        ("I submit on the thirtieth of September", "I hand in on the fifteenth of January now",
         "I submit on the fifteenth of January"),
        ("店开了11年", "是13年", "店开了13年"),
        ("孙女施雨读大三学服装的", "大四大四施雨已经大四了", "孙女施雨读大四学服装的"),
        ("3 cats and 2 dogs", "4 dogs now", "3 cats and 4 dogs"),
        ("3 cats and 2 dogs", "4 cats, 4 dogs", ""),
        ("3 cats and 2 dogs", "3 cats", ""),
        ("3 cats and 2 dogs", "3 dogs, not 2 dogs", "3 cats and 3 dogs"),
        ("部下が八名おりまして", "八名でなく、九名の誤りでした", "部下が九名おりまして"),
        ("bingo on Wednesdays", "it's in May", ""),
        ("I leave on Monday or Friday", "it's Sunday", ""),
    ],
)  # fmt: skip
def test_values_take_the_place_of_those_of_their_type(text: str, said: str, meant: str) -> None:
    assert with_new_value(text, said) == meant


OPERATION, DIED = "my old dog Trixie is nine", "so quiet with no claws on the lino"


def ends(share: float = 0.95) -> PairComparison:
    return PairComparison(dict.fromkeys(PAIRS, 0.0) | {"ended": share, "unrelated": 1 - share})


def test_a_message_without_a_statement_ends_an_earlier_one() -> None:
    (one,) = extract(DIED, before=(OPERATION,), told=told(DIED, OPERATION, ends())).candidates
    assert (one.content, one.overrules) == (f"[{OPERATION}] {DIED}", OPERATION)
    assert one.corrects and one.quote == DIED and "ends" in one.reasons


def test_a_statement_takes_the_place_of_what_it_ends() -> None:
    reader = told(DIED, OPERATION, ends())
    reader.hears(DIED, statement(DIED, "quiet with no claws"), puts_right=0.9)
    (one,) = extract(DIED, before=(OPERATION,), told=reader).candidates
    assert (one.content, one.overrules) == ("quiet with no claws", OPERATION)


@pytest.mark.parametrize(("share", "flags"), [(0.5, ()), (0.95, ("role",)), (0.95, ("pasted",))])
def test_nothing_ends_without_a_sure_end_of_ones_own(share: float, flags: tuple[str, ...]) -> None:
    reader = told(DIED, OPERATION, ends(share), flags=flags)
    assert not extract(DIED, before=(OPERATION,), told=reader).candidates


def test_a_message_ends_at_most_three_statements() -> None:
    known = [Candidate("fact", f"Fact {number}", 0.5, 0.9, "Fact") for number in range(9)]
    found = changes("we called it off", ["Facts"], lambda place: known, lambda *_: ends(0.96))
    assert found.corrected is None and len(found.ended) == 3


@pytest.mark.parametrize("covered", [COVER, SECRET])
def test_words_with_covered_parts_end_nothing(covered: str) -> None:
    known = Candidate("fact", OPERATION, 0.5, 0.9, OPERATION)
    said = f"{DIED} {covered * 9}"
    assert not changes(said, [OPERATION], lambda _: [known], lambda *_: ends()).ended


def test_the_ending_words_are_quoted_where_they_stand() -> None:
    said = f"  {DIED}"
    reader = told(said, OPERATION, ends())
    (one,) = extract(said, before=(OPERATION,), told=reader).candidates
    assert said[one.quote_start :] == one.quote == DIED
