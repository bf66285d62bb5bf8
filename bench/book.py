"""What one of the people of `bench/chaotic.py` must find again, and what nobody may."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Book:
    """By word: what must be there (`turns`, `memories`), what may, and what must be gone."""

    turns: dict[str, str] = field(default_factory=dict)  # word -> its conversation
    memories: dict[str, str] = field(default_factory=dict)  # word -> its memory's id
    imports: dict[str, str] = field(default_factory=dict)  # word -> the import's operation
    notes: set[str] = field(default_factory=set)
    binned: set[str] = field(default_factory=set)  # gone from everywhere once it is forgotten
    of_project: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    unlearned: set[str] = field(default_factory=set)  # may be said, may not be known
    written: int = 0
    forgets: int = 0

    def all_gone(self) -> None:
        self.gone |= {*self.turns, *self.memories, *self.imports, *self.notes, *self.binned}
        for kept in (self.turns, self.memories, self.imports, self.notes, self.binned):
            kept.clear()

    def take_out(self, memory: str) -> set[str]:
        """The words of a memory that goes."""
        words = {word for word, where in self.memories.items() if where == memory}
        for word in words:
            del self.memories[word]
        return words

    def forget_conversation(self, name: str) -> None:
        words = [word for word, where in self.turns.items() if where == name]
        self.gone.update(words)
        for word in words:
            del self.turns[word]
