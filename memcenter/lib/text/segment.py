"""Split text into terms for keyword search, the same way for stored texts and queries."""

import re
import threading
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import Literal, Protocol

from memcenter.lib.text import stopwords, tokens
from memcenter.lib.text.stopwords import CHINESE, CHINESE_CHARACTERS, ENGLISH

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_WORD = f"(?:(?![{_HAN}])[^\\W_])+"
# A run of Chinese, or a word including the signs in ids, addresses, dates and names like c++.
_TOKEN = re.compile(f"([{_HAN}]+)|({_WORD}(?:[-._@/:+#&'’]{_WORD})*(?:\\+\\+|#)?)")
_PART = re.compile(r"[^\W_]+")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
# PostgreSQL's GIN refuses very long keys.
_LONGEST = 64


class _Stemmer(Protocol):
    def stemWord(self, word: str) -> str: ...


class _Cutter(Protocol):
    def cut(self, text: str, hmm: bool = True) -> list[str]: ...
    def cut_for_search(self, text: str, hmm: bool = True) -> list[str]: ...
    def has_word(self, word: str) -> bool: ...


class _Converter(Protocol):
    def convert(self, text: str) -> str: ...


_local = threading.local()


def terms(text: str) -> list[str]:
    """Return the terms of a text, with repetitions, for the index or a query.

    English words are stemmed. Ids, numbers and addresses are kept whole and also split into parts.
    Chinese (traditional folded to simplified) gives words, words inside long words and character
    pairs, so that different segmentations still match. Stop words are left out, unless the text
    has nothing else or they are names.
    """
    names = stopwords.that_are_stop_words(text)
    found = [(term, stop and term not in names) for term, stop in _tokens(normalise(text))]
    return [term[:_LONGEST] for term in _kept(found)]


def unusual(text: str) -> list[str]:
    """Return terms that are rare in the language itself: names, ids, jargon.

    Another text with such a word is probably about the same thing. A word is rare if the token
    encoding, which was learned from frequencies, has no single token for it.
    """
    written = dict.fromkeys(_written(normalise(text)))
    return [_term(word) for word in written if not _is_stop(word) and _is_unusual(word)]


def words(text: str) -> list[str]:
    """Split the text into words and separators; joined again they give the text."""
    return _cutter().cut(text)


def normalise(text: str) -> str:
    """Normalise spelling: width, case, traditional characters, 1,000 = 1000."""
    text = unicodedata.normalize("NFKC", text).casefold()
    if _HAN_CHARACTER.search(text):
        text = _simplifier().convert(text)
    return _THOUSANDS.sub("", text)


def simplified(text: str) -> str:
    """Convert traditional to simplified characters one by one, so offsets stay valid."""
    return text.translate(_simplified_signs()).replace("妳", "你").replace("牠", "它")


def language(text: str) -> Literal["zh", "en"]:
    """Return Chinese if the text has at least as many Chinese characters as other words."""
    chinese = words = 0
    for han, word in _TOKEN.findall(text):
        chinese += len(han)
        words += bool(word) and not word[0].isdigit()
    return "zh" if chinese and chinese >= words else "en"


def _tokens(text: str) -> Iterator[tuple[str, bool]]:
    """Yield each term and whether it is a stop word."""
    for han, word in _TOKEN.findall(text):
        yield from _chinese(han) if han else _foreign(word)


def _written(text: str) -> Iterator[str]:
    for han, word in _TOKEN.findall(text):
        yield from map(_trimmed, _cutter().cut(han)) if han else (word,)


def _term(word: str) -> str:
    return word if _HAN_CHARACTER.match(word) else next(_foreign(word))[0][:_LONGEST]


def _is_unusual(word: str) -> bool:
    if _HAN_CHARACTER.match(word):
        pieces = tokens.count(word)
        known = len(word) == 1 or _cutter().has_word(word)
        return not known or pieces > len(word) or (len(word) > 2 and pieces == len(word))
    if word[0].isdigit():
        return len(word) > 4 and not word.isalpha()
    bare = re.sub("['’]s$", "", word)
    return len(bare) > 2 and tokens.count(f" {bare}") > 1


def _is_stop(word: str) -> bool:
    if _HAN_CHARACTER.match(word):
        return _simplifier().convert(word) in CHINESE
    return next(_foreign(word))[1]


def _kept(found: list[tuple[str, bool]]) -> list[str]:
    return [term for term, is_stop in found if not is_stop] or [term for term, _ in found]


def _foreign(token: str) -> Iterator[tuple[str, bool]]:
    token = token.replace("’", "'")
    if token in ENGLISH:
        yield token, True
        return
    stem, _, ending = token.rpartition("'")
    if stem and ending in {"s", "m", "d", "ll", "re", "ve"} and _PART.fullmatch(stem):
        yield _stem(stem), stem in ENGLISH
        return
    parts = _PART.findall(token)
    if len(parts) == 1 and parts[0] == token:
        yield _stem(token), False
        return
    yield token, all(part in ENGLISH for part in parts)
    for part in parts:
        yield _stem(part), part in ENGLISH


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    word = _without_accents(word)
    return _stemmer().stemWord(word) if word.isascii() and word.isalpha() else word


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    letters = unicodedata.normalize("NFKD", word)
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", bare)


def _chinese(run: str) -> Iterator[tuple[str, bool]]:
    found = [_trimmed(word) for word in _cutter().cut_for_search(run)]
    for word in found:
        yield word, word in CHINESE
    words = frozenset(found)
    for pair in _pairs(run):
        if pair not in words:
            yield pair, False


def _pairs(run: str) -> Iterator[str]:
    """Return pairs of neighbouring characters, without stop words."""
    telling = "".join(" " if word in CHINESE else word for word in _cutter().cut(run))
    for pair in map("".join, pairwise(telling)):
        if " " not in pair and not CHINESE_CHARACTERS.intersection(pair):
            yield pair


def _trimmed(word: str) -> str:
    """Remove pronouns and particles that the segmentation joins to unknown words (我养 -> 养)."""
    if len(word) == 1 or _cutter().has_word(word):
        return word
    return word.strip("".join(CHINESE_CHARACTERS)) or word


def _stemmer() -> _Stemmer:
    """Return the thread's stemmer, which is not safe to share."""
    if not hasattr(_local, "stemmer"):
        import snowballstemmer

        _local.stemmer = snowballstemmer.stemmer("english")
    stemmer: _Stemmer = _local.stemmer
    return stemmer


@cache
def _cutter() -> _Cutter:
    import rjieba  # loads its dictionary

    cutter: _Cutter = rjieba.Jieba()
    return cutter


@cache
def _simplifier() -> _Converter:
    import opencc

    converter: _Converter = opencc.OpenCC("t2s")
    return converter


@cache
def _simplified_signs() -> dict[int, str]:
    signs = [chr(code) for code in range(0x4E00, 0xA000)]
    plain = _simplifier().convert("\n".join(signs)).split("\n")
    return {ord(a): b for a, b in zip(signs, plain, strict=True) if a != b and len(b) == 1}
