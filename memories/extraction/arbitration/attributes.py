"""Two statements on one attribute of one subject: which value holds now?"""

import re

from memories.extraction.arbitration.figures import differ
from memories.extraction.arbitration.lexicon import known_concept, opposed, with_kinds
from memories.extraction.arbitration.pairing import (
    BESIDE,
    SAME_ACROSS_LANGUAGES,
    SAME_MATTER,
    Finding,
    Pair,
)
from memories.extraction.arbitration.statement import (
    CHANGING,
    FIXED,
    LIKELY_ONE,
    SINGLE_ROLES,
    Statement,
    Time,
)
from memories.extraction.types import Verdict


def same_attribute(pair: Pair) -> Finding:
    new, old = pair.new, pair.old
    if new.holds != old.holds:
        return flip(pair)
    if new.slot in ("pet", "kin"):
        return _beings(pair)
    if new.against and (new.against & old.main) and (new.main & old.against):
        return contradicts(pair)
    if new.slot in FIXED | CHANGING | LIKELY_ONE:
        return _one_value(pair)
    return _many_values(pair)


# Where one is tells where one is no more.
_ONE_AFTER_THE_OTHER = frozenset(["home", "employer"])


def flip(pair: Pair) -> Finding:
    """One holds and the other doesn't (any more)."""
    new, old = pair.new, pair.old
    ended = old.time is Time.ENDED and not new.main & old.main
    if ended and new.holds and new.slot in _ONE_AFTER_THE_OTHER:
        return Finding(Verdict.REPLACE, "newer_value")
    if _value_overlap(new, old) < 0.6 or differ(new.figures, old.figures):
        return BESIDE
    if pair.overrules:
        return Finding(Verdict.REPLACE, "no_longer" if not new.holds else "holds_again")
    return Finding(Verdict.REVIEW, "contradicts")


def _value_overlap(new: Statement, old: Statement) -> float:
    if not new.main and not old.main:
        return 1.0
    shared = with_kinds(new.main) & with_kinds(old.main)
    return len(shared) / (min(len(new.main), len(old.main)) or 1)


def _beings(pair: Pair) -> Finding:
    """Pets and relatives: the name tells them apart."""
    new, old = pair.new, pair.old
    if new.names and new.names == old.names and new.main != old.main:
        return changed(pair) if pair.decided else Finding(Verdict.REVIEW, "contradicts")
    ours, theirs = _values(new), _values(old)
    if not (ours <= theirs or theirs <= ours):
        return BESIDE
    if differ(new.figures, old.figures):
        return Finding(Verdict.REPLACE, "newer_value")
    if new.names and old.names and not new.names & old.names and ours & SINGLE_ROLES:
        return contradicts(pair)
    if new.names and old.names and not new.names & old.names:
        return Finding(Verdict.REPLACE, "corrected") if pair.decided or new.corrects else BESIDE
    return detail(pair)


def _one_value(pair: Pair) -> Finding:
    new, old = pair.new, pair.old
    if differ(new.figures, old.figures):
        return changed(pair)
    if new.main == old.main or not new.main or not old.main:
        return detail(pair)
    if _values(new) <= _values(old) or _values(old) <= _values(new):
        return detail(pair)
    if pair.across and not comparable(new, old):
        return across_languages(pair)
    if new.slot == "thing" and not (pair.overrules or opposed(new.main, old.main)):
        one_of_its_kind = new.relation == old.relation != "" and new.topic == old.topic
        return Finding(Verdict.REVIEW, "contradicts") if one_of_its_kind else BESIDE
    return changed(pair)


# Of these one has many, so two who have no name are hardly the same.
_OF_MANY = frozenset(["friend", "colleague", "neighbor", "cousin"])


def may_be_two(pair: Pair) -> bool:
    """Whether the two may speak of two friends, or two neighbours."""
    new, old = pair.new, pair.old
    return new.subject in _OF_MANY and not (pair.overrules or new.names & old.names)


def changed(pair: Pair) -> Finding:
    if may_be_two(pair):
        return BESIDE
    if pair.new.slot in FIXED and not (pair.decided or pair.new.corrects):
        return Finding(Verdict.REVIEW, "contradicts")
    if pair.new.slot in LIKELY_ONE and not pair.overrules:
        return Finding(Verdict.REVIEW, "contradicts")
    corrected = pair.decided or pair.new.corrects
    return Finding(Verdict.REPLACE, "corrected" if corrected else "newer_value")


