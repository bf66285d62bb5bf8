"""Decide which memory a statement corrects or ends.

A statement ends a memory if it says that the memory no longer holds. The words "now" and "moved"
often mislead the reader model: it reports a newer value for a memory about something else.
Therefore, a correction may replace only a memory that names the same thing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import IntEnum

from foundation.text import segment
from memories.extraction.arbitration import attributes, pairs
from memories.extraction.arbitration.page_editions import Finding, differ_in_one_value
from memories.extraction.arbitration.pairs import CONFLICTS, PairRelation, Relation
from memories.extraction.corrections.contrasts import contrasts, renaming
from memories.extraction.corrections.corrected_messages import (
    bare_contrast,
    old_value,
    with_exchanged_value,
)
from memories.extraction.corrections.new_values import with_new_amount
from memories.extraction.corrections.values import PATTERNS, numbers_of_series, without_values
from memories.extraction.masking import ADDED, ADDED_DATE
from memories.extraction.pattern_tables import table
from memories.extraction.requests.commands import is_form_of_address
from memories.extraction.types import Candidate, KnownMemory, Verdict
from memories.extraction.wording.chinese_subjects import leading_name
from memories.extraction.wording.documents import Document
from memories.extraction.wording.owners import Ownership, owner_names, ownership

BOTH_HOLD = Finding(Verdict.KEEP_BOTH, "both_hold")
CONTRADICTS = Finding(Verdict.REVIEW, "contradicts")
# Texts without a common word count as unrelated if their cosine is below `STRANGERS`, unless the
# probability of the relation found is at least `SURE_OF_STRANGERS`. The reader model finds too many
# relations between such texts, because it was trained on few unrelated pairs.
STRANGERS, SURE_OF_STRANGERS = 0.35, 0.9
# Minimum probabilities of a contradiction between statements that have no word in common, or only a
# part of a word: 咖啡 ("coffee") in 咖啡店 ("coffee shop").
_SURE_OF_NO_WORD, _SURE_OF_PART = 0.9, 0.97
_POSSIBLE_END = 0.6  # "unrelated" must be less probable than this if a group's end ends a memory
_SURE_OF_END = 0.8  # minimum probability of an end if the texts share only one word
_LITTLE_LIKE = 0.3  # minimum cosine of texts that share only one word of many, to name one thing
_AND = re.compile(r"(?<!\d),|,(?!\d)|[，、;；和及与跟]|\b(?:and|or|und|et|y)\b")
_FIGURE = re.compile(r"\d")
_HAN = re.compile(r"[\u4e00-\u9fff]")
_ALIKE = 0.6  # minimum cosine of texts that share only a name, to be about the same thing
_DAY_OFF = re.compile(r"(?i)\boff\b|休息|放假")
_UNITS = frozenset("岁歲")
_WORDS_OF_TIME = frozenset(table("corrections")["of_time"].split("|"))
_WEEKDAY = re.compile(r"(mon|tue|wed|thu|fri|sat|sun)(?:s|r|rs|nes|ur|urs)?(?:d|day|dai)?")


class TopicOverlap(IntEnum):
    """The degree to which two texts name the same thing."""

    NOTHING = 0  # they share no word
    LITTLE = 1  # one word of many, and the texts have little similarity in meaning
    SAME = 2


def are_strangers(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether two statements share no words and have little similarity in meaning."""
    shared = set(segment.terms(candidate.content)) & set(segment.terms(memory.content))
    return not shared and memory.similarity < STRANGERS


def is_only_planned(candidate: Candidate, memory: KnownMemory, relation: Relation) -> bool:
    """Return whether the candidate is a plan and the memory isn't.

    Return False if the candidate corrects or ends an event.
    """
    reasons = (reason.endswith(".planned") for reason in candidate.reasons)
    moved = memory.kind == "event" and (candidate.corrects or relation is Relation.ENDED)
    return (candidate.kind == "task" or any(reasons)) and memory.kind != "task" and not moved


