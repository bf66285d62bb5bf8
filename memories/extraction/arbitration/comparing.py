"""Compares what two memories say; similarity only tells whether they may share a matter.

No cosine tells a duplicate from a contradiction, so the verdict rests on the statements: whose
attribute, which value, holding or not, with which figures and names.
"""

import re
from dataclasses import replace

from memories.extraction.arbitration.attributes import (
    across_languages,
    changed,
    comparable,
    contradicts,
    detail,
    flip,
    may_be_two,
    same_attribute,
)
from memories.extraction.arbitration.clashing import clash, clash_of_being
from memories.extraction.arbitration.exclusive import exclude_each_other
from memories.extraction.arbitration.figures import differ
from memories.extraction.arbitration.framing import clash_in_one_frame, otherwise_often
from memories.extraction.arbitration.having_one import clash_of_one
from memories.extraction.arbitration.lexicon import opposed
from memories.extraction.arbitration.likeness import is_too_close, says_the_same, turned_round
from memories.extraction.arbitration.losing import is_one_of_many, loses
from memories.extraction.arbitration.pairing import (
    APART,
    BESIDE,
    SAME_ACROSS_LANGUAGES,
    SAME_MATTER,
    Finding,
    Pair,
)
from memories.extraction.arbitration.statement import FAMILIES, Statement, Time
from memories.extraction.arbitration.transitions import ended_by
from memories.extraction.arbitration.wordlists import words
from memories.extraction.types import Verdict

_ONLY_CHILD = frozenset(["onli", "独生子女", "独生子", "独生女"])
_SPOUSES = frozenset(["wife", "husband", "spouse"])
_LEARNED = re.compile(
    r"\blearn(?:ed|t) (?:how )?to\b|^(?:(?:the )?user |i )?can\b|^(?:用户|我)?已?经?会"
)
# What the rules say where no value decided: that two values exclude each other weighs more.
_SURMISED = frozenset(["", "both_hold", "not_joined", "adds_detail", "weaker", "says_more"])
_MOVED_ON = Finding(Verdict.REPLACE, "moved_on")
_PLANS = words(
    """
    plan intend schedul 打算 计划 准备 预定
    """
)


def compare(pair: Pair) -> Finding:
    """How the known statement stands to the new one.

    Who corrects means something that was said: where both would hold side by side, the matter
    that is the same gives way.
    """
    pair = replace(pair, new=_plainly(pair.new), old=_plainly(pair.old))
    finding = _continued(pair) or _compare(pair)
    if finding.reason in ("says_more", "adds_detail") and says_the_same(pair, strictly=True):
        return Finding(Verdict.SKIP, "same_meaning")
    if finding in (BESIDE, APART):
        finding = _despite_the_words(pair) or finding
    if _in_each_others_way(pair, finding):
        return contradicts(pair)
    same_slot = pair.new.slot == pair.old.slot and pair.similarity >= SAME_MATTER
    if finding == BESIDE and pair.corrects and same_slot:
        alike = _same_subject(pair.new, pair.old) and _same_topic(pair.new, pair.old)
        return Finding(Verdict.REPLACE, "corrected") if alike else finding
    return finding


def _in_each_others_way(pair: Pair, finding: Finding) -> bool:
    """By the table of what excludes each other; or one frame with two values."""
    new, old = pair.new, pair.old
    if may_be_two(pair):
        return False
    if finding.reason in _SURMISED and (exclude_each_other(new, old) or clash_of_one(new, old)):
        return True
    return finding in (BESIDE, APART) and (
        otherwise_often(new, old) or clash_in_one_frame(new, old)
    )


def _despite_the_words(pair: Pair) -> Finding | None:
    """Where no rule for an attribute has spoken: the event that ends a state, or the same again."""
    new, old = pair.new, pair.old
    if loses(new=new, old=old):
        return Finding(Verdict.REVIEW, "contradicts") if is_one_of_many(old) else _MOVED_ON
    if old.slot == "household" and ended_by(old=old.plain, new=new.plain):
        return _MOVED_ON
    if not _same_subject(new, old):
        same = "user" in (new.subject, old.subject) and says_the_same(pair, strictly=True)
        return Finding(Verdict.SKIP, "same_meaning") if same else clash_of_being(pair)
    on_it = _speaks_of_the_same(new, old, similarity=pair.similarity)
    if ended_by(old=old.plain, new=new.plain, same_thing=on_it):
        return _MOVED_ON
    if _ends(new, old):
        return Finding(Verdict.REPLACE, "no_longer")
    if says_the_same(pair):
        return Finding(Verdict.SKIP, "same_meaning")
    return contradicts(pair) if is_too_close(pair) or turned_round(pair) else None


