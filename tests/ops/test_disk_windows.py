"""Windows of forgotten texts are found again in raw bytes, and nowhere else."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foundation.text import shingles
from ops.disk.substring_hashes import AT_ONCE, Hasher, HashSearch, reduce_text

HASHER = Hasher(b"a key of this test")
LONG = "Keeps the spare key of the summer house under the third flower pot"
CHINESE = "把湖边小屋的备用钥匙放在第三个花盆下面"


def wanted(texts: Sequence[str]) -> HashSearch:
    batches = list(HASHER.window_hashes(texts))
    hashes = np.concatenate([one.hashes for one in batches])
    return HashSearch(HASHER, hashes, [length for one in batches for length in one.lengths])


def found(raw: bytes | str, texts: Sequence[str]) -> int:
    text = raw if isinstance(raw, str) else raw.decode("utf-8", "replace")
    looked_for = wanted(texts)
    return len(looked_for.within(reduce_text(text, shortest=looked_for.shortest)))


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)


@pytest.mark.parametrize("text", [LONG, CHINESE, "Lives in Brno", "住在天水", "天水"])
@pytest.mark.parametrize("before", [b"\x00", b"\x1d", b"A", b"\xe6\x9d", b"", noise(500)])
def test_a_text_is_found_amid_other_bytes_whatever_stands_before_it(
    text: str, before: bytes
) -> None:
    raw = noise(3_000, 1) + b"\0" + before + text.encode() + b"\x7f\x00" + noise(3_000, 2)
    assert found(raw, [text]) == len(wanted([text]).hashes)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("STRASSE in Köln: the spare key", "Straße in Ko\u0308ln — the spare key"),
        ("ｋｅｅｐｓ the ｓｐａｒｅ key there", "Keeps the spare key there"),
        ("the ﬁfth ﬂoor of the house", "The fifth floor\nof the house"),
    ],
)
def test_spellings_that_the_residue_scan_holds_for_the_same_are_the_same(
    said: str, written: str
) -> None:
    assert found(written, [said]) == len(wanted([said]).hashes)


def test_what_is_alike_but_not_the_same_is_not_found() -> None:
    assert found("Keeps a spare tyre of the summer bicycle over a flower bed", [LONG]) == 0
    assert found("He lives near Brno. Relives in Brno-like", ["Lives in Brno"]) == 0


def test_fields_that_stand_apart_are_not_read_together() -> None:
    assert found("Keeps the spare \0key of the summer\0 house under\0 the third \0", [LONG]) == 0


def test_a_part_of_a_text_is_found() -> None:
    assert 0 < found(LONG[20:50], [LONG]) < len(wanted([LONG]).hashes)


def test_what_is_too_short_to_be_told_from_chance_is_counted() -> None:
    [windows] = HASHER.window_hashes(["tea", "Al", "天水", LONG])
    assert windows.left_out == 2


def test_hashes_are_told_apart_by_text_and_mean_nothing_under_another_key() -> None:
    [windows] = HASHER.window_hashes([LONG, "Lives in Brno", CHINESE])
    sizes = [len(shingles.normalise(LONG)) - 15, 1, len(CHINESE) - 5]
    assert windows.counts.tolist() == sizes and windows.hashes.sum() != 0
    [other] = Hasher(b"another").window_hashes([LONG, "Lives in Brno", CHINESE])
    assert not np.isin(windows.hashes, other.hashes).any()


def test_letters_that_become_many_break_nothing() -> None:
    hostile = "ﷺ" * (AT_ONCE // 2) + LONG
    assert found(LONG, [hostile]) == len(wanted([LONG]).hashes)
    assert found("ﷺ" * AT_ONCE, [LONG]) == 0


@settings(max_examples=150, deadline=None)
@given(st.text(min_size=1, max_size=300), st.binary(max_size=300), st.binary(max_size=300))
def test_whatever_was_said_is_found_in_raw_bytes(said: str, before: bytes, after: bytes) -> None:
    try:
        text = said.encode()
    except UnicodeEncodeError:
        return  # no database takes it
    looked_for = wanted([said])
    raw = before + b"\0" + text + b"\0" + after
    hits = looked_for.within(
        reduce_text(raw.decode("utf-8", "replace"), shortest=looked_for.shortest)
    )
    assert len(hits) == len(looked_for.hashes)
