"""What was too sensitive to be remembered: noted for the person, without the secret."""

from __future__ import annotations

from collections.abc import Sequence

from conversations.models import Turn
from memcenter.lib import statements
from memories.extraction.types import Refused
from memories.models import Refusal


def note(refused: Sequence[Refused], *, user_id: int, turn: Turn | None = None) -> None:
    """Within the transaction that marks what was learned from; `turn` where it was one."""
    if refused:
        statements.insert(
            [
                Refusal(user_id=user_id, turn=turn, category=one.category, redacted=one.redacted)
                for one in refused
            ]
        )
