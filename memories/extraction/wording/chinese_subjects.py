"""Find the subject of a Chinese statement, which is often left out.

The parts of speech show whether a statement begins with a subject of its own (豆豆怕黑) or not
(下周要出差). A wrong subject does more harm than none.
"""

from __future__ import annotations

import re

import rjieba

from memories.extraction.word_tables import table

_NOUNS = ("n", "l", "b", "j", "eng")
_SETTING = ("t", "f", "m", "q", "x", "u", "y", "o")
_BEFORE_SUBJECT = (*_SETTING, "r", "d", "c")
_NAME_TAGS = ("n", "q", "a", "l", "b")  # parts of speech of a doubled name: 豆豆, 朵朵, 乐乐
_LONGEST = 24  # characters that are read of a statement
_LETTER = re.compile(r"[^\W\d_]")
_DOUBLED = re.compile(r"([\u4e00-\u9fff])\1")
_NAMES_BEGIN = frozenset(table("own_words")["surnames"]) | frozenset("小老阿")


def begins_with_noun(text: str) -> bool:
    """Return whether a statement begins with a noun, apart from words of time and amounts."""
    for word, tag in rjieba.tag(text[:_LONGEST]):
        if _LETTER.match(word) and not tag.startswith(_BEFORE_SUBJECT):
            return tag.startswith(_NOUNS)
    return False


def is_only_noun(text: str) -> bool:
    """Return whether a statement has no predicate, only nouns, times and amounts: 四川美院."""
    tags = [tag for word, tag in rjieba.tag(text[:_LONGEST]) if word.strip()]
    is_plain = all(tag.startswith((*_NOUNS, *_SETTING)) for tag in tags)
    return is_plain and len(text) <= _LONGEST and any(tag.startswith(_NOUNS) for tag in tags)


def leading_name(text: str) -> str:
    """Return the name with which a text begins, or an empty string.

    It is a doubled noun (豆豆), or a known name that begins with a surname, 小, 老 or 阿.
    """
    words = rjieba.tag(text.strip()[:_LONGEST])
    word, tag = words[0] if words else ("", "")
    if _DOUBLED.fullmatch(word):
        return word if tag.startswith(_NAME_TAGS) else ""
    return word if is_name(word, tag) else ""


def is_name(word: str, tag: str) -> bool:
    """Return whether a word with this part of speech names a person: 王芳, 小雨, 老周, 阿明."""
    return tag.startswith("nr") and len(word) in (2, 3) and word[0] in _NAMES_BEGIN
