"""Whether a request to forget is about a memory, as the pair head reads it."""

from memories.extraction.pairs import PairReader, fold

SURE = 0.8  # from here on a memory may be forgotten without a question, if it stands alone
YES = 0.5  # from here on the memory is rather meant than not
PERHAPS = 0.2  # below this it isn't meant; from here on it stands in the way of another one


def is_about(request: str, memory: str, *, reader: PairReader) -> float:
    """How probable it is that `request` means `memory`, 0-1."""
    return 1.0 if fold(request) == fold(memory) else reader.about(request, memory)
