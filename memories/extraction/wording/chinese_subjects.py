"""Find the subject of a Chinese statement, which is often left out.

The parts of speech show whether a statement begins with its own subject (豆豆怕黑, "Doudou is
afraid of the dark") or not (下周要出差, "must travel next week"). A wrong subject does more harm
than a missing subject.
"""

from __future__ import annotations

import re

import rjieba

from memories.extraction.word_tables import table

_NOUNS = ("n", "l", "b", "j", "eng")
_SETTING = ("t", "f", "m", "q", "x", "u", "y", "o")
_BEFORE_SUBJECT = (*_SETTING, "r", "d", "c")
_NAME_TAGS = ("n", "q", "a", "l", "b")  # tags that rjieba gives to doubled names: 豆豆, 朵朵, 乐乐
_LONGEST = 24  # only this many characters of a statement are tagged
_LETTER = re.compile(r"[^\W\d_]")
_PREDICATES = ("过敏", "過敏")  # rjieba takes 对虾过敏 ("allergic to shrimp") for two nouns
_DOUBLED = re.compile(r"([\u4e00-\u9fff])\1")
_NAMES_BEGIN = frozenset(table("own_words")["surnames"]) | frozenset("小老阿")


def begins_with_noun(text: str) -> bool:
    """Return whether a statement begins with a noun; times, pronouns and adverbs are skipped."""
    for word, tag in rjieba.tag(text[:_LONGEST]):
        if _LETTER.match(word) and not tag.startswith(_BEFORE_SUBJECT):
            return tag.startswith(_NOUNS)
    return False


def is_only_noun(text: str) -> bool:
    """Return whether a statement consists only of nouns, times and amounts, without a predicate.

    An example is 四川美院 ("Sichuan Fine Arts Institute").
    """
    tags = [tag for word, tag in rjieba.tag(text[:_LONGEST]) if word.strip()]
    if text.endswith(_PREDICATES):
        return False
    is_plain = all(tag.startswith((*_NOUNS, *_SETTING)) for tag in tags)
    return is_plain and len(text) <= _LONGEST and any(tag.startswith(_NOUNS) for tag in tags)


def leading_name(text: str) -> str:
    """Return the name with which a text begins, or an empty string.

    The name is a doubled word (豆豆), or a word that rjieba tags as a personal name and that begins
    with a surname, 小, 老 or 阿.
    """
    words = rjieba.tag(text.strip()[:_LONGEST])
    word, tag = words[0] if words else ("", "")
    if _DOUBLED.fullmatch(word):
        return word if tag.startswith(_NAME_TAGS) else ""
    return word if is_name(word, tag) else ""


def is_name(word: str, tag: str) -> bool:
    """Return whether a word with this part of speech names a person: 王芳, 小雨, 老周, 阿明."""
    is_surnamed = len(word) in (2, 3) and word[0] in _NAMES_BEGIN and word[0] != word[1]  # no 谢谢
    return tag.startswith("nr") and is_surnamed
