"""Reading several turns together: what none of them says by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memories.extraction.types import Candidate, TurnText


@dataclass(frozen=True)
class Heard:
    """One turn of a conversation. `fresh`: it was not read together with the others before."""

    turn: int
    text: TurnText
    fresh: bool = True


@dataclass(frozen=True)
class Gathered:
    """A candidate, the turn that it is quoted from, and the turns without which it says nothing.

    A repeated statement is given once for each of its turns: each of them holds it alone.
    """

    candidate: Candidate
    turn: int
    needs: tuple[int, ...] = ()


class JointReader(Protocol):
    """Finds what only shows over several turns, oldest first. Raises `ProviderError`."""

    name: str

    def read(self, turns: Sequence[Heard]) -> list[Gathered]: ...
