from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.text import tokens

MIXED = "".join(f"In May {n} I left for 杭州 😀; café “团子”. " for n in range(1980, 2020))


def test_known_texts_have_their_known_counts() -> None:
    assert tokens.count("") == 0
    assert tokens.count("hello world") == 2
    assert tokens.count("<|endoftext|>") > 1


def test_very_long_texts_are_counted() -> None:
    assert tokens.count("我对花生过敏。" * 60_000) > 200_000


def test_a_text_within_the_limit_is_left_as_it_is() -> None:
    assert tokens.truncate("hello world", limit=2) == "hello world"
    assert tokens.truncate("hello world", limit=1) == "hello"
    assert tokens.truncate("hello world", limit=0) == ""


def test_truncation_does_not_cut_a_family_emoji_apart() -> None:
    family = "👨‍👩‍👧"
    whole = tokens.count(family)
    cut = [tokens.truncate(f"a {family}", limit=limit) for limit in range(whole + 2)]
    assert set(cut) <= {"", "a", "a ", f"a {family}"}
    assert tokens.truncate("e\u0301" * 3, limit=1) in {"", "e\u0301"}


@settings(deadline=None)
@given(st.text(max_size=200), st.integers(min_value=0, max_value=60))
def test_truncation_keeps_a_beginning_within_the_limit(text: str, limit: int) -> None:
    kept = tokens.truncate(text, limit=limit)
    assert text.startswith(kept)
    assert tokens.count(kept) <= limit


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(min_value=8, max_value=40), st.integers(0, 7))
def test_pieces_are_within_the_size_and_cover_the_text(text: str, size: int, overlap: int) -> None:
    pieces = tokens.split(text, size=size, overlap=overlap)
    assert all(0 < tokens.count(piece) <= size for piece in pieces)
    reached = {0}  # where the pieces so far may end; a text that repeats has several places
    for piece in pieces:
        places = {place for place in range(len(text)) if text.startswith(piece, place)}
        ends = {place + len(piece) for place in places if place <= max(reached)}
        reached = {end for end in ends if end > min(reached)}
    assert len(text) in reached or not text


def test_pieces_overlap_by_about_the_tokens_asked_for() -> None:
    pieces = tokens.split(MIXED, size=100, overlap=20)
    assert len(pieces) > 5
    for before, after in pairwise(pieces):
        shared = next(n for n in range(len(after), 0, -1) if before.endswith(after[:n]))
        assert 15 <= tokens.count(after[:shared]) <= 25


def test_a_short_text_is_one_piece_and_an_empty_one_none() -> None:
    assert tokens.split("hello world") == ["hello world"]
    assert tokens.split("") == []


def test_an_overlap_as_large_as_the_piece_is_refused() -> None:
    with pytest.raises(ValueError):
        tokens.split("hello", size=10, overlap=10)
