"""What the bundled extractor makes of one text, on a Saturday morning in Shanghai."""

from datetime import datetime, timedelta, timezone

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Candidate, Extraction, TurnText, Utterance
from memories.reader import reader
from tests.memories.extraction.readings import FakeReader

ZONE = timezone(timedelta(hours=8))
SPOKEN_AT = datetime(2026, 11, 21, 10, 0, tzinfo=ZONE)


def spoken(text: str, speaker: str = "") -> Utterance:
    return Utterance(text, SPOKEN_AT, speaker)


def turn_of(
    text: str, *, speaker: str = "", before: tuple[str, ...] = (), asked: str = "", known: str = ""
) -> TurnText:
    return TurnText(
        spoken(text, speaker),
        spoken("I see."),
        before=tuple(spoken(earlier) for earlier in before),
        before_assistant=asked,
        known_block=known,
    )


def extract(
    text: str,
    *,
    speaker: str = "",
    before: tuple[str, ...] = (),
    asked: str = "",
    known: str = "",
    told: FakeReader | None = None,
) -> Extraction:
    """By the real reader, or by what a test tells it to hear."""
    turn = turn_of(text, speaker=speaker, before=before, asked=asked, known=known)
    return BundledExtractor(told or reader()).extract(turn)


def contents(extraction: Extraction) -> list[str]:
    return [candidate.content for candidate in extraction.candidates]


def only(extraction: Extraction) -> Candidate:
    (candidate,) = extraction.candidates
    return candidate