def find_override(
    candidate: Candidate, memory: KnownMemory, reading: PairRelation
) -> Finding | None:
    """Return the finding that overrides the reader model's relation, or None to use the relation.

    A correction may replace only a memory that names the same thing. If the correction also names
    the old value, the memory must contain that value. If a statement ends a memory, but the
    two share only one word of many, the user reviews the change.
    """
    if _gives_new_amount(candidate, memory, reading):
        return Finding(Verdict.REPLACE, "corrected")
    if ended := PATTERNS["group_ended"].match(candidate.content):
        return _finding_of_ended_group(ended, memory, reading)
    if PATTERNS["own_name"].search(memory.content) and _addresses(candidate.content):
        return BOTH_HOLD
    is_move = reading.relation in CONFLICTS and reports_move(candidate, memory)
    if is_move or reports_move(candidate, memory, languages="other"):
        return Finding(Verdict.REPLACE, "newer_value")
    if not (candidate.corrects or reading.relation is Relation.ENDED):
        return None if _may_conflict(candidate, memory, reading) else BOTH_HOLD
    if _has_old_value(candidate, memory):
        says = telling_words(candidate.content) <= telling_words(memory.content)
        is_said = says and reading.relation is Relation.SAME
        return None if is_said else Finding(Verdict.REPLACE, "corrected")
    if reading.relation not in CONFLICTS:
        return None
    return _finding_of_other_value(candidate, memory, reading)


def _finding_of_ended_group(
    ended: re.Match[str], memory: KnownMemory, reading: PairRelation
) -> Finding | None:
    """Return the finding for a statement that a group no longer exists, such as "our choir folded".

    The statement ends a memory that names the group ("I sing in a choir") if the reader model finds
    a contradiction, or isn't sure that the two are unrelated. The person is asked if the statement
    doesn't say "my" or "our". The person is also asked if the model finds that the memory has ended
    but the memory doesn't name the group: a football team isn't a baseball team.
    """
    group = ended["group"] or ended["zh_group"]
    named = telling_words(group) <= telling_words(memory.content) or group in memory.content
    if reading.relation is Relation.ENDED:
        return None if named else CONTRADICTS
    is_possible = reading.relation is Relation.CONTRADICTS or (
        reading.relation is Relation.UNRELATED and reading.unrelated < _POSSIBLE_END
    )
    if not (named and is_possible):
        return None
    is_ours = ended["ours"] or ended["zh_ours"]
    return Finding(Verdict.REPLACE, "no_longer") if is_ours else CONTRADICTS


def is_doubtful(candidate: Candidate, memory: KnownMemory, reading: PairRelation) -> bool:
    """Return whether it is doubtful that two related statements are about the same thing.

    For example, a name and a form of address are different things. So are two attributes of one
    thing, and two appointments on different days. Bare numbers ("I'm 34", "112 now") don't say what
    they are about.
    """
    texts = candidate.content, memory.content
    if _gives_new_amount(candidate, memory, reading):
        return False
    if is_form_of_address(texts[0]) != is_form_of_address(texts[1]):
        return True
    is_same = reading.relation is Relation.SAME
    is_conflict = reading.relation in CONFLICTS and not candidate.corrects
    if (is_same or is_conflict) and attributes.give_different_attributes(
        *texts, first_clause=is_same
    ):
        return True
    if reading.relation not in CONFLICTS:
        agrees = reading.relation is not Relation.UNRELATED
        return agrees and (_share_only_name(candidate, memory) or _are_two_days(candidate, memory))
    shared = telling_words(texts[0]) & telling_words(texts[1])
    if not shared and not all(map(_names_matter, texts)):
        frames = [pairs.fold(without_values(ADDED_DATE.sub("", text))) for text in texts]
        return frames[0] != frames[1]
    if reading.relation is not Relation.CONTRADICTS:
        return False
    words = [segment.words(pairs.fold(text)) for text in texts]
    whole = set(words[0]) & set(words[1])
    is_part = bool(shared) and all(map(_HAN.match, shared)) and shared.isdisjoint(whole)
    least = _SURE_OF_PART if is_part else _SURE_OF_NO_WORD
    return (is_part or not shared) and words[0][:2] != words[1][:2] and reading.share < least


