"""What a Chinese clause begins with, by the segmenter's tags: verbs mean the speaker."""

from functools import lru_cache

import rjieba

_PREDICATES = ("v", "p", "d", "a", "z", "i", "m", "c")
_NOUNS = ("n", "r", "s", "f", "x")


@lru_cache(maxsize=4096)
def _first_tags(text: str) -> tuple[tuple[str, str], ...]:
    return tuple(rjieba.tag(text[:24]))[:2]


def begins_with_noun(text: str) -> bool:
    """Whether somebody or something is named before the verb: 隔壁老王又吵架了."""
    tags = _first_tags(text)
    return bool(tags) and tags[0][1].startswith(_NOUNS) and tags[0][1] not in ("nz", "vn")


def begins_with_predicate(text: str) -> bool:
    """Whether the clause leaves out of whom it speaks: 在县城教书, 养了只猫, 从不熬夜."""
    tags = _first_tags(text)
    return bool(tags) and tags[0][1].startswith(_PREDICATES)
