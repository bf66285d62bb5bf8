"""Statements that can't both hold although they speak of different attributes."""

import re

from memories.extraction.arbitration.attributes import contradicts
from memories.extraction.arbitration.chinese import concepts as concepts_zh
from memories.extraction.arbitration.english import concepts as concepts_en
from memories.extraction.arbitration.lexicon import (
    COUNTRIES,
    opposite_traits,
    ruled_out,
    with_kinds,
)
from memories.extraction.arbitration.pairing import Finding, Pair
from memories.extraction.arbitration.statement import Statement, Time
from memories.extraction.arbitration.wordlists import words
from memories.extraction.types import Verdict

_REFUSED_EN = re.compile(
    r"\b(?:(?:can|does|do|did|has|is|am) not|never|(?:has|have|with|owns?|keeps?) no) "
    r"(?P<what>been to [^,;.]+?|[^,;.]+?)"
    r"(?= (?:at|on|in|before|after|because|when|but|with|for|to)\b|[,;.]|$)"
)
_REFUSED_ZH = re.compile(
    r"(?:不(?!是|在|叫|再|了|错|过|同|久|仅|但|论|管|得|太)(?:会|能|敢|去)?|没有?(?:养)?)(?P<what>[^，,；;。了]+)"
)
# Verbs that only carry what is refused, and words too wide to be denied as a whole.
_CARRIERS = words(
    """
    own have keep know speak ride use any ani at all drink eat play feel go drive do need much
    会 说 讲 有 开 骑 养 懂 任何 家里 什么 东西 过 用 抽 吃 喝 玩 看 去 用 弹 拉 吹 打 踢 唱 跳 写
    """
)
# Who wants, learns, fears or likes something needn't have it or be able to do it.
_ELSEWHERE = frozenset(["like", "fear", "allergy", "learns", "favorite"])
_WISH = re.compile(
    r"\b(?:(?:want|wish|hope|learn|dream|intend)\w*|plan(?:s|ned|ning)?|would like|going to"
    r"|used to|interested|if)\b"
    r"|想|希望|打算|计划|(?<![大小中同上放留科数化])学(?![校生历院期费位])|以前|曾经|小时候|考虑|如果|准备"
)
_ABROAD = words(
    """
    abroad been 去过 出过 到过 来过
    """
)
_EXIST = words(
    """
    sibling brother sister child son daughter pet cat dog bird rabbit wife husband girlfriend
    boyfriend partner roommate niece nephew
    """
)
_NOT_MARRIED = re.compile(
    r"没结过?婚|不(?:想)?结婚|未婚|没有?对象|\b(?:not|never) (?:been |got )?married"
)
_COUPLED = frozenset(["wife", "husband", "girlfriend", "boyfriend", "fiance", "partner", "spouse"])


def clash(pair: Pair) -> Finding | None:
    """A liking or habit against a diet, an allergy, a fear or a refusal; traits that exclude."""
    for stance, joy in ((pair.new, pair.old), (pair.old, pair.new)):
        found = _forbidden(pair, stance=stance, joy=joy)
        if found:
            return found
        if _denied(denial=stance, claim=joy):
            return contradicts(pair)
        if _unattached(stance) and joy.slot == "kin" and joy.holds and joy.main & _COUPLED:
            return contradicts(pair)
    if opposite_traits(pair.new.words, pair.old.words) and pair.new.holds and pair.old.holds:
        return contradicts(pair)
    return None


def clash_of_being(pair: Pair) -> Finding | None:
    """Who has no siblings has no sister who lives in Lyon."""
    for denial, claim in ((pair.new, pair.old), (pair.old, pair.new)):
        being = claim.subject.rpartition(":")[2].split(".")[0]
        if denial.subject != "user" or ":" in claim.subject or not claim.holds:
            continue
        if _unattached(denial) and being in _COUPLED:
            return contradicts(pair)
        if denial.slot == "household" and "alone" in denial.main and being == "roommate":
            return contradicts(pair)
        if refused(denial) & _EXIST & with_kinds(frozenset([being])):
            return contradicts(pair)
    return None


def _unattached(said: Statement) -> bool:
    single = said.slot == "marital" and said.holds and "single" in said.main
    return single or bool(_NOT_MARRIED.search(said.plain))


def _forbidden(pair: Pair, *, stance: Statement, joy: Statement) -> Finding | None:
    enjoys = joy.slot in ("like", "habit", "favorite", "pet") and joy.holds
    refuses = stance.slot in ("diet", "allergy", "fear") and stance.holds
    refuses |= stance.slot in ("like", "habit") and not stance.holds
    if not (enjoys and refuses and ruled_out(stance.main, with_kinds(joy.words))):
        return None
    if stance.slot == joy.slot and stance.main != joy.main and stance.main & joy.main:
        return None
    if pair.overrules and "allergy" not in (stance.slot, joy.slot):
        return Finding(Verdict.REPLACE, "no_longer")
    return Finding(Verdict.REVIEW, "contradicts")


def _denied(*, denial: Statement, claim: Statement) -> bool:
    """Whether the one takes as given what the other says isn't so."""
    if not claim.holds or claim.slot in _ELSEWHERE or _WISH.search(claim.plain.lower()):
        return _loved_food(denial, claim)
    what = refused(denial)
    if not what or refused(claim):
        return False
    given, plain = _given_by(claim), claim.plain.lower()
    what = what - _ABROAD or what
    if what <= _ABROAD:
        return bool(claim.words & COUNTRIES) and claim.slot not in ("home", "origin")
    return all(one in given or (not one.isascii() and one in plain) for one in what)


def _loved_food(denial: Statement, claim: Statement) -> bool:
    """Who eats no pork doesn't love pork dumplings, whatever else is said of them."""
    loves = claim.slot in ("like", "favorite") and claim.holds
    eats_none = re.search(
        r"不(?:吃|喝|玩|看|用|抽|运动)|\b(?:never|not) (?:eat|drink|play|use|watch|do)",
        denial.plain,
    )
    return bool(loves and eats_none and refused(denial) & with_kinds(claim.words))


def refused(said: Statement) -> frozenset[str]:
    """What a statement says one hasn't, can't or doesn't; nothing when it isn't a denial."""
    if said.slot == "kin" and not said.positive and said.main:
        return said.main
    if said.positive or said.time in (Time.PAST, Time.ENDED) or said.denied:
        return frozenset()
    english = said.language == "en"
    found = (_REFUSED_EN if english else _REFUSED_ZH).search(said.plain.lower())
    if not found:
        return frozenset()
    read = concepts_en if english else concepts_zh
    return read(found["what"]) - _CARRIERS


def _given_by(claim: Statement) -> frozenset[str]:
    own = frozenset([claim.slot]) & {"car", "phone", "laptop", "pet"}
    return with_kinds(claim.words | own)
