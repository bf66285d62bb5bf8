"""Train the ranking of messages: `message_weights.json`, `message_trees.npz` and its card.

    .venv/bin/python bench/train_ranking.py [--write] [MEMORYBANK_FILE…]

The training data are our dialogues (`bench/data/retrieval`, each with the turns of the others as
distractors) and MemoryBank's marked questions, if its files are given. LoCoMo is never used. The
features are those of the product (`messages.features_of`). First the weights are trained with a
listwise loss, the negative log of the softmax share of the marked messages (Cao et al. 2007), plus
a penalty for deviating from the weights `RECIPE` of the product, which were adjusted by hand. Then
trees are trained on the messages with the best sums (`bench/boosting.py`). The figures are
cross-validated: a dialogue is ranked by weights and trees that were not trained on it. The same
input gives the same numbers.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import boosting, ranking_cases
from bench.boosting import Options, Ranking
from bench.product import print_result
from bench.ranking import RankedQuestion, by_group, figures, print_table
from bench.ranking_cases import NAMES, Case
from foundation.providers.embedders import BundledEmbedder
from memories.retrieval import rerank
from memories.retrieval.rerank import Forest
from memories.retrieval.signals import scale_scores
from memories.retrieval.weights import RECIPE

Floats = NDArray[np.float64]
FOLDER = Path(__file__).resolve().parent.parent / "memories/retrieval/data"
AT = (1, 5, 10, 25, 50)
SHARPNESS = 8.0  # factor of the recipe's scores in the softmax
PENALTY = 100.0  # of the squared deviation from the recipe, for standardised features
HARDEST = 120  # messages per question that the recipe ranks best
STEPS, RATE, FOLDS = 120, 0.05, 3
TREES = Options()


@dataclass(frozen=True)
class Learned:
    weights: dict[str, float]
    forest: Forest


def main(paths: Sequence[str], *, write: bool) -> None:
    cases = ranking_cases.load(paths)
    rows = dict(sorted(_figures(cases)))
    print_table(rows)
    learned = _learn(cases)
    if write:
        _write(learned, cases)
    print_result({"weights": learned.weights, "figures": rows})


def _figures(cases: Sequence[Case]) -> Iterator[tuple[str, dict[str, float | int]]]:
    """Yield the figures of each group, by the recipe and by cross-validated weights and trees."""
    sources = sorted({case.source for case in cases})
    ranked: dict[str, list[RankedQuestion]] = {
        "recipe": [_ranked(case, _weighed(case)) for case in cases]
    }
    for fold in range(FOLDS):
        left_out = set(sources[fold::FOLDS])
        learned = _learn([case for case in cases if case.source not in left_out])
        for case in (case for case in cases if case.source in left_out):
            sums = _weighed(case, learned.weights)
            ranked.setdefault("weights", []).append(_ranked(case, sums))
            scores = _looked_at_again(case, sums, learned.forest)
            ranked.setdefault("trees", []).append(_ranked(case, scores))
    for how, asked in ranked.items():
        for name, group in by_group(asked).items():
            yield f"{name}, {how}", figures(group, at=AT)


def _ranked(case: Case, scores: Floats) -> RankedQuestion:
    wanted = frozenset(
        message_id for message_id, mark in zip(case.ids, case.marked, strict=True) if mark
    )
    best = np.argsort(-scores, kind="stable")[:50]
    return RankedQuestion(case.group, wanted, [case.ids[row] for row in best])


def _learn(cases: Sequence[Case]) -> Learned:
    weights = _learned_weights(cases)
    rankings = [_ranking(case, _weighed(case, weights)) for case in cases]
    names = (*_features(cases[0], _weighed(cases[0])), *cases[0].asked)
    return Learned(weights, boosting.boost(rankings, names=names, options=TREES))


def _ranking(case: Case, sums: Floats) -> Ranking:
    """Return the training rows of the trees: the best messages by sum, and all marked ones."""
    best = np.argsort(-sums, kind="stable")[: rerank.LOOKED_AT]
    rows = np.union1d(best, np.flatnonzero(case.marked))
    start = rerank.SHARPNESS * scale_scores(sums)[rows]
    return Ranking(_columns(case, sums)[rows], case.marked[rows], start)


def _columns(case: Case, sums: Floats) -> Floats:
    asked = [np.full(sums.size, value) for value in case.asked.values()]
    return np.column_stack([*_features(case, sums).values(), *asked])


def _features(case: Case, sums: Floats) -> dict[str, Floats]:
    return {**dict(zip(NAMES, case.features.T, strict=True)), **rerank.rank_features(sums)}


def _looked_at_again(case: Case, sums: Floats, forest: Forest) -> Floats:
    features = _features(case, sums)
    return rerank.rerank_best(features, weighed=sums, asked=case.asked, forest=forest).total


def _weighed(case: Case, weights: dict[str, float] | None = None) -> Floats:
    sums: Floats = case.features @ _vector(weights or asdict(RECIPE))
    return sums


def _learned_weights(cases: Sequence[Case]) -> dict[str, float]:
    """Return weights that were optimised with Adam (Kingma and Ba 2015), in full batches.

    The optimisation starts at the weights `RECIPE`.
    """
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
    return {name: round(float(weight), 3) for name, weight in zip(NAMES, weights, strict=True)}


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


def _write(learned: Learned, cases: Sequence[Case]) -> None:
    card = {
        "made_by": "bench/train_ranking.py --write",
        "questions": dict(sorted(Counter(case.group for case in cases).items())),
        "embedder": BundledEmbedder.model,
        "held_back": "LoCoMo was never learned from.",
    }
    what = "What each feature adds to a message's or episode's score (retrieval/messages.py)."
    _write_json("message_weights.json", card | {"what": what}, weights=learned.weights)
    what = "What trees add to the score of the best messages and episodes (retrieval/rerank.py)."
    how = {
        "options": asdict(TREES),
        "columns": learned.forest.names,
        "trees": len(learned.forest.feature),
    }
    _write_json("message_trees.json", card | {"what": what}, **how)
    rerank.save(learned.forest, FOLDER / "message_trees.npz")


def _write_json(name: str, card: Mapping[str, object], **more: object) -> None:
    text = json.dumps({"card": dict(card), **more}, indent=1) + "\n"
    (FOLDER / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    main(given.files, write=given.write)
