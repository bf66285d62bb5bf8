"""What can be counted in two statements side by side, for the learned judge of pairs.

Each feature has a name, so that a verdict can say what it rests on. The words that only one side
has are hashed into `BUCKETS` numbers (Weinberger et al., "Feature Hashing for Large Scale Multitask
Learning", ICML 2009).
"""

import itertools
import math
import re
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memcenter.lib import segment
from memories.extraction.arbitration.figures import differ
from memories.extraction.arbitration.lexicon import opposed, ruled_out, with_kinds
from memories.extraction.arbitration.pairing import Finding, Pair
from memories.extraction.arbitration.statement import Statement, Time

BUCKETS = 512
# What is larger weighs more under the same penalty: chosen by cross-validation.
_WORDS_SCALE = 1.5
_STEPS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
Vector = NDArray[np.float32]

# fmt: off
_MARKS_EN = {
    "negation": r"\b(?:not|no|never|none|nobody|nothing|without|cannot|hardly|un\w+able|allergic|"
                r"afraid|fear|free|(?:hate|dislike|avoid|refuse)\w*)\b|n['’]t\b|can't stand",
    "change": r"\b(?:now|no longer|any ?more|used to|former\w*|since|moved|switched|changed|"
              r"swapped|sold|quit|stopped|gave up|left|started|becomes?|became|has become|got|went|"
              r"bought|raised|dropped|finished|over|cancelled|called off|delayed|postponed|"
              r"extended|again|back|instead|passed|done|died|new|ha(?:s|ve) been|turned|grew|"
              r"reached|healed|repaired)\b",
    "absolute": r"\b(?:always|never|only|every|all|any|everything|nothing|whole|completely|very|"
                r"hardly)\b",
    "plan": r"\b(?:plan(?:s|ned)?|will|going to|wants?|due|expecting|looking|learning|writing|"
            r"saves?|in the)\b",
    "rhythm": r"\b(?:every|daily|weekly|a (?:day|week|month|year)|usually|often|sometimes|"
              r"on \w+days?)\b",
}
_MARKS_ZH = {
    "negation": r"不|没|无|别|从未|戒|讨厌|怕|受不了|禁",
    "change": r"现在|不再|了(?:$|[，,。])|改|换|搬|升|转|戒|辞|退|离|卖|停|取消|推迟|提前|新|最近|"
              r"以后|开始|变|又|恢复|去世|死|刚|已经|完|迁|重写|从.{1,4}起",
    "absolute": r"从来|从不|一直|只|全|都|任何|每|一点|完全|特别|最|顿顿|天天",
    "plan": r"要|想|打算|准备|计划|在(?!.{0,3}[住上])|正|备",
    "rhythm": r"每|天天|经常|常|偶尔|一[天周月年]",
}
# fmt: on
_MARKS = {
    language: {name: re.compile(form) for name, form in marks.items()}
    for language, marks in (("en", _MARKS_EN), ("zh", _MARKS_ZH))
}
_ENGLISH_WORD = re.compile(r"[a-z0-9]+(?:['’][a-z]+)?")


@dataclass(frozen=True)
class PairFeatures:
    """`named` by name, and the hashed words that one side alone has, of length 1 times a scale."""

    named: dict[str, float]
    hashed: Vector


def features(pair: Pair, finding: Finding) -> PairFeatures:
    """`finding` is what the rules made of the pair: what they saw counts too."""
    named = {
        **_likeness(pair.similarity),
        **_of_words(pair.new.plain, pair.old.plain),
        **_of_marks(pair),
        **_of_statements(pair.new, pair.old),
        **_of_figures(pair.new, pair.old),
        f"rule:{finding.reason or 'apart'}": 1.0,
    }
    if pair.new.language == "zh":
        told = ("cosine", "negation:one", "change:new", "jaccard", "absolute:new")
        named |= {"zh": 1.0, **{f"{name}:zh": named[name] for name in told}}
    gained, lost = _apart(pair)
    return PairFeatures({name: float(value) for name, value in named.items()}, hashed(gained, lost))


def hashed(gained: frozenset[str], lost: frozenset[str]) -> Vector:
    counts = np.zeros(BUCKETS, dtype=np.float32)
    for word in [*(f"+{one}" for one in gained), *(f"-{one}" for one in lost)]:
        counts[zlib.crc32(word.encode()) % BUCKETS] = 1.0
    length = float(np.linalg.norm(counts))
    return counts * (_WORDS_SCALE / length) if length else counts


