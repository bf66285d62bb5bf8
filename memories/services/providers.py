"""Which implementation of each language step is in use; the settings decide."""

from functools import cache

from memories.extraction.arbitrate import BundledArbiter
from memories.extraction.bundled import BundledExtractor
from memories.extraction.summarize import ExtractiveSummarizer
from memories.extraction.types import Arbiter, Extractor, Summarizer


@cache
def extractor() -> Extractor:
    return BundledExtractor()


@cache
def arbiter() -> Arbiter:
    return BundledArbiter()


@cache
def bundled_arbiter() -> Arbiter:
    """Decides where the caller waits for the answer: it needs no network."""
    return BundledArbiter()


@cache
def summarizer() -> Summarizer:
    return ExtractiveSummarizer()
