"""The words that must, may or must not be found for one person of `bench/chaotic.py`."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class Book:
    """The planted words of one person, by the kind of data that holds them.

    Words of `turns`, `memories` and `notes` must be found; words of `gone` must not.
    """

    turns: dict[str, str] = field(default_factory=dict)  # word -> conversation
    memories: dict[str, str] = field(default_factory=dict)  # word -> memory id
    imports: dict[str, str] = field(default_factory=dict)  # word -> operation id of the import
    notes: set[str] = field(default_factory=set)
    binned: set[str] = field(default_factory=set)  # may be found until the bin is emptied
    of_project: set[str] = field(default_factory=set)
    gone: set[str] = field(default_factory=set)
    unlearned: set[str] = field(default_factory=set)  # allowed in messages, not in memories
    written: int = 0
    forgets: int = 0

    def all_gone(self) -> None:
        self.gone |= {*self.turns, *self.memories, *self.imports, *self.notes, *self.binned}
        for kept in (self.turns, self.memories, self.imports, self.notes, self.binned):
            kept.clear()

    def take_out(self, memory: str) -> set[str]:
        """Remove a memory and return its words."""
        words = {word for word, where in self.memories.items() if where == memory}
        for word in words:
            del self.memories[word]
        return words

    def forget_conversation(self, name: str) -> None:
        words = [word for word, where in self.turns.items() if where == name]
        self.gone.update(words)
        for word in words:
            del self.turns[word]
