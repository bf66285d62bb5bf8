"""Fit the weights with which secrets are found and judged.

    .venv/bin/python bench/secret_weights.py [--write] [--folder FOLDER]

Fits the reader's head that finds secrets (`bench/secret_head.py`) and both steps of
`memories/screening/secret_judge.py` to the rows of `bench/data/secrets`. `--write` stores the
weights where the product reads them. With `--folder` the encoder of that folder is used; the head
is stored there, and the judge beside the folder.

The head and the second step learn only from the sets in `UNSEEN`, with which the reader's encoder
was not trained. The second step gets results of the head and of the first step that were fitted
without the row's file. The first step learns from all rows. In rows with which the encoder was
trained, spans that a rule finds and spans with digits, quotes or capitals are used instead of the
reader's spans, since the encoder knows these rows. For several limits, the output shows the results
of the second step on the files of `UNSEEN`: the shares of the secret spans and of the other spans
that are judged to be secret.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import re2
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bench import secret_head
from bench.forget_weights import fitted
from bench.secret_screening import SETS, Row, rows
from memories.reader.reading import DATA, Encoder, Model, Reader
from memories.reader.state_head import SECRETS
from memories.screening import learned_secrets, secret_judge, secret_search
from memories.screening.secret_judge import FEATURES, Candidate, Words
from training import head_fitting
from training.labels import is_drawn

Floats = NDArray[np.float64]
# Prefixes of the sets with which the shipped encoder was not trained.
UNSEEN = (
    *("eighteenth", "nineteenth", "twentieth", "twentyfirst", "twentysecond"),
    *("twentythird", "twentyfourth", "twentyfifth", "twentysixth", "twentyseventh"),
    *("hard", "near", "near23", "pairs", "names", "forms"),
)
_LIKE_SECRETS = re2.compile(
    r"[A-Za-z0-9][\w\-.!@#$%^&*/+=:]*[0-9!@#$%^&*][\w\-.!@#$%^&*/+=]*|[0-9]+"
    r"|[\"“「『‘'][^\"”」』’']{2,40}[\"”」』’']|\b[A-Z][a-z]+[0-9]*\b"
)
_FOLDS = 4
_ROUNDS = 500  # of gradient descent
_PENALTY = 0.02  # on the squares of the weights of the first step, for all examples together
_OWN = 8  # how often an example of an unseen set counts in the first step
_LIMITS = (0.2, 0.3, 0.35, 0.4, 0.5)


@dataclass(frozen=True)
class Example:
    row: Row
    candidate: Candidate
    is_secret: bool


def main(arguments: Sequence[str]) -> None:
    options = _options(arguments)
    share = options.share
    files = [file for file in sorted(SETS.glob("*.jsonl")) if _drawn(file, share)]
    unseen = [file for file in files if file.stem.split("_")[0] in UNSEEN]
    learned = [one for file in files if file not in unseen for one in _likely(file, share)]
    encoder = Encoder(options.folder)
    tokens = [secret_head.tokens(_drawn(file, share), encoder) for file in unseen]
    judged: list[Example] = []
    fold_of: list[int] = []
    for fold in range(_FOLDS):
        rest = [each for at, each in enumerate(tokens) if at % _FOLDS != fold]
        head = head_fitting.fitted(head_fitting.joined(rest), secret_head.PLAN)
        reader = Reader(Model(options.folder, secret_head=head))
        found = [one for file in unseen[fold::_FOLDS] for one in _read(file, reader, share)]
        judged += found
        fold_of += [fold] * len(found)
        print(f"head of fold {fold + 1} of {_FOLDS}", file=sys.stderr, flush=True)
    folds = np.array(fold_of)
    matrix = Matrix.of([*learned, *judged])
    right = np.array([one.is_secret for one in (*learned, *judged)], np.float64)
    counts = np.array([1.0] * len(learned) + [float(_OWN)] * len(judged))
    own = np.arange(len(learned), len(right))
    by_text = np.zeros(len(judged))
    for fold in range(_FOLDS):
        left_out = np.zeros(len(right))
        left_out[own[folds == fold]] = 1
        words = first_step(matrix, right, counts * (1 - left_out))
        by_text[folds == fold] = matrix.logits(words)[own[folds == fold]]
        print(f"fold {fold + 1} of {_FOLDS}", file=sys.stderr, flush=True)
    signals = np.array(
        [
            secret_judge.values(one.candidate, each)[:-1]
            for one, each in zip(judged, by_text, strict=True)
        ]
    )
    wanted = right[own]
    bias, *others = fitted(np.hstack([np.ones((len(own), 1)), signals]), wanted)
    second = np.array([*others, bias])
    _show(judged, 1 / (1 + np.exp(-(signals @ second[:-1] + bias))))
    print(
        dict(
            zip(
                ("by_text", "read", "by_rule", "by_form", "bias"),
                second.round(2).tolist(),
                strict=True,
            )
        )
    )
    if options.write:
        head = head_fitting.fitted(head_fitting.joined(tokens), secret_head.PLAN)
        head.save(options.folder / SECRETS)
        words = first_step(matrix, right, counts)
        path = secret_judge.WEIGHTS
        np.savez_compressed(
            path if options.folder == DATA else options.folder.with_name(path.name),
            words=words.astype(np.float16),
            signals=second.astype(np.float32),
        )


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--folder", type=Path, default=DATA)
    parser.add_argument("--share", type=float, default=1.0, help="of the rows, for a trial")
    return parser.parse_args(arguments)


def _drawn(file: Path, share: float) -> list[Row]:
    return [row for row in rows(file) if is_drawn(row.text, share)]


def _likely(file: Path, share: float) -> Iterator[Example]:
    """Yield the spans that a rule finds or that look like secrets."""
    for row in _drawn(file, share):
        spans = {(one.start, one.end) for one in secret_search.find(row.text)}
        spans |= {match.span() for match in _LIKE_SECRETS.finditer(row.text)}
        for span in sorted(spans):
            yield _example(row, Candidate(*span, "", 0, by_rule=False, by_form=False))


def _read(file: Path, reader: Reader, share: float) -> Iterator[Example]:
    for row in _drawn(file, share):
        for one in learned_secrets.candidates(row.text, reader.read(row.text)):
            yield _example(row, one)


def _example(row: Row, one: Candidate) -> Example:
    return Example(row, one, row.has_secret_at(one.start, one.end))


@dataclass(frozen=True)
class Matrix:
    """The features of all examples, concatenated; those of example n begin at `starts[n]`."""

    features: NDArray[np.int64]
    starts: NDArray[np.int64]
    scale: Floats

    @classmethod
    def of(cls, examples: Sequence[Example]) -> Matrix:
        found = [
            secret_judge.features(Words(one.row.text), one.candidate.start, one.candidate.end)
            for one in examples
        ]
        lengths = np.array([len(each) for each in found])
        starts = np.concatenate([[0], lengths.cumsum()[:-1]])
        return cls(np.concatenate(found).astype(np.int64), starts, 1 / np.sqrt(lengths))

    def logits(self, words: Floats) -> Floats:
        sums = np.add.reduceat(words[self.features], self.starts) * self.scale
        return np.asarray(sums + words[FEATURES])

    def gradient(self, errors: Floats) -> Floats:
        lengths = np.diff([*self.starts, len(self.features)])
        shares = np.repeat(errors * self.scale, lengths)
        return np.append(np.bincount(self.features, shares, FEATURES), errors.sum())


def first_step(matrix: Matrix, right: Floats, counts: Floats) -> Floats:
    """Return the weights of the first step, a logistic regression. The last weight is the bias.

    `right` has the answers (0 or 1) and `counts` the weights of the examples. The regression is
    fitted with Nesterov's accelerated gradient method.
    """
    words = ahead = np.zeros(FEATURES + 1)
    total = counts.sum()
    # The rows have length 1 (sqrt 2 with the bias), so the curvature is below .5.
    step = 2.0 / total
    speed = 1.0
    for _ in range(_ROUNDS):
        errors = counts * (1 / (1 + np.exp(-matrix.logits(ahead))) - right)
        gradient = matrix.gradient(errors) + _PENALTY * ahead
        before, words = words, ahead - step * gradient
        faster = (1 + math.sqrt(1 + 4 * speed**2)) / 2
        ahead = words + (speed - 1) / faster * (words - before)
        speed = faster
    return words


def _show(judged: Sequence[Example], shares: Floats) -> None:
    for language in ("en", "zh"):
        mine = [at for at, one in enumerate(judged) if one.row.language == language]
        secret = [shares[at] for at in mine if judged[at].is_secret]
        other = [shares[at] for at in mine if not judged[at].is_secret]
        for limit in _LIMITS:
            found, wrong = (np.mean([one >= limit for one in each]) for each in (secret, other))
            of = f"{len(secret)}, {wrong:.3f} of {len(other)}"
            print(f"{language} from {limit}: {found:.3f} of {of}")


if __name__ == "__main__":
    main(sys.argv[1:])
