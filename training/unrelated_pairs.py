"""Pairs of unrelated statements, drawn from labelled messages."""

import random
from collections import defaultdict
from collections.abc import Iterator

from training.labels import Pair, Row

_LEAST = {"zh": 5, "ja": 5}  # characters; shorter statements are rarely complete


def unrelated(rows: list[Row], *, each: int, seed: int = 0) -> list[Pair]:
    """Return up to `each` pairs of two kinds for each language.

    The statements of a pair come from one message, where they are unrelated unless they correct or
    end something, or from two people and are about different topics.
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
    for language, statements in sorted(apart.items()):
        pairs = together[language]
        found += chance.sample(pairs, min(each, len(pairs)))
        for _ in range(min(each, len(statements))):
            left, right = chance.sample(statements, 2)
            if left[0] != right[0] and left[1] != right[1]:
                found.append(_pair(language, left[2], right[2]))
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