def _ends(new: Statement, old: Statement) -> bool:
    ended = new.time is Time.ENDED and old.holds and old.main and old.main <= new.words
    return bool(ended and (not old.names or old.names & new.names))


def _speaks_of_the_same(new: Statement, old: Statement, *, similarity: float) -> bool:
    """A name or the greater part of what the shorter one speaks of stands in both."""
    ours, theirs = new.words | new.names, old.words | old.names
    if new.names and old.names:
        return bool(new.names & old.names)
    shared = len(ours & theirs)
    return shared * 2 >= min(len(ours), len(theirs)) > 0 or (shared > 0 and similarity >= 0.5)


def _compare(pair: Pair) -> Finding:
    new, old = pair.new, pair.old
    if new.plain.casefold() == old.plain.casefold():
        return Finding(Verdict.SKIP, "same_text")
    if _tells_of_the_same_being(new, old):
        gone = new.time is Time.ENDED
        return Finding(
            Verdict.REPLACE if gone else Verdict.MERGE, "moved_on" if gone else "adds_detail"
        )
    if not _same_subject(new, old):
        return _related(pair)
    return _told_in_words(pair) or clash(pair) or _by_attributes(pair)


def _told_in_words(pair: Pair) -> Finding | None:
    """What the words themselves settle, whatever the attribute."""
    new, old = pair.new, pair.old
    if _rescheduled(pair):
        return Finding(Verdict.REPLACE, "newer_value")
    if _married_to(new, old):
        return Finding(Verdict.SKIP, "same_meaning")
    if old.slot == "learns" and old.main <= new.words and _LEARNED.search(new.plain):
        return Finding(Verdict.REPLACE, "moved_on")
    if new.denied & old.words and old.holds:
        return Finding(Verdict.REPLACE, "corrected")
    return None


def _by_attributes(pair: Pair) -> Finding:
    new, old = pair.new, pair.old
    if new.slot == old.slot and _same_topic(new, old):
        return same_attribute(pair) if new.slot else _unknown_attribute(pair)
    if {new.slot, old.slot} == {"like", "favorite"}:
        return _favorite_of_many(pair)
    if any({new.slot, old.slot} == family for family in FAMILIES):
        return _same_family(pair)
    if new.slot and old.slot:
        flips = _loose(new, old) and new.holds != old.holds
        return _unknown_attribute(pair) if flips else _related(pair)
    return _unknown_attribute(pair)


def _continued(pair: Pair) -> Finding | None:
    """One text goes on where the other ends, and takes nothing back."""
    new, old = pair.new, pair.old
    ours, theirs = new.plain.casefold(), old.plain.casefold()
    more = len(ours) > len(theirs)
    short, long = (theirs, ours) if more else (ours, theirs)
    goes_on = long.startswith(short) and long[len(short) :][:1] in (",", "，", ";", "；")
    if not goes_on or new.holds != old.holds or new.is_change or old.is_change:
        return None
    return Finding(Verdict.REPLACE, "says_more") if more else Finding(Verdict.SKIP, "weaker")


def _plainly(said: Statement) -> Statement:
    """Who eats no meat is a vegetarian; an only child has no siblings."""
    if said.slot == "habit" and said.main == {"meat"} and not said.positive:
        return replace(said, slot="diet", main=frozenset(["vegetarian"]), positive=True)
    if said.slot == "kin" and said.main & _ONLY_CHILD:
        return replace(said, main=frozenset(["sibling"]), positive=False)
    return said


def _favorite_of_many(pair: Pair) -> Finding:
    """Who has it for a favorite likes it; what else one likes stands beside."""
    new, old = pair.new, pair.old
    if new.main - old.topic != old.main - new.topic or new.holds != old.holds:
        return _unknown_attribute(pair)
    if new.slot == "like":
        return Finding(Verdict.SKIP, "weaker")
    return Finding(Verdict.REPLACE, "says_more")


def _related(pair: Pair) -> Finding:
    return BESIDE if pair.similarity >= SAME_MATTER else APART


def _loose(new: Statement, old: Statement) -> bool:
    """Slots that overlap: a liking may be told as a habit, a thing as what it is."""
    loose = {"like", "habit", "plays", "thing", "learns", "speaks"}
    return bool(new.slot in loose and old.slot in loose)


