from __future__ import annotations

from foundation.text.richtext import with_inner_quotation_marks


def test_marks_within_marks_are_the_inner_ones() -> None:
    assert f"「{with_inner_quotation_marks('「小满」药盒')}」" == "「『小满』药盒」"
    assert f"“{with_inner_quotation_marks('the “Seville” trip')}”" == "“the ‘Seville’ trip”"
    assert with_inner_quotation_marks("Don't") == "Don't"
