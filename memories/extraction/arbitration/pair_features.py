"""What can be counted in two statements side by side, for the learned judge of pairs.

Each feature has a name, so that a verdict can say what it rests on. The words that only one side
has are hashed into `BUCKETS` numbers (Weinberger et al., "Feature Hashing for Large Scale Multitask
Learning", ICML 2009).
"""

import itertools
import math
import zlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memories.extraction.arbitration.counting import MARKS, Counted
from memories.extraction.arbitration.figures import differ
from memories.extraction.arbitration.lexicon import opposed, ruled_out
from memories.extraction.arbitration.pairing import Finding, Pair
from memories.extraction.arbitration.statement import Statement, Time

BUCKETS = 512
# What is larger weighs more under the same penalty: chosen by cross-validation.
_WORDS_SCALE = 1.5
_STEPS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
Vector = NDArray[np.float32]


@dataclass(frozen=True)
class PairFeatures:
    """`named` by name, and the hashed words that one side alone has, of length 1 times a scale."""

    named: dict[str, float]
    hashed: Vector


def features(pair: Pair, finding: Finding) -> PairFeatures:
    """`finding` is what the rules made of the pair: what they saw counts too."""
    named = {
        **_likeness(pair.similarity),
        **_of_words(pair.new.counted, pair.old.counted),
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


def _of_words(said: Counted, known: Counted) -> dict[str, float]:
    ours, theirs = said.terms, known.terms
    shared = len(ours & theirs)
    new, old = said.lower, known.lower
    shorter = max(1, min(len(new), len(old)))
    pairs_new, pairs_old = said.pairs, known.pairs
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
        "goes_on": said.goes_on and not known.goes_on,
    }


def _run(one: str, other: str) -> int:
    """How many characters at the beginning are the same."""
    same = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return sum(1 for _ in same)


def _of_marks(pair: Pair) -> dict[str, float]:
    found: dict[str, float] = {}
    said, known = pair.new.counted.marks, pair.old.counted.marks
    for name in MARKS:
        ours, theirs = name in said, name in known
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
    ours, theirs = new.counted.kinds, old.counted.kinds
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
    ours, theirs = pair.new.counted.written, pair.old.counted.written
    return ours - theirs, theirs - ours