def _likeness(cosine: float) -> dict[str, float]:
    above = {f"cosine>{step}": max(0.0, cosine - step) * 3 for step in _STEPS}
    return {"cosine": cosine, "cosine^2": cosine * cosine, **above}


def _of_words(new: str, old: str) -> dict[str, float]:
    ours, theirs = set(segment.terms(new)), set(segment.terms(old))
    shared = len(ours & theirs)
    new, old = new.lower(), old.lower()
    shorter = max(1, min(len(new), len(old)))
    pairs_new, pairs_old = _character_pairs(new), _character_pairs(old)
    return {
        "jaccard": shared / max(1, len(ours | theirs)),
        "shared/new": shared / max(1, len(ours)),
        "shared/old": shared / max(1, len(theirs)),
        "no_word_shared": not shared,
        "character_pairs": len(pairs_new & pairs_old) / max(1, len(pairs_new | pairs_old)),
        "same_beginning": _run(new, old) / shorter,
        "same_end": _run(new[::-1], old[::-1]) / shorter,
        "length": math.log(max(1, len(new)) / max(1, len(old))),
        "longer": len(new) > 1.4 * len(old),
        "goes_on": bool(re.search("[,，]", new)) and not re.search("[,，]", old),
    }


def _run(one: str, other: str) -> int:
    """How many characters at the beginning are the same."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def _character_pairs(text: str) -> set[str]:
    return {text[at : at + 2] for at in range(len(text) - 1)}


def _of_marks(pair: Pair) -> dict[str, float]:
    found: dict[str, float] = {}
    new, old = pair.new, pair.old
    for name in _MARKS_EN:
        ours = bool(_MARKS[new.language][name].search(new.plain.lower()))
        theirs = bool(_MARKS[old.language][name].search(old.plain.lower()))
        found |= {
            f"{name}:in_new": ours,
            f"{name}:in_old": theirs,
            f"{name}:one": ours != theirs,
            f"{name}:new": ours and not theirs,
            f"{name}:one*cosine": (ours != theirs) * pair.similarity,
            f"{name}:new*cosine": (ours and not theirs) * pair.similarity,
        }
    return found


def _of_statements(new: Statement, old: Statement) -> dict[str, float]:
    same_slot = bool(new.slot) and new.slot == old.slot
    ours, theirs = with_kinds(new.words), with_kinds(old.words)
    times = {f"time:{time.value}": new.time is time is not old.time for time in Time if time}
    ruled = ruled_out(old.main, ours) or ruled_out(new.main, theirs)
    return {
        **times,
        "holds:one": new.holds != old.holds,
        "positive:one": new.positive != old.positive,
        "same_subject": new.subject == old.subject,
        "user_or_other": (new.subject == "user") != (old.subject == "user"),
        "same_attribute": same_slot,
        "other_attribute": bool(new.slot and old.slot) and new.slot != old.slot,
        "no_attribute": not new.slot and not old.slot,
        "same_attribute_same_value": same_slot and new.main == old.main,
        "same_attribute_other_value": same_slot and not new.main & old.main,
        "concepts_shared": len(ours & theirs) / (1 + min(len(ours), len(theirs))),
        "opposites": opposed(new.words - old.words, old.words - new.words),
        "ruled_out": ruled,
    }


def _of_figures(new: Statement, old: Statement) -> dict[str, float]:
    return {
        "figures_equal": bool(old.figures) and old.figures == new.figures,
        "figures_differ": differ(new.figures, old.figures),
        "figures_new": bool(new.figures - old.figures),
        "figures_lost": bool(old.figures) and not new.figures,
        "figures_shared": bool(old.figures & new.figures),
        "names_differ": bool(new.names and old.names) and not new.names & old.names,
        "names_shared": bool(new.names & old.names),
        "names_new": bool(new.names) and not old.names,
    }


def _apart(pair: Pair) -> tuple[frozenset[str], frozenset[str]]:
    ours, theirs = _cut(pair.new), _cut(pair.old)
    return ours - theirs, theirs - ours


def _cut(said: Statement) -> frozenset[str]:
    if said.language == "zh":
        words = segment.words(segment.normalise(said.plain))
        return frozenset(word for word in words if re.search(r"\w", word))
    return frozenset(_ENGLISH_WORD.findall(said.plain.lower()))
