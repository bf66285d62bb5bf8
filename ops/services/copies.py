"""Copies of what is being erased, in rows that are about something else: found as the scan finds
them, so that what is erased here is what the scan would have called residue."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

import numpy as np

from ops.models import Operation, User
from ops.services import remembering, residue
from ops.services.fingerprints import Held


class Copies:
    """The texts of one forget, to be recognised in other rows of the same person."""

    def __init__(self, operation: Operation, *, user: User) -> None:
        erased = remembering.erased_by(operation)
        self._texts = erased.texts
        self.public_ids = erased.public_ids
        self._user = user
        self._since: datetime = operation.created_at

    def __bool__(self) -> bool:
        return bool(len(self._texts))

    def among(self, fields: Iterable[tuple[int, str]]) -> set[int]:
        """The numbers of the fields that hold one of the texts, unless somebody still says it."""
        held: dict[int, list[Held]] = {}
        for number, text in fields:
            if found := self._texts.held_by([text]):
                held[number] = found
        if not held:
            return set()
        hashes = [one.hashes for found in held.values() for one in found]
        known = residue.explained(
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
