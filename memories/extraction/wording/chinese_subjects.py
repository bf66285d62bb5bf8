"""Find the subject of a Chinese statement, which is often left out.

The parts of speech show whether a statement begins with its own subject (豆豆怕黑, "Doudou is
afraid of the dark") or not (下周要出差, "must travel next week"). A wrong subject does more harm
than a missing subject.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import rjieba

from memories.extraction.pattern_tables import table

_NOUNS = ("n", "l", "b", "j", "eng")
_SETTING = ("t", "f", "m", "q", "x", "u", "y", "o")
_BEFORE_SUBJECT = (*_SETTING, "r", "d", "c")
_NAME_TAGS = ("n", "q", "a", "l", "b")  # tags that rjieba gives to doubled names: 豆豆, 朵朵, 乐乐
_LONGEST = 24  # maximum number of characters of a statement that are tagged
_LETTER = re.compile(r"[^\W\d_]")
_IN_NOUN_PHRASE = (*_NOUNS, "t", "f", "m", "q", "x", "uj")
# Predicates that rjieba tags as nouns, as in 对虾过敏 ("allergic to shrimp").
_PREDICATES = ("过敏", "過敏", "不耐受")
_PLACE_OR_TIME = ("t", "f", "r", "x", "y")
_DOUBLED = re.compile(r"([\u4e00-\u9fff])\1")
_SURNAMES = frozenset(table("own_words")["surnames"])
_FAMILIAR = frozenset("小老阿")  # before a surname: 小刘, 老周
_NAMES_BEGIN = _SURNAMES | _FAMILIAR
_ODD_TAGS = ("t", "zg", "x", "nr", "nz")  # tags that rjieba gives to names such as 老周


def begins_with_noun(text: str) -> bool:
    """Return whether the first word after times, pronouns and adverbs is a noun."""
    for word, tag in rjieba.tag(text[:_LONGEST]):
        if _LETTER.match(word) and not tag.startswith(_BEFORE_SUBJECT):
            return tag.startswith(_NOUNS)
    return False


def is_noun_phrase(text: str) -> bool:
    """Return whether a text consists only of nouns, times and amounts, without a predicate.

    Examples are 四川美院 ("Sichuan Fine Arts Institute") and 两年 ("two years").
    """
    if text.endswith(_PREDICATES):
        return False
    return all(tag.startswith(_IN_NOUN_PHRASE) for word, tag in rjieba.tag(text) if word.strip())


def is_only_place_time_or_pronoun(text: str) -> bool:
    """Return whether a text consists only of places, times and pronouns, or is empty.

    An example is 左边那个 ("the one on the left").
    """
    return all(tag.startswith(_PLACE_OR_TIME) for word, tag in rjieba.tag(text) if word.strip())


def leading_name(text: str) -> str:
    """Return the name with which a text begins, or an empty string.

    The name is a doubled word (豆豆) or a name that `names` finds.
    """
    text = text.strip()[:_LONGEST]
    words = rjieba.tag(text)
    word, tag = words[0] if words else ("", "")
    if _DOUBLED.fullmatch(word):
        return word if tag.startswith(_NAME_TAGS) else ""
    return next((name for start, name in names(text) if start == 0), "")


def names(text: str) -> Iterator[tuple[int, str]]:
    """Yield the start of each personal name in a text, and the name.

    A name begins with a surname, 小, 老 or 阿. rjieba splits some names and may add the next
    character to the second part: 小|刘, 小|杨帮. Such names are yielded whole: 小刘, 小杨.
    """
    at, before = 0, ""
    for word, tag in rjieba.tag(text):
        if before in _FAMILIAR and word[0] in _SURNAMES and (len(word) == 1 or tag[:2] == "nr"):
            yield at - 1, before + word[0]
        elif _is_name(word, tag):
            yield at, word
        at, before = at + len(word), word


def names_subject(text: str) -> bool:
    """Return whether a personal name is the subject of a Chinese statement.

    An example is 现在是小杨帮我看店 ("Xiao Yang is minding the shop for me now").
    """
    for start, _ in names(text):
        before = rjieba.tag(text[:start])
        return all(word == "是" or tag.startswith(_BEFORE_SUBJECT) for word, tag in before)
    return False


def _is_name(word: str, tag: str) -> bool:
    """Return whether a word with this part of speech names a person: 王芳, 小雨, 老周, 阿明."""
    is_surnamed = len(word) in (2, 3) and word[0] in _NAMES_BEGIN and word[0] != word[1]  # no 谢谢
    is_familiar = word[0] in _FAMILIAR and word[1:] in _SURNAMES and tag in _ODD_TAGS
    return (tag.startswith("nr") and is_surnamed) or is_familiar
