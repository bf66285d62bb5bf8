"""The values that the extraction steps exchange; they depend on neither Django nor providers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from enum import StrEnum
from typing import Any, Protocol

PRECEDING = 3  # earlier user messages that are read as context
CORRECTABLE = 30  # earlier user messages that a message may correct, including the context
DOUBTFUL = 0.4  # the confidence of a candidate that waits for review
OWNER_UNSURE = "owner_unsure"  # the reason of a candidate that may be about somebody else


class Verdict(StrEnum):
    """The decision on what to do with a candidate, given similar memories."""

    ADD = "ADD"  # no memory says this yet
    REPLACE = "REPLACE"  # a newer or corrected text: the old text becomes a version
    MERGE = "MERGE"  # each contains a part: the two become one combined text
    KEEP_BOTH = "KEEP_BOTH"  # both are true and are kept
    SKIP = "SKIP"  # already known: the source is added
    REVIEW = "REVIEW"  # the two contradict each other and neither clearly wins: a person decides


class RolePlay(StrEnum):
    """Whether a message begins or ends a role play; mirrors `conversations.models.RolePlay`."""

    GOES_ON = ""  # the message changes nothing; there may also be no role play
    BEGINS = "begins"
    ENDS = "ends"


@dataclass(frozen=True)
class Utterance:
    """A message as it was spoken; `spoken_at` is timezone-aware, in the user's time zone."""

    text: str
    spoken_at: datetime
    speaker: str = ""  # the name that the chat product gave, or empty

    def start_of(self, day: date | None) -> datetime | None:
        """Return the start of `day` in the user's time zone, or None if `day` is None."""
        return datetime.combine(day, time(), tzinfo=self.spoken_at.tzinfo) if day else None


@dataclass(frozen=True)
class TurnText:
    """The input of extraction: a user message, the reply, and a few earlier messages.

    `known_block` is the text of memories that was recently put into prompts; a statement that only
    repeats this text does not become a candidate. `in_role_play` means that a message in `before`
    began a role play that hasn't ended.
    """

    user: Utterance
    assistant: Utterance
    before: Sequence[Utterance] = ()  # the user's latest messages before this one, oldest first
    before_assistant: str = ""  # the assistant's message just before the user's message
    known_block: str = ""
    not_to_keep: Sequence[str] = ()  # the user's earlier messages that ask not to keep something
    in_role_play: bool = False
    older: Sequence[Utterance] = ()  # the user's messages before those in `before`, oldest first

    def following(self, own: Sequence[Utterance]) -> TurnText:
        """Return a copy with the user's earlier messages `own` (oldest first) as its context."""
        return replace(
            self, before=tuple(own[-PRECEDING:]), older=tuple(own[-CORRECTABLE:-PRECEDING])
        )


@dataclass(frozen=True)
class Candidate:
    """A statement that may become a memory and is understandable by itself.

    `content` is in the speaker's language. `quote` is a verbatim span of the user's message that
    starts at the character `quote_start`. If `quoted_role` is "assistant", it is a span of the
    other side's message: a claim that the user agreed with, or the statement of a second person who
    takes the assistant's place. `reasons` are short codes for the page that explains a memory.
    `corrects` means that the speaker overrules an earlier statement. `overrules` is the text of the
    memory that the candidate replaces, and `old_value` holds the wrong words in that memory; both
    are empty if unknown. `only_ends` means that the statement isn't worth keeping by itself, and is
    stored only if it ends a known memory ("driving test got cancelled").
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
    overrules: str = ""
    old_value: str = ""
    only_ends: bool = False
    reasons: tuple[str, ...] = ()

    @property
    def owner(self) -> str:
        """Return whom the candidate is about: "self" (the speaker), "related" or "others".

        The owner comes from the first reason, such as `self.lasting`. Return "" if unknown.
        """
        owner, dot, _ = next(iter(self.reasons), "").partition(".")
        return owner if dot else ""


@dataclass(frozen=True)
class Quotation:
    """A verbatim span of a message; `start` is the index of its first character."""

    text: str
    start: int


@dataclass(frozen=True)
class RefusedSecret:
    """A report that a sensitive detail wasn't stored; it never contains the secret itself."""

    category: str  # password | api_key | card | bank_account | identity_number | address
    redacted: bool  # True: the statement was kept with the secret masked


