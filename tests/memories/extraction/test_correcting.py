"""Corrections: the earlier message, said again with the right words."""

import pytest

from memories.extraction.corrections import correction


@pytest.mark.parametrize(
    ("said", "earlier", "again"),
    [
        (
            "actually typo, its my cousin Ewa not my sister. and pls be brief",
            "my sister Ewa has a peanut allergy",
            "my cousin Ewa has a peanut allergy",
        ),
        ("typo, I meant Marta", "Maria can't eat nuts", "Marta can't eat nuts"),
        ("*Marta", "Martha can't eat nuts", "Marta can't eat nuts"),
        ("oops I meant Thursday not Tuesday", "choir on Tuesday", "choir on Thursday"),
        ("wait its 45 minutes", "I run for 35 minutes a day", "I run for 45 minutes a day"),
        ("sorry, 14 kids not 12", "I teach 12 kids", "I teach 14 kids"),
        ("说错了是六个月。以后回答短一点", "老婆怀孕五个月", "老婆怀孕六个月"),
        ("改成周五了", "周四下午要去看牙", "周五下午要去看牙"),
        ("不对 不是周四是周五", "周四下午要去看牙", "周五下午要去看牙"),
        ("其实是我表姐，不是我姐", "我姐小敏对花生过敏", "我表姐小敏对花生过敏"),
        ("我记错了，是三月", "我四月要去日本", "我三月要去日本"),
    ],
)
def test_the_earlier_message_is_said_again_rightly(said: str, earlier: str, again: str) -> None:
    found = correction(said, [earlier])

    assert found is not None and found.text == again
    assert said[found.start : found.end] in said and found.end > found.start


def test_the_latest_message_that_has_the_wrong_words_is_meant() -> None:
    found = correction("I meant Friday not Monday", ["hi", "swim on Monday", "gym on Monday"])

    assert found is not None and (found.place, found.text) == (1, "swim on Friday")


@pytest.mark.parametrize(
    ("said", "earlier"),
    [
        ("its my cousin", "my sister Ewa has a peanut allergy"),
        ("actually I love it here, not like Leeds", "I moved out in May"),
        ("sorry I'm not well today", "I have a cold"),
        ("actually can you make it shorter, not longer", "write a poem about Mars"),
        ("I meant Friday", "Monday or Tuesday is fine"),
        ("我不是说错了吗", "我姐小敏"),
    ],
)
def test_what_names_nothing_of_before_corrects_nothing(said: str, earlier: str) -> None:
    assert correction(said, [earlier]) is None
