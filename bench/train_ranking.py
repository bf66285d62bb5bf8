"""Learns how messages are ranked, and writes `memories/retrieval/data/message_weights.json`.

    .venv/bin/python bench/train_ranking.py [--write] [MEMORYBANK_FILE…]

Learned on the dialogues of our own (`bench/data/retrieval`, each among the turns of the others)
and, where its files are given, on MemoryBank's marked questions. Never on LoCoMo. The features are
the product's own (`messages.features_of`); the loss is listwise: minus the log of the softmax
share of the marked messages (Cao et al. 2007), with a penalty for leaving the recipe. Figures are
cross-validated: a dialogue is ranked by weights that didn't see it. The same input gives the same
weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import dialogues
from bench.dialogues import Dialogue
from bench.memorybank import MARKS
from bench.product import print_result
from bench.ranking import Asked, by_group, figures, print_table
from conversations.importing import memorybank
from memcenter.lib import segment
from memcenter.providers.base import Vectors
from memcenter.providers.bundled import BundledEmbedder
from memories.retrieval import messages
from memories.retrieval.query import analyse
from memories.retrieval.units import Unit
from memories.retrieval.weights import RECIPE, MessageWeights

Floats = NDArray[np.float64]
TARGET = Path(__file__).resolve().parent.parent / "memories/retrieval/data/message_weights.json"
NAMES = tuple(one.name for one in fields(MessageWeights))
AT = (1, 5, 10, 25, 50)
SHARPNESS = 8.0  # of the softmax over the recipe's scores
PENALTY = 100.0  # for a feature one standard deviation wide that leaves the recipe by 1
HARDEST = 120  # of the unmarked, by the recipe
STEPS, RATE, FOLDS = 120, 0.05, 3


@dataclass(frozen=True)
class Case:
    """One question: features of every unit (units x names), and which are marked."""

    group: str
    source: str
    ids: Sequence[str]
    features: Floats
    marked: NDArray[np.bool_]


@dataclass(frozen=True)
class Pool:
    name: str
    language: str
    speakers: Sequence[str]
    units: Sequence[Unit]
    questions: Sequence[tuple[str, str, frozenset[str]]]


def main(paths: Sequence[str], *, write: bool) -> None:
    pools = [*_own(), *(pool for path in paths for pool in _memorybank(Path(path)))]
    cases = [case for pool in pools for case in _cases(pool)]
    held_out = _cross_validated(cases)
    rows = {f"{name}, recipe": figures(_ranked(own, _recipe()), at=AT) for name, own in held_out}
    rows |= {f"{name}, learned": figures(ranked, at=AT) for name, ranked in _of(held_out, cases)}
    print_table(dict(sorted(rows.items())))
    weights = _learned(cases)
    if write:
        _write(weights, cases)
    print_result({"weights": weights, "figures": rows})


def _own() -> Iterator[Pool]:
    everyone = dialogues.load()
    for one in everyone:
        others = [x for x in everyone if x.language == one.language and x is not one]
        joined = dialogues.among_strangers(one, others)
        yield _pool_of(joined)


def _pool_of(dialogue: Dialogue) -> Pool:
    units = [
        Unit(
            *("message", said.id, said.text, segment.terms(said.text)),
            at=said.at,
            conversation=said.session,
            position=said.position,
            session=said.session,
            speaker=said.speaker,
        )
        for said in dialogue.turns
    ]
    asked = [(one.group, one.text, one.wanted) for one in dialogue.questions]
    return Pool(dialogue.name, dialogue.language, dialogue.speakers, units, asked)


def _memorybank(path: Path) -> Iterator[Pool]:
    language = {"cn": "zh"}.get(path.stem, path.stem)
    marks = json.loads(MARKS.read_text(encoding="utf-8"))["files"][path.name]["users"]
    raw = json.loads(path.read_text(encoding="utf-8"))
    people = memorybank.read(raw, report=lambda skipped: None)
    for person, row, answers in zip(people, raw, marks, strict=True):
        units = []
        for day in person.conversations:
            for place in range(0, len(day.messages) - 1, 2):
                said, reply = day.messages[place : place + 2]
                text = f"{said.content}\n{reply.content}"
                units.append(
                    Unit(
                        *("episode", said.client_id, text, segment.terms(text)),
                        at=said.created_at,
                        conversation=day.client_id,
                        position=place // 2 + 1,
                        session=day.client_id,
                    )
                )
        asked = [
            (f"memorybank-{language}", question, frozenset(f"{d}:{i}:query" for d, i in turns))
            for question, turns in zip(row["probing_questions"], answers, strict=True)
            if turns is not None
        ]
        yield Pool(f"memorybank-{language}-{person.name}", language, (), units, asked)


def _cases(pool: Pool) -> Iterator[Case]:
    embed = BundledEmbedder().embed
    vectors = _in_batches([unit.text for unit in pool.units])
    ids = [unit.id for unit in pool.units]
    for group, text, wanted in pool.questions:
        query = analyse(text, speakers=pool.speakers)
        cosines = vectors @ embed([query.dense_text])[0]
        terms = set(query.terms)
        units = [
            replace(
                unit,
                cosine=float(cosine),
                terms=[term for term in unit.terms if term in terms],
                length=len(unit.terms),
            )
            for unit, cosine in zip(pool.units, cosines, strict=True)
        ]
        found, _ = messages.features_of(query, units)
        table = np.stack([found[name] for name in NAMES], axis=1)
        marked = np.array([one in wanted for one in ids])
        kind = group if group.startswith("memorybank") else f"own-{pool.language}"
        yield Case(kind, pool.name, ids, table, marked)


def _in_batches(texts: Sequence[str], *, size: int = 64) -> Vectors:
    embed = BundledEmbedder().embed
    return np.vstack([embed(texts[start : start + size]) for start in range(0, len(texts), size)])


def _cross_validated(cases: Sequence[Case]) -> list[tuple[str, list[Case]]]:
    groups: dict[str, list[Case]] = {}
    for case in cases:
        groups.setdefault(case.group, []).append(case)
    return sorted(groups.items())


def _of(
    held_out: Sequence[tuple[str, list[Case]]], cases: Sequence[Case]
) -> Iterator[tuple[str, list[Asked]]]:
    """Each group as ranked by weights that were learned without the dialogues of its fold."""
    sources = sorted({case.source for case in cases})
    folds = [set(sources[fold::FOLDS]) for fold in range(FOLDS)]
    asked: list[Asked] = []
    for fold in folds:
        seen = [case for case in cases if case.source not in fold]
        weights = _vector(_learned(seen))
        asked += _ranked([case for case in cases if case.source in fold], weights)
    groups = by_group(asked)
    yield from ((name, groups[name]) for name, _ in held_out)


def _ranked(cases: Sequence[Case], weights: Floats) -> list[Asked]:
    return [
        Asked(
            case.group,
            frozenset(one for one, mark in zip(case.ids, case.marked, strict=True) if mark),
            [case.ids[row] for row in np.argsort(-(case.features @ weights), kind="stable")[:50]],
        )
        for case in cases
    ]


def _learned(cases: Sequence[Case]) -> dict[str, float]:
    """Adam (Kingma and Ba 2015) on the whole set, from the recipe on."""
    hard = [_hardest(case) for case in cases]
    spread = np.vstack([features for features, _ in hard]).std(axis=0) + 1e-9
    change = np.zeros(len(NAMES))
    mean, square = np.zeros_like(change), np.zeros_like(change)
    for step in range(1, STEPS + 1):
        slope = PENALTY * change / len(hard)
        for features, marked in hard:
            slope += _slope(features, marked, change / spread, spread=spread) / len(hard)
        mean = 0.9 * mean + 0.1 * slope
        square = 0.99 * square + 0.01 * slope**2
        change -= RATE * (mean / (1 - 0.9**step)) / (np.sqrt(square / (1 - 0.99**step)) + 1e-8)
    weights = _recipe() + change / spread / SHARPNESS
    return {name: round(float(one), 3) for name, one in zip(NAMES, weights, strict=True)}


def _slope(
    features: Floats, marked: NDArray[np.bool_], change: Floats, *, spread: Floats
) -> Floats:
    scores = features @ (change + SHARPNESS * _recipe())
    share = np.exp(scores - scores.max())
    share /= share.sum()
    slope: Floats = (share @ features - features[marked].mean(axis=0)) / spread
    return slope


def _hardest(case: Case) -> tuple[Floats, NDArray[np.bool_]]:
    best = np.argsort(-(case.features @ _recipe()), kind="stable")[:HARDEST]
    rows = np.union1d(best, np.flatnonzero(case.marked))
    return case.features[rows], case.marked[rows]


def _recipe() -> Floats:
    return _vector(asdict(RECIPE))


def _vector(weights: dict[str, float]) -> Floats:
    return np.array([weights[name] for name in NAMES])


def _write(weights: dict[str, float], cases: Sequence[Case]) -> None:
    counts = {name: len(group) for name, group in _cross_validated(cases)}
    card = {
        "what": "What each feature adds to a message's or episode's score (retrieval/messages.py).",
        "made_by": "bench/train_ranking.py --write",
        "questions": counts,
        "embedder": BundledEmbedder.model,
        "held_back": "LoCoMo was never learned from.",
    }
    TARGET.write_text(json.dumps({"card": card, "weights": weights}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    main(given.files, write=given.write)
