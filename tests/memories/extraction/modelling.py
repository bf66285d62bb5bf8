"""The three language steps at a model server of the test's own, beside an unsure pair head."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from foundation.providers.base import ModelUse
from foundation.providers.openai_compatible import Endpoint, OpenAICompatibleModel
from memories.extraction.arbitration.verdicts import BundledArbiter
from memories.extraction.bundled import BundledExtractor
from memories.extraction.chat_model.arbiter import ModelArbiter
from memories.extraction.chat_model.extractor import ModelExtractor
from memories.extraction.chat_model.model_calls import Asker
from memories.extraction.chat_model.summarizer import ModelSummarizer
from memories.extraction.types import (
    Candidate,
    Decision,
    Extraction,
    KnownMemory,
    TurnText,
    Utterance,
)
from tests.chat_server import Answer, ChatServer, said
from tests.memories.extraction.readings import FakeReader
from tests.pair_reader import FakePairs

NOW = datetime(2026, 3, 4, 12, tzinfo=UTC)


class Model:
    """The three steps at one server, and the accounts of what they took. The reader hears only
    what a test tells it to (`told`).
    """

    def __init__(self, server: ChatServer) -> None:
        self.server = server
        self.head = FakePairs(share=0.5)  # unsure, so that the model is asked
        self.uses: list[ModelUse] = []
        self.chat = OpenAICompatibleModel(
            Endpoint(server.url, "tiny", timeout=5, retries=0), sleep=lambda _: None
        )
        self.asker = asker = Asker(self.chat, account=self.uses.append)
        self.told = FakeReader()
        self.bundled = BundledExtractor(self.told)
        self.extractor = ModelExtractor(asker, rules=self.bundled)
        self.arbiter = ModelArbiter(asker, bundled=BundledArbiter(self.head))
        self.summarizer = ModelSummarizer(asker)

    def answers(self, *answers: Answer) -> None:
        self.server.answers = list(answers)

    def proposes(self, *items: object, finish: str = "stop") -> None:
        self.answers(said({"memories": list(items)}, finish=finish))

    def hears(self, text: str, **turn: object) -> Extraction:
        return self.extractor.extract(heard(text, **turn))

    def decides(self, answer: object, candidate: Candidate, *known: KnownMemory) -> Decision:
        self.answers(said(answer))
        return self.arbiter.arbitrate(candidate, known, now=NOW)


def heard(text: str, **turn: object) -> TurnText:
    speaker = str(turn.pop("speaker", ""))
    assistant = turn.pop("assistant", Utterance("I see.", NOW))
    return TurnText(user=Utterance(text, NOW, speaker), assistant=assistant, **turn)  # type: ignore[arg-type]


def candidate(content: str, **fields: object) -> Candidate:
    values: dict[str, object] = {
        "kind": "fact",
        "importance": 0.6,
        "confidence": 0.9,
        "content": content,
        "quote": content,
    }
    return Candidate(**values | fields)  # type: ignore[arg-type]


def known(content: str, **fields: object) -> KnownMemory:
    values: dict[str, object] = {
        "id": "mem_secret_id",
        "kind": "fact",
        "content": content,
        "similarity": 0.7,
        "said_at": NOW - timedelta(days=30),
    }
    return KnownMemory(**values | fields)  # type: ignore[arg-type]


LEEDS, YORK = known("Lives in Leeds"), candidate("Lives in York")

TEA = {
    "quote": "I really adore oolong tea",
    "content": "Adores oolong tea",
    "kind": "preference",
    "importance": 0.5,
    "confidence": 0.9,
    "tags": ["Food", "tea"],
    "date": None,
    "corrects": False,
}
SAYS_TEA = "Well, I really adore oolong tea, you know."


def tea(**changes: object) -> dict[str, object]:
    return {**TEA, **changes}


def contents(extraction: Extraction) -> list[str]:
    return [one.content for one in extraction.candidates]
