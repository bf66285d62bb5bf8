"""Fit the small network that finds whom a third-person pronoun means.

    .venv/bin/python -m training.referents [--folder .training/reader] [--report]

The labelled memories name the person in brackets: "she [my nan] is 84". If these words occur before
the pronoun or in an earlier message, their tokens are the right answer. `--report` prints for each
language how often the most probable words are right, with networks that haven't seen the voice.
Otherwise one head is fitted to all rows and written to `referent_head.npz`, which takes three
minutes on one core.
"""

import argparse
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memories.extraction.wording.people import pronoun_in
from memories.reader import inputs
from memories.reader.reading import Encoder
from memories.reader.referents import FEATURES, Candidates, ReferentHead
from training.labels import DATA, Row, Span, files, is_drawn, read_messages

_FOLDS = 5
_RANK, _PASSES, _BATCH, _RATE, _DECAY, _DROP = 48, 12, 16, 2e-3, 0.3, 0.4
_NETWORKS = 3  # joined into one network, which averages their scores
_VERB = re.compile(r"(?i)\s*(?:['’]s|\b(?:is|was|are|were|has|had|am|be)|在|是|有|[:：])$")
_OWNER = re.compile(r"(?i)^(?:my|our|the|me|ma|mi|mein\w*|mon|ma|我们?的?|我)\s*")
Floats = NDArray[np.float32]


@dataclass
class Example:
    """A pronoun with its candidates; `right` has the indexes of the candidates that it means."""

    voice: str
    language: str
    candidates: Candidates
    right: list[int]


