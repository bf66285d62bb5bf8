"""Fit the head and the weights that find the memories that a request to forget refers to.

    .venv/bin/python bench/forget_weights.py [--write] [--folder FOLDER]

The head (`memories/reader/state_head.py`) corrects the encoder's probability that a request refers
to a memory. It is fitted to those rows of `bench/data/forget_requests` that the encoder
wasn't trained on (`SETS`), because on rows that it has learned, its probabilities are too certain.
Each memory of a row is one example, wanted or not. For the same reason the weights in
`memories/forgetting/request_matching.py` are fitted, by logistic regression, to the probabilities
of heads that were fitted without the row's set.

Prints these weights, and for each set the average precision without and with a head. `--write`
saves the head that is fitted to all sets. `--folder` names the folder of the encoder and of the
head; the shipped reader always finds the words of a request that name its subject. Takes a quarter
of an hour on one core.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench.forget_requests import DATA, Row, read
from bench.logistic import fit_logistic
from memories.reader import inputs
from memories.reader.reading import DATA as READER
from memories.reader.reading import MEANT_SCORE, Encoder
from memories.reader.state_head import MEANT, StateHead
from memories.reader.statements import sigmoid
from training.head_fitting import Examples, Plan, joined
from training.head_fitting import fitted as fitted_head
from training.labels import is_drawn

if TYPE_CHECKING:
    from memories.forgetting.request_matching import Signals

Floats = NDArray[np.float64]
# Prefixes of the files that the encoder wasn't trained on (`training.labels.HELD_OUT`).
SETS = ("fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "eleventh")
PLAN = Plan(units=32, networks=1, passes=10, batch=64)
_PENALTY = 1.0  # on the squares of the weights of the standardised signals


@dataclass(frozen=True)
class RequestRow:
    """A row with the parts of its request that the product compares with the memories.

    `about` is the text of the request, `subject` its words for the subject. `examples` holds one
    example for each memory.
    """

    row: Row
    about: str
    subject: str
    examples: Examples


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folder", type=Path, default=READER)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows, for a trial")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memcenter.settings")
    import django

    django.setup()
    encoder = Encoder(options.folder)
    asked = {name: list(_asked(name, encoder, options.share)) for name in SETS}
    asked = {name: rows for name, rows in asked.items() if rows}
    of_set = {name: joined([one.examples for one in rows]) for name, rows in asked.items()}
    found: list[tuple[dict[str, float], bool]] = []
    for name, rows in asked.items():
        head = fitted_head(joined([of_set[one] for one in asked if one != name]), PLAN)
        own = of_set[name]
        before, after = (
            average_precision(scores, own.answers) for scores in (own.scores, _scores(head, own))
        )
        print(f"{name}: {before:.3f} -> {after:.3f} of {len(own.answers)}", flush=True)
        found += [
            (signals.values, signals.meant.pk in one.row.wanted)
            for one in rows
            for signals in _signals(one, head)
        ]
    names = list(found[0][0])
    values = np.array([[one[name] for name in names] for one, _ in found])
    weights = fitted(values, np.array([float(is_wanted) for _, is_wanted in found]))
    for name, weight in zip(names, weights, strict=True):
        print(f'    "{name}": {weight:.2f},')
    if options.write:
        fitted_head(joined(list(of_set.values())), PLAN).save(options.folder / MEANT)


def _asked(name: str, encoder: Encoder, share: float) -> Iterator[RequestRow]:
    """Yield the rows of a set whose request names a subject.

    If the product finds several requests in a text, the first counts.
    """
    from memories.extraction.requests.request_subjects import clauses_of
    from memories.forgetting.spoken_requests import extract_without_context

    for path in sorted(DATA.glob(f"{name}_*.jsonl")):
        for row in filter(lambda one: is_drawn(one.request, share), read(path)):
            requests = [one for one in extract_without_context(row.request).forget if one.about]
            about = requests[0].about if requests else row.request
            whole = not requests or about == requests[0].quote
            subject = ", ".join(clauses_of(about, whole=whole))
            if subject:
                yield RequestRow(row, about, subject, _examples(row, about, encoder))


def _examples(row: Row, about: str, encoder: Encoder) -> Examples:
    read = [
        encoder.pair_states(inputs.build_pair_input(encoder.tokenizer, about, memory))
        for memory in row.memories
    ]
    return Examples(
        np.stack([np.concatenate([both, mean]) for _, both, mean in read]).astype(np.float32),
        np.array([place in row.wanted for place in range(len(read))], np.float32),
        np.ones(len(read), np.float32),
        np.array([scores[MEANT_SCORE] for scores, _, _ in read], np.float32),
    )


def _scores(head: StateHead, examples: Examples) -> NDArray[np.float32]:
    """Return the sums of the encoder's and the head's scores, one for each example."""
    no_mean = np.zeros(0, np.float32)  # the inputs already contain the mean
    return examples.scores + head.scores(examples.inputs, no_mean)


def _signals(one: RequestRow, head: StateHead) -> Sequence[Signals]:
    """Return the signals of a row's memories, with the probabilities that a head gives."""
    from memories.forgetting import request_matching
    from memories.indexing import search_index
    from memories.writing.similar_memories import RequestMatch

    vectors = search_index.configured_embedder().embed([one.subject, *one.row.memories])
    met = [
        RequestMatch(place, text, min(1.0, max(0.0, float(vectors[0] @ vector))))
        for place, (text, vector) in enumerate(zip(one.row.memories, vectors[1:], strict=True))
    ]
    about = dict(enumerate(sigmoid(_scores(head, one.examples)).tolist()))
    return request_matching.signals_of(one.subject, met, about)


def average_precision(scores: NDArray[np.float32], answers: NDArray[np.float32]) -> float:
    """Return the average precision of the ranking by score, from 0 to 1."""
    right = answers[np.argsort(-scores)]
    return float((np.cumsum(right) / np.arange(1, len(right) + 1) * right).sum() / right.sum())


def fitted(values: Floats, wanted: Floats) -> Sequence[float]:
    """Return the weights of a logistic regression; the first column of `values` is constant."""
    mean, scale = values.mean(axis=0), values.std(axis=0)
    mean[0], scale[0] = 0.0, 1.0
    rows = (values - mean) / scale
    penalty = np.full(rows.shape[1], _PENALTY)
    penalty[0] = 1e-6
    found = fit_logistic(rows, wanted, penalty) / scale
    found[0] -= float((found[1:] * mean[1:]).sum())
    return [float(weight) for weight in found]


if __name__ == "__main__":
    main()
