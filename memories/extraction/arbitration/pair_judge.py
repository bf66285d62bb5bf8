"""How two statements stand to each other, by a small logistic regression in numpy.

It speaks where the rules found no strong evidence. What it can't tell apart, a change from a
contradiction, is asked about, never kept silently beside the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from memcenter.lib import segment
from memories.extraction.arbitration.pair_features import PairFeatures, Vector, features
from memories.extraction.arbitration.pairing import Finding, Pair
from memories.extraction.types import Verdict

WEIGHTS = Path(__file__).resolve().parent.parent / "data" / "pairs.npz"
# The order is that of the columns of the table.
CLASSES = ("same", "update", "clash", "more", "different")
# Chosen by cross-validation over topics (`bench/train_pairs.py`).
SURE_SAME = 0.7
SURE_OF_CONFLICT = 0.55
# Two that are surely of one matter may say the same or exclude each other. Where the judge can't
# tell which, a person is asked: this share of the conflict, and this much of it beside "different".
_LEAST_CONFLICT = 0.15
_OF_ONE_MATTER = 0.6
SURE_UPDATE = 0.5
SURE_MORE = 0.7
# Who corrects or tells us to remember means a change, if it is of this matter at all.
SURE_IF_MEANT = 0.8
_DATED = ("date:", "year:", "month:")
# Below these nothing is known that could give way, and hardly anything to ask about.
_LEAST_TO_REPLACE = 0.45
_LEAST_TO_ASK = 0.35
_ONE_DENIES = "negation:one"
_ON_ONE_MATTER = 0.45


@dataclass(frozen=True)
class Weights:
    """`table` has a row for each named feature, for each bucket and one for the bias."""

    names: tuple[str, ...]
    table: Vector


@dataclass(frozen=True)
class Judged:
    """The share of each class, and the feature that spoke most for each."""

    shares: dict[str, float]
    evidence: dict[str, str]


def judge(pair: Pair, finding: Finding, *, weights: Weights | None = None) -> Judged:
    known = weights or load()
    row = row_of(features(pair, finding), known.names)
    shares = softmax(row @ known.table[:-1] + known.table[-1])
    return Judged(
        shares={name: float(share) for name, share in zip(CLASSES, shares, strict=True)},
        evidence={name: _evidence(row, known, at) for at, name in enumerate(CLASSES)},
    )


def decide(pair: Pair, finding: Finding, judged: Judged) -> Finding:
    if _stand_apart(pair):
        return finding
    shares, evidence = judged.shares, judged.evidence
    # What is newer of another attribute takes nothing back; only what excludes it counts.
    newer = 0.0 if _of_two_attributes(pair) else shares["update"]
    conflict = newer + shares["clash"]
    one_subject = pair.new.subject == pair.old.subject and not _of_two_attributes(pair)
    if shares["same"] >= SURE_SAME and one_subject and not tells_more(pair):
        return Finding(Verdict.SKIP, "judged_same", evidence["same"])
    if shares["more"] >= SURE_MORE:
        return Finding(Verdict.MERGE, "judged_more", evidence["more"])
    unclear = not _of_two_attributes(pair) and _in_doubt(conflict, shares["different"])
    doubtful = conflict >= SURE_OF_CONFLICT or unclear
    if not doubtful or pair.similarity < _LEAST_TO_ASK:
        return finding
    meant = pair.overrules and conflict >= SURE_IF_MEANT
    surely = shares["update"] >= SURE_UPDATE or meant
    if surely and one_subject and pair.similarity >= _LEAST_TO_REPLACE:
        return Finding(Verdict.REPLACE, "judged_newer", evidence["update"])
    side = "clash" if shares["clash"] >= newer else "update"
    if evidence[side] == _ONE_DENIES and _speak_of_other_things(pair):
        return finding
    return Finding(Verdict.REVIEW, "judged_conflict", evidence[side])


def _speak_of_other_things(pair: Pair) -> bool:
    """That one denies something tells nothing of the other when they share nothing."""
    ours, theirs = pair.new.words | pair.new.names, pair.old.words | pair.old.names
    return not ours & theirs and pair.similarity < _ON_ONE_MATTER


def _in_doubt(conflict: float, different: float) -> bool:
    return conflict >= _LEAST_CONFLICT and conflict >= _OF_ONE_MATTER * (conflict + different)


def _stand_apart(pair: Pair) -> bool:
    """Two things, or what happened on two days: the rules read them, so both hold."""
    new, old = pair.new, pair.old
    two_things = bool(new.topic - old.topic) and bool(old.topic - new.topic)
    dated = [{one for one in said.figures if one.startswith(_DATED)} for said in (new, old)]
    return two_things or (all(dated) and dated[0] != dated[1] and not new.is_change)


def _of_two_attributes(pair: Pair) -> bool:
    return bool(pair.new.slot and pair.old.slot) and pair.new.slot != pair.old.slot


def tells_more(pair: Pair) -> bool:
    """A figure, a name or a word nobody uses every day that wasn't known would be lost."""
    new, old = pair.new, pair.old
    if new.figures - old.figures or new.names - old.names:
        return True
    known = old.counted.terms
    return any(word not in known for word in segment.unusual(new.plain))


def row_of(found: PairFeatures, names: tuple[str, ...]) -> Vector:
    named = np.array([found.named.get(name, 0.0) for name in names], dtype=np.float32)
    return np.concatenate([named, found.hashed])


def softmax(scores: Vector) -> Vector:
    """Along the last axis."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares: Vector = powers / powers.sum(axis=-1, keepdims=True)
    return shares


def _evidence(row: Vector, weights: Weights, column: int) -> str:
    """The named feature that lifts this class most over the average of all."""
    count = len(weights.names)
    table = weights.table[:count]
    lifts = row[:count] * (table[:, column] - table.mean(axis=1))
    return weights.names[int(lifts.argmax())]


@cache
def load(path: Path = WEIGHTS) -> Weights:
    """The weights that came with the product; `bench/train_pairs.py` writes them."""
    with np.load(path, allow_pickle=False) as stored:
        return Weights(
            names=tuple(str(name) for name in stored["names"]),
            table=stored["table"].astype(np.float32),
        )
