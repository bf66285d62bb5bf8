"""Decide which memory a correction or an end is about.

The reader model is often wrong about "now" and "moved": it finds a newer value of something else.
So a correction may replace only a memory that names the same thing.
"""

from __future__ import annotations

import re
from enum import IntEnum

from memcenter.lib.text import segment
from memories.extraction.arbitration import pairs
from memories.extraction.arbitration.editions import Document, Finding, differ_in_one_value
from memories.extraction.arbitration.pairs import CONFLICTS, Reading, Relation
from memories.extraction.corrections import contrasts, old_value
from memories.extraction.masking import ADDED
from memories.extraction.types import Candidate, Known, Verdict
from memories.extraction.word_tables import table
from memories.extraction.wording.languages import language_of
from memories.extraction.wording.owners import Ownership, owner_names, ownership
from memories.extraction.wording.people import relation_in

BESIDE = Finding(Verdict.KEEP_BOTH, "both_hold")
CONTRADICTS = Finding(Verdict.REVIEW, "contradicts")
# Below this cosine, texts without a common word are about different matters, unless the reader
# model has this probability: it was trained on few unrelated pairs.
STRANGERS, SURE_OF_STRANGERS = 0.35, 0.9
_LIKELY = 0.6  # its probability from which similar texts without a common word may conflict
_SURE_OF_END = 0.8  # its probability from which one common word is enough for an end
_LITTLE_LIKE = 0.3  # the cosine below which one common word of many isn't enough
_AND = re.compile(r"[,，、;；和及与跟]|\b(?:and|or|und|et|y)\b")
_FIGURE = re.compile(r"\d")
_DATE_ADDED = re.compile(r"\[\d{4}[^\[\]]*\]")
_WORDS_OF_TIME = frozenset(table("corrections")["of_time"].split("|"))
_WEEKDAY = re.compile(r"(mon|tue|wed|thu|fri|sat|sun)(?:s|r|rs|nes|ur|urs)?(?:d|day|dai)?")


class Matter(IntEnum):
    """How much two texts name the same thing."""

    NOTHING = 0  # they share no word
    LITTLE = 1  # one word of many, and the texts have little similarity in meaning
    SAME = 2


def limited_finding(candidate: Candidate, memory: Known, reading: Reading) -> Finding | None:
    """Return the finding for a conflict that may be about something else, otherwise None.

    A correction or an end may replace only a memory that names the same thing and, if a correction
    names the old value, that has this value.
    """
    if not (candidate.corrects or reading.relation is Relation.ENDED):
        return None if _may_conflict(candidate, memory, reading) else BESIDE
    if _has_old_value(candidate, memory):
        says = telling_words(candidate.content) <= telling_words(memory.content)
        is_said = says and reading.relation is Relation.SAME
        return None if is_said else Finding(Verdict.REPLACE, "corrected")
    if reading.relation not in CONFLICTS:
        return None
    return _finding_of_other_value(candidate, memory, reading)


def _finding_of_other_value(
    candidate: Candidate, memory: Known, reading: Reading
) -> Finding | None:
    """Return the finding for a correction or an end, for a memory without a named old value."""
    ends, old = reading.relation is Relation.ENDED, bool(candidate.old_value)
    matter = shared_matter(memory, candidate)
    if matter is Matter.NOTHING:
        if not candidate.corrects:
            return None
        alike = memory.similarity >= STRANGERS and reading.share >= _LIKELY
        asks = (alike or reading.share >= SURE_OF_STRANGERS) and not old
        return CONTRADICTS if asks else BESIDE
    if matter is Matter.LITTLE:
        return CONTRADICTS if ends else BESIDE
    shared, named = _shared_and_named(candidate, memory)
    unsure = len(shared) == 1 and (reading.share < _SURE_OF_END or shared <= named)
    return CONTRADICTS if old or (ends and unsure) else None


def _has_old_value(candidate: Candidate, memory: Known) -> bool:
    """Return whether a memory has the old value that a correction names, of the same thing."""
    old, theirs = telling_words(candidate.old_value), telling_words(memory.content)
    ours = telling_words(candidate.content)
    shared = (theirs & ours) - old
    is_half = 2 * len(shared) >= min(len(theirs - old), len(ours - old))
    return bool(old) and old <= theirs and bool(shared) and (len(shared) > 1 or is_half)


def corrected_part(candidate: Candidate, memory: Known) -> str:
    """Return a memory with only its old value exchanged, if it says more than the correction.

    "Gymnastics is on Wednesdays, not Tuesdays" keeps whose it is and at what time.
    """
    old = candidate.old_value
    said = f"{candidate.content}, not {old}" if old else ""
    if not telling_words(" ".join(ADDED.findall(memory.content))).isdisjoint(telling_words(old)):
        return ""  # the old value isn't in the person's own words
    texts = (one.corrected(memory.content) for one in contrasts(said))
    text = next(filter(None, texts), "")
    return text if telling_words(text) - telling_words(candidate.content) else ""


