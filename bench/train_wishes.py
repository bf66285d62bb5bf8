"""Train the detection of standing wishes about answers (`requests/answer_wishes.py`).

    .venv/bin/python bench/train_wishes.py [--write]

The training data are the memories of `training/data/block` without constraints and pinned ones (a
memory that every prompt of its person needs is a wish) and the rows of `training/data/wishes`. A
logistic regression with a penalty is fitted by Newton's method. The printed figures are
cross-validated by file, each of which has one writer: `found` is the share of the wishes that is
found, `mistaken` the number of other memories that count as wishes. The blind people of
`bench/data/block` are judged by weights trained on all training files; `--write` stores the
weights.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import block, train_prompts
from bench.labelled import share
from bench.logistic import fit_logistic
from bench.product import ROOT, print_result
from foundation.providers.embedders import BundledEmbedder
from memories.extraction.requests import answer_wishes
from memories.reader.reading import reader

Floats = NDArray[np.float64]
CONTRASTS = ROOT / "training" / "data" / "wishes" / "contrasts.jsonl"
PENALTY = 1.0
VECTOR = 9.0  # how much less a weight of the vector is penalised than one of the reader's features
BIAS = 0.25  # log-odds from which a text counts as a wish; high, as a wrong wish is in every prompt


@dataclass(frozen=True)
class Texts:
    """One row per text; `file` is the index of its file, and `kind` the kind of the memory."""

    features: Floats
    wish: NDArray[np.bool_]
    file: NDArray[np.int64]
    kind: NDArray[np.str_]

    def where(self, rows: NDArray[np.bool_]) -> Texts:
        return Texts(self.features[rows], self.wish[rows], self.file[rows], self.kind[rows])


def main(*, write: bool) -> None:
    own = [list(memories_of(path)) for path in sorted(train_prompts.DATA.glob("*.jsonl"))]
    train = _read([*own, list(_contrasts())])
    blind = _read([list(memories_of(path)) for path in sorted(block.DATA.glob("*.jsonl"))])
    odds = np.zeros(len(train.file))
    for file in np.unique(train.file):
        unseen = train.file == file
        odds[unseen] = _odds(_fitted(train.where(~unseen)), train.where(unseen))
    weights = _fitted(train)
    if write:
        np.savez(
            answer_wishes.WEIGHTS,
            weights=weights[:-1].astype(np.float16),
            bias=np.float32(weights[-1] - BIAS),
        )
    print_result(
        {"training": _figures(train, odds), "blind": _figures(blind, _odds(weights, blind))}
    )


def memories_of(path: Path) -> Iterator[tuple[str, str, bool]]:
    for person in block.read(path):
        for place, memory in enumerate(person.memories):
            group = person.group_of(place)
            if group in ("standing", "ordinary"):
                yield memory["content"], memory["kind"], group == "standing"


def _contrasts() -> Iterator[tuple[str, str, bool]]:
    for line in CONTRASTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["text"], "preference", row["wish"]


def _read(files: Sequence[Sequence[tuple[str, str, bool]]]) -> Texts:
    rows = [(at, *row) for at, file in enumerate(files) for row in file]
    vectors = BundledEmbedder().embed([text for _, text, _, _ in rows])
    features = [
        answer_wishes.features_of(reader().read(text).statements, vector=vector)
        for (_, text, _, _), vector in zip(rows, vectors, strict=True)
    ]
    return Texts(
        np.array(features, float),
        np.array([wish for *_, wish in rows]),
        np.array([at for at, *_ in rows]),
        np.array([kind for _, _, kind, _ in rows]),
    )


def _fitted(texts: Texts) -> Floats:
    """Return the fitted weights. The last is the constant term."""
    given = np.hstack([texts.features, np.ones((len(texts.file), 1))])
    penalty = np.full(given.shape[1], PENALTY / VECTOR)
    penalty[:3], penalty[-1] = PENALTY, 1e-6
    return fit_logistic(given, texts.wish.astype(float), penalty)


def _odds(weights: Floats, texts: Texts) -> Floats:
    odds: Floats = texts.features @ weights[:-1] + weights[-1]
    return odds


def _figures(texts: Texts, odds: Floats) -> dict[str, float | int | None]:
    found = (odds >= BIAS) & ~np.isin(texts.kind, answer_wishes.NEVER)
    return {
        "wishes": int(texts.wish.sum()),
        "found": share(int((found & texts.wish).sum()), int(texts.wish.sum())),
        "others": int((~texts.wish).sum()),
        "mistaken": int((found & ~texts.wish).sum()),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    main(write=parser.parse_args().write)
