"""Find copies of erased texts in other rows of the person, with the method of the residue scan, so
that everything the scan would report is erased."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np

from ops.models import Operation, User
from ops.residue import erased_hashes, residue_scan
from ops.residue.fingerprints import Held


class Copies:
    """The texts of one forget, to find in other rows of the same person."""

    def __init__(self, operation: Operation, *, user: User) -> None:
        erased = erased_hashes.erased_by(operation)
        self._texts = erased.texts
        self.public_ids = erased.public_ids
        self._user = user
        self._since: datetime = operation.created_at

    def __bool__(self) -> bool:
        return bool(len(self._texts))

    def among(self, fields: Iterable[tuple[int, str]]) -> set[int]:
        """Return the numbers of the fields that contain a text no remaining row contains."""
        held: dict[int, list[Held]] = {}
        for number, text in fields:
            if found := self._texts.held_by([text]):
                held[number] = found
        if not held:
            return set()
        hashes = [one.hashes for found in held.values() for one in found]
        known = residue_scan.explained(
            self._texts,
            np.unique(np.concatenate(hashes)),
            user_id=self._user.pk,
            since=self._since,
        )
        return {
            number
            for number, found in held.items()
            if any(not np.isin(one.hashes, known).all() for one in found)
        }
