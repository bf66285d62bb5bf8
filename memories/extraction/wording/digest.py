"""Build a summary, tags or a headline for a text from its own sentences and words."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass

from foundation.text import segment, shingles
from foundation.text.segment import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from memories.extraction.pattern_tables import compiled
from memories.extraction.summary import says_something
from memories.extraction.wording.documents import Document

SUMMARY_CHARS = 300
LONG = 400  # a text of at most this many characters gets no summary
TAGS = 5
_READ = 8_000  # maximum number of characters read, since the beginning shows the topic
_LONGEST_TAG = 30
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_MARKS = re.compile(r"^\s{0,3}(?:[-*+>]|\d{1,3}[.)、]|#{1,6})\s+|\*\*|__|`", re.MULTILINE)
_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")


@dataclass(frozen=True)
class Digest:
    summary: str
    tags: tuple[str, ...]


def digest(text: str) -> Digest:
    """Return a summary and tags for a text; a short text gets only tags.

    The summary consists of the title and the most important sentences; the tags are the most
    important words. A sentence is weighted by the frequency of its words in the text and by its
    position (Luhn, "The automatic creation of literature abstracts", 1958).
    """
    title = Document(text[:_READ]).title
    body = _CODE.sub("\n", text[:_READ])
    parts = (_plain(part) for part in _END.split(_MARKS.sub("", body)))
    sentences = list(dict.fromkeys(sentence for sentence in parts if sentence))
    weight = Counter(term for sentence in sentences for term in segment.terms(sentence))
    tags = _tags(body, title=title)
    if len(text) <= LONG:
        return Digest("", tags)
    return Digest(_summary(sentences, title=_plain(title), weight=weight), tags)


def _summary(sentences: list[str], *, title: str, weight: Counter[str]) -> str:
    """Return the most important sentences that fit the maximum length, in their original order."""
    chosen = {0} if title and sentences else set()
    room = SUMMARY_CHARS - (len(title) if title else 0)
    for at in sorted(
        range(len(sentences)), key=lambda at: (-_importance(sentences, at, weight), at)
    ):
        if at not in chosen and len(sentences[at]) < room and sentences[at] != title:
            chosen.add(at)
            room -= len(sentences[at]) + 1
    summary = [sentences[at] for at in sorted(chosen)]
    return _joined(summary) if summary else sentences[0][:SUMMARY_CHARS] if sentences else ""


def _importance(sentences: list[str], at: int, weight: Counter[str]) -> float:
    terms = set(segment.terms(sentences[at]))
    total = sum(math.log1p(weight[term]) for term in terms)
    return total / (4 + len(terms)) / math.sqrt(1 + at / 10)


def _joined(sentences: list[str]) -> str:
    text = ""
    for sentence in sentences:
        gap = " " if text and text[-1].isascii() else ""
        stop = (
            ""
            if not text or text[-1] in ".!?。！？；:："
            else ("." if sentence.isascii() else "。")
        )
        text = f"{text}{stop}{gap or (' ' if stop == '.' else '')}{sentence}"
    return text[:SUMMARY_CHARS]


def _plain(sentence: str) -> str:
    return " ".join(sentence.split())


def _tags(text: str, *, title: str) -> tuple[str, ...]:
    """Return the most frequent words; longer words and words in the title count more."""
    written: dict[str, str] = {}
    count: Counter[str] = Counter()
    for part, times in ((title, 2), (text, 1)):
        for word in segment.words(part):
            found = segment.terms(word)
            if _is_tag(word) and found:
                written.setdefault(found[0], word.lower() if word.istitle() else word)
                count[found[0]] += times
    best = sorted(count, key=lambda term: (-count[term] * min(len(written[term]), 6), term))
    return tuple(written[term] for term in best[:TAGS])


def _is_tag(word: str) -> bool:
    short = 2 if any("\u4e00" <= character <= "\u9fff" for character in word) else 3
    bare = word.casefold()
    is_telling = (
        bare not in ENGLISH_STOP_WORDS
        and bare not in CHINESE_STOP_WORDS
        and any(map(str.isalpha, bare))
    )
    return is_telling and short <= len(word) <= _LONGEST_TAG


LONGEST_HEADLINE = 60
_LONGEST_HAN = 24  # Chinese needs fewer characters, and they are wider
_READ_FOR_HEADLINE = 2_000
_HEADLINE_END = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_LEAD_INS = compiled("headline")


def headline(text: str) -> str:
    """Return a short form of the first sentence that isn't only a greeting, without its lead-in.

    If there is no such sentence, return the beginning of the text. The headline consists of words
    from the text, so that a search for the text's words finds it when the text is forgotten.
    """
    sentences = [
        " ".join(sentence.split()) for sentence in _HEADLINE_END.split(text[:_READ_FOR_HEADLINE])
    ]
    telling = next((sentence for sentence in sentences if says_something(sentence)), "")
    found = _without_lead(telling) or " ".join(text[:_READ_FOR_HEADLINE].split())
    return _cut(found[:1].upper() + found[1:])


def _without_lead(sentence: str) -> str:
    for name in ("lead", "lead_zh"):
        if match := _LEAD_INS[name].match(sentence):
            rest = sentence[match.end() :].strip(" ,，:：")
            stands_alone = says_something(rest) and (" " in rest or shingles.has_han(rest))
            sentence = rest if stands_alone else sentence
    return sentence.rstrip(".。!！;； ")


def _cut(title: str) -> str:
    longest = _LONGEST_HAN if shingles.has_han(title) else LONGEST_HEADLINE
    if len(title) <= longest:
        return title
    start = title[:longest]
    at = max(start.rfind(mark) for mark in " ，、；")
    return f"{(start[:at] if at > longest // 2 else start).rstrip()}…"
