"""The search box over a person's own memories: by meaning, by words, and by what was just typed."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from memories.browsing.paging import SIZE, Page, listed
from memories.selectors import MemoryFilter, memories_of
from memories.services import pool
from memories.services.pool import PreparedQuery
from memories.services.search import rank
from memories.services.shelf_rows import MemoryRow
from memories.services.shelves import shelf_of
from ops.models import User

MOST = 100


def found(
    prepared: PreparedQuery, *, user: User, filters: MemoryFilter, after: str = ""
) -> tuple[Page, int]:
    """A page of the best matches, best first, and how many there are, `MOST` at most.

    Also among disabled ones: this is for looking after them. What contains the typed text comes
    even where it is not a word yet; the rest must pass the relevance floor, so that a search
    doesn't end in everything there is. Keeps no trace.
    """
    eligible = memories_of(user, replace(filters, query="")).prefetch_related(None)
    candidates = pool.fill(prepared, shelf_of(eligible), user=user)
    literal = prepared.text.strip().casefold()
    best: list[int] = []
    for one in rank(prepared, candidates, limit=None):
        row = candidates.rows[one.unit.id]
        contains = isinstance(row, MemoryRow) and literal in row.content.casefold()
        if contains or one.relevance >= settings.RELEVANCE_FLOOR:
            best.append(row.pk)
    best = best[:MOST]
    start = int(after) if after.isascii() and after.isdigit() else 0
    end = start + SIZE
    cursor = str(end) if end < len(best) else ""
    return Page(listed(user, best[start:end]), cursor), len(best)
