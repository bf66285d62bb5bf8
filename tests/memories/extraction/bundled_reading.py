"""What the bundled reader makes of one text, on a Saturday morning in Shanghai."""

from datetime import datetime, timedelta, timezone

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Candidate, Extraction, Said, TurnText

ZONE = timezone(timedelta(hours=8))
SPOKEN_AT = datetime(2026, 11, 21, 10, 0, tzinfo=ZONE)


def spoken(text: str, speaker: str = "") -> Said:
    return Said(text, SPOKEN_AT, speaker)


def extract(
    text: str, *, speaker: str = "", before: tuple[str, ...] = (), asked: str = "", known: str = ""
) -> Extraction:
    turn = TurnText(
        spoken(text, speaker),
        spoken("I see."),
        before=tuple(spoken(earlier) for earlier in before),
        before_assistant=asked,
        known_block=known,
    )
    return BundledExtractor().extract(turn)


def contents(extraction: Extraction) -> list[str]:
    return [candidate.content for candidate in extraction.candidates]


def only(extraction: Extraction) -> Candidate:
    (candidate,) = extraction.candidates
    return candidate
