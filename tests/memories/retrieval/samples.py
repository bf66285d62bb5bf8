"""Short memories of one person, in both languages, and questions about them and about nothing."""

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """`asked` are pairs of a memory and a question that it answers."""

    asked: tuple[tuple[str, str], ...]
    unrelated: tuple[str, ...]
    rare: tuple[tuple[str, str], ...]
    frames: tuple[str, ...]

    @property
    def memories(self) -> list[str]:
        return [memory for memory, _ in self.asked]


def load(language: str) -> Sample:
    path = Path(__file__).parent / "data" / f"samples.{language}.json"
    data = json.loads(path.read_text(encoding="utf-8"))
    return Sample(
        asked=tuple(map(tuple, data["asked"])),
        unrelated=tuple(data["unrelated"]),
        rare=tuple(map(tuple, data["rare"])),
        frames=tuple(data["frames"]),
    )