def main() -> None:
    """Print figures about unseen voices, or write the network."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", type=Path, default=Path(".training/reader"))
    parser.add_argument(
        "--share", type=float, default=1.0, help="share of the messages to use, for a trial"
    )
    parser.add_argument("--report", action="store_true")
    wanted = parser.parse_args()
    rows = [
        row for row in read_messages(files(DATA / "messages")) if is_drawn(row.text, wanted.share)
    ]
    examples = list(_examples(rows, Encoder(wanted.folder)))
    if wanted.report:
        _report(examples)
    else:
        fitted(examples).save(wanted.folder)


def _examples(rows: Sequence[Row], encoder: Encoder) -> Iterator[Example]:
    for row in rows:
        for span in row.spans:
            if place := _pronoun(row, span):
                yield from _example(row, span, *place, encoder=encoder)


def _pronoun(row: Row, span: Span) -> tuple[int, int] | None:
    """Return the range of the first pronoun of a statement, as offsets in the message.

    Return None if there is no third-person pronoun for people, or no labelled memory.
    """
    start, end, gender = pronoun_in(row.text[span.start : span.end], row.language)
    if not span.memory or gender in ("", "p"):
        return None
    return span.start + start, span.start + end


def _example(row: Row, span: Span, start: int, end: int, *, encoder: Encoder) -> Iterator[Example]:
    quote = re.escape(row.text[span.start : end])
    found = re.match(rf"{quote}\s?\[([^\]]*)\]", span.memory)
    is_nobody = "[" not in span.memory and start == span.start
    if not found and not is_nobody:
        return
    window = inputs.build_referent_input(
        encoder.tokenizer, row.text, end, before=row.before, assistant=row.assistant
    )
    candidates = Candidates.of(window, encoder.token_states(window), start, end)
    texts = [row.text[:start], row.assistant, *row.before]
    right = _places(found[1], texts, candidates.spans) if found else []
    if right or is_nobody:
        yield Example(row.voice, row.language, candidates, right)


def _places(who: str, texts: Sequence[str], spans: Sequence[tuple[int, int, int]]) -> list[int]:
    """Return the indexes of the candidates that overlap an occurrence of `who` in the texts.

    `who` names a person; a candidate is a number of a text with a start and an end. If `who`
    doesn't occur, it is searched for without "my", then word by word.
    """
    while (shorter := _VERB.sub("", who).strip()) != who:
        who = shorter
    parts = [word for word in who.split() if len(word) > 2 and not _OWNER.match(f"{word} ")]
    for words in ([who], [_OWNER.sub("", who)], parts):
        at = [
            (number, found.start(), found.end())
            for one in words
            if len(one) > 1
            for number, text in enumerate(texts)
            for found in re.finditer(re.escape(one), text, re.IGNORECASE)
        ]
        if at:
            return [
                place
                for place, (text, start, end) in enumerate(spans)
                if any(text == one[0] and start < one[2] and one[1] < end for one in at)
            ]
    return []


def fitted(examples: Sequence[Example]) -> ReferentHead:
    """Return a head that is fitted to the examples. The result is deterministic."""
    states = np.concatenate([one.candidates.states for one in examples])
    mean, spread = states.mean(0), states.std(0) + 1e-3
    heads = [_trained(examples, mean, spread, seed) for seed in range(_NETWORKS)]
    unscaled = [
        {name: _unscaled(value, mean, spread) for name, value in head.items() if name != "places"}
        for head in heads
    ]
    root = np.sqrt(_NETWORKS)
    return ReferentHead(
        asks=np.hstack([one["asks"] for one in unscaled]) / root,
        answers=np.hstack([one["answers"] for one in unscaled]) / root,
        own=np.mean([one["own"] for one in unscaled], 0),
        places=np.mean([head["places"] for head in heads], 0),
        nobody=np.mean([one["nobody"] for one in unscaled], 0),
    )


def _unscaled(weights: Floats, mean: Floats, spread: Floats) -> Floats:
    """Convert weights for the scaled states (states - mean) / spread to weights for the states."""
    raw = (weights[:-1].T / spread).T
    return np.concatenate([raw, [weights[-1] - mean @ raw]]).astype(np.float32)


def _trained(
    examples: Sequence[Example], mean: Floats, spread: Floats, seed: int
) -> dict[str, Floats]:
    """Train a network with Adam, decoupled weight decay and dropout; return its weights."""
    chance = np.random.default_rng(seed)
    size = len(mean) + 1
    weights = {
        "asks": chance.normal(0, 0.02, (size, _RANK)),
        "answers": chance.normal(0, 0.02, (size, _RANK)),
        "own": np.zeros(size),
        "places": np.zeros(FEATURES),
        "nobody": np.zeros(size),
    }
    first = {name: np.zeros_like(value) for name, value in weights.items()}
    second = {name: np.zeros_like(value) for name, value in weights.items()}
    steps, step = _PASSES * -(-len(examples) // _BATCH), 0
    for _ in range(_PASSES):
        order = chance.permutation(len(examples))
        for begin in range(0, len(order), _BATCH):
            batch = order[begin : begin + _BATCH]
            slopes = {name: np.zeros_like(value) for name, value in weights.items()}
            for number in batch:
                _add_slopes(slopes, weights, examples[number], mean, spread, chance)
            step += 1
            for name, value in weights.items():
                slope = slopes[name] / len(batch)
                first[name] += 0.1 * (slope - first[name])
                second[name] += 0.001 * (slope**2 - second[name])
                move = first[name] / (1 - 0.9**step)
                move /= np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
                value -= _RATE * (1 - step / steps) * (move + _DECAY * value)
    return weights


def _add_slopes(
    slopes: dict[str, Floats],
    weights: dict[str, Floats],
    example: Example,
    mean: Floats,
    spread: Floats,
    chance: np.random.Generator,
) -> None:
    """Add to `slopes` the gradient of -log of the right candidates' summed probability."""
    given = example.candidates
    pronoun = _input((given.pronoun[None] - mean) / spread, chance)[0]
    states = _input((given.states - mean) / spread, chance)
    asked, answered = pronoun @ weights["asks"], states @ weights["answers"]
    scores = answered @ asked + states @ weights["own"] + given.features @ weights["places"]
    scores = np.append(scores, pronoun @ weights["nobody"])
    shares = np.exp(scores - scores.max())
    shares /= shares.sum()
    wanted = np.zeros_like(shares)
    right = example.right or [-1]
    wanted[right] = shares[right] / max(shares[right].sum(), 1e-9)
    wrong = shares - wanted
    slopes["asks"] += np.outer(pronoun, answered.T @ wrong[:-1])
    slopes["answers"] += np.outer(states.T @ wrong[:-1], asked)
    slopes["own"] += states.T @ wrong[:-1]
    slopes["places"] += given.features.T @ wrong[:-1]
    slopes["nobody"] += pronoun * wrong[-1]


def _input(states: Floats, chance: np.random.Generator) -> Floats:
    """Return the states with dropout, and a 1 at the end of each."""
    kept = (chance.random(states.shape[1]) > _DROP) / (1 - _DROP)
    return np.concatenate([states * kept, np.ones((len(states), 1))], 1)


def _report(examples: Sequence[Example]) -> None:
    count: Counter[tuple[str, str]] = Counter()
    for fold in range(_FOLDS):
        unseen = [one for one in examples if crc32(one.voice.encode()) % _FOLDS == fold]
        head = fitted([one for one in examples if crc32(one.voice.encode()) % _FOLDS != fold])
        for one in unseen:
            shares = head.probabilities(one.candidates)
            best = int(shares.argmax())
            is_right = best in (one.right or [len(shares) - 1])
            for name in (one.language, "sure" if shares[best] >= 0.5 else "unsure"):
                count[name, "all"] += 1
                count[name, "right"] += is_right
    for name in sorted({name for name, _ in count}):
        print(f"{name}: {count[name, 'right'] / count[name, 'all']:.3f} of {count[name, 'all']}")


if __name__ == "__main__":
    main()
