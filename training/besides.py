"""Pairs of statements that have nothing to do with each other, drawn from labelled messages."""

import random
from collections import defaultdict
from collections.abc import Iterator

from training.labels import Pair, Row

_LEAST = {"zh": 5, "ja": 5}  # characters: shorter statements seldom stand alone


def unrelated(rows: list[Row], *, each: int, seed: int = 0) -> list[Pair]:
    """`each` pairs a language of one message, and as many of two voices and two topics.

    What a person tells in one breath stands beside each other, so long as nothing in it corrects
    or ends anything. What two people say of different topics has nothing in common.
    """
    chance = random.Random(seed)
    together: dict[str, list[Pair]] = defaultdict(list)
    apart: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for row in rows:
        kept = list(_statements(row))
        apart[row.language] += [(row.voice, topic, text) for topic, text in kept]
        if len(kept) > 1:
            (_, first), (_, second) = chance.sample(kept, 2)
            together[row.language].append(_pair(row.language, first, second))
    found = []
    for language, told in sorted(apart.items()):
        pairs = together[language]
        found += chance.sample(pairs, min(each, len(pairs)))
        for _ in range(min(each, len(told))):
            one, other = chance.sample(told, 2)
            if one[0] != other[0] and one[1] != other[1]:
                found.append(_pair(language, one[2], other[2]))
    return found


def _statements(row: Row) -> Iterator[tuple[str, str]]:
    for span in row.spans:
        text, heads = row.text[span.start : span.end], span.heads
        if (
            heads.get("keep") == "yes"
            and heads.get("change") == "none"
            and len(text) >= _LEAST.get(row.language, 12)
        ):
            yield heads["topic"], text


def _pair(language: str, first: str, second: str) -> Pair:
    return Pair("drawn", language, first, second, "unrelated")