@dataclass(frozen=True)
class ForgetRequest:
    """A request to forget something.

    `about` names the subject in the user's words; an empty `about` means the previous message. If
    `in_words` is False, the request isn't clear from its words, so nothing is erased before the
    user confirms it.
    """

    about: str
    quote: str
    in_words: bool = True


@dataclass(frozen=True)
class Extraction:
    """Everything that was extracted from one turn."""

    candidates: tuple[Candidate, ...] = ()
    refused: tuple[RefusedSecret, ...] = ()
    forget: tuple[ForgetRequest, ...] = ()
    secrets: tuple[tuple[int, int], ...] = ()  # spans of the secrets in the user's message
    not_to_keep: bool = False  # the person asked not to keep this message
    # Spans that aren't the user's statements: quotations, role play, jokes, a text to work on.
    outside_real_life: tuple[tuple[int, int], ...] = ()
    role_play: RolePlay = RolePlay.GOES_ON
    endings: tuple[Candidate, ...] = ()  # candidates with `only_ends`

    @property
    def undecided(self) -> tuple[Candidate, ...]:
        """Return all candidates that need a decision; those that only end a memory come last."""
        return (*self.candidates, *self.endings)

    @property
    def secret_places(self) -> list[int]:
        """Return the secrets' spans as one flat list (start, end, …), as in `Message.secrets`."""
        return [place for span in self.secrets for place in span]


@dataclass(frozen=True)
class KnownMemory:
    """A stored memory that resembles the candidate; `similarity` is the cosine similarity."""

    id: str
    kind: str
    content: str
    similarity: float
    status: str = "active"
    origin: str = "extracted"
    said_at: datetime | None = None


@dataclass(frozen=True)
class OtherVerdict:
    """How the candidate relates to a memory that isn't the target of the verdict."""

    id: str
    verdict: Verdict
    reason: str


@dataclass(frozen=True)
class Decision:
    """The verdict on one candidate, its target memory, and reasons as short codes.

    `others` holds the other memories that the candidate affects, most similar first. `supports`
    holds the ids of memories that stay unchanged and support the candidate.
    """

    verdict: Verdict
    target_id: str | None = None
    content: str | None = None  # the text of a MERGE
    kind: str | None = None
    reasons: tuple[str, ...] = ()
    others: tuple[OtherVerdict, ...] = ()
    supports: tuple[str, ...] = ()

    @property
    def ends(self) -> bool:
        """Return whether the candidate says that its target memory is no longer true."""
        return self.verdict is Verdict.REPLACE and "no_longer" in self.reasons


class Extractor(Protocol):
    """The interface for extracting candidates from a turn."""

    name: str

    def extract(self, turn: TurnText) -> Extraction: ...


class Arbiter(Protocol):
    """The interface for deciding what to do with one candidate."""

    name: str

    def arbitrate(
        self, candidate: Candidate, known: Sequence[KnownMemory], *, now: datetime
    ) -> Decision: ...


class Summarizer(Protocol):
    """The interface for summarising messages in at most `max_tokens` tokens."""

    name: str

    def summarize(
        self, previous: str, messages: Sequence[tuple[str, str]], *, max_tokens: int
    ) -> str: ...


@dataclass(frozen=True)
class JointTurn:
    """A turn of a conversation.

    `is_new` means that no earlier search across several turns has included this turn.
    """

    turn: int
    text: TurnText
    is_new: bool = True


@dataclass(frozen=True)
class JointCandidate:
    """A candidate found across several turns.

    It quotes `turn`, and also depends on the turns in `needs`. A repeated statement is returned
    once for each of its turns, because each of these turns supports it by itself.
    """

    candidate: Candidate
    turn: int
    needs: tuple[int, ...] = ()


class JointReader(Protocol):
    """The interface for finding statements that follow from several turns together.

    The turns are given oldest first. Raise `ProviderError` if a model call fails.
    """

    name: str

    def read(self, turns: Sequence[JointTurn]) -> list[JointCandidate]: ...
