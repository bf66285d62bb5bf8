"""Words around a statement show that it is asked, taken back, or cut out of a word."""

import pytest

from memories.extraction.message_reading.statement_checks import is_only_question
from tests.memories.extraction.bundled_reading import contents, extract
from tests.memories.extraction.readings import FakeReader, statement
from tests.memories.extraction.scored import Floors, Row, assert_floor, groups, listed

FLOORS: Floors = {}


def heard(row: Row) -> str:
    """The memories of a message in which the reader finds the quotations as statements."""
    if row["subject"] == "only_question":
        return "yes" if is_only_question(row["message"]) else "no"
    told = FakeReader()
    quotes = [statement(row["message"], quote) for quote in listed(row["quotes"])]
    told.hears(row["message"], *quotes)
    return " | ".join(contents(extract(row["message"], told=told)))


@pytest.mark.parametrize(("subject", "language"), groups("statement_checks"))
def test_statement_checks_reach_their_floor(subject: str, language: str) -> None:
    assert_floor("statement_checks", subject, language, heard, FLOORS)


def test_a_joke_is_outside_of_real_life() -> None:
    told, text = FakeReader(), "I'm allergic to cats haha just kidding"
    told.hears(text, statement(text, "I'm allergic to cats"))
    assert len(extract(text, told=told).outside_real_life) == 1
