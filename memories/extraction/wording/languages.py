"""Detect which of the six languages a text is in, by its script and its commonest words."""

import re

from memories.extraction.word_tables import table

_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LATIN = re.compile(r"[A-Za-z]{2,}")
_SETS = {language: frozenset(words.split("|")) for language, words in table("languages").items()}


def language_of(text: str) -> str:
    """Return en, zh, es, de, fr or ja; English if undecided."""
    sample = text[:2000]
    han, kana = len(_HAN.findall(sample)), len(_KANA.findall(sample))
    if kana and kana * 5 >= han:
        return "ja"
    if han and ("我" in sample or han >= len(_LATIN.findall(sample))):
        return "zh"
    words = [one.replace("’", "'").casefold() for one in _WORDS.findall(sample)]
    counts = {language: sum(word in common for word in words) for language, common in _SETS.items()}
    return max(counts, key=lambda language: (counts[language], language == "en"))
