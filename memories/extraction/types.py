"""The plain values of the language steps. Nothing here knows Django or a model provider."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol


class Verdict(StrEnum):
    """What becomes of a candidate beside the memories that are like it."""

    ADD = "ADD"  # nothing says this yet
    REPLACE = "REPLACE"  # newer or corrected: the old text becomes a version
    MERGE = "MERGE"  # both say a part of it: one combined text
    KEEP_BOTH = "KEEP_BOTH"  # both hold, side by side
    SKIP = "SKIP"  # already known: the source is added
    REVIEW = "REVIEW"  # they contradict and neither clearly wins: a person decides


@dataclass(frozen=True)
class Said:
    """One utterance. `spoken_at` is aware and in the user's own time zone."""

    text: str
    spoken_at: datetime
    speaker: str = ""  # a name, when the chat product gave one; empty is "the user"


@dataclass(frozen=True)
class TurnText:
    """A turn as extraction sees it: what was said, the reply, and the few messages before.

    `known_block` is the text that we ourselves put in the prompts of late; nothing that merely
    repeats it is ever a candidate.
    """

    user: Said
    assistant: Said
    before: Sequence[Said] = ()  # the user's own earlier messages, oldest first
    before_assistant: str = ""  # what the assistant said just before the user's message
    known_block: str = ""


@dataclass(frozen=True)
class Candidate:
    """A statement that might be remembered; it stands alone and is in the speaker's language.

    `quote` is a verbatim span of the user's message (or of the assistant's, when the user
    accepted it: then `quoted_role` is "assistant"), starting at `quote_start` (characters).
    `reasons` are short codes of what was seen, for the page that explains a memory.
    `corrects` says that the speaker meant to overrule what was known before.
    """

    kind: str
    content: str
    importance: float
    confidence: float
    quote: str
    quote_start: int = 0
    quoted_role: str = "user"
    tags: tuple[str, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    occurred_at: datetime | None = None
    explicit: bool = False
    corrects: bool = False
    language: str = "en"
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True)
class Refused:
    """Something that was not taken because it is sensitive. Never holds the secret itself."""

    category: str  # password | api_key | card | bank_account | identity_number | address
    redacted: bool  # True: the statement was kept with the secret blanked out


@dataclass(frozen=True)
class ForgetRequest:
    """The user said "forget that …": `about` is what, in their words; empty is "that"."""

    about: str
    quote: str


@dataclass(frozen=True)
class Extraction:
    """All that one turn yields."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[Refused, ...] = ()
    forget: tuple[ForgetRequest, ...] = ()
    secrets: tuple[tuple[int, int], ...] = ()  # where they stand in the user's message
    withheld: bool = False  # the person asked that this message isn't kept
    # What the message only quotes, plays, jokes about or hands over to be worked on.
    not_lived: tuple[tuple[int, int], ...] = ()

    @property
    def secret_places(self) -> list[int]:
        """As a message keeps them: start, end, start, end …"""
        return [place for span in self.secrets for place in span]


@dataclass(frozen=True)
class Known:
    """A memory like the candidate. `similarity` is the embedder's cosine, 0-1."""

    id: str
    kind: str
    content: str
    similarity: float
    status: str = "active"
    origin: str = "extracted"
    said_at: datetime | None = None


@dataclass(frozen=True)
class Beside:
    """How the candidate stands to a further known memory, which the verdict isn't about."""

    id: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Decision:
    """The verdict on one candidate, against which memory, and why (short codes).

    `beside` are the further memories that the candidate touches, most similar first.
    """

    verdict: Verdict
    target_id: str | None = None
    content: str | None = None  # the text of a MERGE
    kind: str | None = None
    reasons: tuple[str, ...] = ()
    beside: tuple[Beside, ...] = ()


class Extractor(Protocol):
    """Turns what was said into candidates."""

    name: str

    def extract(self, turn: TurnText) -> Extraction: ...


class Arbiter(Protocol):
    """Decides on one candidate beside the memories that are like it, most similar first."""

    name: str

    def arbitrate(
        self, candidate: Candidate, known: Sequence[Known], *, now: datetime
    ) -> Decision: ...


class Summarizer(Protocol):
    """Rolls messages into a summary of at most `max_tokens`, in the conversation's language."""

    name: str

    def summarize(
        self, previous: str, messages: Sequence[tuple[str, str]], *, max_tokens: int
    ) -> str: ...
