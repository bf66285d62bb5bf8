from __future__ import annotations

import pytest

from memories.extraction.wording.digest import LONG, SUMMARY_CHARS, TAGS, digest
from tests.memories.extraction.test_page_editions import AUTH, STORAGE


def test_a_long_text_is_summed_up_in_its_own_words() -> None:
    told = digest(AUTH + "Weather was fine.\n" * 3 + "The key is rotated by hand every month. " * 9)
    assert told.summary.startswith("Auth service: token refresh")
    assert "Refresh tokens are" in told.summary and len(told.summary) <= SUMMARY_CHARS


def test_a_short_text_is_its_own_summary() -> None:
    assert digest(STORAGE).summary == "" and len(STORAGE) <= LONG


def test_tags_are_the_words_a_text_turns_on() -> None:
    assert "refresh" in digest(AUTH).tags
    assert {"pgvector", "milvus"} <= set(digest(STORAGE).tags)
    assert len(digest(AUTH * 5).tags) == TAGS


@pytest.mark.parametrize("text", ["", "   \n", "?!…", "```\nx = 1\n```", "的了是", "a" * 50_000])
def test_what_says_little_is_taken_as_it_is(text: str) -> None:
    told = digest(text)
    assert len(told.summary) <= SUMMARY_CHARS and all(len(tag) <= 50 for tag in told.tags)


def test_a_text_of_nothing_but_list_marks_has_no_summary() -> None:
    assert digest(" \n" + "- \n" * 200).summary == ""
