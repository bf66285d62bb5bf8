"""What a message is about, as a title: its own words, without the greeting and the lead-in."""

import re

from memcenter.lib.text import shingles
from memories.extraction.summary import says_something
from memories.extraction.word_tables import compiled

LONGEST = 60
_READ = 2_000
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_P = compiled("headline")


def headline(text: str) -> str:
    """Return the first sentence that says something, cut at a word; else the text itself.

    The result is a part of the text, so that it is found when the text is forgotten.
    """
    sentences = [" ".join(one.split()) for one in _END.split(text[:_READ])]
    telling = next((one for one in sentences if says_something(one)), "")
    found = _without_lead(telling) or " ".join(text[:_READ].split())
    return _cut(found[:1].upper() + found[1:])


def _without_lead(sentence: str) -> str:
    for name in ("lead", "lead_zh"):
        if match := _P[name].match(sentence):
            rest = sentence[match.end() :].strip(" ,，:：")
            stands_alone = says_something(rest) and (" " in rest or shingles.has_han(rest))
            sentence = rest if stands_alone else sentence
    return sentence.rstrip(".。!！;； ")


def _cut(title: str) -> str:
    if len(title) <= LONGEST:
        return title
    start = title[:LONGEST]
    at = start.rfind(" ")
    return f"{(start[:at] if at > LONGEST // 2 else start).rstrip()}…"
