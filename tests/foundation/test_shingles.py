import pytest

from foundation.text.shingles import Resemblance, normalise, shingles, size_for


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Green Tea!", "greentea"),
        ("ＡＢＣ　１", "abc1"),
        ("我喜欢喝茶。", "我喜欢喝茶"),
        (" …", ""),
    ],
)
def test_only_letters_and_digits_of_one_width_and_case_count(text: str, plain: str) -> None:
    assert normalise(text) == plain


def test_pieces_are_longer_for_letters_than_for_chinese() -> None:
    assert size_for("我每天早上喝tea") == 6
    assert size_for("greenteaeverymorning") == 16


def test_a_short_text_is_one_piece_and_an_empty_one_none() -> None:
    assert shingles("tea", size=16) == {"tea"}
    assert shingles("", size=16) == frozenset()


@pytest.mark.parametrize(
    ("text", "field", "held"),
    [
        ("I drink green tea every morning", "i drink GREEN tea, every morning!", True),
        ("I drink green tea every morning", "She: I drink green tea every mor…", True),
        ("I drink green tea every morning", "I drink black coffee at night", False),
        ("我每天早上都喝一杯绿茶", "她说我每天早上都喝一杯绿茶的", True),
        ("我每天早上都喝一杯绿茶", "我每天晚上喝咖啡", False),
        ("ok", "ok!", True),
        ("ok", "that is ok for me", False),
    ],
)
def test_a_text_is_held_where_half_of_its_pieces_are(text: str, field: str, held: bool) -> None:
    assert Resemblance([text]).occurs_in(field) is held


def test_nothing_resembles_nothing() -> None:
    empty = Resemblance(["", "…"])
    assert not empty
    assert not empty.occurs_in("")