def _many_values(pair: Pair) -> Finding:
    new, old = pair.new, pair.old
    gained, lost = new.words - old.words, old.words - new.words
    if new.main & old.main and opposed(gained, lost):
        return contradicts(pair)
    if new.slot == "household" and ("alone" in new.main) != ("alone" in old.main):
        return contradicts(pair)
    if pair.across and not comparable(new, old):
        return across_languages(pair)
    ours, theirs = _values(new), _values(old)
    if not (ours <= theirs or theirs <= ours):
        return contradicts(pair) if _prefers_another(pair) else BESIDE
    if differ(new.figures, old.figures):
        return Finding(Verdict.REPLACE, "newer_value")
    return detail(pair)


_PREFERS = re.compile(r"\b(?:prefer|rather have)|更喜欢|更爱|偏好|偏爱|首选")


def _prefers_another(pair: Pair) -> bool:
    """Who prefers tea and who prefers coffee: to like many is one thing, to prefer another."""
    new, old = pair.new, pair.old
    single = len(new.main) == len(old.main) == 1 and not (new.detail or old.detail)
    both = _PREFERS.search(new.plain.lower()) and _PREFERS.search(old.plain.lower())
    plain = not (new.against or old.against) and new.holds and old.holds
    return bool(single and both and plain and pair.similarity >= SAME_MATTER)


def _values(said: Statement) -> frozenset[str]:
    """With what each is a kind of, unless it is a refusal, which the narrower one doesn't give."""
    refuses = said.slot in ("allergy", "fear") or not said.holds
    return said.main if refuses else with_kinds(said.main)


def contradicts(pair: Pair) -> Finding:
    if pair.overrules:
        return changed(pair)
    return Finding(Verdict.REVIEW, "contradicts")


def detail(pair: Pair) -> Finding:
    """The values agree: what remains is who says more."""
    new, old = pair.new, pair.old
    gained = (
        (new.words - _values(old) - old.words) | (new.figures - old.figures) | _new_names(new, old)
    )
    lost = (
        (old.words - _values(new) - new.words) | (old.figures - new.figures) | _new_names(old, new)
    )
    if not gained:
        return Finding(Verdict.SKIP, "weaker" if lost else "same_meaning")
    if not lost:
        return Finding(Verdict.REPLACE, "says_more")
    if pair.across:
        return BESIDE
    if new.slot in ("job", "home", "school") and pair.overrules:
        return changed(pair)
    if placed_otherwise(new, old):
        return contradicts(pair) if new.slot in ONE_PLACED else BESIDE
    return Finding(Verdict.MERGE, "adds_detail")


_PLACES = re.compile(
    r"\b(?P<by>in|at|with|by|on|from|for|under|using) (?P<what>[^,;.]+?)"
    r"(?= (?:in|at|with|by|on|from|for|under|using|because|since|and)\b|[,;.]|$)"
    r"|(?P<by2>在|用|和|跟|给|从|被|由)(?P<what2>[\u4e00-\u9fffA-Za-z0-9 ]{1,8}?)"
    r"(?=[，,；。]|工作|上班|上学|住|写|做|用|学|去|来|开|吃|喝|运行|$)"
)
# Where a thing or a person stands in one such place, another place contradicts.
ONE_PLACED = frozenset(["thing", "job", "school", "home", "household"])


def placed_otherwise(new: Statement, old: Statement) -> bool:
    """Whether both name a place, a means or a companion by the same word, and not the same one."""
    ours, theirs = _placed(new), _placed(old)
    return any(
        word in theirs and not (place & theirs[word]) for word, place in ours.items() if place
    )


def _placed(said: Statement) -> dict[str, frozenset[str]]:
    found = _PLACES.finditer(said.plain.lower())
    return {
        one["by"] or one["by2"]: frozenset(
            re.findall(r"[a-z0-9]+|[\u4e00-\u9fff]", one["what"] or one["what2"])
        )
        for one in found
    }


def _new_names(new: Statement, old: Statement) -> frozenset[str]:
    return new.names - old.names if new.slot in ("pet", "kin") else frozenset()


def comparable(new: Statement, old: Statement) -> bool:
    """Whether words of two languages stand for concepts that we know in both."""
    return all(known_concept(word) for word in new.main | old.main)


def across_languages(pair: Pair) -> Finding:
    if differ(pair.new.figures, pair.old.figures):
        return BESIDE
    if pair.similarity >= SAME_ACROSS_LANGUAGES and pair.new.holds == pair.old.holds:
        return Finding(Verdict.SKIP, "same_meaning")
    return BESIDE