def _share_only_name(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether two dissimilar texts share only a name at the beginning of one of them.

    Such texts make different statements about the person: 豆豆在学钢琴 ("Doudou learns the piano"),
    离豆豆学校近 ("close to Doudou's school").
    """
    texts = candidate.content, memory.content
    names = {leading_name(text) for text in texts} - {""}
    shared = telling_words(texts[0]) & telling_words(texts[1])
    return bool(shared) and shared <= names and memory.similarity < _ALIKE


def _are_two_days(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether the candidate is an event on another day than the memory.

    Both texts must contain added dates, and no date of the candidate may overlap a date of the
    memory. A date may be a year, a month, a day or a range ("2026-12-07 – 2026-12-13").
    """
    if candidate.kind != "event":
        return False
    first, second = (
        [date[0].strip("[]").split(" – ") for date in ADDED_DATE.finditer(statement.content)]
        for statement in (candidate, memory)
    )
    return bool(first and second) and all(
        new[-1] + "~" < old[0] or old[-1] + "~" < new[0] for new in first for old in second
    )


def _names_matter(text: str) -> bool:
    """Return whether any of the text's `telling_words` has several characters and no digit.

    岁 and 歲 ("years old") are accepted too, although they are single characters.
    """
    return any(
        not _FIGURE.search(word) and (len(word) > 1 or word in _UNITS)
        for word in telling_words(text)
    )


def _addresses(text: str) -> bool:
    """Return whether a text says, at its beginning or end, how to address the person."""
    return is_form_of_address(text) or PATTERNS["addressed_at_end"].search(text) is not None


def reports_move(candidate: Candidate, memory: KnownMemory, *, languages: str = "en_zh") -> bool:
    """Return whether the candidate reports a move, and the memory says where the person lives.

    `languages` is "en_zh", or "other" for the languages in which the reader model wasn't trained on
    pairs.
    """
    moved, home = (ADDED.sub("", statement.content).strip() for statement in (candidate, memory))
    has_moved = PATTERNS[f"moved_home_{languages}"].search(moved)
    return bool(has_moved and PATTERNS[f"lives_{languages}"].search(home))


def corrected_texts(
    candidate: Candidate, known: Sequence[KnownMemory]
) -> list[tuple[KnownMemory, str]]:
    """Return the memories that contain the value that a candidate corrects, and their new texts.

    The candidate must name the old and the new value, as in 豆豆是一年级，不是二年级 ("Doudou is in
    first grade, not in second"). If it names nothing else, as in 不是苏州是无锡 ("not Suzhou but
    Wuxi"), and several memories match, the list is empty. A wrong name is corrected in every memory
    that contains it. Disabled memories are left out. Apart from wrong names, only a constraint may
    correct a constraint.
    """
    if not candidate.corrects or not candidate.old_value:
        return []
    name = renaming(candidate.quote)
    made = [name] if name else contrasts(candidate.quote)
    found = [
        (memory, text)
        for memory in known
        if memory.status != "disabled"
        and (name or not memory.kind == "constraint" != candidate.kind)
        and (
            text := next(
                filter(None, (contrast.corrected(memory.content) for contrast in made)), ""
            )
        )
    ]
    return [] if not name and len(found) > 1 and bare_contrast(candidate.quote) else found


def _finding_of_other_value(
    candidate: Candidate, memory: KnownMemory, reading: PairRelation
) -> Finding | None:
    """Return the finding that overrides the reader model's relation, or None to use the relation.

    Call this function only if the candidate corrects or ends something, the relation is a conflict,
    and `_has_old_value` is False.
    """
    ends, old = reading.relation is Relation.ENDED, bool(candidate.old_value)
    matter = topic_overlap(memory, candidate)
    if matter is TopicOverlap.NOTHING:
        if not candidate.corrects:
            return None
        return CONTRADICTS if reading.share >= SURE_OF_STRANGERS and not old else BOTH_HOLD
    if matter is TopicOverlap.LITTLE:
        return CONTRADICTS if ends else BOTH_HOLD
    texts = candidate.content, memory.content
    shared, named = _shared_and_named(candidate, memory)
    besides = shared - owner_names(*texts)
    if not besides and reading.share < _SURE_OF_END and not _give_two_school_years(*texts):
        return BOTH_HOLD  # "Theo is 27" holds even though he has left Lyon
    if besides and besides < shared and all(_is_character(word) for word in besides):
        return CONTRADICTS  # 吃 ("eat", "take") is in most memories about meals and pills
    unsure = len(shared) == 1 and (reading.share < _SURE_OF_END or shared <= named)
    return CONTRADICTS if old or (ends and unsure) else None


def _give_two_school_years(*texts: str) -> bool:
    """Return whether each text names exactly one school year, and these differ: 高二, 高三."""
    years = [{found[0] for found in PATTERNS["school_year"].finditer(text)} for text in texts]
    return all(len(named) == 1 for named in years) and years[0] != years[1]


def _is_character(word: str) -> bool:
    return len(word) == 1 and _HAN.match(word) is not None


def _has_old_value(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether a memory contains a correction's old value and is about the same thing."""
    old, theirs = telling_words(candidate.old_value), telling_words(memory.content)
    ours = telling_words(candidate.content)
    shared = (theirs & ours) - old
    is_half = 2 * len(shared) >= min(len(theirs - old), len(ours - old))
    return bool(old) and old <= theirs and bool(shared) and (len(shared) > 1 or is_half)


def protect_other_parts(candidate: Candidate, memory: KnownMemory, finding: Finding) -> Finding:
    """Return the finding, or a safer one if a new value would destroy other parts of a memory.

    For example, "my day off moved from Wednesday to Monday" changes only one of the days in "I'm
    off Wednesdays and Sundays". If it is unclear which part is meant, the person is asked.
    """
    if finding.reason not in ("corrected", "newer_value", "contradicts"):
        return finding
    names_both = PATTERNS["exchanged"].search(candidate.content) is not None
    if not (names_both or _has_other_parts(candidate, memory)):
        return finding
    if apply_exchanged_value(candidate, memory):
        return Finding(Verdict.REPLACE, "corrected")
    if finding.reason == "corrected" and with_new_amount(memory.content, candidate.content):
        return finding
    return CONTRADICTS if _has_other_parts(candidate, memory) else finding


def _has_other_parts(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether the memory has important parts with which the candidate shares no words.

    The candidate must share words with another part. The parts are important if they contain a word
    that is neither a weekday nor a number, and the candidate contains less than half of the
    memory's words; otherwise, it restates the memory. They are also important if they contain one
    weekday and the shared parts contain another.
    """
    ours, said = telling_words(candidate.content), ADDED.sub("", memory.content)
    parts = [telling_words(part) for part in PATTERNS["part"].split(said)]
    touched = [part for part in parts if not part.isdisjoint(ours)]
    others = set[str]().union(*(part for part in parts if part.isdisjoint(ours)))
    words = set[str]().union(*parts)
    days = {word for word in words if _WEEKDAY.fullmatch(word)}
    is_part = 2 * len(words & ours) < len(words) and any(map(_is_no_value, others))
    return bool(touched) and (is_part or bool(others & days and days - others))


def _is_no_value(word: str) -> bool:
    return not _WEEKDAY.fullmatch(word) and not _FIGURE.search(word)


def apply_exchanged_value(candidate: Candidate, memory: KnownMemory) -> str:
    """Return the memory's text with the candidate's new value, or an empty string.

    The candidate and the memory must share a word that is neither a weekday nor a number, or both
    must be about a day off. A common weekday isn't enough, because many memories contain it.
    """
    text = with_exchanged_value(ADDED_DATE.sub("", memory.content), candidate.content)
    terms = [telling_words(statement.content) for statement in (candidate, memory)]
    is_free = all(_DAY_OFF.search(statement.content) for statement in (candidate, memory))
    is_named = is_free or any(map(_is_no_value, terms[0] & terms[1]))
    return " ".join(text.split()) if is_named else ""


def _gives_new_amount(candidate: Candidate, memory: KnownMemory, reading: PairRelation) -> bool:
    """Return whether a candidate only gives a new amount for something that a memory counts.

    The memory must say more than the candidate. The reader model must find a newer value; if the
    candidate is a correction, any other conflict is enough.
    """
    is_newer = reading.relation is Relation.NEWER
    if not is_newer and not (candidate.corrects and reading.relation in CONFLICTS):
        return False
    text = with_new_amount(memory.content, candidate.content)
    is_part = not telling_words(text) <= telling_words(candidate.content)
    return is_part and not numbers_of_series(text)


def corrected_part(candidate: Candidate, memory: KnownMemory) -> str:
    """Return the memory's text with only the old value replaced, or an empty string.

    The result is empty unless it says more than the correction. For example, "Gymnastics is on
    Wednesdays, not Tuesdays" changes only the day in "Mia has gymnastics on Tuesdays at 5".
    """
    text = apply_exchanged_value(candidate, memory) or with_new_amount(
        memory.content, candidate.content
    )
    if telling_words(text) - telling_words(candidate.content):
        return text
    old = candidate.old_value
    said = f"{candidate.content}, not {old}" if old else ""
    if not telling_words(" ".join(ADDED.findall(memory.content))).isdisjoint(telling_words(old)):
        return ""  # the old value is in context that was added to the person's own words
    texts = (contrast.corrected(memory.content) for contrast in contrasts(said))
    text = next(filter(None, texts), "")
    return text if telling_words(text) - telling_words(candidate.content) else ""


def owners(candidate: Candidate, memory: KnownMemory) -> Ownership:
    """Return whether the candidate and the memory are about the same person.

    A memory that contains the old value of a correction counts as being about the same person:
    "it's Theo, not Mia" corrects a memory about Mia.
    """
    if _has_old_value(candidate, memory):
        return Ownership.SAME
    return ownership(candidate.content, memory.content)


def _may_conflict(candidate: Candidate, memory: KnownMemory, reading: PairRelation) -> bool:
    """Return False if the reader model finds a conflict, but both statements can hold.

    Otherwise return True, even if the model finds no conflict. Both statements can hold if they
    have only a person in common and the model isn't sure of the conflict, as with "Theo's school is
    St Chads" and "Theo's allergy test was negative".
    """
    if reading.relation not in CONFLICTS:
        return True
    shared, named = _shared_and_named(candidate, memory)
    named |= owner_names(candidate.content, memory.content)
    is_sure = reading.share >= SURE_OF_STRANGERS and memory.similarity >= STRANGERS
    if not shared or not shared <= named or is_sure or changes_part(candidate, memory):
        return True
    if _give_two_school_years(candidate.content, memory.content):
        return True
    return differ_in_one_value(Document(candidate.content), Document(memory.content))


def _shared_and_named(candidate: Candidate, memory: KnownMemory) -> tuple[set[str], set[str]]:
    """Return the words that both texts contain, and the words in square brackets in either text.

    Only `telling_words` count. Square brackets contain context that was added to the person's own
    words.
    """
    texts = candidate.content, memory.content
    named = telling_words(" ".join(ADDED.findall(" ".join(texts))))
    return telling_words(texts[0]) & telling_words(texts[1]), named


def name_same_matter(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether two statements share one of their `telling_words`, or are similar in meaning.

    The reader model often takes a statement with a word of change, such as 现在 ("now") or "moved",
    for a newer value of an unrelated memory. This check keeps that memory from being overwritten.
    """
    shared = telling_words(candidate.content) & telling_words(memory.content)
    return bool(shared) or memory.similarity >= STRANGERS


def topic_overlap(memory: KnownMemory, candidate: Candidate) -> TopicOverlap:
    """Return the degree to which two statements name the same thing, apart from dates and times."""
    theirs, ours = telling_words(memory.content), telling_words(candidate.content)
    shared = theirs & ours
    if not shared:
        return TopicOverlap.NOTHING
    is_half = 2 * len(shared) >= min(len(theirs), len(ours))
    enough = len(shared) > 1 or is_half or memory.similarity >= _LITTLE_LIKE
    return TopicOverlap.SAME if enough else TopicOverlap.LITTLE


def telling_words(text: str) -> set[str]:
    """Return the words that say what a text is about, without stop words and words of time.

    Weekdays are shortened: "Tuesdays" becomes "tue".
    """
    terms = set(segment.terms(ADDED_DATE.sub(" ", text)))
    terms -= segment.ENGLISH_STOP_WORDS | segment.CHINESE_STOP_WORDS | _WORDS_OF_TIME
    days = {term: _WEEKDAY.fullmatch(term) for term in terms}
    return {day[1] if day else term for term, day in days.items()}


def is_denial(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether only one of the two statements is negated.

    The old value that the candidate names ("…, not Dan") doesn't count as a negation.
    """
    said = candidate.content[: old_value(candidate.content)[1]]
    return pairs.denies(said) != pairs.denies(memory.content)


def ends_part(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether a candidate ends only some items of a list of at least three.

    For example, "I stopped using Figma" ends one item of "I use Figma, Linear and Notion".
    """
    items = [item for item in _items(memory.content) if item]
    return len(items) > 2 and _touches_part(candidate, items)


def changes_part(candidate: Candidate, memory: KnownMemory) -> bool:
    """Return whether a candidate is about some, but not all, items of a list with numbers.

    For example, "Zuri is 10" is about one item of "Zuri is 9 and Theo is 6".
    """
    items = _items(memory.content, only=_FIGURE)
    of_each = set.intersection(*items) if items else set()
    return len(items) > 1 and _touches_part(candidate, [item - of_each for item in items])


def _touches_part(candidate: Candidate, items: list[set[str]]) -> bool:
    ours = set(segment.terms(candidate.content))
    touched = sum(bool(item & ours) for item in items)
    return 0 < touched < len(items)


def _items(text: str, *, only: re.Pattern[str] | None = None) -> list[set[str]]:
    """Return the terms of each item of a list; if `only` is given, skip items without a match."""
    items = [item for item in _AND.split(ADDED_DATE.sub(" ", text)) if item.strip()]
    return [set(segment.terms(item)) for item in items if only is None or only.search(item)]
