"""Detect the language of a text, and name the topics that memories are tagged with."""

import re
from collections.abc import Iterable

from memories.extraction.pattern_tables import table

_HAN = re.compile(r"[\u4e00-\u9fff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_WORDS = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_LATIN = re.compile(r"[A-Za-z]{2,}")
_SETS = {language: frozenset(words.split("|")) for language, words in table("languages").items()}


def language_of(text: str) -> str:
    """Return the language code of a text: en, zh, es, de, fr or ja; "en" if unclear."""
    sample = text[:2000]
    han, kana = len(_HAN.findall(sample)), len(_KANA.findall(sample))
    if kana and kana * 5 >= han:
        return "ja"
    if han and ("我" in sample or han >= len(_LATIN.findall(sample))):
        return "zh"
    words = [word.replace("’", "'").casefold() for word in _WORDS.findall(sample)]
    counts = {language: sum(word in common for word in words) for language, common in _SETS.items()}
    return max(counts, key=lambda language: (counts[language], language == "en"))


TOPICS: dict[str, str] = table("topics")
ANSWERS = frozenset(("answers", TOPICS["answers"]))  # tags of memories about how to answer


_NAMES = {name: topic for topic, name in TOPICS.items()} | {topic: topic for topic in TOPICS}


def topic_named(word: str) -> str:
    """Return the topic with this English or Chinese name, or an empty string if there is none."""
    return _NAMES.get(word.strip().casefold(), "")


_TWINS = TOPICS | {name: topic for topic, name in TOPICS.items()}


def twin_of(tag: str) -> str:
    """Return the Chinese tag for an English topic tag or vice versa, or "" for any other tag.

    Case matters: "work" is a topic tag, but "Work" is a tag that somebody typed.
    """
    return _TWINS.get(tag, "")


def without_twins(tags: Iterable[str]) -> list[str]:
    """Return the tags in order, without repetitions and without a second tag for any topic."""
    kept: list[str] = []
    for tag in tags:
        if tag not in kept and twin_of(tag) not in kept:
            kept.append(tag)
    return kept


def tag_of(topic: str, *, language: str) -> str:
    """Return the tag for a topic: in Chinese for a Chinese memory, otherwise in English."""
    return TOPICS[topic] if language == "zh" else topic
