"""The search box over a user's memories: by meaning, by words, and by substring."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from memories.pages import recall_words
from memories.pages.lists.cursor_pages import SIZE, Page, listed
from memories.recall import candidate_pool
from memories.recall.candidate_pool import PreparedQuery
from memories.recall.search import rank
from memories.recall.searchable_texts import shelf_of
from memories.recall.text_rows import MemoryRow
from memories.selectors import MemoryFilter, memories_of
from ops.models import User

MOST = 100


def found(
    prepared: PreparedQuery, *, user: User, filters: MemoryFilter, after: str = ""
) -> tuple[Page, int]:
    """Return a page of the best matches, best first, and their number, at most `MOST`.

    Disabled and archived memories are included, since this is for managing memories. A memory that
    contains the typed text matches even if the text isn't a whole word yet; the others must reach
    the relevance floor, so that a search doesn't return everything. Records no trace.
    """
    eligible = memories_of(user, replace(filters, query="")).prefetch_related(None)
    candidates = candidate_pool.fill(prepared, shelf_of(eligible), user=user)
    literal = prepared.text.strip().casefold()
    best: dict[int, str] = {}
    for one in rank(prepared, candidates, limit=None):
        row = candidates.rows[one.unit.id]
        assert isinstance(row, MemoryRow)
        contains = literal in row.content.casefold()
        if contains or one.relevance >= settings.RELEVANCE_FLOOR:
            found_by = {**one.components, "raw_relevance": one.relevance}
            best[row.pk] = recall_words.why(found_by, asked=prepared.text, text=row.content)
            if len(best) == MOST:
                break
    start = int(after) if after.isascii() and after.isdigit() else 0
    end = start + SIZE
    cursor = str(end) if end < len(best) else ""
    rows = [replace(one, why=best[one.memory.pk]) for one in listed(user, [*best][start:end])]
    return Page(rows, cursor), len(best)
