"""Load models and dictionaries once, before a process forks others that use them."""

import ctypes
import gc

from django.conf import settings

from memcenter.lib.text import tokens
from memories import language_steps
from memories.indexing import embedder_choice
from memories.retrieval.query import analyse


def preload() -> None:
    """Load everything that is bundled, so that processes forked from this one share its memory.

    Opens no connection and starts no thread.
    """
    language_steps.bundled_extractor()
    analyse("warm 热身")
    tokens.count("warm")
    if settings.EMBEDDER != "openai_compatible":
        embedder_choice.configured().embed(["."])
    # Collected objects are written to, and a page that is written to isn't shared any more.
    gc.collect()
    gc.freeze()
    _return_free_memory()


def _return_free_memory() -> None:
    """Give what loading left free back to the kernel, where the C library can (GNU)."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
