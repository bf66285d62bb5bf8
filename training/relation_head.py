"""Fit the small network that helps the encoder to find the relation of two statements.

    .venv-train/bin/python -m training.relation_head [--folder .training/reader]

The encoder has memorised the pairs that it was trained on, so they don't show where it errs. This
network reads the encoder's states. It learns from the pairs that were held out of the encoder's
training (`labels.HELD_OUT`), and also from all other pairs. Its scores are added to those of the
encoder.

Two networks are fitted. The first leaves out a fifth of the held-out topics; figures about this
fifth and about the blind sets in `bench/data/reader` are printed. The second learns from all pairs
of `data/pairs` and is written to `relation_head.npz`. Blind sets are never trained on. The run
takes ten minutes on one core, nearly all of it for the states of 16,000 pairs.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from memories.reader import inputs
from memories.reader.reading import RELATION_SCORES, Encoder
from memories.reader.state_head import RELATIONS, StateHead
from memories.reader.statements import PAIRS
from training.head_fitting import Examples, Floats, Plan, fitted, joined
from training.labels import DATA, Pair, files, held_out_pairs, is_drawn, read_pairs

PLAN = Plan(units=64, networks=1, passes=20, batch=64, drop=(0.2, 0.3), decay=0.05)
_FOLDS = 5
_SMOOTHING = 0.05


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path(".training/reader"))
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the pairs to use, for a trial"
    )
    given = parser.parse_args()
    encoder = Encoder(given.folder)
    known, unseen = (
        [
            pair
            for pair in read_pairs(files(DATA / "pairs", held_out=is_unseen))
            if pair.relation and is_drawn(pair.first + pair.second, given.share)
        ]
        for is_unseen in (False, True)
    )
    folds = [crc32(pair.group.encode()) % _FOLDS == 0 for pair in unseen]
    blind = [pair for pair in held_out_pairs(given.share) if pair.relation]
    tested = [pair for pair, is_out in zip(unseen, folds, strict=True) if is_out]
    rest = [pair for pair, is_out in zip(unseen, folds, strict=True) if not is_out]
    learned, held, checked = (
        examples(encoder, pairs) for pairs in ([*known, *rest], tested, blind)
    )
    print(f"{len(known)} known pairs, {len(unseen)} unseen, {len(blind)} blind", flush=True)
    head = fitted(learned, PLAN)
    for name, pairs, read in (("held out", tested, held), ("blind", blind, checked)):
        after = read.scores + scores(head, read)
        for language in sorted({pair.language for pair in pairs}):
            chosen = np.array([pair.language == language for pair in pairs])
            right = [
                float((each.argmax(1) == read.answers.argmax(1))[chosen].mean())
                for each in (read.scores, after)
            ]
            print(f"{name}, {language}: {right[0]:.3f} -> {right[1]:.3f} of {chosen.sum()}")
    fitted(joined([learned, held]), PLAN).save(given.folder / RELATIONS)


def scores(head: StateHead, read: Examples) -> Floats:
    """Return the scores that the head adds to the encoder's scores of these examples."""
    return head.scores(read.inputs, np.zeros(0, np.float32))


def examples(encoder: Encoder, pairs: Sequence[Pair]) -> Examples:
    """Return the training examples of the pairs. Each pair must have a relation."""
    read = [
        encoder.pair_states(inputs.build_pair_input(encoder.tokenizer, pair.first, pair.second))
        for pair in pairs
    ]
    right = np.eye(len(PAIRS), dtype=np.float32)[
        [PAIRS.index(pair.relation) for pair in pairs if pair.relation]
    ]
    return Examples(
        np.stack([np.concatenate([both, mean]) for _, both, mean in read]),
        right * (1 - _SMOOTHING) + _SMOOTHING / len(PAIRS),
        np.ones(len(pairs), np.float32),
        np.stack([own[RELATION_SCORES] for own, *_ in read]),
    )


if __name__ == "__main__":
    main()
