"""Find the words that a third-person pronoun refers to, from the encoder's states.

A small network compares the state of the pronoun with the state of each token before it, after the
encoder's ninth layer. `training/referents.py` trains it on labelled memories in which the person
was added in brackets ("she [my nan] is 84").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memories.reader.inputs import Input
from memories.reader.statements import softmax

REFERENTS = "referent_head.npz"
FEATURES = 7  # a flag for each of five texts, distance to the pronoun, position among candidates
_MOST = 12  # maximum number of most probable tokens around which runs are built
_SAME_WORDS = 0.35  # minimum probability of a neighbour, as a share of the best token's
Floats = NDArray[np.float32]


class Referent(NamedTuple):
    """Words that a pronoun may refer to, `text[start:end]`, with their probability."""

    text: str
    start: int
    end: int
    probability: float


@dataclass(frozen=True)
class Candidates:
    """The tokens that a pronoun may refer to.

    `spans` holds the text number, start and end of each token: text 0 is the message, 1 the
    assistant's message, and 2 to 4 are earlier messages, latest first. `pronoun` (HIDDEN,) is the
    mean state of the pronoun's tokens. `states` (candidates, HIDDEN) and `features` (candidates,
    FEATURES) describe the candidates; the features are their positions.
    """

    spans: list[tuple[int, int, int]]
    pronoun: Floats
    states: Floats
    features: Floats

    @classmethod
    def of(cls, window: Input, states: Floats, start: int, end: int) -> Candidates:
        """Return the candidates for the pronoun `message[start:end]`, in the order of the input."""
        own = [
            place
            for place, token in enumerate(window.tokens)
            if token and token.start < end and start < token.end
        ]
        places, spans = [], []
        for place, (token, other) in enumerate(zip(window.tokens, window.context, strict=True)):
            if token and token.end <= start:
                places.append(place)
                spans.append((0, token.start, token.end))
            elif other:
                places.append(place)
                spans.append((other[0], other[1].start, other[1].end))
        features = np.zeros((len(places), FEATURES), np.float32)
        for number, (text, begin, _) in enumerate(spans):
            features[number, text] = 1
            features[number, 5] = 0 if text else np.log1p(start - begin) / 5
            features[number, 6] = number / len(places)
        pronoun = states[own].mean(0) if own else np.zeros(states.shape[1], np.float32)
        return cls(spans, pronoun, states[places], features)


@dataclass(frozen=True)
class ReferentHead:
    """The network that scores each candidate for a pronoun, and the case that none fits.

    The score of a candidate is a bilinear form of the pronoun's state (`asks`) and its own state
    (`answers`), plus linear forms of its state (`own`) and its features (`places`). `nobody` is the
    linear form for the case that none fits. Shapes: `asks` and `answers` (HIDDEN + 1, rank), `own`
    and `nobody` (HIDDEN + 1,), `places` (FEATURES,). The last of the HIDDEN + 1 rows is a bias.
    """

    asks: Floats
    answers: Floats
    own: Floats
    places: Floats
    nobody: Floats

    def probabilities(self, candidates: Candidates) -> Floats:
        """Return the probability of each candidate and, as last value, that none of them fits."""
        pronoun = _with_one(candidates.pronoun[None])[0]
        states = _with_one(candidates.states)
        scores = states @ self.answers @ (pronoun @ self.asks)
        scores += states @ self.own + candidates.features @ self.places
        return np.asarray(softmax(np.append(scores, pronoun @ self.nobody)), np.float32)

    def referents(self, candidates: Candidates, texts: Sequence[str]) -> list[Referent]:
        """Return the words to which the pronoun may refer, most probable first.

        Words are runs of probable tokens without spaces. `texts` holds the texts to which the
        numbers in the candidates' spans refer.
        """
        shares = self.probabilities(candidates)[:-1]
        found: list[Referent] = []
        taken: set[int] = set()
        for best in np.argsort(-shares)[:_MOST].tolist():
            if best in taken:
                continue
            least = shares[best] * _SAME_WORDS
            first = last = best
            while (
                first
                and _are_joined(candidates.spans, first - 1, texts)
                and shares[first - 1] >= least
            ):
                first -= 1
            while _are_joined(candidates.spans, last, texts) and shares[last + 1] >= least:
                last += 1
            taken |= {*range(first, last + 1)}
            number, start, _ = candidates.spans[first]
            text, end = texts[number], candidates.spans[last][2]
            start = end - len(text[start:end].lstrip())
            found.append(Referent(text, start, end, float(shares[first : last + 1].sum())))
        return sorted(found, key=lambda referent: -referent.probability)

    def save(self, folder: Path) -> None:
        """Write the weights into a folder, rounded to 16 bits."""
        weights = {name: value.astype(np.float16) for name, value in vars(self).items()}
        np.savez_compressed(folder / REFERENTS, **weights)

    @classmethod
    def load(cls, folder: Path) -> ReferentHead:
        """Read the weights that `save` wrote into a folder."""
        with np.load(folder / REFERENTS) as stored:
            names = ("asks", "answers", "own", "places", "nobody")
            return cls(*(stored[name].astype(np.float32) for name in names))


def _are_joined(spans: Sequence[tuple[int, int, int]], number: int, texts: Sequence[str]) -> bool:
    """Return whether no space separates the token with this number from the next token."""
    if number + 1 >= len(spans):
        return False
    (text, _, end), (next_text, start, _) = spans[number], spans[number + 1]
    return text == next_text and start == end and not texts[text][start : start + 1].isspace()


def _with_one(states: Floats) -> Floats:
    return np.concatenate([states, np.ones((len(states), 1), np.float32)], axis=1)
