"""Checks whether forgets left any words over, and whether other people's rows changed.

Started by `forgets.py` with Django set up.
"""

from __future__ import annotations

import json
from collections.abc import Collection

from django.conf import settings

from bench import forgets_world
from bench.planted import Store
from foundation.embedded.folder import DataFolder
from ops.access import as_system
from ops.forgetting import forget_steps
from ops.models import Operation, Receipt, Status, User
from ops.queue import worker

_STANDING, _FIRST = 5, 4_000


def begin() -> None:
    """Create people who do nothing afterwards, and print the hashes of their rows."""
    for number in range(_STANDING):
        forgets_world.make_person(_FIRST + number)
    worker.drain()
    print(json.dumps(_fingerprint()))


def end(*, gone: Collection[str], stay: Collection[str], standing: dict[str, str]) -> None:
    """Look for every word in every row, key and file, and print the figures."""
    worker.drain()
    found = Store(DataFolder(settings.DATA_DIR)).places()
    left = {word: sorted(found[word])[:3] for word in sorted(set(gone) & found.keys())}
    now = _fingerprint()
    with as_system():
        rows = Operation.objects.filter(kind__in=forget_steps.FORGET_KINDS)
        figures = {
            "residue": len(left),
            "lost": len(set(stay) - found.keys()),
            "unfinished": rows.exclude(status=Status.SUCCEEDED).count(),
            "failed_first": rows.filter(attempts__error__contains="traces are left").count(),
            "receipts_with_residue_0": Receipt.objects.filter(scan__residue=0).count(),
            "disturbed": [name for name, was in standing.items() if was != now[name]],
            "examples": dict(list(left.items())[:5]),
        }
    print(json.dumps(figures))


def _fingerprint() -> dict[str, str]:
    names = [f"forgets-{_FIRST + number}" for number in range(_STANDING)]
    with as_system():
        users = list(User.objects.filter(external_id__in=names).values_list("pk", flat=True))
    return Store(DataFolder(settings.DATA_DIR)).fingerprint(users)
