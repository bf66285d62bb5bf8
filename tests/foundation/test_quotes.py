from __future__ import annotations

from foundation.text.richtext import inner


def test_marks_within_marks_are_the_inner_ones() -> None:
    assert f"「{inner('「小满」药盒')}」" == "「『小满』药盒」"
    assert f"“{inner('the “Seville” trip')}”" == "“the ‘Seville’ trip”"
    assert inner("Don't") == "Don't"
