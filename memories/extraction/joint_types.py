"""Read several turns together, to find what no single turn says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from memories.extraction.types import Candidate, TurnText


@dataclass(frozen=True)
class Heard:
    """One turn of a conversation. `fresh` means that it wasn't read together with the others
    before.
    """

    turn: int
    text: TurnText
    fresh: bool = True


@dataclass(frozen=True)
class Gathered:
    """A candidate, the turn that it quotes, and the turns that it depends on.

    A repeated statement is returned once for each of its turns, each of which supports it alone.
    """

    candidate: Candidate
    turn: int
    needs: tuple[int, ...] = ()


class JointReader(Protocol):
    """Find what only several turns together tell, oldest first. Raises `ProviderError`."""

    name: str

    def read(self, turns: Sequence[Heard]) -> list[Gathered]: ...