def owners(candidate: Candidate, memory: Known) -> Ownership:
    """Return whether both are about one person; "it's Theo, not Mia" names the wrong one itself."""
    if _has_old_value(candidate, memory):
        return Ownership.SAME
    return ownership(candidate.content, memory.content)


def _may_conflict(candidate: Candidate, memory: Known, reading: Reading) -> bool:
    """Return False for two statements that only have the person in common, unless it is sure.

    "Theo's school is St Chads" and "Theo's allergy test was negative" both hold.
    """
    if reading.relation not in CONFLICTS:
        return True
    shared, named = _shared_and_named(candidate, memory)
    named |= owner_names(candidate.content, memory.content)
    is_sure = reading.share >= SURE_OF_STRANGERS and memory.similarity >= STRANGERS
    if not shared or not shared <= named or is_sure or changes_part(candidate, memory):
        return True
    return differ_in_one_value(Document(candidate.content), Document(memory.content))


def _shared_and_named(candidate: Candidate, memory: Known) -> tuple[set[str], set[str]]:
    """Return the telling words that both have, and those that either has in brackets."""
    texts = candidate.content, memory.content
    named = telling_words(" ".join(ADDED.findall(" ".join(texts))))
    return telling_words(texts[0]) & telling_words(texts[1]), named


def is_context(candidate: Candidate, memory: Known) -> bool:
    """Return whether the candidate repeats a memory only in brackets, to say who or what is meant.

    A memory that says just that ("my sister") needn't be kept beside the candidate.
    """
    added = " ".join(ADDED.findall(candidate.content))
    same = pairs.fold(added.strip("[]")) == pairs.fold(memory.content)
    return bool(added) and not same and telling_words(memory.content) <= telling_words(added)


def have_other_dates(candidate: Candidate, memory: Known) -> bool:
    """Return whether dates were added to both texts, and all of them are different."""
    dates = [set(_DATE_ADDED.findall(one.content)) for one in (candidate, memory)]
    return all(dates) and dates[0].isdisjoint(dates[1])


def shared_matter(memory: Known, candidate: Candidate) -> Matter:
    """Return how much the two name the same thing, apart from added dates and words of time."""
    theirs, ours = telling_words(memory.content), telling_words(candidate.content)
    shared = theirs & ours
    if not shared:
        return Matter.NOTHING
    is_half = 2 * len(shared) >= min(len(theirs), len(ours))
    enough = len(shared) > 1 or is_half or memory.similarity >= _LITTLE_LIKE
    return Matter.SAME if enough else Matter.LITTLE


def telling_words(text: str) -> set[str]:
    """Return the terms of a text that tell what it is about; weekdays are shortened to "tue"."""
    terms = set(segment.terms(_DATE_ADDED.sub(" ", text)))
    terms -= segment.ENGLISH_STOP_WORDS | segment.CHINESE_STOP_WORDS | _WORDS_OF_TIME
    days = {term: _WEEKDAY.fullmatch(term) for term in terms}
    return {day[1] if day else term for term, day in days.items()}


def is_denial(candidate: Candidate, memory: Known) -> bool:
    """Return whether only one of the two is negated, apart from the old value ("…, not Dan")."""
    said = candidate.content[: old_value(candidate.content)[1]]
    return pairs.denies(said) != pairs.denies(memory.content)


def ends_part(candidate: Candidate, memory: Known) -> bool:
    """Return whether a memory says more than what ended: other items of a list, or who a person is.

    "I no longer use Notion" ends one of the tools in "I use Figma, Linear and Notion".
    """
    ours = set(segment.terms(candidate.content))
    items = [item for item in _items(memory.content) if item]
    touched = sum(bool(item & ours) for item in items)
    if 0 < touched < len(items):
        return True
    relation = relation_in(memory.content, language=language_of(memory.content))
    return bool(set(segment.terms(relation)) - ours)


def changes_part(candidate: Candidate, memory: Known) -> bool:
    """Return whether a candidate has a newer figure for only one item of a list.

    "Theo is 7 now" changes one of the children in "Zuri is 9 and Theo is 6".
    """
    items = _items(memory.content, only=_FIGURE)
    if len(items) < 2:
        return False
    of_each = set.intersection(*items)
    ours = set(segment.terms(candidate.content))
    touched = sum(bool((item - of_each) & ours) for item in items)
    return 0 < touched < len(items)


def _items(text: str, *, only: re.Pattern[str] | None = None) -> list[set[str]]:
    """Return the terms of each item of a list; with `only`, of the items that match it."""
    items = [item for item in _AND.split(_DATE_ADDED.sub(" ", text)) if item.strip()]
    return [set(segment.terms(item)) for item in items if only is None or only.search(item)]