def _same_subject(new: Statement, old: Statement) -> bool:
    if new.subject in old.names or old.subject in new.names:
        return new.subject != "user" and old.subject != "user"
    short, long = sorted((new.subject, old.subject), key=len)
    if short != long and not long.startswith(f"{short}."):
        return False
    named = new.subject != "user" and new.names and old.names and new.slot == old.slot == ""
    return not (named and not new.names & old.names)


def _same_topic(new: Statement, old: Statement) -> bool:
    if not new.topic or not old.topic:
        return new.slot != "thing"
    return new.topic <= old.topic or old.topic <= new.topic


def _tells_of_the_same_being(new: Statement, old: Statement) -> bool:
    """ "Biscuit is 3 years old" beside "Has a cat named Biscuit"."""
    for one, other in ((new, old), (old, new)):
        if one.slot in ("pet", "kin") and one.names and other.slot not in ("pet", "kin"):
            if any(not name.isascii() and name in other.plain.lower() for name in one.names):
                return True
            about = {other.subject} | (other.names if other.subject in one.main else frozenset())
            if about & one.names or (other.subject == "user" and other.main & one.names):
                return True
    return False


def _rescheduled(pair: Pair) -> bool:
    """ "Tennis is on Sundays now" beside "Plays tennis on Saturdays"."""
    new, old = pair.new, pair.old
    told_apart = "thing" in (new.slot, old.slot) and new.slot != old.slot
    moved = new.time is Time.NOW and differ(new.figures, old.figures) and new.holds and old.holds
    what = new.topic or new.main
    return bool(told_apart and moved and what and what <= old.words)


def _married_to(new: Statement, old: Statement) -> bool:
    """ "Is married to Laura" and "Wife is named Laura" say one thing."""
    return any(
        one.slot == "marital" and "married" in one.main and other.slot == "kin"
        and other.main & _SPOUSES and one.names & other.names
        for one, other in ((new, old), (old, new))
    )  # fmt: skip


def _same_family(pair: Pair) -> Finding:
    """A trade and the firm where one plies it: each adds to the other."""
    new, old = pair.new, pair.old
    if not (new.holds and old.holds):
        left = new.main <= old.words and new.time is Time.ENDED and old.holds
        return Finding(Verdict.REPLACE, "no_longer") if left else BESIDE
    if new.words <= old.words:
        return Finding(Verdict.SKIP, "weaker")
    if old.words <= new.words:
        return Finding(Verdict.REPLACE, "says_more")
    if old.detail and new.slot in ("employer", "school"):
        return changed(pair) if pair.overrules else Finding(Verdict.REVIEW, "contradicts")
    return Finding(Verdict.MERGE, "adds_detail")


def _unknown_attribute(pair: Pair) -> Finding:
    """No rule knows the attribute of both: compare all the words."""
    new, old = pair.new, pair.old
    if pair.across and not (comparable(new, old) and new.main & old.main):
        return across_languages(pair) if pair.similarity >= SAME_MATTER else APART
    shared = new.words & old.words
    share = len(shared) / (min(len(new.words), len(old.words)) or 1)
    if share < 0.5 or (pair.similarity < SAME_MATTER and share < 0.7):
        return _related(pair)
    gained, lost = new.words - old.words, old.words - new.words
    if new.holds != old.holds:
        return flip(pair) if share >= 0.6 else _related(pair)
    if opposed(gained, lost):
        return contradicts(pair)
    if gained and lost:
        return _overlapping(pair)
    if differ(new.figures, old.figures):
        return _figures_moved(pair)
    if new.slot != old.slot:
        return _told_otherwise(pair, is_more=bool(gained))
    return detail(pair)


def _told_otherwise(pair: Pair, *, is_more: bool) -> Finding:
    """A rule knows the attribute of one only, so neither may take the other's place."""
    if is_more or pair.similarity < SAME_ACROSS_LANGUAGES:
        return BESIDE
    return Finding(Verdict.SKIP, "weaker")


def _figures_moved(pair: Pair) -> Finding:
    """What happens on two days are two events, unless the one is a plan that moved."""
    dated = ("date:", "year:", "month:")
    days = [one.figures for one in (pair.new, pair.old)]
    events = all(any(figure.startswith(dated) for figure in figures) for figures in days)
    if events and not (pair.overrules or pair.new.words & _PLANS):
        return BESIDE
    return Finding(Verdict.REPLACE, "newer_value")


def _overlapping(pair: Pair) -> Finding:
    """Each says something the other doesn't."""
    new, old = pair.new, pair.old
    if differ(new.figures, old.figures) or new.main != old.main or pair.across:
        return BESIDE
    return Finding(Verdict.MERGE, "adds_detail")
