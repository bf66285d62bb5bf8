"""Which kind a statement is of, for people who would rather not choose."""

from __future__ import annotations

from memories.models import Kind
from memories.services import providers


def kind_of(text: str) -> str:
    """The kind that the reader sees in it; a fact where it sees none or several."""
    return providers.bundled_extractor().kind_of(text) or Kind.FACT.value
