"""The fixed list of topics that memories are tagged with, in both languages."""

from memories.extraction.word_tables import table

TOPICS: dict[str, str] = table("topics")
ANSWERS = frozenset(("answers", TOPICS["answers"]))  # the tags of how somebody wants to be answered


_NAMES = {name: topic for topic, name in TOPICS.items()} | {topic: topic for topic in TOPICS}


def topic_named(word: str) -> str:
    """Return the topic of that name in either language; empty if there is none."""
    return _NAMES.get(word.strip().casefold(), "")


def tag_of(topic: str, *, language: str) -> str:
    """Return the tag of a topic: Chinese for a Chinese memory, else English."""
    return TOPICS[topic] if language == "zh" else topic
