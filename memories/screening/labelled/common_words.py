"""Common words around secrets: those that link a label to its value, and those no value has."""

from __future__ import annotations

from memcenter.lib.text.stopwords import ENGLISH
from memories.screening import linear

_WORDS = linear.sets("common_words")
_P = linear.compiled("common_words")

LINKS = _WORDS["links"]
CHANGES = _WORDS["changes"]
BETWEEN = _WORDS["between"]
BEFORE_A_COUNT = _WORDS["before_a_count"]
AFTER_A_COUNT = _WORDS["after_a_count"]
NO_VALUE = _WORDS["no_value"]
_ADJECTIVE = _P["adjective"]
FUNCTION_WORDS = ENGLISH | {"without", "because", "since", "every", "also", "whenever", "anyway"}
_PRONOUNS = _WORDS["pronouns"]

NO_VALUE_ZH = _P["no_value_zh"]
_ENDS_ZH = _P["ends_zh"]


def is_phrase(words: list[str], *, by_sign: bool = False) -> bool:
    """Whether plain words right after "the password is" are the password and nothing else.

    After a sign ("password: …") nearly everything is the password.
    """
    first = words[0].lower().strip("'\"")
    if by_sign:
        return first not in NO_VALUE and first not in FUNCTION_WORDS and len(first) >= 3
    if first in NO_VALUE or first in FUNCTION_WORDS or _ADJECTIVE.search(first) or len(first) < 3:
        return False
    rest = [word.lower() for word in words[1:4]]
    return not any(word in FUNCTION_WORDS for word in rest[:2]) or len(words) >= 12


def may_come_first(word: str) -> bool:
    """Whether the word can be the password in "<word> is my password"."""
    bare = word.lower()
    return bare not in _PRONOUNS and bare not in FUNCTION_WORDS and not bare.endswith("ing")


def is_han_phrase(text: str, *, by_sign: bool = False) -> bool:
    """Like `is_phrase`, for text after 密码是 or 密码：."""
    if not 2 <= len(text) <= 12 or NO_VALUE_ZH.search(text):
        return False
    return by_sign or not _ENDS_ZH.search(text)
