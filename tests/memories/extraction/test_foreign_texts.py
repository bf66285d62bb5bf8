"""A message that is somebody else's text, or begins a role, among long earlier messages."""

import pytest

from memories.extraction.message_reading.foreign_texts import alone_if_foreign
from memories.extraction.types import DOUBTFUL
from memories.reader import Reading
from memories.reader.statements import FLAGS
from tests.memories.extraction.bundled_reading import extract
from tests.memories.extraction.readings import statement

TEXT = "good write this nicely we go to Corpus in the summer"


def reading(keep: str, **flags: float) -> Reading:
    said = statement(TEXT, "we go to Corpus in the summer", keep=keep)
    return Reading((said,), (), dict.fromkeys(FLAGS, 0.0) | flags, puts_right=0.3)


@pytest.mark.parametrize("flag", ["pasted", "transform", "role_begins"])
def test_a_message_that_is_foreign_alone_counts_as_foreign(flag: str) -> None:
    alone = reading("no", **{flag: 0.9, "remember": 0.8})
    found = alone_if_foreign(reading("yes", **{flag: 0.2}), TEXT, lambda _: alone)
    assert found.statements == alone.statements
    assert (found.flags[flag], found.flags["remember"], found.puts_right) == (0.9, 0.0, 0.3)


def test_a_message_that_is_not_foreign_alone_stays_as_it_was_read() -> None:
    said = reading("yes", transform=0.4)
    assert alone_if_foreign(said, TEXT, lambda _: reading("no", transform=0.3)) is said


def test_other_messages_are_not_read_again() -> None:
    said, again = reading("yes", role=0.9), list[str]()

    def read(text: str) -> Reading:
        again.append(text)
        return said

    assert alone_if_foreign(said, TEXT, read) is said
    assert again == []


ANSWER = "Nitrile, powder free. They cost about the same by the case."
BEFORE = (
    (
        "perfect mija okay my son Rub\u00e9n he's in the Air Force in San Antonio he's a "
        "mechanic for the big planes and he says a present for the quince should be "
        "money is that tacky"
    ),
    (
        "well he gets it from his father listen I can't do raisins don't ever put "
        "raisins in a picadillo for me I pick them out one by one like a crow"
    ),
    (
        "potato yes olives okay fine so the gloves at work I can't use the latex I'm "
        "allergic I get the hands like lobsters what kind do I order"
    ),
)


def test_a_rambling_mail_among_rambling_messages_is_not_the_persons_own() -> None:
    text = (
        "nitrile how do you spell that never mind I'll show her the phone okay the "
        "comadre Nelda sent me this and I want you to make it in good English she says "
        "quote hola I am selling the washer almost new because we go to Corpus in the "
        "summer my husband has his hernia operation the fifteenth no checks thank you "
        "Nelda unquote"
    )
    found = extract(text, before=BEFORE, asked=ANSWER).candidates
    assert [one.content for one in found if one.confidence > DOUBTFUL] == []
