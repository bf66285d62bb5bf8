"""Note lines that memories were learned from, when either of the two is forgotten.

A line cited only by forgotten memories is erased with them. A line that other memories cite too is
erased only if it repeats the forgotten text; those memories then stay without a cited text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from django.db.models import QuerySet

from memcenter.lib.database import cascades
from memories.models import DailyNote, Source, TargetKind, Vector
from memories.models import LexicalEntry as Words
from ops.models import User

GONE = "its note was forgotten"


def hide(*, user: User, memories: Collection[int], at: datetime) -> None:
    """Hide the lines that only these memories were learned from."""
    _only_of(user, memories).filter(hidden_at__isnull=True).update(hidden_at=at)


def erase(*, user: User, memories: Collection[int]) -> Counter[str]:
    """Erase the lines cited only by these memories; call it before the memories are erased."""
    pks = list(_only_of(user, memories).values_list("pk", flat=True))
    return erase_lines(user=user, lines=pks)


def erase_lines(*, user: User, lines: Collection[int]) -> Counter[str]:
    """Erase note lines with their words, vectors and quotes. Safe to repeat."""
    if not lines:
        return Counter()
    rows = DailyNote.everything.filter(user=user, pk__in=lines)
    _let_go(user, list(rows.values_list("public_id", flat=True)))
    target = {"user": user, "target_kind": TargetKind.NOTE, "target_id__in": lines}
    erased = cascades.delete(Vector.objects.filter(**target))
    erased += cascades.delete(Words.objects.filter(**target))
    return erased + cascades.delete(rows)


def _only_of(user: User, memories: Collection[int]) -> QuerySet[DailyNote]:
    cited = Source.everything.filter(user=user, reference__startswith="note_", turn__isnull=True)
    named = set(cited.filter(memory__in=memories).values_list("reference", flat=True))
    others = cited.exclude(memory__in=memories).filter(
        reference__in=named, memory__hidden_at__isnull=True, hidden_at__isnull=True
    )
    named -= set(others.values_list("reference", flat=True))
    return DailyNote.everything.filter(user=user, public_id__in=named)


def _let_go(user: User, notes: Collection[str]) -> None:
    """Clear the reference and the quote of the remaining sources that cite these lines."""
    citing = Source.everything.filter(user=user, reference__in=notes)
    citing.filter(turn__isnull=True).update(quote="", reference="", comment=GONE)
    citing.filter(turn__isnull=False).update(reference="")
