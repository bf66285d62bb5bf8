"""One turn in Chinese, as the tests of the Chinese rules say it."""

from datetime import datetime, timedelta, timezone

from memories.extraction.bundled import BundledExtractor
from memories.extraction.types import Extraction, Said, TurnText

# A Saturday.
SPOKEN_AT = datetime(2026, 11, 21, 10, 0, tzinfo=timezone(timedelta(hours=8)))


def extracted(text: str, *, after: str = "", assistant: str = "") -> Extraction:
    """What the rules alone take. `after` is what the user said before, `assistant` the reply."""
    before = [Said(after, SPOKEN_AT - timedelta(minutes=1))] if after else []
    turn = TurnText(Said(text, SPOKEN_AT), Said("", SPOKEN_AT), before, assistant)
    return BundledExtractor().extract(turn)
